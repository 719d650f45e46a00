"""Gradient flow: cases solved by hand, an independent integrator, and laws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from flow_cases import small_start, smoothed_flow, unit_trace_problem
from helpers import assert_close, random_problem
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias import (
    ArgumentError,
    Network,
    Problem,
    Run,
    Status,
    gap,
    gradient_descent,
    gradient_flow,
    minimum_norm,
    starts,
)
from relubias.state import State

ONE = Network.single()


# Solved by hand


def test_one_negative_sample_comes_to_rest_on_the_kink() -> None:
    """β = (ε + |y|) e^{−κt} − |y| until it is zero; then nothing can move it."""
    problem = Problem.from_gram([[3.0]], [-2.0])
    run = gradient_flow(problem, ONE, starts.from_dual(problem, ONE, [0.5])).require_limit()
    assert run.events["time"] == pytest.approx([np.log(3.5 / 2.0) / 3.0], rel=1e-14)
    assert run.events["kind"].tolist() == [0]
    assert run.state.primal.tolist() == [[0.0]]
    assert run.dead == {0: run.events["time"][0]}
    before = gradient_flow(problem, ONE, run.start, until=0.1)
    assert before.state.primal[0, 0] == pytest.approx(3.5 * np.exp(-0.3) - 2.0, rel=1e-14)


def test_two_samples_of_which_one_slides_for_ever() -> None:
    """r ∝ (−1, 1) decays at rate 1 − ρ until β₂ = 0 at ln(c/b)/(1 − ρ); then β₁ = 1 − b e^{−(1−ρ²)(t−t₁)}."""
    rho, b, c = 0.3, 0.5, 0.8
    problem = Problem.from_gram([[1.0, rho], [rho, 1.0]], [1.0, -b])
    start = State.from_dual(problem, ONE, np.linalg.solve(problem.gram, [1.0 - c, c - b]))
    landing = np.log(c / b) / (1.0 - rho)
    run = gradient_flow(problem, ONE, start, record=[0.5 * landing, 2.0]).require_limit()
    assert run.status is Status.CERTIFIED
    assert run.events["time"] == pytest.approx([landing], rel=1e-13)
    assert (run.events["sample"][0], run.events["kind"][0]) == (1, 0)
    assert run.at_zero == ((0, 1),)
    assert run.trajectory is not None
    half = c * np.exp(-(1 - rho) * 0.5 * landing)
    late = 1.0 - b * np.exp(-(1 - rho**2) * (2.0 - landing))
    assert_close(run.trajectory.primal[:, 0], np.array([[1.0 - half, half - b], [late, 0.0]]), relative=1e-13)
    assert_close(run.state.primal, np.array([[1.0, 0.0]]), relative=1e-14)


def test_a_slide_ends_where_its_speed_reaches_the_end_of_its_box() -> None:
    """Samples 1 and 3 do not see each other while 2 slides, so that v = −ρ₁c₁e^{−μ₁t} + ρ₃c₃e^{−μ₃t} until it is 0."""
    near, far, c1, c3 = 0.6, 0.2, 0.5, 0.3
    gram = np.array([[2.0, near, -near * far], [near, 1.0, -far], [-near * far, -far, 1.0]])
    problem = Problem.from_gram(gram, [1.0, -1.0, 1.0])
    primal = np.array([1.0 - c1, 0.0, 1.0 - c3])
    start = State(problem, ONE, np.linalg.solve(gram, primal)[None], primal[None], np.zeros(1))
    leaving = np.log(near * c1 / (far * c3)) / ((2.0 - near**2) - (1.0 - far**2))
    run = gradient_flow(problem, ONE, start).require_limit()
    assert run.events["time"] == pytest.approx([0.0, leaving], rel=1e-13)
    assert run.events["kind"].tolist() == [0, -1]
    later = leaving + 0.7
    left = np.array([-c1 * np.exp(-(2.0 - near**2) * leaving), -c3 * np.exp(-(1.0 - far**2) * leaving)])
    fitted = 1.0 + scipy.linalg.expm(-0.7 * gram[np.ix_([0, 2], [0, 2])]) @ left
    state = gradient_flow(problem, ONE, start, until=later).state
    assert_close(state.primal[0, [0, 2]], fitted, relative=1e-13)
    assert state.primal[0, 1] < 0


def test_a_leaky_sample_crosses_and_goes_on_more_slowly() -> None:
    """One sample, slope ½ below: β̇ = −κ(β − y) above and −κ/2 (β/2 − y) below, so that β → 2y."""
    network = Network.single(activation="leaky-relu:0.5")
    problem = Problem.from_gram([[1.0]], [-1.0])
    run = gradient_flow(problem, network, starts.from_dual(problem, network, [0.5])).require_limit()
    crossing = np.log(1.5)
    assert run.events["time"] == pytest.approx([crossing], rel=1e-14)
    assert_close(run.state.primal, np.array([[-2.0]]), relative=1e-14)
    below = gradient_flow(problem, network, run.start, until=crossing + 1.0).state.primal[0, 0]
    assert below == pytest.approx(-2.0 * (1.0 - np.exp(-0.25)), rel=1e-13)


def test_the_identity_is_linear_regression_without_events() -> None:
    problem, network = random_problem(8, 30, seed=1), Network.of_signs([1, -1], activation="identity")
    start = starts.gaussian(problem, network, rng=2, scale=1.0)
    run = gradient_flow(problem, network, start).require_limit()
    assert not len(run.events)
    assert_close(run.state.predictions, problem.labels, relative=1e-12)


def test_orthogonal_samples_from_the_all_active_start_give_the_minimum_norm() -> None:
    lengths = np.random.default_rng(0).uniform(0.5, 3.0, 12)
    problem = Problem.from_gram(np.diag(lengths**2), np.where(np.arange(12) % 2, -1.0, 1.0) * lengths)
    run = gradient_flow(problem, ONE, starts.all_active(problem, ONE)).require_limit()
    assert gap(run, minimum_norm(problem, ONE)).relative == pytest.approx(0.0, abs=1e-12)


def test_parallel_samples_share_one_kink() -> None:
    """x₂ = −2 x₁: where one is on the other is off, and both reach zero together."""
    problem = Problem.from_features([[1.0, 0.0], [-2.0, 0.0], [1.0, 1.0]], [-0.5, -1.0, 1.0])
    start = starts.from_weights(problem, ONE, [0.3, 0.4])
    run = gradient_flow(problem, ONE, start)
    assert_close(gradient_flow(problem, ONE, start, until=1.5).state.primal, smoothed_flow(start, 1.5, 1e-7), 1e-5)
    zero = {int(e["sample"]) for e in run.events if e["kind"] == 0}
    assert {0, 1} <= zero


def test_a_repelling_zero_is_named() -> None:
    """β = 0 with a positive label: w = 0 and growth are both solutions; off is chosen, and said."""
    problem = Problem.from_gram(np.eye(2), [1.0, 1.0])
    primal = np.array([[0.0, 0.5]])
    run = gradient_flow(problem, ONE, State(problem, ONE, primal, primal, np.zeros(1))).require_limit()
    assert run.events["unique"].tolist() == [False]
    assert "not unique: row 1" in run.message
    assert_close(run.state.primal, np.array([[0.0, 1.0]]), relative=1e-14)


# An independent integrator


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "d", "network", "seed", "until", "slides"),
    [
        (5, 7, Network.of_signs([1, 1, -1]), 2, 2.0, True),
        (6, 9, Network.single(), 0, 4.0, True),
        (5, 6, Network.of_signs([1, -1], activation="leaky-relu:0.1"), 1, 3.0, False),
    ],
    ids=["three neurons", "one neuron", "leaky pair"],
)
def test_the_flow_is_that_of_an_implicit_integrator_with_a_smoothed_kink(
    n: int, d: int, network: Network, seed: int, until: float, slides: bool
) -> None:
    start = small_start(n, d, network, seed)
    run = gradient_flow(start.problem, network, start, until=until)
    assert len(run.events)
    assert np.any(run.events["kind"] == 0) or not slides
    assert_close(run.state.primal, smoothed_flow(start, until, width=1e-8), relative=1e-6, scale=1.0)


@pytest.mark.slow
def test_the_integrator_would_tell_another_flow() -> None:
    """The negative control: without its kink, the flow is another one by far more than 1e-6."""
    start = small_start(5, 7, Network.of_signs([1, 1, -1]), 2)
    straight = Network.of_signs([1, 1, -1], activation="leaky-relu:0.99")
    other = starts.from_dual(start.problem, straight, start.dual)
    state = gradient_flow(start.problem, straight, other, until=2.0).state
    assert np.abs(state.primal - smoothed_flow(start, 2.0, width=1e-8)).max() > 1e-2


# Laws


def some_run(seed: int, network: Network = ONE, until: float | None = None) -> Run:
    problem = random_problem(10, 14, seed)
    return gradient_flow(problem, network, starts.gaussian(problem, network, rng=seed, scale=0.5), until=until)


def test_time_zero_is_the_identity() -> None:
    run = some_run(3, until=0.0)
    assert run.status is Status.REACHED
    assert np.array_equal(run.state.primal, run.start.primal)
    assert_close(run.state.dual, run.start.dual, relative=1e-13)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), first=st.floats(1e-4, 1.0), share=st.floats(0.0, 1.0))
def test_until_a_time_and_then_until_another_is_until_the_other(seed: int, first: float, share: float) -> None:
    network = Network.of_signs([1, -1, 1])
    halfway = some_run(seed, network, until=first * share)
    there, at_once = halfway.continue_(until=first), some_run(seed, network, until=first)
    assert_close(there.state.primal, at_once.state.primal, relative=1e-11)
    assert there.events["time"] == pytest.approx(at_once.events["time"], rel=1e-9)
    for name in ("neuron", "sample", "kind"):
        assert np.array_equal(there.events[name], at_once.events[name])


def test_the_limit_is_where_a_long_time_leads() -> None:
    run = some_run(5).require_limit()
    late = gradient_flow(run.problem, ONE, run.start, until=1e9)
    assert_close(late.state.primal, run.state.primal, relative=1e-10)
    assert late.continue_().at_limit


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), decades=st.integers(-9, 9))
def test_units_of_features_and_labels_change_units_of_time_only(seed: int, decades: int) -> None:
    """X → cX turns t into t/c² with the same β; y → cy with a start c times as large gives cβ at the same times."""
    run = some_run(seed)
    size = 10.0**decades
    problem = Problem.from_gram(run.problem.gram * size**2, run.problem.labels)
    start = State(problem, ONE, run.start.dual / size**2, run.start.primal, run.start.orthogonal_norms)
    scaled = gradient_flow(problem, ONE, start)
    assert scaled.events["time"] == pytest.approx(run.events["time"] / size**2, rel=1e-6)
    assert scaled.events["kind"].tolist() == run.events["kind"].tolist()
    assert_close(scaled.state.primal, run.state.primal, relative=1e-9)
    problem = Problem.from_gram(run.problem.gram, run.problem.labels * size)
    start = State(problem, ONE, run.start.dual * size, run.start.primal * size, run.start.orthogonal_norms)
    larger = gradient_flow(problem, ONE, start)
    assert larger.events["time"] == pytest.approx(run.events["time"], rel=1e-6)
    assert_close(larger.state.primal, run.state.primal * size, relative=1e-9)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_the_samples_does_not_matter(seed: int) -> None:
    run = some_run(seed)
    order = np.random.default_rng(seed).permutation(10)
    problem = Problem.from_gram(run.problem.gram[np.ix_(order, order)], run.problem.labels[order])
    start = State(problem, ONE, run.start.dual[:, order], run.start.primal[:, order], run.start.orthogonal_norms)
    other = gradient_flow(problem, ONE, start)
    assert_close(other.state.primal, run.state.primal[:, order], relative=1e-9)
    assert other.last_change == pytest.approx(run.last_change[:, order], rel=1e-6)
    assert sorted(order[other.events["sample"]]) == sorted(run.events["sample"])


def test_a_flow_comes_back_from_disk_to_the_bit_and_goes_on(tmp_path: Path) -> None:
    run = some_run(7, Network.pair(), until=0.05)
    again = Run.load(run.save(tmp_path / "run.npz"))
    assert (again.time, again.is_flow, again.stabilised_at) == (run.time, True, None)
    assert again.events.dtype == run.events.dtype
    assert np.array_equal(again.events, run.events)
    assert np.array_equal(again.state.primal, run.state.primal)
    assert np.array_equal(again.continue_(until=0.2).state.primal, run.continue_(until=0.2).state.primal)
    limit = run.continue_().require_limit()
    back = Run.load(limit.save(tmp_path / "limit.npz"))
    assert (back.stabilised_at, back.dead, back.at_zero) == (limit.stabilised_at, limit.dead, limit.at_zero)


def test_recorded_states_are_those_of_separate_runs() -> None:
    problem = random_problem(10, 14, 5)
    start = starts.gaussian(problem, ONE, rng=5, scale=0.5)
    run = gradient_flow(problem, ONE, start, record="log")
    assert run.trajectory is not None
    times = run.trajectory.times
    assert times.dtype == np.float64
    assert times[0] == 0.0
    for i in range(0, len(times), 25):
        state = gradient_flow(problem, ONE, start, until=float(times[i])).state
        assert_close(run.trajectory.primal[i], state.primal, relative=1e-11)
    part = gradient_flow(problem, ONE, start, until=0.1, record="log").continue_(until=0.2, record=[0.15])
    assert part.trajectory is not None
    assert part.trajectory.times[-2:].tolist() == [0.1, 0.15]


# Ends, and what is refused


def test_a_run_that_may_have_few_events_stops_and_goes_on() -> None:
    problem = unit_trace_problem(20, 100, seed=0)
    start = starts.all_active(problem, ONE)
    run = gradient_flow(problem, ONE, start, max_events=3)
    assert run.status is Status.BUDGET
    assert "3 events" in run.message
    assert_close(run.continue_(budget=1000).state.primal, gradient_flow(problem, ONE, start).state.primal, 1e-11)


def test_conflicting_labels_end_at_their_least_squares() -> None:
    problem = Problem.from_features([[3.0, 4], [-2, 4], [-3, 4]], [2.0, 2, 0])
    run = gradient_flow(problem, ONE, starts.from_weights(problem, ONE, [0.25, 0.25])).require_limit()
    assert_close(run.state.primal[0], np.array([67, 32, 25]) / 31, relative=1e-12)


def test_a_neuron_that_dies_is_named_with_the_time_of_its_death() -> None:
    problem = Problem.from_features([[1.0, 0.0], [-1.0, 0.1]], [-1.0, 1.0])
    run = gradient_flow(problem, ONE, starts.from_weights(problem, ONE, [0.5, -1.0]))
    assert run.status is Status.DEAD
    assert run.dead == {0: pytest.approx(np.log(1.5))}
    assert "time 0.4055" in run.message


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"until": -1.0}, "finite time"),
        ({"until": float("inf")}, "finite time"),
        ({"max_events": 0}, "positive whole number"),
        ({"record": "all"}, "list of times"),
        ({"record": [2.0], "until": 1.0}, "to until=1.0"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, object], complaint: str) -> None:
    problem = random_problem(4, 8, seed=0)
    with pytest.raises(ArgumentError, match=complaint):
        gradient_flow(problem, ONE, starts.all_active(problem, ONE), **options)  # type: ignore[arg-type]


def test_a_curved_activation_is_refused() -> None:
    problem = random_problem(4, 8, seed=0)
    network = Network.single(activation="tanh")
    start = State.from_dual(problem, network, np.ones(4))
    with pytest.raises(ArgumentError, match="piecewise linear activations, not for 'tanh'"):
        gradient_flow(problem, network, start)


def test_a_flow_cannot_go_back() -> None:
    with pytest.raises(ArgumentError, match="cannot go back"):
        some_run(1, until=0.5).continue_(until=0.2)


def test_small_steps_follow_the_flow() -> None:
    problem = unit_trace_problem(12, 60, seed=4)
    start = starts.all_active(problem, ONE)
    limit = gradient_flow(problem, ONE, start).state
    errors = [
        float(problem.operator.lengths(gradient_descent(problem, ONE, start, step_size=eta).state.dual - limit.dual)[0])
        for eta in (1e-2, 1e-3)
    ]
    assert 5.0 < errors[0] / errors[1] < 20.0
