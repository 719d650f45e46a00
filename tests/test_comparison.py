"""The gap between a state and a reference, against explicit weights."""

from __future__ import annotations

import json

import numpy as np
import pytest
from helpers import random_problem

from relubias import gradient_descent, starts
from relubias.comparison import gap
from relubias.dynamics.run import EVENT, Run
from relubias.errors import ArgumentError
from relubias.network import Network
from relubias.problem import Problem
from relubias.references import minimum_norm
from relubias.state import State
from relubias.status import Status

SINGLE = Network.single()


def mixed_problem(seed: int = 0, n: int = 12, d: int = 40) -> Problem:
    rng = np.random.default_rng(seed)
    return Problem.from_features(rng.standard_normal((n, d)), np.where(np.arange(n) % 2, 1.0, -1.0))


def run_that_ended_in(state: State) -> Run:
    return Run(
        problem=state.problem,
        network=state.network,
        start=state,
        step_size=0.1,
        status=Status.REACHED,
        message="as asked.",
        state=state,
        steps=1,
        stabilised_at=None,
        pattern_changes=0,
        events=np.zeros(0, dtype=EVENT),
        events_dropped=0,
        last_change=np.zeros(state.primal.shape, dtype=np.int64),
        dead={},
        at_zero=(),
        stable_step=1.0,
        cost=1.0,
        budget=1.0,
    )


@pytest.mark.parametrize("of", ["global", "linear"])
@pytest.mark.parametrize("sign", [1, -1])
def test_is_the_distance_of_the_weights_and_of_the_predictions(of: str, sign: int) -> None:
    problem, network = mixed_problem(), Network.single(sign=sign)
    star = minimum_norm(problem, network, of=of)
    weights = np.random.default_rng(1).standard_normal(40)
    state = State.from_weights(problem, network, weights)
    found = gap(state, star)
    reference = star.state.weights()[0]
    assert found.absolute == pytest.approx(np.linalg.norm(weights - reference), rel=1e-10)
    assert found.relative == pytest.approx(found.absolute / np.linalg.norm(reference), rel=1e-10)
    np.testing.assert_allclose(found.per_neuron, [found.absolute])
    linear = problem.features @ reference
    expected = sign * (linear if of == "linear" else np.maximum(linear, 0.0))
    difference = sign * np.maximum(problem.features @ weights, 0.0) - expected
    assert found.prediction == pytest.approx(np.abs(difference).max(), rel=1e-9)
    assert f"{found.absolute:.4g}" in found.message
    assert "% of its norm" in found.message


def test_a_run_counts_by_its_state() -> None:
    problem = mixed_problem()
    star = minimum_norm(problem, SINGLE)
    state = State.from_dual(problem, SINGLE, np.random.default_rng(2).standard_normal(12))
    assert gap(run_that_ended_in(state), star).absolute == gap(state, star).absolute


def test_the_reference_has_no_gap_to_itself() -> None:
    star = minimum_norm(mixed_problem(), SINGLE)
    found = gap(star.state, star)
    assert found.absolute == found.relative == found.prediction == 0.0


def test_a_part_outside_the_span_known_by_its_norm_counts() -> None:
    problem = mixed_problem()
    star = minimum_norm(problem, SINGLE)
    state = State(problem, SINGLE, star.state.dual, star.state.primal, np.array([0.75]))
    assert gap(state, star).absolute == 0.75


def test_without_a_norm_there_is_no_relative_gap_and_a_sentence_says_so() -> None:
    problem = Problem.from_gram(np.eye(2), [-1.0, -2.0])
    found = gap(State.from_dual(problem, SINGLE, [3.0, 4.0]), minimum_norm(problem, SINGLE))
    assert found.absolute == pytest.approx(5.0)
    assert found.relative is None
    assert "w = 0, so there is no relative gap" in found.message
    assert json.loads(json.dumps(found.as_dict()))["relative"] is None


def test_the_same_problem_built_twice_is_the_same_problem() -> None:
    first, second = mixed_problem(), mixed_problem()
    assert gap(minimum_norm(first, SINGLE).state, minimum_norm(second, SINGLE)).absolute == 0.0


def test_different_problems_networks_and_infeasible_references_are_refused() -> None:
    problem, other = mixed_problem(), mixed_problem(seed=1)
    state = minimum_norm(problem, SINGLE).state
    with pytest.raises(ArgumentError, match="different problems"):
        gap(state, minimum_norm(other, SINGLE))
    with pytest.raises(ArgumentError, match="one positive neuron, the reference has one negative neuron"):
        gap(state, minimum_norm(problem, Network.single(sign=-1)))
    conflict = Problem.from_gram([[1.0, 1.0], [1.0, 1.0]], [1.0, 3.0])
    star = minimum_norm(conflict, SINGLE)
    with pytest.raises(ArgumentError, match=r"there is no reference to compare with: .*row 1, row 2"):
        gap(star.state, star)


def test_neurons_of_equal_sign_are_matched_whatever_their_order() -> None:
    problem = random_problem(8, 40, seed=0)
    network = Network.of_signs([1, -1, 1, -1])
    run = gradient_descent(problem, network, starts.disjoint(problem, network, depth=1.0))
    star = minimum_norm(problem, network, of="pattern", state=run.state)
    swapped = State.from_dual(problem, network, run.state.dual[[2, 3, 0, 1]])
    plain, other = gap(run, star), gap(swapped, star)
    assert plain.partners == (0, 1, 2, 3)
    assert other.partners == (2, 3, 0, 1)
    assert other.absolute == pytest.approx(plain.absolute, rel=1e-9)
    np.testing.assert_allclose(other.per_neuron, plain.per_neuron[[2, 3, 0, 1]], rtol=1e-9)
