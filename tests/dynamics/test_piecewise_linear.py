"""Leaky ReLU, identity and absolute value have everything that the ReLU has: steps, leaps, certificates, cycles."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import assert_close, random_problem
from numpy.typing import NDArray

from relubias import starts
from relubias.dynamics.descent import gradient_descent
from relubias.network import Network
from relubias.problem import Problem
from relubias.status import Status

SLOPES = {"relu": 0.0, "leaky-relu": 0.01, "leaky-relu:0.3": 0.3, "identity": 1.0, "absolute": -1.0}
SIGNS = ([1], [1, -1], [1, 1, -1])
SIZES = ((10, 40), (10, 4))


def weight_space(
    problem: Problem, weights: NDArray[np.float64], network: Network, eta: float, steps: int
) -> NDArray[np.float64]:
    """Plain gradient descent from its definition; returns the pre-activations."""
    below, signs = SLOPES[network.activation.name], network.output_weights
    features = np.asarray(problem.features)
    for _ in range(steps):
        pre = weights @ features.T
        slopes = np.where(pre > 0, 1.0, below)
        residual = signs @ (slopes * pre) - problem.labels
        weights = weights - eta * signs[:, None] * ((residual * slopes) @ features)
    return np.asarray(weights @ features.T)


@pytest.mark.parametrize("name", SLOPES)
@pytest.mark.parametrize("signs", SIGNS, ids=str)
@pytest.mark.parametrize(("n", "d"), SIZES)
def test_steps_and_leaps_are_those_of_weight_space(name: str, signs: list[int], n: int, d: int) -> None:
    problem, network = random_problem(n, d, 3), Network.of_signs(signs, activation=name)
    start = starts.gaussian(problem, network, rng=1)
    for until in (1, 300, 20_000):
        run = gradient_descent(problem, network, start, until=until)
        primal = weight_space(problem, start.weights(), network, run.step_size, until)
        assert_close(run.state.primal, primal, relative=1e-10)
        assert_close(run.state.residual, network.output(primal) - problem.labels, relative=1e-9, scale=1.0)


@pytest.mark.parametrize("name", ["leaky-relu:0.3", "identity", "absolute"])
@pytest.mark.parametrize("signs", SIGNS[1:], ids=str)
@pytest.mark.parametrize(("n", "d"), SIZES)
def test_a_certified_limit_is_where_long_training_goes(name: str, signs: list[int], n: int, d: int) -> None:
    problem, network = random_problem(n, d, 3), Network.of_signs(signs, activation=name)
    start = starts.gaussian(problem, network, rng=1)
    run = gradient_descent(problem, network, start)
    assert run.certified
    primal = weight_space(problem, start.weights(), network, run.step_size, run.steps + 30_000)
    assert_close(run.state.primal, primal, relative=1e-9)


def test_the_identity_has_no_kink_and_goes_to_linear_regression_without_an_event() -> None:
    problem, network = random_problem(12, 40, 0), Network.single(activation="identity")
    start = starts.gaussian(problem, network, rng=0)
    run = gradient_descent(problem, network, start)
    assert run.status is Status.CERTIFIED
    assert run.pattern_changes == 0
    # From a start in the span of the samples the limit is the shortest interpolant.
    assert_close(run.state.primal[0], problem.labels, relative=1e-10)
    assert_close(run.state.weights()[0], np.linalg.pinv(np.asarray(problem.features)) @ problem.labels, relative=1e-9)


def test_a_leaky_neuron_fits_labels_of_both_signs() -> None:
    problem, network = random_problem(12, 40, 0), Network.single(activation="leaky-relu:0.3")
    run = gradient_descent(problem, network, starts.gaussian(problem, network, rng=0))
    assert run.status is Status.CERTIFIED
    assert run.interpolated.all()
    labels = problem.labels
    assert_close(run.state.primal[0], np.where(labels > 0, labels, labels / 0.3), relative=1e-9)
    assert run.dead == {}


def test_the_absolute_value_never_settles_at_a_negative_label() -> None:
    """β ← β − η|x|² (|β| − y) sign β jumps across the kink at every step: period 2."""
    problem, network = random_problem(10, 40, 3), Network.single(activation="absolute")
    run = gradient_descent(problem, network, starts.gaussian(problem, network, rng=1))
    assert run.status is Status.CYCLING
    assert run.cycle is not None
    assert run.cycle.period == 2
    flips = np.ptp((run.cycle.states[:, 0] > 0).astype(int), axis=0) > 0
    assert np.array_equal(flips, problem.labels < 0)


def test_the_absolute_value_fits_positive_labels_on_either_side() -> None:
    rng = np.random.default_rng(0)
    problem = Problem.from_features(rng.normal(size=(10, 40)), rng.uniform(0.5, 2.0, 10))
    network = Network.single(activation="absolute")
    run = gradient_descent(problem, network, starts.gaussian(problem, network, rng=1))
    assert run.status is Status.CERTIFIED
    assert run.interpolated.all()
    assert 0 < run.state.pattern.sum() < 10


@pytest.mark.parametrize("name", ["leaky-relu:0.3", "identity", "absolute"])
def test_a_factor_behind_the_operator_changes_nothing(name: str) -> None:
    rng = np.random.default_rng(4)
    left, _ = np.linalg.qr(rng.normal(size=(8, 8)))
    right, _ = np.linalg.qr(rng.normal(size=(30, 8)))
    features = (left * np.geomspace(1, 1e-6, 8)) @ right.T
    problem = Problem.from_features(features, rng.uniform(0.5, 2.0, 8))
    assert problem.operator.factor is not None
    network = Network.pair(activation=name)
    start = starts.gaussian(problem, network, rng=1)
    run = gradient_descent(problem, network, start, until=3000)
    assert_close(run.state.primal, weight_space(problem, start.weights(), network, run.step_size, 3000), relative=1e-8)
