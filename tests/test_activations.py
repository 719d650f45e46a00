"""Activations: values against mpmath, slopes against differences, bounds that hold and are attained."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from relubias.activations import _ALL, RELU, Activation, activation, leaky_relu
from relubias.errors import ArgumentError

SMOOTH = {
    "softplus": lambda z: mpmath.log1p(mpmath.exp(z)),
    "gelu": lambda z: z * mpmath.ncdf(z),
    "silu": lambda z: z / (1 + mpmath.exp(-z)),
    "tanh": mpmath.tanh,
    "squared-relu": lambda z: max(z, 0) ** 2,
}
POINTS = [-30.0, -8.0, -2.5, -1.0, -0.3, -1e-3, 0.0, 1e-3, 0.4, 1.0, 2.4, 9.0, 30.0]
NAMES = [entry.name for entry in _ALL]


@pytest.mark.parametrize("name", SMOOTH)
def test_values_agree_with_mpmath(name: str) -> None:
    with mpmath.workdps(40):
        exact = [float(SMOOTH[name](mpmath.mpf(z))) for z in POINTS]
    assert activation(name).value(np.array(POINTS)) == pytest.approx(exact, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("name", SMOOTH)
def test_slopes_agree_with_derivatives_of_mpmath_to_full_relative_accuracy(name: str) -> None:
    with mpmath.workdps(60):
        exact = [float(mpmath.diff(SMOOTH[name], mpmath.mpf(z))) if z else None for z in POINTS]
    slopes = activation(name).slope(np.array(POINTS))
    for z, got, wanted in zip(POINTS, slopes, exact, strict=True):
        if wanted is not None:
            assert got == pytest.approx(wanted, rel=1e-12, abs=1e-18), z


@pytest.mark.parametrize("entry", _ALL, ids=NAMES)
def test_slopes_are_central_differences_away_from_the_kink(entry: Activation) -> None:
    points = np.array([z for z in POINTS if abs(z) > 1e-2])
    width = 1e-5
    differences = (entry.value(points + width) - entry.value(points - width)) / (2 * width)
    assert entry.slope(points) == pytest.approx(differences, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("entry", _ALL, ids=NAMES)
def test_huge_arguments_give_finite_numbers(entry: Activation) -> None:
    points = np.array([-1e150, -1e5, -800.0, 800.0, 1e5, 1e150])
    assert np.all(np.isfinite(entry.value(points)))
    assert np.all(np.isfinite(entry.slope(points)))


@pytest.mark.parametrize("entry", _ALL, ids=NAMES)
@pytest.mark.parametrize("size", [0.1, 1.0, 5.0])
def test_no_slope_is_steeper_than_the_bound_and_one_is_as_steep(entry: Activation, size: float) -> None:
    points = np.linspace(-20, 20, 400_001)
    within = points[np.abs(entry.value(points)) <= size]
    steepest = np.abs(entry.slope(within)).max(initial=0.0)
    assert steepest <= entry.steepest(size) * (1 + 1e-12)
    if size == 5.0:
        assert steepest >= entry.steepest(size) * (1 - 1e-3)


@pytest.mark.parametrize("entry", _ALL, ids=NAMES)
def test_the_infimum_is_the_infimum(entry: Activation) -> None:
    least = float(entry.value(np.linspace(-30, 30, 600_001)).min())
    assert least >= entry.lowest - 1e-15
    if np.isfinite(entry.lowest):
        assert least == pytest.approx(entry.lowest, abs=1e-9)


@pytest.mark.parametrize("entry", _ALL, ids=NAMES)
def test_silent_ones_are_exactly_zero_below_zero(entry: Activation) -> None:
    below = np.array([-5.0, -1e-9, 0.0])
    zero = not np.any(entry.value(below)) and not np.any(entry.slope(below))
    assert zero == entry.silent


def test_names_are_looked_up_and_slips_are_answered_with_the_name_that_was_meant() -> None:
    assert activation("relu") is RELU
    assert activation("leaky-relu:0.2") is leaky_relu(0.2)
    assert activation(RELU) is RELU
    with pytest.raises(ArgumentError, match=r"activation='gleu' is not known \(did you mean 'gelu'\?\)"):
        activation("gleu")
    with pytest.raises(ArgumentError, match="not a slope between 0 and 1"):
        activation("leaky-relu:x")
