"""Events that recur are recognised, and no others."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from numpy.typing import NDArray

from relubias.dynamics.recurrence import common_beginnings, period_of


def events(what: NDArray[np.int64], gaps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Events of the samples `what`, `gaps` steps apart."""
    zero = np.zeros(len(what), dtype=np.int64)
    return np.stack([np.cumsum(gaps), zero, what, zero + 1], axis=1)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=40))
def test_common_beginnings_are_what_their_definition_says(values: list[int]) -> None:
    z = common_beginnings(np.array(values, dtype=np.int64))
    for q in range(1, len(values)):
        length = 0
        while q + length < len(values) and values[length] == values[q + length]:
            length += 1
        assert z[q] == length


def test_a_period_is_counted_in_steps_and_is_the_shortest() -> None:
    what, gaps = np.array([0, 1, 2, 1]), np.array([3, 0, 5, 2])
    assert period_of(events(np.tile(what, 6), np.tile(gaps, 6))) == 10


def test_what_came_before_the_recurrence_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    what = np.concatenate([rng.integers(0, 5, 100), np.tile([0, 1, 2], 5)])
    gaps = np.concatenate([rng.integers(1, 9, 100), np.tile([3, 1, 4], 5)])
    assert period_of(events(what, gaps)) == 8


def test_the_same_samples_at_other_times_are_no_recurrence() -> None:
    what = np.tile([0, 1], 20)
    assert period_of(events(what, np.arange(1, 41))) is None


def test_two_repetitions_are_not_enough() -> None:
    rng = np.random.default_rng(1)
    once = rng.permutation(30)
    assert period_of(events(np.tile(once, 2), np.ones(60, dtype=np.int64))) is None
    assert period_of(events(np.tile(once, 4), np.ones(120, dtype=np.int64))) == 30


def test_no_event_is_no_recurrence() -> None:
    assert period_of(np.empty((0, 4), dtype=np.int64)) is None
