"""The minimum norm given a pattern or a partition: against another formulation, and what it must contain."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import Half, least_norm, random_problem
from numpy.typing import NDArray

from relubias import Network, Problem, gradient_descent, minimum_norm, starts
from relubias.errors import ArgumentError
from relubias.references.lifting import fitted_labels
from relubias.state import State
from relubias.status import Optimality

Mask = NDArray[np.bool_]
MANY = Network.of_signs([1, 1, -1, -1])


def state_with(problem: Problem, network: Network, pattern: Mask) -> State:
    primal: NDArray[np.float64] = np.where(pattern, 1.0, -1.0)
    return State.from_dual(problem, network, np.linalg.solve(problem.gram, primal.T).T)


def in_weight_space(problem: Problem, network: Network, pattern: Mask) -> float:
    """The same program written in the weights of all neurons at once."""
    # Any features with this Gram matrix do: rows of a factor of it.
    features, m = np.linalg.cholesky(problem.gram), network.n_neurons
    equal: list[Half] = []
    below: list[Half] = []
    for i, wanted in enumerate(fitted_labels(network, pattern, problem.labels)):
        each = [np.kron(np.eye(m)[k], features[i]) for k in range(m)]
        active = np.flatnonzero(pattern[:, i])
        if len(active):
            equal.append((np.sum([network.signs[k] * each[k] for k in active], axis=0), float(wanted)))
        below += [(-each[k] if pattern[k, i] else each[k], 0.0) for k in range(m)]
    return least_norm(equal, below, m * features.shape[1])


@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_the_program_in_weight_space_for_any_pattern(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(6, 12, seed)
    network = Network.of_signs(rng.choice([-1, 1], int(rng.integers(1, 5))))
    pattern = rng.random((network.n_neurons, 6)) < 0.5
    star = minimum_norm(problem, network, of="pattern", state=state_with(problem, network, pattern))
    assert star.status is Optimality.OPTIMAL
    assert star.kkt.worst <= 1e-9
    assert star.norm == pytest.approx(in_weight_space(problem, network, pattern), rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(star.predictions, fitted_labels(network, pattern, problem.labels), atol=1e-12)
    assert np.all(np.where(pattern, star.state.primal >= 0, star.state.primal <= 0))


def test_a_limit_of_training_is_never_shorter_than_its_pattern_allows() -> None:
    problem = random_problem(20, 200, 0)
    run = gradient_descent(problem, MANY, starts.disjoint(problem, MANY)).require_limit()
    assert np.all(run.interpolated)
    star = minimum_norm(problem, MANY, of="pattern", state=run.state)
    assert star.status is Optimality.OPTIMAL
    assert run.state.norm > star.lower_bound


def test_one_neuron_in_the_pattern_of_its_solution_has_the_same_solution() -> None:
    problem = random_problem(20, 60, 0)
    star = minimum_norm(problem, Network.single())
    given = minimum_norm(problem, Network.single(), of="pattern", state=star.state)
    assert given.norm == pytest.approx(star.norm, rel=1e-12)
    np.testing.assert_allclose(given.state.dual, star.state.dual, atol=1e-12)


def test_a_partition_of_orthogonal_rows_is_the_sum_of_its_labels() -> None:
    labels = np.array([1.0, 2.0, -3.0, -0.5])
    problem = Problem.from_features(np.diag([1.0, 2.0, 1.0, 0.5]), labels)
    start = starts.disjoint(problem, MANY)
    star = minimum_norm(problem, MANY, of="partition", state=start)
    assert star.norm == pytest.approx(np.linalg.norm(labels / [1.0, 2.0, 1.0, 0.5]))
    assert np.array_equal(star.state.pattern, start.pattern)


def test_equal_neurons_that_share_a_load_divide_its_square() -> None:
    """So that the minimum given a partition is not the global one."""
    problem = Problem.from_features(np.eye(3), [1.0, 2.0, 0.5])
    network = Network.of_signs([1, 1])
    shared = minimum_norm(
        problem, network, of="pattern", state=state_with(problem, network, np.ones((2, 3), dtype=bool))
    )
    apart = minimum_norm(problem, network, of="partition", state=starts.disjoint(problem, network, depth=1.0))
    assert shared.norm**2 == pytest.approx(apart.norm**2 / 2)


def test_a_pattern_that_contradicts_itself_is_infeasible_and_the_samples_are_named() -> None:
    problem = Problem.from_features([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]], [1.0, 2.0, -1.0])
    primal = np.array([[1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]])
    state = State(problem, Network.pair(), np.zeros((2, 3)), primal, np.zeros(2))
    star = minimum_norm(problem, Network.pair(), of="pattern", state=state)
    assert star.status is Optimality.INFEASIBLE
    assert set(star.infeasible_rows) <= {0, 1}
    assert "given the pattern" in star.message


def test_a_state_is_needed_and_a_partition_has_one_neuron_a_sample() -> None:
    problem = random_problem(6, 12, 0)
    with pytest.raises(ArgumentError, match="needs a state whose pattern is given"):
        minimum_norm(problem, MANY, of="pattern")
    with pytest.raises(ArgumentError, match="row 1 is active in several neurons"):
        minimum_norm(problem, MANY, of="partition", state=starts.all_active(problem, MANY))
    crossed = state_with(problem, Network.pair(), np.array([problem.labels < 0, problem.labels > 0]))
    with pytest.raises(ArgumentError, match="neuron of the other sign"):
        minimum_norm(problem, Network.pair(), of="partition", state=crossed)
