"""Cycles are found, proven by the return of a state, and not confused with rounding."""

from __future__ import annotations

import numpy as np
from helpers import assert_close, gram_descent, random_problem

from relubias import starts
from relubias.dynamics.descent import gradient_descent
from relubias.errors import StartError
from relubias.network import Network
from relubias.problem import Problem
from relubias.status import Status

ONE = Network.single()


def test_the_edge_of_stability_oscillates_with_period_two() -> None:
    problem = Problem.from_features(np.array([[1.0]]), [1.0])
    run = gradient_descent(problem, ONE, starts.all_active(problem, ONE, scale=0.5), step_size=2.0)
    assert run.status is Status.CYCLING
    assert run.cycle is not None
    assert run.cycle.period == 2
    assert sorted(run.cycle.states.ravel()) == [0.5, 1.5]
    assert run.cycle.mean[0, 0] == 1.0
    assert run.stabilised_at is None


def test_fewer_features_than_samples_can_cycle() -> None:
    problem = random_problem(6, 3, seed=1)
    start = starts.gaussian(problem, ONE, rng=1)
    periods = set()
    for step in np.linspace(0.8, 1.2, 9) / problem.operator.largest:
        run = gradient_descent(problem, ONE, start, step_size=float(step), budget=1e5)
        if run.cycle is not None:
            periods.add(run.cycle.period)
            again = run.continue_(until=run.steps + 3 * run.cycle.period)
            assert_close(again.state.primal, run.state.primal, relative=1e-9)
            kept = run.cycle.states
            one = gradient_descent(problem, ONE, start, step_size=float(step), until=run.steps + 1)
            assert_close(one.state.primal, kept[1 % len(kept)], relative=1e-9)
    assert periods


def test_a_fixed_point_of_the_rounded_recursion_is_no_cycle() -> None:
    problem = Problem.from_gram(np.eye(2), [1.0, -1.0])
    run = gradient_descent(problem, ONE, starts.all_active(problem, ONE, scale=0.1), step_size=1.0)
    assert run.status is Status.CERTIFIED
    assert run.cycle is None


def test_turns_of_a_cycle_that_are_not_stepped_are_counted() -> None:
    """A cycle with changes of pattern, followed far with and without skipping its turns."""
    found = 0
    for seed in range(60):
        problem = random_problem(6, 3, seed)
        try:
            start = starts.gaussian(problem, ONE, rng=seed, scale=1.0)
        except StartError:
            continue
        run = gradient_descent(problem, ONE, start, budget=3e4)
        if run.cycle is None or run.pattern_changes == 0:
            continue
        found += 1
        until = run.steps + 7 * run.cycle.period + 3
        far = gradient_descent(problem, ONE, start, until=until)
        primal, changes = gram_descent(problem.gram, problem.labels, start.primal[0].copy(), run.step_size, until)
        assert far.pattern_changes == len(changes)
        assert far.last_change.max() == (changes[-1] if changes else 0)
        assert np.abs(far.state.primal[0] - primal).max() < 1e-9
        longer = gradient_descent(problem, ONE, start, until=until + 10**6 * run.cycle.period)
        assert_close(longer.state.primal, far.state.primal, relative=1e-9)
        assert longer.pattern_changes - far.pattern_changes == 10**6 * (
            gradient_descent(problem, ONE, start, until=until + run.cycle.period).pattern_changes - far.pattern_changes
        )
    assert found >= 2
