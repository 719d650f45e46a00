"""Components have the distributions that their names say, of mean zero and variance one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.stats
from helpers import Array

from relubias.population import Population
from relubias.sampling.features import LogNormal, Rademacher, SparseSigns, StudentT, TruncatedNormal, Uniform
from relubias.sampling.law import IndependentComponents
from relubias.sampling.spectra import PowerLaw

COUNT = 20_000


def components(law: IndependentComponents) -> Array:
    return law.standardised(np.random.default_rng(0), (COUNT // 8, 8)).ravel()


def truncated(bound: float) -> Any:
    return scipy.stats.truncnorm(-bound, bound, scale=1 / scipy.stats.truncnorm(-bound, bound).std())


def log_normal(sigma: float) -> Any:
    law = scipy.stats.lognorm(sigma)
    return scipy.stats.lognorm(sigma, loc=-law.mean() / law.std(), scale=1 / law.std())


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (Uniform(5), scipy.stats.uniform(-math.sqrt(3), 2 * math.sqrt(3))),
        (TruncatedNormal(5, 0.01), truncated(0.01)),
        (TruncatedNormal(5, 1.5), truncated(1.5)),
        (TruncatedNormal(5, 8.0), scipy.stats.norm()),
        (StudentT(5, 3.0), scipy.stats.t(3, scale=math.sqrt(1 / 3))),
        (StudentT(5, 1.0), scipy.stats.cauchy()),
        (LogNormal(5, 0.5), log_normal(0.5)),
    ],
)
def test_continuous_components_have_their_distribution(law: IndependentComponents, expected: Any) -> None:
    assert scipy.stats.kstest(components(law), expected.cdf).pvalue > 1e-3
    assert scipy.stats.kstest(1.1 * components(law), expected.cdf).pvalue < 1e-3


def test_truncated_components_end_at_the_bound() -> None:
    law = TruncatedNormal(5, 1.0)
    largest = 1 / scipy.stats.truncnorm(-1, 1).std()
    assert 0.999 * largest < np.abs(components(law)).max() <= largest * (1 + 1e-12)


@pytest.mark.parametrize(
    ("law", "chances"),
    [
        (Rademacher(5), {-1.0: 0.5, 1.0: 0.5}),
        (SparseSigns(5, 0.25), {-2.0: 0.125, 0.0: 0.75, 2.0: 0.125}),
        (SparseSigns(5, 1.0), {-1.0: 0.5, 1.0: 0.5}),
    ],
)
def test_discrete_components_have_their_values_and_chances(
    law: IndependentComponents, chances: dict[float, float]
) -> None:
    values, counts = np.unique(components(law), return_counts=True)
    assert list(values) == list(chances)
    expected = COUNT * np.array(list(chances.values()))
    assert scipy.stats.chisquare(counts, expected).pvalue > 1e-3
    shifted = expected + 0.02 * COUNT * np.where(values == values[0], 1, -1 / (len(values) - 1))
    assert scipy.stats.chisquare(counts, shifted).pvalue < 1e-3


def test_an_odd_number_of_signs_is_drawn() -> None:
    signs = Rademacher(5).standardised(np.random.default_rng(0), (3, 5))
    assert signs.shape == (3, 5)
    assert set(signs.ravel()) == {-1.0, 1.0}


def test_the_trace_is_infinite_where_components_have_no_variance() -> None:
    finite = PowerLaw(1.0).population(50)
    tailed = Population(finite.trace, finite.d2, finite.dinf, sub_gaussian=False, independent=True)
    assert StudentT(50, 2.1, spectrum=PowerLaw(1.0)).population == tailed
    assert StudentT(50, 2.0, spectrum=PowerLaw(1.0)).population == replace(tailed, trace=math.inf)


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (Rademacher(5), True),
        (Uniform(5), True),
        (TruncatedNormal(5, 3.0), True),
        (SparseSigns(5, 1.0), True),
        (SparseSigns(5, 0.1), True),
        (SparseSigns(5, 0.05), False),
        (StudentT(5, 30.0), False),
        (LogNormal(5, 0.1), False),
    ],
)
def test_tails_are_told_by_the_norm_of_the_components(law: IndependentComponents, expected: bool) -> None:
    """E exp(z²/t²) ≤ 2 at t² = 16/3, twice that of a Gaussian; with heavy tails the mean has no limit at any t."""
    assert law.population.sub_gaussian is expected
    if not isinstance(law, StudentT | LogNormal):
        mean = np.mean(np.exp(3.0 / 16.0 * np.square(components(law))))
        assert bool(mean <= 2.0) is expected
