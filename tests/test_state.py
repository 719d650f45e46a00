"""A state is the same seen from its weights and from its coefficients."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import assert_close, random_problem
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias import Network, Problem, State
from relubias.errors import ArgumentError, DataError

ONE, THREE = Network.single(), Network.of_signs([1, -1, 1])
PROBLEM = random_problem(6, 20, seed=0)
X = np.asarray(PROBLEM.features)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_weights_are_split_into_the_span_of_the_samples_and_the_rest(seed: int) -> None:
    weights = np.random.default_rng([1, seed]).normal(size=(3, 20))
    state = State.from_weights(PROBLEM, THREE, weights)
    basis = np.linalg.qr(X.T)[0]
    inside = weights @ basis @ basis.T
    assert_close(state.dual @ X, inside, 1e-11)
    assert state.orthogonal is not None
    assert_close(state.orthogonal, weights - inside, 1e-11)
    assert_close(state.orthogonal_norms, np.linalg.norm(weights - inside, axis=1), 1e-11)
    assert_close(state.weights(), weights, 1e-12)
    assert_close(state.primal, weights @ X.T, 1e-12)
    assert_close(state.norms, np.linalg.norm(weights, axis=1), 1e-11)
    assert state.norm == pytest.approx(np.linalg.norm(weights), rel=1e-11)
    assert state.orthogonal_norm == pytest.approx(np.linalg.norm(weights - inside), rel=1e-11)


def test_weights_inside_the_span_have_no_rest() -> None:
    state = State.from_weights(PROBLEM, ONE, np.arange(1.0, 7.0) @ X)
    assert state.orthogonal is None
    assert state.orthogonal_norm == 0.0
    assert_close(state.dual[0], np.arange(1.0, 7.0), 1e-10)


def test_a_state_from_dual_coefficients_is_that_of_its_weights() -> None:
    dual = np.random.default_rng(1).normal(size=(3, 6))
    one, other = State.from_dual(PROBLEM, THREE, dual), State.from_weights(PROBLEM, THREE, dual @ X)
    assert_close(one.primal, other.primal, 1e-12)
    assert_close(one.weights(), other.weights(), 1e-12)
    assert_close(one.dual, dual, 1e-12)


def test_dual_coefficients_of_dependent_samples_are_the_shortest_ones() -> None:
    problem = Problem.from_features(np.array([[1.0, 0, 0], [1.0, 0, 0], [0, 2.0, 0]]), [1.0, 1.0, -1.0])
    state = State.from_dual(problem, ONE, [3.0, 0.0, 1.0])
    assert_close(state.dual[0], [1.5, 1.5, 1.0], 1e-14)
    assert_close(state.weights()[0], [3.0, 2.0, 0.0], 1e-14)


def test_predictions_residual_and_loss_are_those_of_their_definitions() -> None:
    weights = np.random.default_rng(2).normal(size=(3, 20))
    state = State.from_weights(PROBLEM, THREE, weights)
    output = np.array([1, -1, 1]) @ np.maximum(weights @ X.T, 0)
    assert_close(state.predictions, output, 1e-12)
    assert_close(state.residual, output - PROBLEM.labels, 1e-12)
    assert state.loss == pytest.approx(0.5 * np.sum((output - PROBLEM.labels) ** 2))
    np.testing.assert_array_equal(state.pattern, weights @ X.T > 0)
    new = np.random.default_rng(3).normal(size=(4, 20))
    assert_close(state.predict(new), np.array([1, -1, 1]) @ np.maximum(weights @ new.T, 0), 1e-11)


def test_a_sample_on_the_kink_is_inactive() -> None:
    assert not State.from_dual(PROBLEM, ONE, np.zeros(6)).pattern.any()


def test_arrays_rebuild_the_state_bit_for_bit() -> None:
    for weights in (np.random.default_rng(4).normal(size=(3, 20)), np.ones((3, 6)) @ X):
        state = State.from_weights(PROBLEM, THREE, weights)
        again = State.from_arrays(PROBLEM, THREE, state.to_arrays())
        np.testing.assert_array_equal(again.weights(), state.weights())
        np.testing.assert_array_equal(again.primal, state.primal)
        assert again.norm == state.norm


def test_wrong_shapes_and_numbers_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"dual must have shape \(3, 6\).* has shape \(6,\)"):
        State.from_dual(PROBLEM, THREE, np.ones(6))
    with pytest.raises(ArgumentError, match=r"weights must have shape \(1, 20\)"):
        State.from_weights(PROBLEM, ONE, np.ones(6))
    with pytest.raises(ArgumentError, match="weights must be finite"):
        State.from_weights(PROBLEM, ONE, np.full(20, np.nan))


def test_weights_need_features() -> None:
    problem = Problem.from_gram(PROBLEM.gram, PROBLEM.labels)
    with pytest.raises(DataError, match="give dual coefficients instead of weights"):
        State.from_weights(problem, ONE, np.ones(20))
    with pytest.raises(DataError, match="K only"):
        State.from_dual(problem, ONE, np.ones(6)).weights()
