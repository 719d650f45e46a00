"""Resampled medians are those of resampled trials; intervals of a median are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from study_rows import Array

from relubias.errors import ArgumentError
from relubias.studies.bootstrap import (
    checked_confidence,
    checked_resamples,
    median_interval,
    percentile,
    resampled_medians,
)


def slow_medians(values: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Draw whole resamples and take their medians."""
    return np.asarray(np.median(rng.choice(values, size=(resamples, len(values))), axis=1))


@pytest.mark.parametrize("trials", [1, 2, 5, 8, 21, 50])
def test_the_short_cut_draws_medians_of_whole_resamples(trials: int) -> None:
    values = np.sort(np.random.default_rng(trials).standard_normal(trials))
    quick = resampled_medians([values], 20_000, np.random.default_rng(1))[0]
    slow = slow_medians(values, 20_000, np.random.default_rng(2))
    assert set(np.round(quick, 12)) <= set(np.round(np.add.outer(values, values).ravel() / 2, 12))
    places = np.unique(np.concatenate([quick, slow]))
    counts = np.array([[np.count_nonzero(one == place) for place in places] for one in (quick, slow)])
    common = counts.sum(axis=0) >= 20
    table = np.column_stack([counts[:, common], counts[:, ~common].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] > 1:
        assert stats.chi2_contingency(table).pvalue > 1e-4


def test_a_wrong_rank_would_be_noticed() -> None:
    """The negative control of the test above: the middle of one value fewer has another distribution."""
    values = np.sort(np.random.default_rng(21).standard_normal(21))
    wrong = resampled_medians([values[1:]], 20_000, np.random.default_rng(1))[0]
    slow = slow_medians(values, 20_000, np.random.default_rng(2))
    assert stats.ks_2samp(wrong, slow).pvalue < 1e-8


def test_groups_are_resampled_independently() -> None:
    values = np.arange(21.0)
    one, other = resampled_medians([values, values], 4000, np.random.default_rng(0))
    assert abs(np.corrcoef(one, other)[0, 1]) < 4 / np.sqrt(4000)


@pytest.mark.parametrize("trials", [7, 12, 20, 41])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.98])
def test_the_interval_of_a_median_is_that_of_scipy(trials: int, confidence: float) -> None:
    values = np.sort(np.random.default_rng(trials).standard_normal(trials))
    ours = median_interval(values, confidence)
    theirs: Any = stats.quantile_test(values, q=0.0, p=0.5).confidence_interval(confidence)
    assert ours.value == np.median(values)
    # SciPy's rule for its upper end is wider by one value at times; never narrower than ours.
    assert theirs.low <= ours.low
    assert ours.high <= theirs.high


@pytest.mark.parametrize("trials", range(1, 60))
def test_the_interval_of_a_median_covers_as_promised_and_no_shorter_one_does(trials: int) -> None:
    interval = median_interval(np.arange(1.0, trials + 1), 0.95)
    if not np.isfinite(interval.low):
        assert 2 * 0.5**trials > 0.05
        return
    k = int(interval.low)
    assert interval.high == trials + 1 - k
    assert 2 * stats.binom.cdf(k - 1, trials, 0.5) <= 0.05
    assert 2 * stats.binom.cdf(k, trials, 0.5) > 0.05


def test_percentiles_are_those_of_the_draws() -> None:
    assert tuple(percentile(7.0, np.arange(1001.0), 0.9)) == pytest.approx((7.0, 50.0, 950.0))


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, float("nan"), True, "0.95"])
def test_a_confidence_that_is_no_probability_is_refused(confidence: float) -> None:
    with pytest.raises(ArgumentError, match="between 0 and 1"):
        checked_confidence(confidence)


@pytest.mark.parametrize("resamples", [0, 999, 1000.5, None])
def test_too_few_resamples_are_refused(resamples: int) -> None:
    with pytest.raises(ArgumentError, match="from 1000"):
        checked_resamples(resamples)
