"""Samples that coincide are never told apart by rounding."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import random_problem

from relubias import Network, Problem, gradient_descent, starts, step_sizes
from relubias.dynamics.stepping import Iterate
from relubias.dynamics.twins import leaders
from relubias.status import Status

ONE = Network.single()


def with_twins(seed: int, conflict: bool) -> Problem:
    """Three samples that coincide, with equal labels or not."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(12, 30))
    features[[5, 9]] = features[2]
    labels = np.where(np.arange(12) % 2, 1.0, -1.0)
    labels[[2, 5, 9]] = (1.0, -1.0, 1.0) if conflict else (1.0, 1.0, 1.0)
    return Problem.from_features(features, labels)


def test_each_sample_points_at_the_first_one_like_it() -> None:
    first = leaders(with_twins(0, conflict=False))
    assert first is not None
    assert first.tolist() == [0, 1, 2, 3, 4, 2, 6, 7, 8, 2, 10, 11]


def test_samples_that_are_only_alike_are_no_twins() -> None:
    assert leaders(random_problem(10, 30, 0)) is None
    features = np.random.default_rng(0).normal(size=(6, 40))
    features[3] = features[1] + 1e-5 * np.random.default_rng(1).normal(size=40)
    assert leaders(Problem.from_features(features, np.ones(6))) is None


@pytest.mark.parametrize("conflict", [False, True])
def test_twins_have_the_same_bits_on_the_way_and_at_the_end(conflict: bool) -> None:
    problem = with_twins(1, conflict)
    start = starts.gaussian(problem, ONE, rng=0)
    iterate = Iterate.begin(start, 1.0 / problem.operator.largest)
    iterate.advance(500, (np.inf, np.inf))
    runs = [gradient_descent(problem, ONE, start, until=t).state for t in (1, 300, 10**7)]
    for primal in (
        iterate.primal,
        *(state.primal for state in runs),
        gradient_descent(problem, ONE, start).state.primal,
    ):
        assert primal[0, 2] == primal[0, 5] == primal[0, 9]


def test_labels_that_cancel_tend_to_the_kink_and_make_no_cycle_of_rounding() -> None:
    """Two equal samples with labels +1 and −1: least squares is β = 0, which exact training approaches from above."""
    features = np.array([[1.0, 0.3], [1.0, 0.3], [-0.2, 1.0]])
    problem = Problem.from_features(features, [1.0, -1.0, 1.0])
    start = starts.gaussian(problem, ONE, rng=0, scale=0.1)
    for fraction in (0.3, 0.5, 0.7, 0.9):
        step = step_sizes.stable(problem, ONE, fraction=fraction)
        run = gradient_descent(problem, ONE, start, step_size=step, budget=1e5)
        assert run.certified, (fraction, run)
        assert run.state.predictions == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)
        if fraction == 0.3:  # larger steps jump across the kink and stay there
            assert run.status is Status.CERTIFIED_DEGENERATE
            assert run.at_zero == ((0, 0), (0, 1))


def test_a_return_that_rounding_makes_is_not_called_a_cycle() -> None:
    """Samples on one line, so that the signs of all of them agree; rounding makes one of them differ."""
    problem = Problem.from_features(np.array([[0.1], [0.2], [0.3]]), [3.0, 0.0, -1.0])
    start = starts.from_weights(problem, ONE, [[0.5]])
    run = gradient_descent(problem, ONE, start, step_size=1.0 / problem.operator.largest, budget=1e4)
    assert run.status is not Status.CYCLING
    assert run.cycle is None
