"""What newcomers tried first: objects are printed, pickled and called with the wrong things."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from helpers import random_problem

from relubias import Network, Problem, analyze, certify, gradient_descent, minimum_norm, starts
from relubias.dynamics.descent import Descent
from relubias.errors import ArgumentError
from relubias.status import Status

ONE = Network.single()


def test_every_record_prints_on_one_short_line() -> None:
    problem = random_problem(20, 60, seed=0)
    start = starts.all_active(problem, ONE)
    run = gradient_descent(problem, ONE, start, record="log")
    star = minimum_norm(problem, ONE)
    records = [problem, start, run, star, certify(problem, ONE, star.state), run.trajectory, analyze(problem)]
    for record in records:
        assert len(repr(record)) < 600
        assert "array(" not in repr(record)
        assert "\n" not in repr(record)


def test_networks_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Network.pair())) == Network.pair()


def test_column_names_of_a_pandas_table_are_kept() -> None:
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0], "c": [3.0, 1.0]})
    assert Problem.from_features(table, [1.0, -1.0]).feature_names == ("a", "b", "c")


def test_a_start_that_is_no_state_is_refused_with_the_remedy() -> None:
    problem = random_problem(5, 10, seed=0)
    with pytest.raises(ArgumentError, match=r"relubias\.starts"):
        gradient_descent(problem, ONE, np.ones(10))  # type: ignore[arg-type]


@pytest.mark.parametrize("step", [1e-25, 1e-300])
def test_steps_that_move_nothing_end_with_a_status(step: float) -> None:
    problem = random_problem(12, 60, seed=0)
    run = gradient_descent(problem, ONE, starts.all_active(problem, ONE), step_size=step, budget=1e6)
    assert run.status in (Status.BUDGET, Status.CERTIFIED, Status.CONVERGED)
    assert run.steps <= 10**18


def test_samples_that_never_changed_did_not_go_off() -> None:
    problem = Problem.from_gram(np.eye(4), [1.0, 0.0, -1.0, 0.0])
    start = starts.all_active(problem, ONE, scale=0.1)
    analysis = analyze(problem, ONE, start, dynamics=Descent(step_size=0.5))
    gone = [sentence for sentence in analysis.verdict if "went off" in sentence]
    assert gone == ["1 sample active at the start went off for the last time at step 1."] or "1 sample" in gone[0]


def test_standardising_is_not_advised_where_nothing_can_be_fitted() -> None:
    problem = random_problem(12, 60, seed=1)
    silent = Problem.from_features(np.abs(problem.features) + 5.0, -np.abs(problem.labels))
    verdict = " ".join(analyze(silent).verdict)
    assert "--centre-labels" in verdict
    assert "--preprocess standardise" not in verdict
