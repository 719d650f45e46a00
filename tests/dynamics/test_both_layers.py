"""Both layers trained: what the flow conserves, what it tends to, and how gradient descent differs from it."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from helpers import Array, assert_close, random_problem
from scipy.integrate import solve_ivp

from relubias import starts
from relubias.dynamics.descent import gradient_descent
from relubias.dynamics.flow import gradient_flow
from relubias.dynamics.run import Run
from relubias.errors import ArgumentError, StartError
from relubias.network import Network
from relubias.problem import Problem
from relubias.state import State
from relubias.status import Status

BOTH = Network.of_signs([1, 1, -1, -1], train_output=True)


def orthogonal(n: int = 8, d: int = 16, seed: int = 1) -> Problem:
    """Orthonormal samples with labels of both signs."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(d, n)))
    labels = np.where(np.arange(n) % 2, 1.0, -1.0) * rng.uniform(0.5, 2.0, n)
    return Problem.from_features(basis.T, labels)


def variation_norm(state: State) -> float:
    """Σ_k |a_k| ‖w_k‖."""
    return float(np.abs(state.output_weights) @ state.norms)


def least_variation(problem: Problem) -> float:
    """S₊ + S₋ with S_±² = Σ y_i²/‖x_i‖² over one sign: the least variation norm of orthogonal samples."""
    shares = problem.labels**2 / problem.operator.diagonal
    return float(sum(np.sqrt(shares[sign * problem.labels > 0].sum()) for sign in (1, -1)))


def test_the_flow_conserves_the_balance_to_its_tolerance() -> None:
    problem = random_problem(8, 24, seed=0)
    for accuracy in (1e-8, 1e-11):
        run = gradient_flow(problem, BOTH, starts.gaussian(problem, BOTH, scale=0.5, rng=1), accuracy=accuracy)
        assert run.balance_drift is not None
        assert 0.0 < run.balance_drift < 1e3 * accuracy
        assert np.abs(run.start.balance).max() > 0.5, "this start is meant to be far from balance"


def test_descent_drifts_off_balance_in_proportion_to_its_step() -> None:
    problem = random_problem(8, 24, seed=0)
    start = starts.balanced(problem, BOTH, scale=0.3, rng=1)
    steps = np.array([400, 800, 1600, 3200])
    runs = [
        gradient_descent(problem, BOTH, start, step_size=4.0 / (t * problem.operator.largest), until=t) for t in steps
    ]
    drifts = [run.balance_drift or 0.0 for run in runs]
    order = -np.polyfit(np.log(steps), np.log(drifts), 1)[0]
    assert order == pytest.approx(1.0, abs=0.1)


def test_descent_tends_to_the_flow_in_proportion_to_its_step() -> None:
    problem = random_problem(8, 24, seed=0)
    start = starts.balanced(problem, BOTH, scale=0.3, rng=1)
    time = 4.0 / problem.operator.largest
    flow = gradient_flow(problem, BOTH, start, until=time)
    steps = np.array([400, 1600, 6400])
    apart = []
    for t in steps:
        run = gradient_descent(problem, BOTH, start, step_size=time / t, until=int(t))
        apart.append(float(np.abs(run.state.primal - flow.state.primal).max()))
    assert -np.polyfit(np.log(steps), np.log(apart), 1)[0] == pytest.approx(1.0, abs=0.15)


def smoothed_flow(start: State, until: float, width: float) -> tuple[Array, Array]:
    """Weights and output weights at a time, with the kink of the slope smoothed over `width`, by another integrator."""
    features, labels = start.problem.features, start.problem.labels
    shape = start.weights().shape

    def speed(_: float, values: Array) -> Array:
        weights, outer = values[: -shape[0]].reshape(shape), values[-shape[0] :]
        pre = weights @ features.T
        hidden = np.maximum(pre, 0)
        residual = outer @ hidden - labels
        moves = -(outer[:, None] * np.clip(pre / width, 0, 1) * residual) @ features
        return np.concatenate([moves.ravel(), -(hidden @ residual)])

    first = np.concatenate([start.weights().ravel(), start.output_weights])
    last = solve_ivp(speed, (0, until), first, method="LSODA", rtol=1e-11, atol=1e-13).y[:, -1]
    return last[: -shape[0]].reshape(shape), last[-shape[0] :]


