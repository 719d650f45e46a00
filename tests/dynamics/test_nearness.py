"""When training comes near its certified limit."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import ill_conditioned, no_positive_label, random_problem

from relubias import Network, Problem, gradient_descent, starts
from relubias.dynamics.nearness import steps_to_limit

ONE = Network.single()


@pytest.mark.parametrize("fraction", [1e-1, 1e-2, 1e-6])
@pytest.mark.parametrize("problem", [random_problem(20, 30, 0), ill_conditioned(condition=1e6)], ids=["mild", "ill"])
def test_training_is_within_the_fraction_from_this_step_on_and_not_before(problem: Problem, fraction: float) -> None:
    start = starts.all_active(problem, ONE)
    run = gradient_descent(problem, ONE, start)
    step = steps_to_limit(run, fraction)
    assert step is not None
    assert step >= run.steps

    def distance(until: int) -> float:
        state = gradient_descent(problem, ONE, start, until=until).state
        return float(np.linalg.norm(state.weights() - run.state.weights())) / run.state.norm

    assert distance(step) <= fraction * 1.001
    if step > run.steps:
        assert distance(step - 1) > fraction * 0.999


def test_at_fraction_one_millionth_some_steps_are_still_to_come() -> None:
    problem = ill_conditioned(condition=1e6)
    run = gradient_descent(problem, ONE, starts.all_active(problem, ONE))
    far, near = steps_to_limit(run, 1e-6), steps_to_limit(run, 1e-1)
    assert far is not None
    assert near is not None
    assert far > near
    assert far > run.steps


def test_where_there_is_no_limit_or_no_norm_there_is_no_answer() -> None:
    problem = random_problem(20, 100, 0)
    start = starts.all_active(problem, ONE)
    assert steps_to_limit(gradient_descent(problem, ONE, start, until=3)) is None
    nothing = no_positive_label()
    run = gradient_descent(nothing, ONE, starts.all_active(nothing, ONE))
    assert run.at_limit
    assert steps_to_limit(run) in (None, run.steps)
