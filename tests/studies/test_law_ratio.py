"""A ratio tends to 1 where it is there, or on its way without bending; nothing else passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from study_rows import fail, study_rows

from relubias.errors import ArgumentError
from relubias.studies.fit import LawRatio, law_ratio
from relubias.studies.law_ratio import fewest_for_interval

D, R = "problem.n_features", "n/d"
SIZES = [10**3, 10**4, 10**5, 10**6, 10**7]


def ratio_of(factor: Callable[[Any], Any], *, seed: int = 0, noise: str = "normal", scatter: float = 0.02) -> LawRatio:
    """The verdict on y = factor(d) · prediction, prediction = 3 d^(−½)."""
    rows = study_rows(
        {D: SIZES}, lambda rows: factor(rows[D]) * 3.0 * rows[D] ** -0.5, noise=noise, scatter=scatter, seed=seed
    )
    return law_ratio(
        rows.assign(law=3.0 * rows[D] ** -0.5), y="gap.absolute", prediction="law", x=D, resamples=1000, rng=seed
    )


@pytest.mark.parametrize("noise", ["normal", "cauchy"])
def test_an_exact_law_passes_as_often_as_stated_and_each_interval_covers(noise: str) -> None:
    found = [ratio_of(lambda d: 1.0, seed=seed, noise=noise) for seed in range(500)]
    assert binomtest(sum(one.consistent is True for one in found), 500, 0.95, alternative="less").pvalue > 1e-3
    hits = sum(ratio.contains(1.0) for one in found for ratio in one.ratios)
    assert binomtest(hits, 2500, 0.95, alternative="less").pvalue > 1e-3
    assert binomtest(hits, 2500, 0.99, alternative="greater").pvalue > 1e-3


@pytest.mark.parametrize("factor", [0.97, 1.03, 1.1])
def test_a_wrong_constant_is_rejected(factor: float) -> None:
    found = [ratio_of(lambda d: factor, seed=seed) for seed in range(100)]
    assert sum(one.consistent is not False for one in found) <= 5


def test_trials_too_few_to_tell_decide_nothing() -> None:
    """Under so much noise a ratio of 1.1 cannot be told from 1, and is not called consistent either."""
    found = [ratio_of(lambda d: 1.1, seed=seed, scatter=1.0) for seed in range(100)]
    assert sum(one.consistent is True for one in found) <= 5
    undecided = next(one for one in found if one.consistent is None)
    assert not undecided.reached
    assert "is not decided to be 1 or not as problem.n_features → ∞" in undecided.message
    assert "the interval is wider than 10 % around 1" in undecided.message


def test_the_margin_is_what_a_ratio_is_shown_to_be_within() -> None:
    rows = study_rows({D: SIZES}, lambda rows: rows[D] ** -0.5, scatter=0.02)
    told = [
        law_ratio(rows.assign(law=rows[D] ** -0.5), y="gap.absolute", prediction="law", x=D, margin=margin).consistent
        for margin in (0.1, 1e-4)
    ]
    assert told == [True, None]


@pytest.mark.parametrize("margin", [0.0, 1.0, -0.1, float("nan"), "wide"])
def test_a_margin_is_between_0_and_1(margin: Any) -> None:
    rows = study_rows({D: SIZES}, lambda rows: rows[D] ** -0.5)
    with pytest.raises(ArgumentError, match="margin must be a number between 0 and 1"):
        law_ratio(rows, y="gap.absolute", prediction="gap.absolute", x=D, margin=margin)


def test_a_next_term_is_no_contradiction_and_its_exponent_is_found() -> None:
    found = ratio_of(lambda d: 1.0 - 20.0 * d**-0.5, scatter=1e-4)
    assert not found.reached
    assert found.approaching
    assert found.trend is not None
    assert found.trend.contains(-0.5)
    assert found.lack_of_fit is not None
    assert found.lack_of_fit > 0.05
    assert "consistent with 1 as problem.n_features → ∞" in found.message


def test_a_shrinking_distance_to_another_limit_is_rejected() -> None:
    found = ratio_of(lambda d: 1.1 + d**-0.5, scatter=1e-3)
    assert found.trend is not None
    assert found.trend.high < 0  # it shrinks, significantly
    assert found.lack_of_fit is not None
    assert found.lack_of_fit < 0.05  # but bends
    assert found.consistent is False


def test_a_growing_distance_is_rejected() -> None:
    found = ratio_of(lambda d: 1.0 + 1e-3 * d**0.3)
    assert not found.consistent
    assert "inconsistent" in found.message


def test_towards_zero_is_towards_infinity_in_the_inverse() -> None:
    rows = study_rows({D: SIZES}, lambda rows: (1.0 - 20.0 * rows[D] ** -0.5) * rows[D] ** -0.5, scatter=1e-4)
    rows[R] = 100.0 / rows[D]

    def law(rows: pd.DataFrame) -> pd.Series:
        return rows[D] ** -0.5

    up = law_ratio(rows, y="gap.absolute", prediction=law, x=D)
    down = law_ratio(rows, y="gap.absolute", prediction=law, x=R, towards="zero")
    assert up.ratios == down.ratios
    assert up.consistent
    assert down.consistent
    assert up.trend is not None
    assert down.trend is not None
    assert down.trend.value == pytest.approx(-up.trend.value)
    assert down.prediction == "law"
    assert not law_ratio(rows, y="gap.absolute", prediction=law, x=R).consistent  # the wrong way


def test_a_ratio_of_1_to_rounding_has_no_trend() -> None:
    found = ratio_of(lambda d: 1.0, scatter=0.0)
    assert found.trend is None
    assert found.lack_of_fit is None
    assert found.consistent


def test_cells_left_out_are_counted() -> None:
    rows = study_rows({D: SIZES}, lambda rows: rows[D] ** -0.5)
    rows = fail(rows, [0, 1], "memory", "gap.absolute").assign(law=rows[D] ** -0.5)
    rows.loc[5, "law"] = 0.0
    found = law_ratio(rows, y="gap.absolute", prediction="law", x=D)
    assert found.tally.dropped == {"failed": 2, "with an infinite gap.absolute / law": 1}
    assert found.trials.tolist() == [17, 20, 20, 20, 20]


@pytest.mark.parametrize(("confidence", "trials"), [(0.5, 2), (0.9, 5), (0.95, 6), (0.99, 8), (1 - 2.0**-9, 10)])
def test_the_fewest_trials_of_an_interval(confidence: float, trials: int) -> None:
    assert fewest_for_interval(confidence) == trials


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"towards": "two"}, "'infinity' or 'zero'"),
        ({"prediction": lambda rows: 1.0}, "one number a row"),
        ({"prediction": "claw"}, "no column 'claw'"),
        ({"confidence": 1.0 - 2.0**-30}, "0 usable values"),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict[str, Any], message: str) -> None:
    rows = study_rows({D: SIZES}, lambda rows: rows[D] ** -0.5)
    usual: dict[str, Any] = {"y": "gap.absolute", "prediction": lambda rows: rows[D] ** -0.5, "x": D}
    with pytest.raises(ArgumentError, match=message):
        law_ratio(rows, **(usual | options))


def test_a_coordinate_without_a_logarithm_is_refused() -> None:
    rows = study_rows({"c": [0, 1, 2]}, lambda rows: np.ones(len(rows)))
    with pytest.raises(ArgumentError, match="not positive"):
        law_ratio(rows, y="gap.absolute", prediction=lambda rows: np.ones(len(rows)), x="c")