@pytest.mark.parametrize("seed", [0, 1])
def test_events_and_slides_agree_with_a_smoothed_kink(seed: int) -> None:
    features = np.random.default_rng(3).normal(size=(4, 8)) / np.sqrt(8)
    problem = Problem.from_features(features, [1.0, -1.2, 0.7, -0.6])
    network = Network.of_signs([1, 1, -1], train_output=True)
    start = starts.balanced(problem, network, scale=0.3, rng=seed)
    run = gradient_flow(problem, network, start, until=12.0)
    assert run.at_zero, "a sample is meant to slide"
    apart = []
    for width in (1e-5, 1e-6):
        weights, outer = smoothed_flow(start, 12.0, width)
        apart.append(max(np.abs(weights - run.state.weights()).max(), np.abs(outer - run.state.output_weights).max()))
    assert apart[1] < 1e-6
    assert apart[0] / apart[1] == pytest.approx(10.0, rel=0.05), "what is left is the width of the smoothing"


def test_from_a_small_aligned_start_the_flow_tends_to_the_least_variation_norm() -> None:
    """Orthogonal samples (Boursier, Pillaud-Vivien, Flammarion 2022): w₊ = Σ y_i x_i/‖x_i‖² over positive labels, …"""
    problem = orthogonal()
    least = least_variation(problem)
    excess = []
    for scale in (1e-1, 1e-3, 1e-6, 1e-12):
        run = gradient_flow(problem, BOTH, starts.balanced(problem, BOTH, scale=scale, aligned=True, rng=0))
        assert run.status is Status.CONVERGED, run.message
        assert np.all(run.interpolated)
        excess.append(variation_norm(run.state) / least - 1)
    assert all(left > right for left, right in itertools.pairwise(excess))
    assert excess[0] < 0.15
    assert 0 < excess[-1] < 0.01
    # Together the neurons of one sign compute one neuron: Σ_k a_k w_k tends to w₊ and −w₋.
    joint = run.state.output_weights[:, None] * run.state.weights()
    for neurons, sign in (([0, 1], 1.0), ([2, 3], -1.0)):
        own = np.where(sign * problem.labels > 0, problem.labels, 0.0)
        closed = (own / problem.operator.diagonal) @ problem.features
        apart = np.linalg.norm(joint[neurons].sum(axis=0) - closed) / np.linalg.norm(closed)
        assert apart < 0.05


def test_a_start_that_no_neuron_aligns_stays_away_from_it() -> None:
    """The control: one neuron of each sign, active on some of its labels only, never fits the others."""
    problem = orthogonal()
    pair = Network.pair(train_output=True)
    start = starts.balanced(problem, pair, scale=1e-6, rng=0)
    assert not np.all(start.pattern[0][problem.labels > 0])
    run = gradient_flow(problem, pair, start)
    assert run.status is Status.CONVERGED
    assert not np.all(run.interpolated)


def test_the_smaller_the_step_the_nearer_descent_is_to_the_flow_s_limit() -> None:
    problem = orthogonal()
    start = starts.balanced(problem, BOTH, scale=1e-3, aligned=True, rng=0)
    flow = gradient_flow(problem, BOTH, start)
    first = gradient_descent(problem, BOTH, start)
    apart = []
    for fraction in (1.0, 0.25, 0.0625):
        run = gradient_descent(problem, BOTH, start, step_size=fraction * first.step_size)
        assert run.status is Status.CONVERGED
        apart.append(abs(variation_norm(run.state) - variation_norm(flow.state)))
    assert apart[0] > 2.5 * apart[1] > 2.5 * 2.5 * apart[2]


