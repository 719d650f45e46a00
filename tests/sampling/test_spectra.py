"""A spectrum says without d numbers what the list of its eigenvalues says."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers import Array, assert_close
from hypothesis import given
from hypothesis import strategies as st

from relubias.errors import ArgumentError
from relubias.population import Population
from relubias.sampling.spectra import (
    EXPLICIT_TERMS,
    Blocks,
    Eigenvalues,
    Geometric,
    Isotropic,
    PowerLaw,
    Spectrum,
    Spiked,
    power_sum,
    spectrum_from_dict,
)

D = 40

#: Spectra of 40 eigenvalues, and the list of them.
WRITTEN_OUT: dict[str, tuple[Spectrum, Array]] = {
    "isotropic": (Isotropic(0.5), np.full(D, 0.5)),
    "spiked": (Spiked(3, 9.0), np.repeat([9.0, 1.0], [3, 37])),
    "blocks": (Blocks(((2.0, 25), (0.0, 5), (7.0, 10))), np.repeat([2.0, 0.0, 7.0], [25, 5, 10])),
    "power law": (PowerLaw(1.5), np.power(np.arange(1.0, D + 1), -1.5)),
    "flat power law": (PowerLaw(0), np.ones(D)),
    "geometric": (Geometric(0.9), np.geomspace(1.0, 0.9 ** (D - 1), D)),
    "given": (Eigenvalues(tuple(np.arange(D) % 5 / 3)), np.arange(D) % 5 / 3),
}
cases = pytest.mark.parametrize(("spectrum", "values"), WRITTEN_OUT.values(), ids=WRITTEN_OUT.keys())


def dimensions(population: Population) -> tuple[float, float, float]:
    return population.trace, population.d2, population.dinf


@cases
def test_sums_are_those_of_the_eigenvalues(spectrum: Spectrum, values: Array) -> None:
    total, squares, largest = values.sum(), np.square(values).sum(), values.max()
    expected = Population(total, total**2 / squares, total / largest)
    assert dimensions(spectrum.population(D)) == pytest.approx(dimensions(expected), rel=1e-14)


@cases
@pytest.mark.parametrize("width", [1, 7, 40, 100])
def test_blocks_are_the_eigenvalues_in_order(spectrum: Spectrum, values: Array, width: int) -> None:
    blocks = list(spectrum.blocks(D, width))
    assert all(len(block) == width for block in blocks[:-1])
    assert_close(np.concatenate(blocks), values, 1e-15)


@cases
@pytest.mark.parametrize("at_least", [1, 4, 9, 11, 41])
def test_what_is_set_apart_and_the_rest_are_all_that_is_not_zero(
    spectrum: Spectrum, values: Array, at_least: int
) -> None:
    frequent, rest, n_rest = spectrum.split(D, at_least)
    assert all(count >= at_least for _, count in frequent)
    others = np.concatenate([*rest.blocks(n_rest, 100), np.empty(0)])
    assert len(others) == n_rest
    others = others[others > 0]
    together = np.concatenate([others, *(np.full(count, value) for value, count in frequent)])
    assert_close(np.sort(together), np.sort(values[values > 0]), 1e-15)


@pytest.mark.parametrize(
    ("spectrum", "at_least", "n_rest"),
    [
        (Isotropic(), 40, 0),
        (Isotropic(), 41, 40),
        (Spiked(3, 9.0), 20, 3),
        (Blocks(((2.0, 25), (7.0, 15))), 20, 15),
        (PowerLaw(0), 20, 0),
        (Eigenvalues((3.0,) * 30 + tuple(np.arange(1.0, 11.0))), 20, 9),
    ],
)
def test_equal_eigenvalues_are_found_where_there_are_enough(spectrum: Spectrum, at_least: int, n_rest: int) -> None:
    assert spectrum.split(D, at_least).n_rest == n_rest


@given(exponent=st.one_of(st.floats(0.0, 6.0), st.sampled_from([1.0, 1.0 + 1e-9, 2.0])), d=st.integers(1, 20_000))
def test_the_sum_of_powers_agrees_with_adding_them_up(exponent: float, d: int) -> None:
    expected = math.fsum(float(j) ** -exponent for j in range(1, d + 1))
    assert power_sum(d, exponent) == pytest.approx(expected, rel=1e-13)


def test_the_sum_of_powers_tends_to_zeta_and_the_harmonic_one_to_the_logarithm() -> None:
    assert power_sum(10**15, 2.0) == pytest.approx(math.pi**2 / 6 - 1e-15, rel=1e-14)
    assert power_sum(10**15, 1.0) == pytest.approx(15 * math.log(10) + np.euler_gamma, rel=1e-14)
    assert power_sum(EXPLICIT_TERMS + 1, 0.5) > power_sum(EXPLICIT_TERMS, 0.5)


def test_a_trillion_features_cost_nothing() -> None:
    d = 10**12
    assert Isotropic().population(d) == Population(1e12, 1e12, 1e12)
    assert Spiked(100, 1e10).population(d).trace == 2e12 - 100
    halves = Blocks(((3.0, d // 2), (1.0, d // 2)))
    assert dimensions(halves.population(d)) == pytest.approx((2e12, 0.8e12, 2e12 / 3))
    assert list(halves.eigenvalues(d // 2 - 2, d // 2 + 2)) == [3.0, 3.0, 1.0, 1.0]
    assert Geometric(0.5).population(d) == Population(2.0, 3.0, 2.0)
    assert PowerLaw(2.0).population(d).trace == pytest.approx(math.pi**2 / 6, rel=1e-11)


def test_eigenvalues_that_underflow_are_not_listed() -> None:
    d = 10**12
    for spectrum, longest in ((Geometric(0.5), 1100), (PowerLaw(60.0), 300_000)):
        last = spectrum.support(d)
        assert last < longest
        assert spectrum.eigenvalues(last, last + 1) == 0.0
    assert PowerLaw(1.0).support(d) == d


@pytest.mark.parametrize("exponent", [10.0, 110.0, 400.0, 1e110, 1e308])
@pytest.mark.parametrize("d", [1, 5, 1000, 1001, 10**6, 10**15])
def test_steep_power_laws_are_their_first_eigenvalues(exponent: float, d: int) -> None:
    """Σ j^−a ≤ 1 + 2^−a + 2^−a (a + 1)/(a − 1): terms that underflow are none."""
    first = PowerLaw(exponent).population(d).trace
    assert 1.0 <= first <= 1.0 + 4.0 * 2.0**-exponent
    assert PowerLaw(exponent).population(d).dinf == first


def test_effective_dimensions_have_no_unit() -> None:
    small, large = (Eigenvalues((unit, 2.0 * unit, 5.0 * unit)).population(3) for unit in (1e-149, 1e149))
    assert (small.d2, small.dinf) == pytest.approx((large.d2, large.dinf), rel=1e-14)


@cases
def test_a_spectrum_comes_back_from_its_plain_values(spectrum: Spectrum, values: Array) -> None:
    assert spectrum_from_dict(spectrum.as_dict()) == spectrum
    assert all(type(value) in (str, int, float, list) for value in spectrum.as_dict().values())


def test_a_spectrum_is_read_from_toml() -> None:
    text = 'kind = "blocks"\nparts = [[30, 120], [1.0, 9500]]'
    assert spectrum_from_dict(tomllib.loads(text)) == Blocks(((30.0, 120), (1.0, 9500)))


def made(maker: Callable[..., Spectrum], *values: Any) -> Callable[[], object]:
    return lambda: maker(*values)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            made(Isotropic, 0.0),
            "the eigenvalue of an isotropic spectrum must be a positive finite number from 1e-150 to .*; it is 0.0",
        ),
        (made(Spiked, 2.5, 3.0), "the number of spikes must be a whole number from 1 to"),
        (made(Spiked, 2, math.inf), "the size of a spike must be a positive finite number from .*; it is inf"),
        (made(Blocks, ((1.0, 0),)), "the size of a block must be a whole number from 1 to"),
        (made(Blocks, ((-1.0, 4),)), "an eigenvalue of a block that is not 0 must be a positive finite number"),
        (made(Blocks, (1.0, 2.0)), "needs pairs"),
        (made(Blocks, ((0.0, 5),)), "needs pairs"),
        (made(PowerLaw, -1.0), "the exponent of a power law must be a finite number that is not negative"),
        (made(PowerLaw, math.nan), "it is nan"),
        (made(Geometric, 1.0), "the ratio of a geometric spectrum must be between 0 and 1; it is 1.0"),
        (made(Eigenvalues, (1.0, math.nan)), "a given spectrum is a list of finite eigenvalues"),
        (made(Isotropic, 1e-320), "from 1e-150 to"),
        (made(Spiked, 1, 1e-320), "from 1e-150 to"),
        (made(Blocks, ((1e-320, 3),)), "from 1e-150 to"),
        (made(Blocks, ((None, 3), (1.0, 2))), "an eigenvalue of a block"),
        (made(Eigenvalues, (1e-320, 0.0)), "the largest from 1e-150 to"),
        (made(Eigenvalues, (1e300, 0.0)), "the largest from 1e-150 to"),
        (made(Eigenvalues, (0.0, 0.0)), "not all zero"),
        (made(Eigenvalues, ("a", 1.0)), "a given spectrum is a list of finite eigenvalues"),
        (lambda: Spiked(5, 2.0).require(4), "5 spikes need as many features; there are 4"),
        (lambda: Blocks(((1.0, 3),)).require(4), "the blocks of the spectrum have 3 eigenvalues for 4 features"),
        (lambda: Eigenvalues((1.0,)).require(2), "the given spectrum has 1 eigenvalues for 2 features"),
        (
            lambda: spectrum_from_dict({"kind": "flat"}),
            r"spectrum\.kind 'flat' is not known; known are isotropic, power-law",
        ),
        (lambda: spectrum_from_dict({"kind": "power-law"}), r"spectrum\.exponent is missing"),
        (
            lambda: spectrum_from_dict({"kind": "isotropic", "size": 1}),
            r"spectrum\.size: the field 'size' is not known; known are value",
        ),
    ],
)
def test_what_is_no_spectrum_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()
