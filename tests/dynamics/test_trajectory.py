"""Trajectories are the states of separate runs, whether steps were taken or leapt over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import assert_close, ill_conditioned, random_problem

from relubias import starts
from relubias.dynamics.descent import gradient_descent
from relubias.dynamics.trajectory import logarithmic
from relubias.errors import ArgumentError
from relubias.network import Network
from relubias.problem import Problem
from relubias.status import Status

ONE = Network.single()


def test_logarithmic_steps_start_one_by_one_and_end_at_the_last() -> None:
    times = logarithmic(10**6)
    assert times[:6] == [0, 1, 2, 3, 4, 5]
    assert times[-1] == 10**6
    assert times == sorted(set(times))
    assert len(times) < 150
    assert logarithmic(0) == [0]


def test_recorded_states_equal_separate_runs_bit_by_bit_where_steps_are_plain() -> None:
    problem = random_problem(25, 40, seed=0)
    start = starts.all_active(problem, ONE)
    times = [0, 1, 7, 100, 180]
    run = gradient_descent(problem, ONE, start, until=180, record=times)
    assert run.trajectory is not None
    assert list(run.trajectory.times) == times
    for time, primal in zip(times, run.trajectory.primal, strict=True):
        alone = gradient_descent(problem, ONE, start, until=time)
        assert np.array_equal(primal, alone.state.primal)


@pytest.mark.parametrize("until", [None, 10**9])
def test_recorded_states_equal_separate_runs_where_steps_are_leapt_over(until: int | None) -> None:
    samples = ill_conditioned(condition=1e5, seed=3)
    labels = np.where(np.arange(28) % 9 == 4, 0.0, np.abs(samples.labels))
    problem = Problem.from_features(samples.features, labels)
    start = starts.all_active(problem, ONE)
    times = [3, 500, 5_000, 100_000, 137_971, 137_972, 200_000, 10**7, 10**9]
    run = gradient_descent(problem, ONE, start, until=until, record=times)
    assert run.trajectory is not None
    assert list(run.trajectory.times) == times
    for index, time in enumerate(times):
        alone = gradient_descent(problem, ONE, start, until=time)
        assert_close(run.trajectory.primal[index], alone.state.primal, relative=1e-8)
        assert run.trajectory.loss[index] == pytest.approx(alone.state.loss, rel=1e-5, abs=1e-12)
        assert run.trajectory.norms[index] == pytest.approx(alone.state.norms, rel=1e-6)
    assert_close(run.trajectory.primal[-1], run.state.primal, relative=1e-6)


def test_recording_changes_no_run() -> None:
    problem = ill_conditioned(n=15, d=20, condition=1e4)
    start = starts.all_active(problem, ONE)
    plain = gradient_descent(problem, ONE, start)
    recorded = gradient_descent(problem, ONE, start, record="log")
    assert recorded.status is plain.status
    assert recorded.stabilised_at == plain.stabilised_at
    assert np.array_equal(recorded.events, plain.events)
    assert_close(recorded.state.primal, plain.state.primal, relative=1e-12)


def test_a_logarithmic_record_follows_the_run_into_its_limit() -> None:
    problem = random_problem(20, 60, seed=1)
    run = gradient_descent(problem, ONE, starts.all_active(problem, ONE), record="log").require_limit()
    assert run.trajectory is not None
    assert run.trajectory.times[-1] > run.steps
    assert_close(run.trajectory.primal[-1], run.state.primal, relative=1e-9)
    assert np.array_equal(run.trajectory.pattern[-1], run.state.pattern)
    assert run.trajectory.loss[0] > run.trajectory.loss[-1]


def test_a_dead_neuron_stays_where_it_died() -> None:
    problem = Problem.from_gram(np.eye(2), [-1.0, -2.0])
    start = starts.all_active(problem, ONE, scale=0.1)
    run = gradient_descent(problem, ONE, start, step_size=1.0, record=[0, 1, 50])
    assert run.trajectory is not None
    assert list(run.trajectory.times) == [0, 1, 50]
    assert np.array_equal(run.trajectory.primal[1], run.trajectory.primal[2])


def test_a_cycle_is_recorded_as_long_as_asked() -> None:
    problem = Problem.from_features(np.array([[1.0]]), [1.0])
    start = starts.all_active(problem, ONE, scale=0.5)
    run = gradient_descent(problem, ONE, start, step_size=2.0, record=[0, 1, 2, 1001, 10**6])
    assert run.status is Status.CYCLING
    assert run.trajectory is not None
    assert list(run.trajectory.primal.ravel()) == [0.5, 1.5, 0.5, 1.5, 0.5]


def test_the_trajectory_of_a_continued_run_goes_on() -> None:
    problem = random_problem(25, 40, seed=0)
    start = starts.all_active(problem, ONE)
    whole = gradient_descent(problem, ONE, start, until=150, record=[5, 100, 150])
    first = gradient_descent(problem, ONE, start, until=50, record=[5])
    pieces = first.continue_(until=150, record=[100, 150])
    assert whole.trajectory is not None
    assert pieces.trajectory is not None
    assert np.array_equal(pieces.trajectory.times, whole.trajectory.times)
    assert np.array_equal(pieces.trajectory.primal, whole.trajectory.primal)


@pytest.mark.parametrize(
    ("record", "said"), [("linear", "not known"), ([1.5], "whole numbers"), ([-1], "whole"), ([99], "until=50")]
)
def test_steps_that_make_no_sense_are_refused(record: Any, said: str) -> None:
    problem = random_problem(5, 10, seed=0)
    with pytest.raises(ArgumentError, match=said):
        gradient_descent(problem, ONE, starts.all_active(problem, ONE), until=50, record=record)
