"""Audits of the two lemmas: against a run followed by hand, and what is guaranteed before a run against runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias import ArgumentError, Network, Problem, gradient_descent, gradient_flow, sampling, starts
from relubias.dynamics.run import Run
from relubias.theory.lemmas import Audit, Guarantee, audit, guarantee

FOUR = Network.of_signs([1, 1, -1, -1])


def counterexample() -> Run:
    """A positive label that training loses at the first step, although its sample was active."""
    problem = Problem.from_gram([[1, 0, -0.9], [0, 1, 0.3], [-0.9, 0.3, 1]], [5.0, -1.0, 0.5])
    network = Network.single()
    return gradient_descent(problem, network, starts.all_active(problem, network, scale=1e-3), step_size=0.5)


def test_the_lemma_of_activity_fails_on_the_counterexample() -> None:
    found = audit(counterexample())
    assert not found.activity_held
    np.testing.assert_array_equal(found.activity_lost, [[0, 0, 1]])
    # β₃(1) = ε − η Σ K_3j (ε − y_j) = ½·(−.9·5 − .3·1 + .5) up to ε.
    assert found.activity_margin[0, 2] == pytest.approx(0.5 * (-4.5 - 0.3 + 0.5), abs=2e-3)
    assert found.guarantee.since is None
    assert "the first to change was row 3 in neuron 1 at step 1" in found.message


@pytest.mark.parametrize("network", [Network.single(), Network.pair(), FOUR], ids=["1", "2", "4"])
def test_both_lemmas_hold_at_high_dimension(network: Network) -> None:
    problem = sampling.gaussian(n_samples=60, n_features=10**7, rng=0)
    depth = {"depth": 1.0} if network is FOUR else {}
    start = (starts.disjoint if network is FOUR else starts.all_active)(problem, network, **depth)
    found = audit(gradient_descent(problem, network, start))
    assert found.activity_held
    assert found.inactivity_held
    assert found.lasting
    assert found.deep_enough is None
    assert found.guarantee.since == (0 if network is FOUR else 1)
    assert found.guarantee.activity
    assert found.guarantee.inactivity
    own = np.array(network.signs)[:, None] * problem.labels > 0
    np.testing.assert_array_equal(found.activity_tested, own & start.pattern)
    assert "for ever" in found.message
    assert "Known before the run" in found.message


def test_an_audit_is_what_plain_steps_do() -> None:
    problem = sampling.gaussian(n_samples=20, n_features=30, rng=3)
    network = Network.pair()
    run = gradient_descent(problem, network, starts.gaussian(problem, network, rng=1))
    found = audit(run, steps=200)
    signs = np.array(network.signs)[:, None]
    beta, own = run.start.primal.copy(), signs * problem.labels > 0
    lost, back = np.zeros(beta.shape, int), np.zeros(beta.shape, int)
    scale = problem.population.trace if problem.population else 0.0
    dual = np.full(beta.shape, np.nan)
    least, depth = np.full(beta.shape, np.nan), np.full(beta.shape, np.nan)
    for t in range(1, 201):
        on = beta > 0
        dual = np.where(~on & np.isnan(depth), scale * np.linalg.solve(problem.gram, beta.T).T, dual)
        depth = np.where(~on & np.isnan(depth), -beta, depth)
        residual = network.output(beta) - problem.labels
        after = beta - run.step_size * signs * (on * residual) @ problem.gram
        lost = np.where(on & own & (after <= 0) & (lost == 0), t, lost)
        back = np.where(~on & (after > 0) & (back == 0), t, back)
        least = np.where(on & own, np.fmin(least, after), least)
        beta = after
    np.testing.assert_array_equal(found.activity_lost, lost)
    np.testing.assert_array_equal(found.inactivity_lost, back)
    assert back.any()
    assert found.deep_enough == pytest.approx(np.max(depth[back > 0]), rel=1e-9)
    # The certificate covers all later steps: the limit is the last state that counts.
    assert found.lasting
    moved = np.abs(scale * np.linalg.solve(problem.gram, run.state.primal.T).T - dual)
    np.testing.assert_allclose(found.dual_depth, -dual, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.dual_moved, moved, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(found.frozen, found.inactivity_tested & (back == 0))
    least = np.where((beta > 0) & own, np.fmin(least, run.state.primal), least)
    np.testing.assert_allclose(found.activity_margin, least, rtol=1e-6, atol=1e-9)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 12),
    spread=st.floats(0.0, 0.8),
    c=st.floats(0.05, 1.9),
)
def test_what_is_guaranteed_happens(seed: int, n: int, spread: float, c: float) -> None:
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((n, n)) / np.sqrt(n)
    features = np.eye(n) + spread * noise
    problem = Problem.from_features(features, rng.choice([-1, 1], n) * rng.uniform(0.5, 2, n))
    network = [Network.single(), Network.pair()][seed % 2]
    weights = 0.3 / n**0.5 * rng.standard_normal((network.n_neurons, n))
    if not np.any(weights @ features.T > 0):
        return
    start = starts.from_weights(problem, network, weights)
    known = guarantee(problem, network, start, step_size=c)
    if known.since is None:
        return
    run = gradient_descent(problem, network, start, step_size=c, until=500)
    assert not np.any(run.last_change > known.since)
    followed = audit(run, steps=500)
    assert followed.activity_held == known.activity
    assert followed.inactivity_held == known.inactivity


def first_step(labels: list[float], dual: list[float]) -> tuple[Guarantee, Audit]:
    """What was known before, and what happened to, two samples with a cosine of about one third."""
    problem = Problem.from_gram([[0.973, 0.364], [0.364, 1.099]], labels)
    start = starts.from_dual(problem, Network.single(), dual)
    run = gradient_descent(problem, Network.single(), start, step_size=0.505)
    return guarantee(problem, Network.single(), start, step_size=0.505), audit(run)


def test_a_pattern_that_never_changes_after_step_1_may_break_lemma_5_at_step_1() -> None:
    small = np.linalg.solve([[0.973, 0.364], [0.364, 1.099]], [1e-3, 1e-3])
    known, followed = first_step([0.542, -2.137], small.tolist())
    assert known.since == 1
    assert not known.activity
    np.testing.assert_array_equal(followed.activity_lost, [[1, 0]])
    assert known.inactivity
    assert followed.inactivity_held
    assert "takes 1 active sample from a neuron of the sign of its label (against Lemma 5)" in known.message


def test_the_first_step_may_bring_an_inactive_sample_on() -> None:
    shallow = np.linalg.solve([[0.973, 0.364], [0.364, 1.099]], [1e-3, -1e-3])
    known, followed = first_step([2.0, 0.9], shallow.tolist())
    assert known.since == 1
    assert known.activity
    assert not known.inactivity
    np.testing.assert_array_equal(followed.inactivity_lost, [[0, 1]])
    assert "brings 1 inactive sample on (against Lemma 6)" in known.message


def test_guarantees_are_given_often_enough_to_be_tested() -> None:
    """Negative control of the law above: on nearly orthogonal samples most cases are guaranteed."""
    given_ = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        problem = Problem.from_features(np.eye(6) + 0.05 * rng.standard_normal((6, 6)), rng.choice([-1.0, 1.0], 6))
        start = starts.all_active(problem, Network.single())
        given_ += guarantee(problem, Network.single(), start, step_size=0.9).since is not None
    assert given_ >= 20


@pytest.mark.parametrize("step", [2.5, 0.5])
def test_a_step_that_is_too_large_guarantees_nothing(step: float) -> None:
    problem = Problem.from_gram(np.eye(3), [1.0, 2.0, -1.0])
    start = starts.all_active(problem, Network.single())
    assert (guarantee(problem, Network.single(), start, step_size=step).since == 1) == (step < 1)


def test_a_singular_gram_matrix_guarantees_nothing() -> None:
    problem = Problem.from_gram([[1.0, 1.0], [1.0, 1.0]], [1.0, 1.0])
    start = starts.all_active(problem, Network.single())
    assert guarantee(problem, Network.single(), start, step_size=0.1).since is None


def test_an_audit_that_ends_before_the_last_change_says_so() -> None:
    problem = sampling.gaussian(n_samples=20, n_features=21, rng=0)
    run = gradient_descent(problem, Network.single(), starts.all_active(problem, Network.single()))
    assert run.stabilised_at is not None
    assert run.stabilised_at > 20
    assert not audit(run, steps=20).lasting
    assert "over the 20 steps that were followed" in audit(run, steps=20).message
    assert audit(run, steps=int(run.stabilised_at) + 1).lasting


def test_where_k_is_singular_nothing_is_said_of_the_dual_coefficients() -> None:
    problem = Problem.from_features([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]], [1.0, -1.0, -1.0])
    found = audit(gradient_descent(problem, Network.single(), starts.gaussian(problem, Network.single(), rng=0)))
    assert found.inactivity_tested.any()
    assert np.isnan(found.dual_depth).all()
    assert not found.frozen.any()


def test_a_flow_and_another_activation_are_refused() -> None:
    problem = sampling.gaussian(n_samples=6, n_features=100, rng=0)
    start = starts.all_active(problem, Network.single())
    with pytest.raises(ArgumentError, match="the lemmas are about gradient descent on ReLU"):
        audit(gradient_flow(problem, Network.single(), start))
    leaky = Network.single(activation="leaky-relu")
    with pytest.raises(ArgumentError, match="the lemmas are about ReLU neurons"):
        guarantee(problem, leaky, starts.all_active(problem, leaky), step_size=0.1)
    with pytest.raises(ArgumentError, match="step_size"):
        guarantee(problem, Network.single(), start, step_size=-0.1)
    run = gradient_descent(problem, Network.single(), start)
    with pytest.raises(ArgumentError, match="steps must be a whole number"):
        audit(run, steps=0)
