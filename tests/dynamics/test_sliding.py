"""The speeds at the kink against an enumeration of all ways to be on, off or sliding."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias import Problem
from relubias.dynamics.sliding import BoxProgram


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 5))
def test_the_box_program_is_the_only_consistent_choice(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(size + 3, 12))
    operator = Problem.from_features(features, np.ones(size + 3)).operator
    index = np.arange(size)
    rates = np.concatenate([np.zeros(size), rng.normal(size=3)])
    on = -rng.uniform(0.0, 0.5, size)
    off = on * rng.uniform(0.0, 0.9, size)
    guess = rng.integers(-1, 2, size).astype(np.int8)
    nothing = np.zeros(size, dtype=bool)
    found = BoxProgram(operator, index, rates, on, off, nothing, np.zeros(size)).solve(guess)
    wanted = enumerated(operator.gram, rates, on, off)
    assert len(wanted) == 1
    assert found.place.tolist() == wanted[0][0]
    assert found.speeds == pytest.approx(wanted[0][1], abs=1e-12)


def enumerated(
    gram: np.ndarray, rates: np.ndarray, on: np.ndarray, off: np.ndarray
) -> list[tuple[list[int], np.ndarray]]:
    """All choices of on (+1), off (−1), sliding (0) that agree with their own speeds."""
    size, good = len(on), []
    for places in itertools.product((1, 0, -1), repeat=size):
        place = np.array(places)
        moved = rates.copy()
        moved[:size] = np.where(place > 0, on, np.where(place < 0, off, 0.0))
        free = np.flatnonzero(place == 0)
        moved[free] = np.linalg.solve(gram[np.ix_(free, free)], -(gram @ moved)[free])
        speed, gradient = moved[:size], (gram @ moved)[:size]
        fits = np.where(place > 0, gradient > 0, np.where(place < 0, gradient < 0, (speed >= on) & (speed <= off)))
        if fits.all():
            good.append((list(places), speed))
    return good


def test_a_repelling_zero_goes_off_and_is_marked() -> None:
    operator = Problem.from_gram(np.eye(2), np.ones(2)).operator
    index, nothing = np.array([0]), np.zeros(1, dtype=bool)
    program = BoxProgram(operator, index, np.zeros(2), np.array([1.0]), np.array([0.0]), nothing, np.zeros(1))
    found = program.solve(np.array([0], dtype=np.int8))
    assert (found.place.tolist(), found.unique.tolist()) == ([-1], [False])
    pushed = Problem.from_gram(np.array([[1.0, 0.5], [0.5, 1.0]]), np.ones(2)).operator
    program = BoxProgram(pushed, index, np.array([0.0, 1.0]), np.array([1.0]), np.array([0.0]), nothing, np.zeros(1))
    found = program.solve(np.array([0], dtype=np.int8))
    assert (found.place.tolist(), found.unique.tolist()) == ([1], [True])
