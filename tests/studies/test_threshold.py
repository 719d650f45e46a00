"""Thresholds: covered as often as the interval says, for curves of any shape, and bounded where trials bound them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import norm

from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.studies.fit import threshold


def extreme(x: Array) -> Array:
    """None of 500 normal numbers is above x√(2 ln 500)."""
    return np.asarray(norm.cdf(x * np.sqrt(2 * np.log(500))) ** 500)


CURVES: dict[str, tuple[Callable[[Array], Array], float]] = {
    "logistic": (lambda x: x**12 / (0.9**12 + x**12), 0.9),
    "extremes": (extreme, float(norm.ppf(0.5 ** (1 / 500)) / np.sqrt(2 * np.log(500)))),
    "jump": (lambda x: np.where(x > 0.87, 1.0, 0.0), 0.87),
}


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("confidence", [0.95, 0.99])
def test_the_interval_covers_the_threshold_as_often_as_it_says(name: str, confidence: float) -> None:
    curve, true = CURVES[name]
    rng, hits, values = np.random.default_rng(0), 0, []
    for _ in range(200):
        x = np.geomspace(0.5, 1.6, 100) * np.exp(0.02 * rng.standard_normal(100))
        found = threshold(x, rng.random(100) < curve(x), confidence=confidence)
        hits += found.contains(true)
        values.append(found.value)
    assert hits >= 200 * confidence - 2 * np.sqrt(200 * confidence * (1 - confidence))
    assert np.median(values) == pytest.approx(true, rel=0.02)


def test_another_threshold_is_not_covered() -> None:
    rng = np.random.default_rng(1)
    x = np.geomspace(0.5, 1.6, 400)
    found = threshold(x, rng.random(400) < extreme(x), confidence=0.99)
    assert not found.contains(0.75)
    assert not found.contains(0.95)


def test_separated_outcomes_bound_it_by_one_trial_more_on_each_side() -> None:
    x = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    found = threshold(x, [False, False, False, True, True, True])
    assert found.value == pytest.approx(np.sqrt(0.7 * 0.8))
    assert (found.low, found.high) == (0.6, 0.9)


def test_where_all_trials_end_alike_one_side_is_open() -> None:
    x = np.geomspace(0.5, 2.0, 30)
    assert threshold(x, np.ones(30, bool)).low == 0.0
    assert threshold(x, np.ones(30, bool)).high < 0.6
    assert threshold(x, np.zeros(30, bool)).high == np.inf


def test_trials_at_one_place_count_together() -> None:
    x = np.repeat([0.5, 1.0, 2.0], 40)
    success = np.concatenate([np.zeros(40), np.tile([0.0, 1.0], 20), np.ones(40)])
    found = threshold(x, success)
    assert found.value == pytest.approx(1.0)
    assert (found.low, found.high) == (0.5, 2.0)


def test_what_is_no_threshold_is_refused() -> None:
    with pytest.raises(ArgumentError, match="positive places"):
        threshold([0.0, 1.0], [False, True])
    with pytest.raises(ArgumentError, match=r"must be 0\.95 or 0\.99"):
        threshold([1.0], [True], confidence=0.9)
