"""Networks of several neurons: steps, stability, deaths and disjoint parts of the data."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import assert_close, random_problem, signed_labels, weight_space_descent

from relubias import starts, step_sizes
from relubias.dynamics.descent import gradient_descent
from relubias.network import Network
from relubias.problem import Problem
from relubias.status import Status

SIGNS = [[1, -1], [1, 1, -1, -1], [1, -1, 1, 1, -1, -1, 1, -1]]


@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("kind", ["gaussian", "all_active"])
def test_steps_of_many_neurons_equal_weight_space_descent(signs: list[int], kind: str) -> None:
    problem, network = random_problem(30, 100, seed=1), Network.of_signs(signs)
    start = starts.all_active(problem, network) if kind == "all_active" else starts.gaussian(problem, network, rng=2)
    weights, before = start.weights(), 0
    for until in (1, 10, 100, 1000):
        run = gradient_descent(problem, network, start, until=until)
        weights = weight_space_descent(
            problem.features, problem.labels, weights, np.array(signs, dtype=float), run.step_size, until - before
        )
        before = until
        assert_close(run.state.primal, weights @ problem.features.T, relative=1e-10)


@pytest.mark.parametrize("signs", SIGNS)
def test_the_certified_limit_of_many_neurons_is_where_long_plain_runs_go(signs: list[int]) -> None:
    problem, network = random_problem(20, 200, seed=3), Network.of_signs(signs)
    start = starts.gaussian(problem, network, rng=4)
    run = gradient_descent(problem, network, start).require_limit()
    weights = weight_space_descent(
        problem.features, problem.labels, start.weights(), np.array(signs, dtype=float), run.step_size, 4000
    )
    assert_close(run.state.primal, weights @ problem.features.T, relative=1e-8)


def test_the_stable_step_of_two_equal_neurons_is_half_that_of_one() -> None:
    problem, network = random_problem(20, 50_000, seed=5), Network.of_signs([1, 1])
    positive = Problem.from_features(problem.features, np.abs(problem.labels))
    start = starts.all_active(positive, network)
    bound = step_sizes.stable(positive, network, fraction=1.0)
    assert bound == pytest.approx(2 / (2 * positive.operator.largest))
    below = gradient_descent(positive, network, start, step_size=0.95 * bound).require_limit()
    assert np.all(below.interpolated)
    assert below.stable_step == pytest.approx(bound)
    above = gradient_descent(positive, network, start, step_size=1.05 * bound, until=20_000)
    assert not np.all(above.interpolated)
    far = gradient_descent(positive, network, start, step_size=1.5 * bound)
    assert far.status is Status.DEAD
    assert set(far.dead) == {0, 1}


def test_dead_neurons_are_named_one_by_one() -> None:
    """The third neuron starts without any active sample, the others share the work."""
    problem, network = random_problem(10, 100, seed=6), Network.of_signs([1, -1, 1])
    primal = starts.all_active(problem, network).primal.copy()
    primal[2] = -0.5
    start = starts.from_dual(problem, network, np.linalg.solve(problem.gram, primal.T).T)
    run = gradient_descent(problem, network, start).require_limit()
    assert run.dead == {2: 0}
    assert run.status is Status.CERTIFIED, "it was not needed: every label is fitted by the others"
    assert np.all(run.interpolated)


def test_two_neurons_decouple_at_high_dimension() -> None:
    problem, network = random_problem(50, 50_000, seed=7), Network.pair()
    run = gradient_descent(problem, network, starts.all_active(problem, network)).require_limit()
    assert np.array_equal(run.state.pattern[0], problem.labels > 0)
    assert np.array_equal(run.state.pattern[1], problem.labels < 0)
    assert np.all(run.interpolated)


def wishart(n: int, d: float, seed: int) -> Problem:
    """A Gaussian problem by Bartlett's triangle, so that d may be huge."""
    rng = np.random.default_rng(seed)
    lower = np.tril(rng.normal(size=(n, n)), -1) + np.diag(np.sqrt(rng.chisquare(d - np.arange(n))))
    return Problem.from_gram(lower @ lower.T, signed_labels(n, rng))


@pytest.mark.parametrize("d", [1e4, 1e6])
def test_a_disjoint_start_is_kept_if_deep_and_invaded_if_shallow(d: float) -> None:
    problem, network = wishart(100, d, seed=8), Network.of_signs([1, 1, 1, -1, -1, -1])
    depth = 3 * np.sqrt(100 / d) * np.abs(problem.labels).max()
    deep = starts.disjoint(problem, network, depth=depth)
    assert np.all(deep.pattern.sum(axis=0) == 1)
    kept = gradient_descent(problem, network, deep).require_limit()
    assert np.array_equal(kept.state.pattern, deep.pattern)
    assert kept.pattern_changes == 0
    assert np.all(kept.interpolated)
    shallow = gradient_descent(problem, network, starts.disjoint(problem, network, depth=0.0)).require_limit()
    assert not np.array_equal(shallow.state.pattern, deep.pattern)


def test_a_weight_space_run_from_a_disjoint_start_agrees() -> None:
    problem, network = random_problem(20, 400, seed=9), Network.of_signs([1, 1, -1, -1])
    start = starts.disjoint(problem, network)
    run = gradient_descent(problem, network, start, until=300)
    weights = weight_space_descent(
        problem.features, problem.labels, start.weights(), network.output_weights, run.step_size, 300
    )
    assert_close(run.state.primal, weights @ problem.features.T, relative=1e-10)
