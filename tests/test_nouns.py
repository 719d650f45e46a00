"""Arguments of the wrong kind are told what they should have been."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers import random_problem

import relubias
from relubias import Network, starts, step_sizes
from relubias.errors import ArgumentError

PROBLEM, ONE = random_problem(6, 20, 0), Network.single()
START = starts.all_active(PROBLEM, ONE)
RUN = relubias.gradient_descent(PROBLEM, ONE, START, until=2)
X = np.ones((3, 4))
ANY: Any = X

CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "analyze arrays": (lambda: relubias.analyze(ANY, ANY), "problem is a ndarray"),
    "analyze a path": (lambda: relubias.analyze("data.csv"), "problem is a str"),  # type: ignore[arg-type]
    "analyze a named network": (lambda: relubias.analyze(PROBLEM, "pair"), "network is a str"),  # type: ignore[arg-type]
    "analyze a named start": (lambda: relubias.analyze(PROBLEM, ONE, "gaussian"), "start is a str"),  # type: ignore[arg-type]
    "descent": (lambda: relubias.gradient_descent(ANY, ONE, START), "problem is a ndarray"),
    "flow": (lambda: relubias.gradient_flow(PROBLEM, ONE, ANY), "start is a ndarray"),
    "minimum_norm": (lambda: relubias.minimum_norm(ANY, ONE), "problem is a ndarray"),
    "certify weights": (lambda: relubias.certify(PROBLEM, ONE, ANY), "state is a ndarray"),
    "compare": (lambda: relubias.compare(ANY), "problem is a ndarray"),
    "gap": (lambda: relubias.gap(RUN, ANY), "gap compares a Run or a State with a MinimumNorm"),
    "all_active": (lambda: starts.all_active(ANY, ONE), "problem is a ndarray"),
    "gaussian": (lambda: starts.gaussian(PROBLEM, ANY, rng=0), "network is a ndarray"),
    "stable": (lambda: step_sizes.stable(PROBLEM, ANY), "network is a ndarray"),
    "relative": (lambda: step_sizes.relative(ANY), "problem is a ndarray"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_noun_of_the_wrong_kind_is_named_with_the_way_to_make_one(name: str) -> None:
    call, said = CALLS[name]
    with pytest.raises(ArgumentError, match=said):
        call()


def test_a_start_of_another_problem_is_refused() -> None:
    with pytest.raises(ArgumentError, match="belongs to another problem"):
        relubias.analyze(random_problem(6, 20, 1), ONE, START)


def test_weights_and_predictions_are_at_hand_on_runs_and_references() -> None:
    star = relubias.minimum_norm(PROBLEM, ONE)
    assert np.array_equal(RUN.weights(), RUN.state.weights())
    assert np.array_equal(star.weights(), star.state.weights())
    assert np.array_equal(RUN.predict(np.eye(20)), RUN.state.predict(np.eye(20)))