@pytest.mark.slow
def test_random_starts_reach_it_only_with_many_neurons() -> None:
    """Few neurons are rarely active on all labels of their sign."""
    problem = orthogonal()
    least = least_variation(problem)
    reached = {}
    for m in (2, 8, 32):
        network = Network.of_signs([1, -1] * (m // 2), train_output=True)
        runs = [gradient_flow(problem, network, starts.balanced(problem, network, rng=seed)) for seed in range(10)]
        good = [bool(np.all(run.interpolated)) and variation_norm(run.state) < 1.1 * least for run in runs]
        reached[m] = sum(good)
    assert reached[2] <= 2
    assert reached[32] > reached[2]


@pytest.mark.parametrize("name", ["relu", "leaky-relu:0.3", "identity"])
def test_stopping_and_going_on_is_going_at_once(name: str, tmp_path: Path) -> None:
    problem = random_problem(6, 20, seed=2)
    network = Network.pair(activation=name, train_output=True)
    start = starts.balanced(problem, network, scale=0.2, rng=0)
    time = 5.0 / problem.operator.largest
    whole = gradient_flow(problem, network, start, until=2 * time, record=[0.0, time / 2, time, 1.5 * time])
    half = gradient_flow(problem, network, start, until=time, record=[0.0, time / 2, time])
    assert (half.status, half.time) == (Status.REACHED, time)
    half.save(tmp_path / "run.npz")
    for piece in (half, Run.load(tmp_path / "run.npz")):
        further = piece.continue_(until=2 * time, record=[1.5 * time])
        assert further.time == 2 * time
        assert_close(further.state.primal, whole.state.primal, relative=1e-8)
        assert further.trajectory is not None
        assert whole.trajectory is not None
        assert further.trajectory.times.tolist() == whole.trajectory.times.tolist()
        assert_close(further.trajectory.primal, whole.trajectory.primal, relative=1e-8)
        assert_close(further.trajectory.outer, whole.trajectory.outer, relative=1e-8)
        assert len(further.events) == len(whole.events)
    with pytest.raises(ArgumentError, match="cannot go back"):
        half.continue_(until=time / 2)


def test_the_budget_ends_it_and_continue_goes_on() -> None:
    problem = random_problem(6, 20, seed=2)
    start = starts.balanced(problem, BOTH, rng=0)
    run = gradient_flow(problem, BOTH, start, max_events=10)
    assert run.status is Status.BUDGET
    assert run.cost == 10
    end = run.continue_(budget=10_000)
    assert end.status is Status.CONVERGED
    assert_close(end.state.primal, gradient_flow(problem, BOTH, start).state.primal, relative=1e-7)


def test_what_it_cannot_do_is_refused() -> None:
    problem = random_problem(6, 20, seed=2)
    start = starts.balanced(problem, BOTH, rng=0)
    with pytest.raises(ArgumentError, match="accuracy=0 must be a number"):
        gradient_flow(problem, BOTH, start, accuracy=0)
    for name in ("gelu", "absolute"):
        network = Network.pair(activation=name, train_output=True)
        with pytest.raises(ArgumentError, match="both layers is built for"):
            gradient_flow(problem, network, starts.gaussian(problem, network, rng=0))


def test_balanced_starts_are_balanced_and_as_large_as_asked() -> None:
    problem = random_problem(8, 24, seed=0)
    network = Network.of_signs([1, -1] * 200, train_output=True)
    start = starts.balanced(problem, network, scale=0.01, rng=3)
    assert_close(np.abs(start.output_weights), start.norms, relative=1e-12)
    assert np.array_equal(np.sign(start.output_weights), network.signs)
    natural = np.sqrt(np.linalg.norm(problem.labels) / np.sqrt(problem.operator.diagonal.mean()))
    assert np.sqrt(np.mean(start.norms**2)) == pytest.approx(0.01 * natural, rel=0.1)
    assert np.abs(start.balance).max() < 1e-12 * start.norm**2


@pytest.mark.parametrize("d", [24, 5])
def test_aligned_starts_are_aligned_also_with_few_features(d: int) -> None:
    problem = random_problem(6, d, seed=4)
    start = starts.balanced(problem, BOTH, aligned=True, rng=0)
    assert np.all(start.pattern[0][problem.labels > 0])
    assert np.all(start.pattern[2][problem.labels < 0])
    assert_close(problem.operator.matvec(start.dual.T).T, start.primal, relative=1e-10)
    assert np.abs(start.balance).max() < 1e-10 * start.norm**2


def test_alignment_that_is_impossible_is_refused_with_the_reason() -> None:
    problem = random_problem(6, 24, seed=4)
    with pytest.raises(StartError, match="3 labels are negative, but one positive neuron"):
        starts.balanced(problem, Network.single(train_output=True), aligned=True, rng=0)
    opposed = Problem.from_features([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], [1.0, 2.0, -1.0])
    with pytest.raises(StartError, match="active together"):
        starts.balanced(opposed, Network.pair(train_output=True), aligned=True, rng=0)
    with pytest.raises(ArgumentError, match="train_output=True"):
        starts.balanced(problem, Network.pair(), rng=0)
    with pytest.raises(ArgumentError, match="scale must be"):
        starts.balanced(problem, BOTH, scale=-1.0, rng=0)


def test_output_weights_are_part_of_the_state() -> None:
    problem = random_problem(5, 12, seed=1)
    network = Network.pair(train_output=True)
    dual = np.random.default_rng(0).normal(size=(2, 5))
    state = State.from_dual(problem, network, dual, outer=[0.5, -3.0])
    hidden = np.maximum(dual @ problem.gram, 0)
    assert_close(state.predictions, 0.5 * hidden[0] - 3.0 * hidden[1], relative=1e-12)
    assert_close(state.predict(problem.features), state.predictions, relative=1e-12)
    again = State.from_arrays(problem, network, state.to_arrays())
    assert np.array_equal(again.output_weights, [0.5, -3.0])
    assert_close(state.balance, np.array([0.25, 9.0]) - state.norms**2, relative=1e-12)
    with pytest.raises(ArgumentError, match="train_output=True"):
        State.from_dual(problem, Network.pair(), dual, outer=[0.5, -3.0])
    with pytest.raises(ArgumentError, match="2 finite numbers"):
        State.from_dual(problem, network, dual, outer=[0.5])
