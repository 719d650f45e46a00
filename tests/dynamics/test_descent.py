"""Gradient descent: theorems about its steps, leaps and limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import (
    assert_close,
    gram_descent,
    ill_conditioned,
    nearly_equal_rows,
    no_positive_label,
    random_problem,
    signed_labels,
    weight_space_descent,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias import starts, step_sizes
from relubias.dynamics.descent import gradient_descent
from relubias.dynamics.stepping import Iterate
from relubias.errors import ArgumentError, NotAtLimit
from relubias.network import Network
from relubias.problem import Problem
from relubias.state import State
from relubias.status import Status

ONE = Network.single()
SIZES = [(50, 500), (100, 20_000), (100, 300), (60, 65), (60, 50), (100, 40)]


def start_of(problem: Problem, network: Network = ONE) -> State:
    if problem.facts.rank < problem.n_samples:
        return starts.gaussian(problem, network, rng=0)
    return starts.all_active(problem, network)


def test_step_zero_is_the_start() -> None:
    problem = random_problem(20, 60, seed=0)
    start = start_of(problem)
    run = gradient_descent(problem, ONE, start, until=0)
    assert run.status is Status.REACHED
    assert np.array_equal(run.state.primal, start.primal)
    assert run.pattern_changes == 0


@pytest.mark.parametrize(("n", "d"), SIZES)
@pytest.mark.parametrize("seed", range(2))
def test_steps_equal_weight_space_descent(n: int, d: int, seed: int) -> None:
    check_weight_space(n, d, seed, steps=[1, 10, 100] if d > 1000 else [1, 10, 100, 1000])


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d"), SIZES)
@pytest.mark.parametrize("seed", range(10))
def test_a_thousand_steps_equal_weight_space_descent(n: int, d: int, seed: int) -> None:
    check_weight_space(n, d, seed, steps=[1, 10, 100, 1000])


def check_weight_space(n: int, d: int, seed: int, steps: list[int]) -> None:
    problem = random_problem(n, d, seed)
    start = start_of(problem)
    weights, before = start.weights(), 0
    for step in steps:
        run = gradient_descent(problem, ONE, start, until=step)
        weights = weight_space_descent(
            problem.features, problem.labels, weights, np.ones(1), run.step_size, step - before
        )
        before = step
        assert run.steps == step
        assert_close(run.state.primal[0], problem.features @ weights[0], relative=1e-10)


@pytest.mark.parametrize(("n", "d", "seed"), [(50, 500, 0), (100, 300, 1), (60, 65, 2), (60, 50, 3), (60, 50, 4)])
def test_a_certified_limit_equals_a_long_plain_run(n: int, d: int, seed: int) -> None:
    problem = random_problem(n, d, seed)
    start = start_of(problem)
    run = gradient_descent(problem, ONE, start).require_limit()
    slowest = np.linalg.eigvalsh(problem.gram[np.ix_(run.state.pattern[0], run.state.pattern[0])])
    slowest = slowest[slowest > 1e-10 * slowest[-1]][0]
    steps = int(run.stabilised_at or 0) + int(25 / (run.step_size * slowest))
    assert steps < 300_000
    primal, changes = gram_descent(problem.gram, problem.labels, start.primal[0].copy(), run.step_size, steps)
    assert_close(run.state.primal[0], primal, relative=1e-8)
    assert len(changes) == run.pattern_changes
    assert (changes[-1] if changes else 0) == run.stabilised_at


@pytest.mark.parametrize("seed", [2, 3, 5])
def test_leaps_find_late_events_where_plain_descent_has_them(seed: int) -> None:
    """Spectra-like samples and labels ≥ 0: a few changes, the last after 10⁴ … 10⁶ steps."""
    samples = ill_conditioned(condition=1e5, seed=seed)
    labels = np.where(np.arange(28) % 9 == 4, 0.0, np.abs(samples.labels))
    problem = Problem.from_features(samples.features, labels)
    start = start_of(problem)
    run = gradient_descent(problem, ONE, start).require_limit()
    assert run.stabilised_at is not None
    assert run.steps > 2 * run.cost, "this problem is meant to be leapt over"
    primal, changes = gram_descent(
        problem.gram, problem.labels, start.primal[0].copy(), run.step_size, int(run.stabilised_at) + 100
    )
    assert changes == sorted(set(run.events["time"].tolist()))
    settled = np.setdiff1d(np.arange(28), [i for _, i in run.at_zero])
    assert np.array_equal((primal > 0)[settled], run.state.pattern[0][settled])


@pytest.mark.parametrize(
    "make", [ill_conditioned, nearly_equal_rows, no_positive_label, lambda: random_problem(9, 5, 3)]
)
def test_every_kind_of_problem_ends_with_a_proof_or_says_why_not(make: Any) -> None:
    problem = make()
    run = gradient_descent(problem, ONE, start_of(problem), budget=1e5)
    assert run.status in (Status.CERTIFIED, Status.BUDGET, Status.CYCLING)
    assert np.all(np.isfinite(run.state.primal))
    assert run.message.endswith(".")


def test_negative_labels_freeze_after_the_first_step() -> None:
    problem = random_problem(50, 50_000, seed=5)
    run = gradient_descent(problem, ONE, start_of(problem)).require_limit()
    negative = problem.labels < 0
    assert np.all(run.last_change[0][negative] == 1)
    assert not np.any(run.state.pattern[0][negative])
    assert np.all(run.interpolated[~negative])


def test_one_change_at_step_one_gives_the_closed_form() -> None:
    """w_∞ = X_Aᵀ K_AA⁻¹ (y_A − K_AO α_O(1)) + X_Oᵀ α_O(1)."""
    problem = random_problem(40, 20_000, seed=6)
    start = start_of(problem)
    run = gradient_descent(problem, ONE, start).require_limit()
    assert run.pattern_changes == 1
    assert run.stabilised_at == 1
    alpha = start.dual[0] - run.step_size * (start.primal[0] - problem.labels)
    active = run.state.pattern[0]
    gram = problem.gram
    expected = alpha.copy()
    right = problem.labels[active] - gram[np.ix_(active, ~active)] @ alpha[~active]
    expected[active] = np.linalg.solve(gram[np.ix_(active, active)], right)
    assert_close(run.state.dual[0], expected, relative=1e-12)


def test_two_pieces_of_plain_steps_equal_one_bit_by_bit() -> None:
    problem = random_problem(30, 40, seed=7)
    start = start_of(problem)
    whole = gradient_descent(problem, ONE, start, until=200)
    pieces = gradient_descent(problem, ONE, start, until=77).continue_(until=200)
    assert whole.cost == pytest.approx(pieces.cost)
    assert np.array_equal(whole.state.primal, pieces.state.primal)
    assert np.array_equal(whole.state.dual, pieces.state.dual)
    assert np.array_equal(whole.events, pieces.events)
    assert whole.pattern_changes == pieces.pattern_changes


@settings(max_examples=15)
@given(first=st.integers(0, 10**9), second=st.integers(0, 10**9), seed=st.integers(0, 20))
def test_two_pieces_with_leaps_equal_one_to_rounding(first: int, second: int, seed: int) -> None:
    problem = ill_conditioned(n=12, d=20, condition=1e6, seed=seed)
    start = start_of(problem)
    whole = gradient_descent(problem, ONE, start, until=first + second)
    pieces = gradient_descent(problem, ONE, start, until=first).continue_(until=first + second)
    assert whole.steps == pieces.steps
    assert whole.at_limit or whole.steps == first + second
    assert_close(whole.state.primal, pieces.state.primal, relative=1e-8)
    assert whole.pattern_changes == pieces.pattern_changes


def test_a_continued_run_reaches_the_limit_of_a_direct_one() -> None:
    problem = ill_conditioned(condition=1e6, seed=1)
    start = start_of(problem)
    direct = gradient_descent(problem, ONE, start)
    pieces = gradient_descent(problem, ONE, start, until=1000).continue_()
    assert pieces.status is direct.status
    assert_close(pieces.state.primal, direct.state.primal, relative=1e-8)


def test_a_huge_number_of_steps_is_the_limit() -> None:
    problem = ill_conditioned(condition=1e7)
    start = start_of(problem)
    limit = gradient_descent(problem, ONE, start).require_limit()
    late = gradient_descent(problem, ONE, start, until=10**18)
    assert late.status is Status.REACHED
    assert late.steps == 10**18
    assert_close(late.state.primal, limit.state.primal, relative=1e-8)


@pytest.mark.parametrize("c", [1e-9, 1e-3, 1e4, 1e9])
def test_scaling_the_features_with_the_step_changes_no_trajectory(c: float) -> None:
    problem = random_problem(20, 30, seed=8)
    scaled = Problem.from_features(c * problem.features, problem.labels)
    for until in (50, None):
        one = gradient_descent(problem, ONE, start_of(problem), until=until)
        other = gradient_descent(scaled, ONE, start_of(scaled), step_size=one.step_size / c**2, until=until)
        assert other.status is one.status
        assert_close(other.state.primal, one.state.primal, relative=1e-9)
        assert np.array_equal(other.events["time"], one.events["time"])


@pytest.mark.parametrize("c", [1e-9, 1e-3, 1e4, 1e9])
def test_scaling_the_labels_scales_the_trajectory(c: float) -> None:
    problem = random_problem(20, 30, seed=9)
    scaled = Problem.from_features(problem.features, c * problem.labels)
    one = gradient_descent(problem, ONE, start_of(problem)).require_limit()
    other = gradient_descent(scaled, ONE, start_of(scaled)).require_limit()
    assert_close(other.state.primal / c, one.state.primal, relative=1e-9)
    assert other.stabilised_at == one.stabilised_at


def test_order_of_samples_and_rotation_of_features_do_not_matter() -> None:
    problem = random_problem(20, 30, seed=10)
    rng = np.random.default_rng(0)
    order = rng.permutation(20)
    rotation, _ = np.linalg.qr(rng.normal(size=(30, 30)))
    other = Problem.from_features((problem.features @ rotation)[order], problem.labels[order])
    one = gradient_descent(problem, ONE, start_of(problem)).require_limit()
    two = gradient_descent(other, ONE, start_of(other)).require_limit()
    assert_close(two.state.primal[0], one.state.primal[0][order], relative=1e-9)


def test_a_negative_neuron_is_the_mirror_image() -> None:
    problem = random_problem(20, 60, seed=11)
    mirror = Problem.from_features(problem.features, -problem.labels)
    negative = Network.single(sign=-1)
    one = gradient_descent(problem, ONE, start_of(problem)).require_limit()
    other = gradient_descent(mirror, negative, start_of(mirror, negative)).require_limit()
    assert np.array_equal(one.state.primal, other.state.primal)
    assert np.array_equal(one.events, other.events)


def test_the_positive_third_sample_of_the_counterexample_dies_at_step_one() -> None:
    gram = [[1, 0, -0.9], [0, 1, 0.3], [-0.9, 0.3, 1]]
    problem = Problem.from_gram(gram, [5.0, -1.0, 0.5])
    start = starts.all_active(problem, ONE, scale=1e-3)
    run = gradient_descent(problem, ONE, start, step_size=0.5, until=1)
    assert list(run.state.pattern[0]) == [True, False, False]
    assert run.last_change[0][2] == 1


def test_a_label_of_zero_ends_on_the_kink_without_an_event() -> None:
    problem = Problem.from_features(np.array([[1.0]]), [0.0])
    for step in (None, 0.3):
        run = gradient_descent(problem, ONE, starts.all_active(problem, ONE, scale=1.0), step_size=step)
        assert run.status is Status.CERTIFIED_DEGENERATE
        assert run.pattern_changes == 0
        assert len(run.events) == 0
        assert run.at_zero == ((0, 0),)
        assert run.state.primal[0, 0] == 0.0


def test_labels_of_zero_among_others_are_named_when_they_end_on_the_kink() -> None:
    problem = Problem.from_gram(np.eye(3), [1.0, 0.0, -1.0])
    run = gradient_descent(problem, ONE, starts.all_active(problem, ONE, scale=0.1), step_size=0.5)
    assert run.status is Status.CERTIFIED_DEGENERATE
    assert run.at_zero == ((0, 1),)
    assert "row 2" in run.message


def test_a_step_that_is_too_large_kills_the_neuron_and_is_reported() -> None:
    problem = random_problem(30, 300, seed=12)
    run = gradient_descent(problem, ONE, start_of(problem), step_size=3 * step_sizes.stable(problem, ONE, fraction=1.0))
    assert run.status is Status.DEAD
    assert run.dead == {0: run.stabilised_at}
    assert "3 times the largest stable one" in run.message


def test_growth_without_bound_is_diverged_with_a_safe_step() -> None:
    problem = Problem.from_gram([[1.0, -0.9], [-0.9, 1.0]], [1.0, 2.0])
    start = starts.all_active(problem, ONE, scale=0.5)
    run = gradient_descent(problem, ONE, start, step_size=10 / 1.9)
    assert run.status is Status.DIVERGED
    assert np.all(np.isfinite(run.state.primal))
    assert "is safe" in run.message
    safe = gradient_descent(problem, ONE, start, step_size=1 / 1.9)
    assert safe.status is Status.CERTIFIED


def test_the_budget_keeps_what_was_computed_and_can_be_extended() -> None:
    problem = ill_conditioned(condition=1e6, seed=1)
    start = start_of(problem)
    run = gradient_descent(problem, ONE, start, budget=50)
    assert run.status is Status.BUDGET
    assert 0 < run.steps < 200
    with pytest.raises(NotAtLimit, match="budget") as caught:
        run.require_limit()
    assert caught.value.run is run
    assert run.continue_(budget=1e9).at_limit


def test_an_interrupt_keeps_the_partial_answer() -> None:
    problem = random_problem(100, 40, seed=0)
    start = start_of(problem)

    def interrupt(progress: Any) -> None:
        if progress.steps > 3000:
            raise KeyboardInterrupt

    run = gradient_descent(problem, ONE, start, until=50_000, progress=interrupt)
    assert run.status is Status.INTERRUPTED
    assert 3000 < run.steps < 50_000
    whole = gradient_descent(problem, ONE, start, until=50_000)
    assert np.array_equal(run.continue_(until=50_000).state.primal, whole.state.primal)


def test_the_compiled_loop_and_its_source_give_the_same_bits() -> None:
    from relubias.dynamics import kernel

    problem = random_problem(7, 9, seed=13)
    compiled = Iterate.begin(start_of(problem), 0.02)
    plain = compiled.copy()
    compiled.advance(60, (np.inf, np.inf))
    python = pytest.MonkeyPatch()
    with python.context() as patch:
        for name in ("advance", "subtract_columns", "returned"):
            patch.setattr(kernel, name, getattr(kernel, name).py_func)
        plain.advance(60, (np.inf, np.inf))
    assert np.array_equal(compiled.primal, plain.primal)
    assert np.array_equal(compiled.all_events(), plain.all_events())
    assert compiled.flops == plain.flops


def test_a_needless_neuron_that_dies_is_no_failure() -> None:
    problem = no_positive_label()
    run = gradient_descent(problem, ONE, start_of(problem)).require_limit()
    assert run.status is Status.CERTIFIED
    assert run.dead == {0: run.stabilised_at}
    assert not np.any(run.state.pattern)


def test_interpolants_stay_where_they_are() -> None:
    problem = random_problem(10, 30, seed=14)
    labels = np.abs(problem.labels)
    positive = Problem.from_features(problem.features, labels)
    fitted = State.from_dual(positive, ONE, np.linalg.solve(positive.gram, labels))
    run = gradient_descent(positive, ONE, fitted).require_limit()
    assert_close(run.state.primal, fitted.primal, relative=1e-14)


def test_weights_outside_the_span_never_move() -> None:
    rng = np.random.default_rng(15)
    problem = Problem.from_features(rng.normal(size=(5, 12)), signed_labels(5, rng))
    weights = rng.normal(size=(1, 12))
    start = starts.from_weights(problem, ONE, weights)
    run = gradient_descent(problem, ONE, start, until=25)
    slow = weight_space_descent(problem.features, problem.labels, weights, np.ones(1), run.step_size, 25)
    assert_close(run.state.weights(), slow, relative=1e-12)
    assert run.state.orthogonal_norm == start.orthogonal_norm > 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"step_size": 0.0}, "step_size must be a positive"),
        ({"step_size": -1.0}, "step_size must be a positive"),
        ({"step_size": float("nan")}, "step_size must be a positive"),
        ({"until": -1}, "until=-1"),
        ({"until": 2.5}, "until=2.5"),
        ({"until": 10**19}, "1e18"),
        ({"budget": 0}, "budget=0"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], said: str) -> None:
    problem = random_problem(5, 10, seed=0)
    with pytest.raises(ArgumentError, match=said):
        gradient_descent(problem, ONE, start_of(problem), **options)


def test_a_start_of_another_problem_is_refused() -> None:
    with pytest.raises(ArgumentError, match="another problem"):
        gradient_descent(random_problem(5, 10, seed=0), ONE, start_of(random_problem(5, 10, seed=1)))


def test_a_run_cannot_go_back() -> None:
    problem = random_problem(5, 10, seed=0)
    run = gradient_descent(problem, ONE, start_of(problem), until=10)
    with pytest.raises(ArgumentError, match="cannot go back"):
        run.continue_(until=5)


def test_a_second_continuation_is_allowed_as_much_as_the_first() -> None:
    problem = random_problem(100, 40, seed=0)
    run = gradient_descent(problem, ONE, start_of(problem), budget=100)
    costs = [run.cost]
    for _ in range(3):
        run = run.continue_()
        costs.append(run.cost)
    assert np.diff(costs) == pytest.approx([100, 100, 100], abs=2)


def test_a_limit_can_be_continued_to_a_step_and_recorded() -> None:
    problem = random_problem(20, 60, seed=0)
    start = start_of(problem)
    limit = gradient_descent(problem, ONE, start).require_limit()
    later = limit.continue_(until=limit.steps + 500, record=[limit.steps + 10])
    direct = gradient_descent(problem, ONE, start, until=limit.steps + 500)
    assert later.status is Status.REACHED
    assert_close(later.state.primal, direct.state.primal, relative=1e-10)
    assert later.trajectory is not None
    assert list(later.trajectory.times) == [limit.steps + 10]
    assert limit.continue_().status is limit.status


def test_numbers_of_other_types_are_taken_and_words_refused() -> None:
    problem = random_problem(5, 10, seed=0)
    start = start_of(problem)
    run = gradient_descent(problem, ONE, start, until=10.0)  # type: ignore[arg-type]
    assert run.steps == 10
    assert isinstance(run.steps, int)
    wrong: list[dict[str, Any]]
    wrong = [{"until": "10"}, {"until": True}, {"step_size": "abc"}, {"budget": "all"}, {"record": 5}]
    for options in wrong:
        with pytest.raises(ArgumentError):
            gradient_descent(problem, ONE, start, **options)


@pytest.mark.parametrize("seed", range(60))
def test_what_cannot_be_interpolated_is_fitted_by_least_squares(seed: int) -> None:
    """Three samples of one positive feature: K has rank 1 and the labels contradict each other."""
    rng = np.random.default_rng(seed)
    features, labels = np.round(rng.uniform(0.5, 3, (3, 1)), 1), np.round(rng.uniform(1, 5, 3), 1)
    problem = Problem.from_features(features, labels)
    run = gradient_descent(problem, ONE, start_of(problem), budget=1e6).require_limit()
    expected = features @ (features.T @ labels) / (features.T @ features)
    assert_close(run.state.predictions, expected.ravel(), relative=1e-9)


def test_the_edge_of_stability_is_never_certified() -> None:
    for seed in range(30):
        problem = random_problem(5, 20, seed)
        edge = step_sizes.stable(problem, ONE, fraction=1.0)
        positive = Problem.from_features(problem.features, np.abs(problem.labels))
        run = gradient_descent(positive, ONE, start_of(positive), step_size=edge, budget=2e4)
        everything = bool(np.all(run.state.pattern))
        assert not (run.at_limit and everything), "the stiffest mode oscillates for ever"


def test_a_signal_leaves_a_state_that_the_run_really_had() -> None:
    """SIGINT while the compiled loop runs is held until its chunk is complete."""
    import os
    import signal
    import threading

    problem = random_problem(100, 40, seed=0)
    start = start_of(problem)
    gradient_descent(problem, ONE, start, until=10)
    for delay in (0.05, 0.08, 0.13):
        timer = threading.Timer(delay, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        run = gradient_descent(problem, ONE, start, until=10**7)
        timer.join()
        assert run.status is Status.INTERRUPTED
        again = gradient_descent(problem, ONE, start, until=run.steps)
        assert np.array_equal(again.state.primal, run.state.primal)
        assert again.pattern_changes == run.pattern_changes


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d"), SIZES)
@pytest.mark.parametrize("seed", range(10))
def test_certified_limits_equal_long_runs_of_plain_steps(n: int, d: int, seed: int) -> None:
    problem = random_problem(n, d, seed)
    start = start_of(problem)
    run = gradient_descent(problem, ONE, start, budget=1e5)
    if not run.at_limit:
        assert d < n, "only data that cannot be interpolated may go on without a limit"
        return
    active = run.state.pattern[0]
    values = np.linalg.eigvalsh(problem.gram[np.ix_(active, active)])
    slowest = values[values > 1e-10 * values[-1]][0]
    plain = Iterate.begin(start, run.step_size)
    steps = int(run.stabilised_at or 0) + int(25 / (run.step_size * slowest))
    assert steps < 3_000_000
    while plain.steps < steps:
        plain.advance(steps - plain.steps, (np.inf, np.inf))
    assert_close(run.state.primal, plain.primal, relative=1e-8)
    assert plain.changes == run.pattern_changes
