"""The minimum-norm linear interpolator."""

from __future__ import annotations

import numpy as np
import pytest

from relubias.network import Network
from relubias.problem import Problem
from relubias.references import minimum_norm
from relubias.status import Optimality


def test_is_the_pseudo_inverse_applied_to_the_labels() -> None:
    rng = np.random.default_rng(0)
    features, labels = rng.standard_normal((30, 80)), rng.standard_normal(30)
    star = minimum_norm(Problem.from_features(features, labels), Network.single(), of="linear")
    assert star.status is Optimality.OPTIMAL
    np.testing.assert_allclose(star.state.weights()[0], np.linalg.pinv(features) @ labels, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(star.predictions, labels)


def test_a_negative_sign_turns_the_weights_and_not_the_predictions() -> None:
    rng = np.random.default_rng(1)
    problem = Problem.from_features(rng.standard_normal((10, 40)), rng.standard_normal(10))
    plus = minimum_norm(problem, Network.single(), of="linear")
    minus = minimum_norm(problem, Network.single(sign=-1), of="linear")
    np.testing.assert_array_equal(minus.state.dual, -plus.state.dual)
    np.testing.assert_array_equal(minus.predictions, plus.predictions)


def test_a_wider_network_gets_one_linear_neuron() -> None:
    rng = np.random.default_rng(2)
    problem = Problem.from_features(rng.standard_normal((10, 40)), rng.standard_normal(10))
    star = minimum_norm(problem, Network.pair(), of="linear")
    assert star.network.signs == (1,)
    assert star.state.dual.shape == (1, 10)


def test_labels_outside_the_range_are_fitted_by_least_squares_and_the_rows_named() -> None:
    rng = np.random.default_rng(3)
    features, labels = rng.standard_normal((12, 5)), rng.standard_normal(12)
    star = minimum_norm(Problem.from_features(features, labels), Network.single(), of="linear")
    expected = np.linalg.pinv(features) @ labels
    assert star.status is Optimality.INFEASIBLE
    assert star.infeasible_rows == tuple(range(12))
    np.testing.assert_allclose(star.state.weights()[0], expected, atol=1e-10)
    assert star.norm == pytest.approx(np.linalg.norm(expected), rel=1e-10)
    assert star.lower_bound == pytest.approx(star.norm, rel=1e-8)


def test_conflicting_duplicates_are_named_and_the_others_are_fitted() -> None:
    rng = np.random.default_rng(4)
    features, labels = rng.standard_normal((6, 20)), rng.standard_normal(6)
    features[4] = features[0]
    star = minimum_norm(Problem.from_features(features, labels), Network.single(), of="linear")
    assert star.infeasible_rows == (0, 4)
    np.testing.assert_allclose(star.state.primal[0, [1, 2, 3, 5]], labels[[1, 2, 3, 5]], atol=1e-10)
    np.testing.assert_allclose(star.state.primal[0, [0, 4]], labels[[0, 4]].mean(), atol=1e-10)


def test_labels_of_zero_are_fitted_by_zero() -> None:
    star = minimum_norm(Problem.from_gram(np.eye(3), np.zeros(3)), Network.single(), of="linear")
    assert star.status is Optimality.OPTIMAL
    assert star.norm == 0.0
