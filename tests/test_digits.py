"""Nearly singular data with a known answer: what is reached from X, and what K alone claims."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import ill_conditioned, weight_space_descent

from relubias import Network, Problem, State, certify, gap, gradient_descent, minimum_norm, starts
from relubias.status import Status

ONE = Network.single()


def positive_labels(condition: float) -> tuple[Problem, np.ndarray]:
    """A problem with positive labels, cond(X)² = condition, and its minimum-norm interpolant from its own factors."""
    problem = ill_conditioned(condition=condition)
    labels = np.abs(problem.labels)
    left, values, right = np.linalg.svd(problem.features, full_matrices=False)
    return Problem.from_features(problem.features, labels), right.T @ ((left.T @ labels) / values)


@pytest.mark.parametrize("condition", [1e12, 1e18])
def test_limit_and_reference_are_exact_from_the_features(condition: float) -> None:
    problem, expected = positive_labels(condition)
    run = gradient_descent(problem, ONE, starts.all_active(problem, ONE)).require_limit()
    star = minimum_norm(problem, ONE)
    size = np.linalg.norm(expected)
    assert np.linalg.norm(run.state.weights()[0] - expected) <= 1e-6 * size
    assert np.linalg.norm(star.state.weights()[0] - expected) <= 1e-6 * size
    assert star.status == "optimal"
    assert star.norm == pytest.approx(size, rel=1e-6)
    assert star.lower_bound <= star.norm
    assert star.interval <= 1e-5 * star.norm
    assert np.all(run.interpolated)
    assert gap(run, star).relative == pytest.approx(0.0, abs=1e-6)
    assert certify(problem, ONE, star.state).optimal


@pytest.mark.parametrize("condition", [1e9, 1e12])
def test_the_gram_matrix_alone_is_as_good_as_the_digits_it_claims(condition: float) -> None:
    known, expected = positive_labels(condition)
    problem = Problem.from_gram(known.gram, known.labels)
    star = minimum_norm(problem, ONE)
    error = np.linalg.norm(known.weights_of(star.state.dual)[0] - expected) / np.linalg.norm(expected)
    assert error <= 10.0 ** (1 - problem.facts.digits)


def test_steps_through_the_factor_are_those_of_weight_space() -> None:
    problem = ill_conditioned(condition=1e14)
    start = starts.all_active(problem, ONE)
    for until in (1, 10, 300):
        run = gradient_descent(problem, ONE, start, until=until)
        weights = weight_space_descent(
            problem.features, problem.labels, start.weights(), np.ones(1), run.step_size, until
        )
        difference = run.state.primal[0] - problem.features @ weights[0]
        assert np.abs(difference).max() <= 1e-10 * np.abs(run.state.primal).max()


def test_pieces_through_the_factor_equal_one_run_bit_by_bit() -> None:
    problem = ill_conditioned(condition=1e14)
    start = starts.all_active(problem, ONE)
    whole = gradient_descent(problem, ONE, start, until=90)
    pieces = gradient_descent(problem, ONE, start, until=31).continue_(until=90)
    assert np.array_equal(whole.state.primal, pieces.state.primal)


def test_labels_of_both_signs_on_nearly_singular_data_end_with_a_proof() -> None:
    """Six samples with negative labels, orthogonal to the rest, go off at step 1; the rest has a known interpolant."""
    positive, expected = positive_labels(1e13)
    others = np.random.default_rng(0).normal(size=(6, 200)) / 50
    features = np.block([[positive.features, np.zeros((28, 200))], [np.zeros((6, 60)), others]])
    problem = Problem.from_features(features, np.concatenate([positive.labels, -np.ones(6)]))
    run = gradient_descent(problem, ONE, starts.all_active(problem, ONE), budget=1e5)
    assert run.status is Status.CERTIFIED
    assert run.state.pattern[0].tolist() == [True] * 28 + [False] * 6
    assert np.linalg.norm(run.state.weights()[0][:60] - expected) <= 1e-6 * np.linalg.norm(expected)
    star = minimum_norm(problem, ONE)
    assert star.status == "optimal"
    assert star.norm == pytest.approx(np.linalg.norm(expected), rel=1e-6)


def test_chatter_on_nearly_singular_data_spends_the_budget_and_the_reference_is_found_all_the_same() -> None:
    """The late events are found by leaps through the factor, many thousand times cheaper than by steps."""
    samples = ill_conditioned(condition=1e13, seed=3)
    labels = np.where(np.arange(28) % 9 == 4, -0.1, 1.0) * np.abs(samples.labels)
    problem = Problem.from_features(samples.features, labels)
    run = gradient_descent(problem, ONE, starts.all_active(problem, ONE), budget=1e5)
    assert run.status is Status.BUDGET
    assert run.steps > 1e4 * run.budget
    star = minimum_norm(problem, ONE)
    assert star.status == "optimal"
    weights = star.state.weights()[0]
    assert certify(problem, ONE, State.from_weights(problem, ONE, weights)).norm == pytest.approx(star.norm, rel=1e-6)
