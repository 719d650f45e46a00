"""Test points are known by their inner products, and predictions at them are those from their features."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from helpers import assert_close, random_problem, signed_labels

from relubias import Analysis, Network, Problem, State, analyze, minimum_norm, starts
from relubias.errors import DataError
from relubias.held_out import HeldOut
from relubias.population import Population
from relubias.report.tables import as_text

N, M, D = 12, 7, 60
RNG = np.random.default_rng(0)
X, POINTS = RNG.normal(size=(N, D)), RNG.normal(size=(M, D))
TARGETS = RNG.normal(size=M)
TEST = HeldOut(POINTS @ X.T, np.square(POINTS).sum(axis=1), TARGETS)
POPULATION = Population(60.0, 60.0, 60.0, sub_gaussian=True, independent=True)
PROBLEM = Problem.from_features(X, signed_labels(N, RNG), test=TEST, population=POPULATION)
ONE = Network.single()


def test_predictions_are_those_from_the_features() -> None:
    dual = np.random.default_rng(1).normal(size=(3, N))
    network = Network.of_signs([1, -1, 1])
    state = State.from_dual(PROBLEM, network, dual)
    expected = network.output_weights @ np.maximum(dual @ X @ POINTS.T, 0.0)
    assert_close(state.predict(TEST), expected, 1e-13)
    assert_close(state.predict(TEST), state.predict(POINTS), 1e-13)
    assert state.test_error == pytest.approx(np.mean((expected - TARGETS) ** 2))


def test_the_linear_reference_predicts_linearly_at_test_points() -> None:
    linear = minimum_norm(PROBLEM, ONE, of="linear")
    weights = np.linalg.pinv(X) @ PROBLEM.labels
    assert linear.test_error == pytest.approx(np.mean((POINTS @ weights - TARGETS) ** 2))
    assert linear.test_error != pytest.approx(linear.state.test_error)


def test_without_test_points_there_is_no_test_error() -> None:
    problem = random_problem(8, 20, seed=0)
    assert starts.all_active(problem, ONE).test_error is None
    assert minimum_norm(problem, ONE).test_error is None


def test_a_part_outside_the_span_needs_the_features_of_the_points() -> None:
    weights = np.random.default_rng(2).normal(size=(1, D))
    state = starts.from_weights(PROBLEM, ONE, weights)
    assert state.test_error is None
    with pytest.raises(DataError, match="outside the span of the samples, so that predictions need features"):
        state.predict(TEST)
    known = HeldOut(TEST.cross_gram, TEST.squared_norms, TARGETS, POINTS)
    assert_close(state.predict(known), np.maximum(POINTS @ weights[0], 0.0), 1e-12)


def test_points_of_another_problem_are_refused() -> None:
    state = starts.all_active(random_problem(8, 20, seed=0), ONE)
    with pytest.raises(DataError, match="beside 12 samples, not 8"):
        state.predict(TEST)
    with pytest.raises(DataError, match="beside 12 samples, the problem has 8"):
        Problem.from_gram(np.eye(8), np.ones(8), test=TEST)


def test_inner_products_that_no_points_have_are_refused() -> None:
    cross = TEST.cross_gram.copy()
    cross[4, 2] = 1.01 * np.sqrt(TEST.squared_norms[4]) * np.linalg.norm(X[2])
    with pytest.raises(DataError, match="test point 5 and sample 3"):
        Problem.from_features(X, PROBLEM.labels, test=HeldOut(cross, TEST.squared_norms, TARGETS))


@pytest.mark.parametrize(
    ("cross", "norms", "labels", "message"),
    [
        (np.ones((2, 3)), np.ones(2), np.ones(3), "shapes are"),
        (np.ones((2, 3)), np.ones((2, 1)), np.ones(2), "shapes are"),
        (np.ones((2, 3)), np.array([1.0, np.nan]), np.ones(2), "squared_norms of the test points must be finite"),
        (np.ones((2, 3)), np.array([1.0, -1.0]), np.ones(2), "no squared norm may be negative"),
        (np.ones((0, 3)), np.ones(0), np.ones(0), "at least one test point"),
    ],
)
def test_shapes_and_numbers_are_checked(cross: np.ndarray, norms: np.ndarray, labels: np.ndarray, message: str) -> None:
    with pytest.raises(DataError, match=message):
        HeldOut(cross, norms, labels)


def test_a_saved_problem_keeps_test_points_and_population_to_the_bit(tmp_path: Path) -> None:
    loaded = Problem.load(PROBLEM.save(tmp_path / "problem.npz"))
    assert loaded.population == POPULATION
    assert loaded.test is not None
    for name in ("cross_gram", "squared_norms", "labels"):
        np.testing.assert_array_equal(getattr(loaded.test, name), getattr(TEST, name))
    bare = Problem.load(random_problem(8, 20, seed=0).save(tmp_path / "bare.npz"))
    assert (bare.population, bare.test) == (None, None)


def test_an_analysis_shows_the_test_error_of_all_three(tmp_path: Path) -> None:
    analysis = analyze(PROBLEM)
    values = json.loads(json.dumps(analysis.as_dict(), allow_nan=False))
    assert analysis.reference is not None
    assert analysis.linear is not None
    errors = analysis.run.state.test_error, analysis.reference.test_error, analysis.linear.test_error
    assert (values["run"]["test_error"], values["reference"]["test_error"], values["linear"]["test_error"]) == errors
    assert values["problem"]["test"] == {"n_points": M, "error_of_zero": pytest.approx(np.mean(TARGETS**2))}
    assert values["problem"]["population"] == POPULATION.as_dict()
    section = as_text(analysis).partition("Test points\n")[2]
    for error in errors:
        assert f"mean squared error {error:.4g}" in section
    loaded = Analysis.load(analysis.save(tmp_path / "analysis.npz"))
    assert loaded.as_dict() == analysis.as_dict()


def test_a_report_without_test_points_does_not_speak_of_them() -> None:
    analysis = analyze(random_problem(8, 20, seed=0))
    assert "Test points" not in as_text(analysis)
    assert analysis.as_dict()["problem"]["test"] is None
    assert "drawn with" not in as_text(analysis)


def test_the_drawn_dimensions_stand_beside_the_estimate() -> None:
    text = as_text(analyze(PROBLEM))
    assert "drawn with         ‖λ‖₁ = 60, d₂ = 60, d_∞ = 60" in text
    assert "estimated from K   tr K/n = " in text
