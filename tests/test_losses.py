"""Losses: slopes against differences, curvature bounds, the shapes their names promise."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from relubias.errors import ArgumentError
from relubias.losses import _BY_NAME, HUBER, SQUARED, Loss, huber, loss

ALL = [*_BY_NAME.values(), huber(0.3)]
NAMES = [entry.name for entry in ALL]
F = np.array([-40.0, -3.0, -1.2, -0.4, 0.15, 0.9, 2.1, 35.0])
Y = np.array([1.0, -1.0, 2.0, -0.5])


@pytest.mark.parametrize("entry", ALL, ids=NAMES)
def test_slopes_are_central_differences(entry: Loss) -> None:
    f, y = np.meshgrid(F, Y)
    width = 1e-5
    differences = (entry.value(f + width, y) - entry.value(f - width, y)) / (2 * width)
    assert entry.slope(f, y) == pytest.approx(differences, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("entry", [entry for entry in ALL if entry.name != "absolute"], ids=lambda entry: entry.name)
def test_second_derivatives_stay_below_the_curvature_and_come_near_it(entry: Loss) -> None:
    f, width = np.linspace(-4, 4, 4001), 1e-4
    largest = max(
        float(np.max((entry.slope(f + width, np.full_like(f, y)) - entry.slope(f - width, np.full_like(f, y))) / 2e-4))
        for y in Y
    )
    assert largest <= entry.curvature(Y) * (1 + 1e-8)
    assert largest >= entry.curvature(Y) * (1 - 1e-3)


@pytest.mark.parametrize("entry", ALL, ids=NAMES)
def test_those_that_fit_are_least_at_the_label_and_nowhere_else(entry: Loss) -> None:
    y = np.array([1.3])
    at, beside = entry.value(y, y), [entry.value(y + shift, y) for shift in (-1e-3, 1e-3, -5.0, 5.0)]
    assert entry.fits == (at[0] == 0.0 and all(value[0] > 0 for value in beside))


def test_huber_is_quadratic_inside_and_linear_outside() -> None:
    y = np.zeros(3)
    assert HUBER.value(np.array([0.5, 1.0, 3.0]), y).tolist() == [0.125, 0.5, 2.5]
    assert huber(0.5).value(np.array([0.5, 1.0, 3.0]), y).tolist() == [0.125, 0.375, 1.375]


@pytest.mark.parametrize("r", [1e-9, 1e-4, 0.3, 0.99, 1.01, 5.0, 800.0])
def test_log_cosh_keeps_its_digits(r: float) -> None:
    with mpmath.workdps(40):
        exact = float(mpmath.log(mpmath.cosh(mpmath.mpf(r))))
    assert loss("log-cosh").value(np.array([r]), np.zeros(1))[0] == pytest.approx(exact, rel=1e-14)


@pytest.mark.parametrize("entry", ALL, ids=NAMES)
def test_huge_predictions_give_finite_slopes(entry: Loss) -> None:
    f = np.array([-1e100, -1e3, 1e3, 1e100])
    assert np.all(np.isfinite(entry.slope(f, np.ones(4))))


def test_names_are_looked_up_and_slips_are_answered() -> None:
    assert loss("squared") is SQUARED
    assert loss("huber:0.5") is huber(0.5)
    assert loss(HUBER) is HUBER
    with pytest.raises(ArgumentError, match=r"loss='hubr' is not known \(did you mean 'huber'\?\)"):
        loss("hubr")
    for bad in ("huber:-1", "huber:x", "huber:inf"):
        with pytest.raises(ArgumentError, match="positive"):
            loss(bad)
