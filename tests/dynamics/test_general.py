"""Gradient descent by its definition: the recursion in n-vectors is that of the weights, for everything it trains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import assert_close, ill_conditioned, random_problem

from relubias import starts, step_sizes
from relubias.activations import _ALL, Activation, activation
from relubias.dynamics import general_iterate
from relubias.dynamics.descent import gradient_descent
from relubias.dynamics.general import general_descent
from relubias.dynamics.general_iterate import GeneralIterate
from relubias.dynamics.run import Run
from relubias.errors import ArgumentError, StartError
from relubias.losses import SQUARED, Loss, loss
from relubias.network import Network
from relubias.problem import Problem
from relubias.state import State
from relubias.status import Status

SIGNS = [1, 1, -1]
ACTIVATIONS = [entry.name for entry in _ALL]
LOSSES = ["squared", "huber", "log-cosh", "logistic", "absolute"]


def slow_descent(start: State, ell: Loss, eta: float, steps: int) -> tuple[Any, Any]:
    """Full-batch gradient descent on the weights, from its definition."""
    features, y, sigma = start.problem.features, start.problem.labels, start.network.activation
    w, a = start.weights(), start.output_weights
    for _ in range(steps):
        pre = w @ features.T
        pull = ell.slope(a @ sigma.value(pre), y)
        step = a[:, None] * sigma.slope(pre) * pull @ features
        a = a - eta * sigma.value(pre) @ pull if start.network.train_output else a
        w = w - eta * step
    return w, a


@pytest.mark.parametrize("train_output", [False, True])
@pytest.mark.parametrize("ell", LOSSES)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_dual_descent_is_descent_on_the_weights(name: str, ell: str, train_output: bool) -> None:
    problem = random_problem(8, 30, seed=1)
    network = Network.of_signs(SIGNS, activation=name, train_output=train_output)
    start = starts.gaussian(problem, network, scale=0.3, rng=2, orthogonal=True)
    run = gradient_descent(problem, network, start, loss=ell, until=200)
    weights, outer = slow_descent(start, loss(ell), run.step_size, 200)
    assert run.steps == 200
    assert run.loss == ell
    assert_close(run.state.weights(), weights, relative=1e-10)
    assert_close(run.state.output_weights, outer, relative=1e-10)
    values = loss(ell).value(outer @ network.activation.value(weights @ problem.features.T), problem.labels)
    assert run.objective == pytest.approx(values.sum(), rel=1e-9)


@pytest.mark.parametrize("train_output", [False, True])
def test_without_features_and_through_a_factor_it_is_the_same(train_output: bool) -> None:
    problem = ill_conditioned(condition=1e10)
    assert problem.operator.factor is not None, "this problem is meant to be carried by a factor"
    network = Network.of_signs(SIGNS, activation="gelu", train_output=train_output)
    start = starts.gaussian(problem, network, scale=0.3, rng=0)
    run = gradient_descent(problem, network, start, loss="huber", until=300)
    weights, outer = slow_descent(start, loss("huber"), run.step_size, 300)
    assert_close(run.state.primal, weights @ problem.features.T, relative=1e-10)
    assert_close(run.state.output_weights, outer, relative=1e-10)


@pytest.mark.parametrize("name", ["relu", "leaky-relu", "absolute"])
def test_where_the_exact_loop_applies_plain_steps_agree_with_it(name: str) -> None:
    problem = random_problem(12, 60, seed=4)
    network = Network.pair(activation=name)
    start = starts.gaussian(problem, network, rng=0)
    steps = 60 if name == "absolute" else 500  # later it chatters, where rounding decides
    exact = gradient_descent(problem, network, start, until=steps)
    plain = general_descent(start, SQUARED, exact.step_size, until=steps, record=None, budget=1e9)
    assert_close(plain.state.primal, exact.state.primal, relative=1e-12)
    assert plain.events.tolist() == exact.events.tolist()
    assert np.array_equal(plain.last_change, exact.last_change)
    assert plain.pattern_changes == exact.pattern_changes > 0


@pytest.mark.parametrize(("name", "ell", "train_output"), [("tanh", "squared", False), ("relu", "log-cosh", True)])
def test_pieces_equal_the_whole_bit_by_bit_also_from_a_file(
    name: str, ell: str, train_output: bool, tmp_path: Path
) -> None:
    problem = random_problem(10, 50, seed=5)
    network = Network.pair(activation=name, train_output=train_output)
    start = starts.gaussian(problem, network, rng=1)
    whole = gradient_descent(problem, network, start, loss=ell, until=100, record=[0, 7, 60, 100])
    half = gradient_descent(problem, network, start, loss=ell, until=33, record=[0, 7])
    half.save(tmp_path / "run.npz")
    for piece in (half, Run.load(tmp_path / "run.npz")):
        further = piece.continue_(until=100, record=[60, 100])
        assert np.array_equal(further.state.primal, whole.state.primal)
        assert np.array_equal(further.state.output_weights, whole.state.output_weights)
        assert further.events.tolist() == whole.events.tolist()
        assert further.trajectory is not None
        assert whole.trajectory is not None
        for field in ("times", "primal", "dual", "loss", "norms"):
            assert np.array_equal(getattr(further.trajectory, field), getattr(whole.trajectory, field))
        assert further.objective == whole.objective
        assert further.loss == ell
        assert (further.trajectory.outer is not None) == train_output
    with pytest.raises(ArgumentError, match="cannot go back"):
        half.continue_(until=3)


def test_the_trajectory_has_the_loss_in_use() -> None:
    problem = random_problem(10, 50, seed=5)
    network = Network.pair(activation="silu", train_output=True)
    run = gradient_descent(problem, network, starts.gaussian(problem, network, rng=1), loss="huber", record="log")
    assert run.status is Status.CONVERGED
    assert run.trajectory is not None
    assert run.trajectory.loss[-1] == pytest.approx(run.objective, abs=1e-20)
    first = loss("huber").total(run.start.predictions, problem.labels)
    assert run.trajectory.loss[0] == pytest.approx(first, rel=1e-12)
    assert first != pytest.approx(run.start.loss, rel=0.01), "the two losses are meant to differ"


@pytest.mark.parametrize("train_output", [False, True])
@pytest.mark.parametrize("ell", ["squared", "huber", "log-cosh"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_default_step_comes_to_rest(name: str, ell: str, train_output: bool) -> None:
    problem = random_problem(12, 120, seed=6)
    network = Network.of_signs([1, 1, -1, -1], activation=name, train_output=train_output)
    start = starts.gaussian(problem, network, scale=0.3, rng=0)
    run = gradient_descent(problem, network, start, loss=ell, budget=5e4)
    exact = ell == "squared" and not train_output and activation(name).slope_below is not None
    assert run.at_limit if exact else run.status is Status.CONVERGED, run.message
    assert run.step_size <= run.stable_step
    further = run.state if exact else run.continue_(until=2 * run.steps).state
    assert_close(further.primal, run.state.primal, relative=1e-10)


def test_slow_motion_is_not_taken_for_rest() -> None:
    problem = random_problem(12, 120, seed=6)
    network = Network.single(activation="softplus")
    start = starts.gaussian(problem, network, rng=0)
    step = 1e-9 * step_sizes.stable(problem, network)
    assert gradient_descent(problem, network, start, step_size=step, budget=5000).status is Status.BUDGET


def test_a_tiny_neuron_that_grows_is_not_taken_for_rest() -> None:
    problem = random_problem(12, 120, seed=6)
    network = Network.pair(train_output=True)
    start = starts.balanced(problem, network, scale=1e-30, aligned=True, rng=0)
    run = gradient_descent(problem, network, start, step_size=0.1 * step_sizes.stable(problem, network, start=start))
    assert run.status is Status.CONVERGED
    assert np.all(run.interpolated)


def test_the_absolute_loss_cycles_and_the_step_is_the_width() -> None:
    problem = random_problem(8, 400, seed=2)
    network = Network.single(activation="identity")
    start = starts.gaussian(problem, network, rng=0)
    wide = gradient_descent(problem, network, start, loss="absolute")
    narrow = gradient_descent(problem, network, start, loss="absolute", step_size=wide.step_size / 4)
    for run in (wide, narrow):
        assert run.status is Status.CYCLING
        assert run.cycle is not None
        again = run.continue_(until=run.steps + 3 * run.cycle.period)
        assert np.array_equal(again.state.primal, run.state.primal)
    assert wide.cycle is not None
    assert narrow.cycle is not None
    assert narrow.cycle.amplitude < 0.5 * wide.cycle.amplitude


def test_whole_turns_of_a_cycle_are_skipped_to_the_same_state() -> None:
    problem = random_problem(8, 400, seed=2)
    network = Network.single(activation="identity")
    run = gradient_descent(problem, network, starts.gaussian(problem, network, rng=0), loss="absolute")
    assert run.cycle is not None
    far = 10**15 + 1
    there = run.continue_(until=far, budget=10 * run.cost)
    offset = (far - run.steps) % run.cycle.period
    near = run.continue_(until=run.steps + offset)
    assert there.status is Status.REACHED
    assert there.steps == far
    assert np.array_equal(there.state.primal, near.state.primal)


def test_a_cycle_of_both_layers_has_the_mean_of_both() -> None:
    """f = u² with u ← u − η u (u² − 1): beyond the edge of stability, η = 1, it tends to a cycle of two states."""
    problem = Problem.from_features([[1.0]], [1.0])
    network = Network.single(activation="identity", train_output=True)
    start = starts.from_dual(problem, network, [[0.5]], outer=[0.5])
    run = gradient_descent(problem, network, start, step_size=1.1, budget=2e5)
    assert run.status is Status.CYCLING
    assert run.cycle is not None
    assert run.cycle.outer is not None
    period = run.cycle.period
    last = run.continue_(until=run.steps + period, record=range(run.steps + 1, run.steps + period + 1)).trajectory
    assert last is not None
    assert last.outer is not None
    assert_close(last.outer.mean(axis=0), run.cycle.outer, relative=1e-12)


def test_a_network_whose_neurons_are_all_off_is_at_its_limit() -> None:
    problem = Problem.from_features(np.eye(3), [1.0, 1.0, -1.0])
    network = Network.single(activation="squared-relu")
    start = starts.from_dual(problem, network, [0.1, -1.0, -1.0])
    run = gradient_descent(problem, network, start, step_size=100.0)
    assert run.status in (Status.DEAD, Status.DIVERGED, Status.CONVERGED, Status.CYCLING)
    off = starts.from_dual(problem, network, [-1.0, -1.0, 0.5])
    dead = gradient_descent(problem, network, off, step_size=1.0)
    assert dead.status is Status.DEAD
    assert dead.dead == {0: 1}
    assert dead.at_limit
    assert "2 labels that could be fitted are not" in dead.message


def test_zero_samples_move_nothing() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(6, 20))
    features[2] = 0.0
    problem = Problem.from_features(features, [1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    network = Network.single(activation="softplus")
    run = gradient_descent(problem, network, starts.gaussian(problem, network, rng=0), until=50)
    weights, _ = slow_descent(run.start, SQUARED, run.step_size, 50)
    assert abs(run.state.dual[0, 2]) < 1e-14
    assert run.state.primal[0, 2] == 0.0
    assert_close(run.state.weights(), weights, relative=1e-12)


def test_too_large_a_step_is_called_so_and_no_number_is_infinite() -> None:
    problem = random_problem(8, 30, seed=1)
    for name in ("squared-relu", "softplus", "identity"):
        network = Network.pair(activation=name, train_output=True)
        start = starts.gaussian(problem, network, scale=1.0, rng=2)
        run = gradient_descent(problem, network, start, step_size=3.0)
        assert run.status is Status.DIVERGED
        assert np.all(np.isfinite(run.state.primal))
        assert np.all(np.isfinite(run.state.output_weights))


def test_logistic_training_has_no_end_and_the_budget_says_so() -> None:
    problem = random_problem(10, 100, seed=3)
    network = Network.pair(activation="gelu")
    run = gradient_descent(problem, network, starts.gaussian(problem, network, rng=0), loss="logistic", budget=3000)
    assert run.status is Status.BUDGET
    assert np.all(run.state.predictions * problem.labels > 0)
    assert run.continue_().objective < run.objective


def test_an_activation_and_a_loss_of_your_own_are_one_record_each() -> None:
    sine = Activation("sine", np.sin, np.cos, lambda size: 1.0, lowest=-1.0)
    quartic = Loss("quartic", lambda f, y: 0.25 * (f - y) ** 4, lambda f, y: (f - y) ** 3, lambda y: 12.0)
    problem = random_problem(6, 30, seed=0)
    network = Network.pair(activation=sine)
    start = starts.gaussian(problem, network, scale=0.5, rng=0)
    run = gradient_descent(problem, network, start, loss=quartic, until=100)
    weights, _ = slow_descent(start, quartic, run.step_size, 100)
    assert_close(run.state.weights(), weights, relative=1e-10)
    assert run.loss == "quartic"
    assert run.continue_(until=200).steps == 200
    assert run.objective == pytest.approx(quartic.total(run.state.predictions, problem.labels))


def test_an_interrupt_keeps_a_state_that_was_really_had(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(10, 50, seed=5)
    network = Network.pair(activation="tanh")
    start = starts.gaussian(problem, network, rng=1)

    def stop(progress: Any) -> None:
        raise KeyboardInterrupt

    run = gradient_descent(problem, network, start, loss="logistic", progress=stop)
    assert run.status is Status.INTERRUPTED
    assert 0 < run.steps <= 1000
    straight = gradient_descent(problem, network, start, loss="logistic", until=run.steps)
    assert np.array_equal(straight.state.primal, run.state.primal)


def test_the_budget_counts_steps() -> None:
    problem = random_problem(10, 50, seed=5)
    network = Network.pair(activation="tanh")
    start = starts.gaussian(problem, network, rng=1)
    run = gradient_descent(problem, network, start, loss="logistic", budget=1234)
    assert (run.status, run.steps, run.cost) == (Status.BUDGET, 1234, 1234.0)
    assert run.continue_(budget=10).steps == 1244


def test_starts_that_cannot_move_are_refused() -> None:
    problem = random_problem(6, 30, seed=0)
    zero = np.zeros((1, 6))
    with pytest.raises(StartError, match="zero weights can never move"):
        starts.from_dual(problem, Network.single(activation="squared-relu"), zero)
    with pytest.raises(StartError, match="gradient is exactly zero"):
        starts.from_dual(problem, Network.single(activation="tanh", train_output=True), zero, outer=[0.0])
    moving = starts.from_dual(problem, Network.single(activation="tanh"), zero)
    assert gradient_descent(problem, moving.network, moving, until=1).state.norm > 0


def test_an_unknown_loss_is_refused_before_anything_runs() -> None:
    problem = random_problem(6, 30, seed=0)
    start = starts.gaussian(problem, Network.single(), rng=1)
    with pytest.raises(ArgumentError, match="loss='mse' is not known"):
        gradient_descent(problem, Network.single(), start, loss="mse")


def test_equal_units_give_equal_runs() -> None:
    """X → cX with η → η/c² leaves β alone; the default step does that by itself."""
    problem = random_problem(8, 30, seed=1)
    network = Network.of_signs(SIGNS, activation="softplus")
    for factor in (1e-6, 1e6):
        scaled = Problem.from_features(factor * problem.features, problem.labels)
        one = gradient_descent(problem, network, starts.gaussian(problem, network, rng=0), loss="log-cosh", until=300)
        two = gradient_descent(scaled, network, starts.gaussian(scaled, network, rng=0), loss="log-cosh", until=300)
        assert_close(two.state.primal, one.state.primal, relative=1e-9)


def test_reasons_are_told_apart() -> None:
    """A walker that stands still says why, and a copy goes its own way."""
    problem = Problem.from_features(np.eye(2), [1.0, 2.0])
    network = Network.single(activation="squared-relu")
    start = starts.from_dual(problem, network, [1.0, 2.0**0.5])
    iterate = GeneralIterate.begin(start, SQUARED, 0.01)
    twin = iterate.copy()
    assert iterate.advance(3) in (general_iterate.STEPS, general_iterate.RETURNED)
    assert twin.steps == 0
    assert json.dumps(network.as_dict())
