"""Runs on disk: every bit comes back, and a loaded run goes on as the saved one would have."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from helpers import random_problem

from relubias import ArgumentError, DataError, Network, Problem, Run, Status, gradient_descent, starts
from relubias.state import State


def finished(until: int | None) -> Run:
    problem = random_problem(12, 60, seed=3)
    network = Network.single()
    return gradient_descent(problem, network, starts.gaussian(problem, network, rng=1, orthogonal=True), until=until)


def assert_same(one: object, other: object) -> None:
    """Every field equal to the bit; records are compared field by field."""
    assert type(one) is type(other)
    for field in dataclasses.fields(one):  # type: ignore[arg-type]
        left, right = getattr(one, field.name), getattr(other, field.name)
        if field.name == "features":
            continue  # features stay where they came from
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, field.name
            assert np.array_equal(left, right), field.name
        elif dataclasses.is_dataclass(left) and field.name != "activation":
            assert_same(left, right)
        else:
            assert left == right, field.name


@pytest.mark.parametrize("until", [None, 7], ids=["limit", "seven steps"])
def test_a_run_comes_back_to_the_bit(until: int | None, tmp_path: Path) -> None:
    run = finished(until)
    again = Run.load(run.save(tmp_path / "run.npz"))
    assert again.state.orthogonal is not None
    assert_same(run, again)


def test_the_comparison_of_these_tests_sees_a_changed_bit() -> None:
    run = finished(until=7)
    primal = run.state.primal.copy()
    primal[0, 0] = np.nextafter(primal[0, 0], 2.0)
    with pytest.raises(AssertionError, match="primal"):
        assert_same(run, dataclasses.replace(run, state=dataclasses.replace(run.state, primal=primal)))


def test_a_loaded_run_goes_on_as_the_saved_one_would_have(tmp_path: Path) -> None:
    run = finished(until=7)
    again = Run.load(run.save(tmp_path / "run.npz"))
    assert np.array_equal(again.continue_(until=40).state.primal, run.continue_(until=40).state.primal)
    assert again.continue_().at_limit


def test_a_run_without_resume_is_loaded_and_cannot_go_on(tmp_path: Path) -> None:
    run = dataclasses.replace(finished(until=7), resume=None)
    again = Run.load(run.save(tmp_path / "run.npz"))
    with pytest.raises(ArgumentError, match="cannot be continued"):
        again.continue_()


def test_infinities_and_large_steps_survive(tmp_path: Path) -> None:
    run = finished(until=7)
    odd = dataclasses.replace(run, stable_step=np.inf, steps=10**18, dead={0: 10**18}, at_zero=((0, 3),))
    again = Run.load(odd.save(tmp_path / "run.npz"))
    assert (again.stable_step, again.steps, again.dead, again.at_zero) == (np.inf, 10**18, {0: 10**18}, ((0, 3),))


def test_a_cycle_comes_back(tmp_path: Path) -> None:
    # One sample at exactly the edge of stability: the residual changes sign at every step.
    problem = Problem.from_gram([[1.0]], [1.0])
    network = Network.single()
    run = gradient_descent(problem, network, State.from_dual(problem, network, [0.75]), step_size=2.0)
    assert run.status is Status.CYCLING
    assert run.cycle is not None
    assert_same(run, Run.load(run.save(tmp_path / "run.npz")))


def test_a_problem_is_not_taken_for_a_run(tmp_path: Path) -> None:
    path = random_problem(3, 5, seed=0).save(tmp_path / "problem.npz")
    with pytest.raises(DataError, match="holds a problem, not a run"):
        Run.load(path)
