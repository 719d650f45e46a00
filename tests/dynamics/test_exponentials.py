"""The first root of many sums of exponentials: none is stepped over, and what starts at zero is not found again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias.dynamics.exponentials import INFINITY, ExponentialSums


def sums(rates: list[float], start: list[float], weights: list[list[float]], contact: list[int]) -> ExponentialSums:
    size = len(start)
    return ExponentialSums(
        rates=np.array(rates),
        start=np.array(start),
        weights=np.array(weights),
        contact=np.array(contact, dtype=np.int8),
        floor=np.full(size, 1e-15),
        scale=np.full(size, 1e-15),
        spread=np.ones(len(rates)),
    )


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_the_first_root_is_that_of_a_dense_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rates = np.sort(10.0 ** rng.uniform(-3, 1, 6))
    weights = rng.normal(size=(5, 6)) * rates**0.5
    functions = sums(rates.tolist(), rng.uniform(0.1, 3.0, 5).tolist(), weights.tolist(), [0] * 5)
    found = functions.search(INFINITY)
    times = np.geomspace(1e-4, 1e6, 40_000)
    values = np.stack([functions.values(float(t)) for t in times])
    negative = np.flatnonzero((values < 0.0).any(axis=1))
    if len(found.rows):
        assert np.abs(functions.values(found.time, found.rows)).max() < 1e-12
        assert not len(negative) or found.time <= times[negative[0]]
        assert np.all(values[times < found.time * (1 - 1e-9)] >= 0.0)
    else:
        assert not len(negative)


@pytest.mark.parametrize("depth", [1e-4, 1e-8, 1e-11])
def test_a_pair_of_roots_however_close_is_not_stepped_over(depth: float) -> None:
    """f = e^{−2t} − e^{−t} + ¼ − depth = (e^{−t} − ½)² − depth dips below zero for a time of √depth only."""
    # f(0) − Σ M G with G = (1 − e^{−λt})/λ: e^{−λt} = 1 − λG.
    functions = sums([1.0, 2.0], [0.25 - depth], [[-1.0, 2.0]], [0])
    found = functions.search(INFINITY)
    assert found.rows.tolist() == [0]
    assert np.exp(-found.time) == pytest.approx(0.5 + np.sqrt(depth), abs=1e-13 / np.sqrt(depth))
    assert not len(sums([1.0, 2.0], [0.25 + depth], [[-1.0, 2.0]], [0]).search(INFINITY).rows)


def test_a_function_that_leaves_zero_returns_later() -> None:
    """f = t-like at first, e^{−t} − e^{−2t} − c(1 − e^{−2t})…: its root at 0 does not count."""
    functions = sums([1.0, 2.0], [0.0], [[1.0, -1.5]], [1])  # f = −(1 − e^{−t}) + ¾ (1 − e^{−2t})
    found = functions.search(INFINITY)
    assert np.exp(-found.time) == pytest.approx(1.0 / 3.0, rel=1e-12)


def test_a_double_zero_at_the_start_does_not_count_either() -> None:
    functions = sums([1.0, 2.0, 3.0], [0.0], [[-2.0, 3.0, -1.0]], [2])  # f′ = 2e^{−t} − 3e^{−2t} + e^{−3t} ≥ 0
    assert not len(functions.search(INFINITY).rows)
    falling = sums([1.0, 2.0, 3.0], [0.0], [[2.0, -3.0, 1.0]], [2])
    assert falling.search(INFINITY).time < 1e-3
