"""Small instances with a known exact answer that rounding made hard."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import assert_close

from relubias import starts
from relubias.dynamics.descent import gradient_descent
from relubias.errors import StartError
from relubias.network import Network
from relubias.problem import Problem
from relubias.status import Status

ONE = Network.single()


def test_a_null_direction_that_carries_residual_is_never_divided_by() -> None:
    """Three rows in the plane, labels that contradict each other: the limit is the least-squares fit."""
    problem = Problem.from_features([[3.0, 4], [-2, 4], [-3, 4]], [2.0, 2, 0])
    start = starts.from_weights(problem, ONE, [0.25, 0.25])
    run = gradient_descent(problem, ONE, start).require_limit()
    assert_close(run.state.primal[0], np.array([67, 32, 25]) / 31, relative=1e-9)
    late = gradient_descent(problem, ONE, start, until=10**5)
    assert_close(late.continue_().state.primal, run.state.primal, relative=1e-9)


def test_rounding_of_an_inactive_sample_is_no_event() -> None:
    """The label of 0 is approached from above for ever: the last change is at step 4."""
    rows = [
        [1.0, -1, -1, -3, 3, -3, 1, -3, -2, 3],
        [-2, -2, 0, -1, 0, -3, 3, -2, 0, 3],
        [-3, 2, 2, 0, 1, 0, -2, -3, 3, -3],
        [1, -1, 2, 2, -1, -1, -2, -3, 2, -1],
        [3, -1, -3, 3, -2, -3, -3, -1, -2, -2],
    ]
    problem = Problem.from_features(np.array(rows), [-2.0, 2, 2, 0, -2])
    start = starts.all_active(problem, ONE, scale=1e-3)
    run = gradient_descent(problem, ONE, start, step_size=0.011393368982995191)
    assert run.stabilised_at == 4
    assert run.status is Status.CERTIFIED_DEGENERATE
    assert run.at_zero == ((0, 3),)


@pytest.mark.parametrize(
    ("gram", "labels", "signs", "step"),
    [([[3.0, 1], [1, 3]], [5.0, 6], [1], 0.5), ([[15.0, -3], [-3, 18]], [-1.0, -1], [-1, -1, 1], 1 / 19.854)],
)
def test_steps_at_the_edge_of_stability_end_with_a_status(
    gram: list[list[float]], labels: list[float], signs: list[int], step: float
) -> None:
    problem, network = Problem.from_gram(np.array(gram), labels), Network.of_signs(signs)
    start = starts.all_active(problem, network, scale=0.5)
    run = gradient_descent(problem, network, start, step_size=step, budget=1e5)
    assert run.message.endswith(".")
    assert np.all(np.isfinite(run.state.primal))


def test_a_fixed_point_at_the_edge_of_stability_is_no_crash() -> None:
    problem = Problem.from_gram(np.array([[3.0, 1], [1, 3]]), [5.0, 6])
    run = gradient_descent(problem, ONE, starts.from_dual(problem, ONE, [0.125, 0.125]), step_size=0.5)
    assert run.status in (Status.CYCLING, Status.CONVERGED)


def test_a_zero_sample_is_never_active() -> None:
    features = [[0.053, 0.526], [0, 0], [1.407, -0.333], [1.914, -0.077]]
    problem = Problem.from_features(np.array(features), [0.4, -0.25, -1.4, 0.13])
    network = Network.single(sign=-1)
    for seed in (1, 2, 4, 5):
        try:
            start = starts.gaussian(problem, network, rng=seed, scale=1.0)
        except StartError:
            continue
        assert start.primal[0, 1] == 0.0
        gradient_descent(problem, network, start, budget=1e5)


def test_nearly_equal_rows_with_different_labels_are_told_apart_by_the_features() -> None:
    first = np.array([2.0, -3, 1])
    problem = Problem.from_features([first, first + 1e-9 * np.array([1.0, 2, -1]), [1.0, 1, 2]], [1.0, 2, -1])
    assert problem.facts.rank == 3
    assert problem.facts.conflicts == ()


def test_rounding_noise_around_a_limit_is_no_cycle() -> None:
    """Labels of 1, motion of 1e-17."""
    problem = Problem.from_gram(np.eye(3) + 0.1, [0.0, 1.0, -1.0])
    network = Network.of_signs([1, 1, -1])
    run = gradient_descent(problem, network, starts.all_active(problem, network, scale=1e-6), budget=1e6)
    assert run.status is not Status.CYCLING


def test_a_neuron_that_comes_to_rest_on_the_kink_is_not_called_dead() -> None:
    """β₁ = ½ (1 − 13η)^t is positive for ever, until it underflows; its mirror image never comes on."""
    problem = Problem.from_features(np.array([[-2.0, 3], [2, -3]]), [0.0, 2])
    run = gradient_descent(problem, ONE, starts.from_weights(problem, ONE, [-0.25, 0.0]), step_size=0.75 / 13)
    assert run.status is Status.CERTIFIED_DEGENERATE
    assert (0, 0) in run.at_zero
    assert_close(run.state.primal, np.zeros((1, 2)), relative=1e-12, scale=1.0)
