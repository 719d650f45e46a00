"""A problem is the same whatever its features come as, and treats new points as it treated its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from helpers import assert_close, signed_labels

from relubias import Network, Problem, State, gradient_descent, minimum_norm, starts
from relubias.errors import DataError
from relubias.files import preprocess_features
from relubias.linalg.gram import Array

ONE = Network.single()
N, D = 8, 40
X = np.random.default_rng(0).integers(-9, 9, (N, D)) * (np.random.default_rng(1).random((N, D)) < 0.5).astype(float)
NEW = np.random.default_rng(2).normal(size=(3, D))
Y = signed_labels(N, np.random.default_rng(3))


def blocks() -> Iterator[Array]:
    for first in range(0, D, 7):
        yield X[:, first : first + 7]


SOURCES: dict[str, Callable[[], Any]] = {
    "array": lambda: X,
    "int8": lambda: X.astype(np.int8),
    "csr": lambda: scipy.sparse.csr_array(X),
    "csc": lambda: scipy.sparse.csc_matrix(X.astype(np.int16)),
    "function": lambda: blocks,
}


def treated(values: Array, how: str) -> Array:
    """Values treated as X is when it is preprocessed, by the definitions."""
    if how == "unit-rows":
        return np.asarray(values / np.linalg.norm(values, axis=1, keepdims=True))
    if how == "none":
        return values
    deviation = X.std(axis=0) if how == "standardise" else np.ones(D)
    return np.asarray((values - X.mean(axis=0)) / deviation)


@pytest.mark.parametrize("how", ["none", "centre", "standardise", "unit-rows"])
@pytest.mark.parametrize("kind", SOURCES)
def test_weights_and_predictions_are_those_of_the_array(kind: str, how: str) -> None:
    problem = Problem.from_features(preprocess_features(SOURCES[kind](), how), Y)
    own = treated(X, how)
    dual = np.random.default_rng(4).normal(size=(1, N))
    weights = dual @ own
    assert problem.preprocess == how
    assert (problem.n_samples, problem.n_features) == (N, D)
    assert_close(problem.gram, own @ own.T, 1e-14)
    assert_close(problem.weights_of(dual), weights, 1e-13)
    assert_close(problem.primal_of(weights), weights @ own.T, 1e-13)
    assert_close(problem.cross_gram(NEW), treated(NEW, how) @ own.T, 1e-13)
    assert_close(problem.cross_gram(scipy.sparse.csr_array(NEW)), treated(NEW, how) @ own.T, 1e-13)
    assert_close(problem.cross_gram(lambda: iter([NEW[:, :9], NEW[:, 9:]])), treated(NEW, how) @ own.T, 1e-13)


@pytest.mark.parametrize("how", ["none", "centre", "standardise", "unit-rows"])
def test_a_trained_network_predicts_raw_points_as_it_was_trained(how: str) -> None:
    problem = Problem.from_features(preprocess_features(scipy.sparse.csr_array(X), how), Y)
    state = gradient_descent(problem, ONE, starts.gaussian(problem, ONE, rng=0)).state
    assert_close(state.predict(X), state.predictions, 1e-10, scale=1.0)
    assert_close(state.predict(problem.features), state.predictions, 1e-10, scale=1.0)
    by_hand = np.maximum(treated(NEW, how) @ state.weights()[0], 0)
    assert_close(state.predict(NEW), by_hand, 1e-10, scale=1.0)


@pytest.mark.parametrize("how", ["none", "standardise"])
def test_weights_outside_the_span_predict_too(how: str) -> None:
    problem = Problem.from_features(preprocess_features(X, how), Y)
    weights = np.random.default_rng(5).normal(size=(1, D))
    state = State.from_weights(problem, ONE, weights)
    assert state.orthogonal_norm > 0
    assert_close(state.weights(), weights, 1e-12)
    assert_close(state.primal, weights @ treated(X, how).T, 1e-12)
    for new in (NEW, scipy.sparse.csr_array(NEW), lambda: iter([NEW])):
        assert_close(state.predict(new), np.maximum(treated(NEW, how) @ weights[0], 0), 1e-11)


def test_a_part_that_is_known_by_its_norm_only_cannot_predict() -> None:
    problem = Problem.from_features(X, Y)
    state = State(problem, ONE, np.zeros((1, N)), np.zeros((1, N)), np.ones(1))
    with pytest.raises(DataError, match="known by its norm only"):
        state.predict(NEW)


def test_an_iterator_leaves_the_gram_matrix_and_says_so() -> None:
    problem = Problem.from_features(blocks(), Y, notes=["read today"])
    np.testing.assert_array_equal(problem.gram, X @ X.T)
    assert problem.features is None
    assert problem.n_features == D
    assert problem.notes[0] == "read today"
    assert "passed over once" in problem.notes[1]
    assert Problem.from_features(blocks, Y).notes == ()
    assert minimum_norm(problem, ONE).state.norm > 0
    dual = np.ones((1, N))
    for task in (lambda: problem.weights_of(dual), lambda: problem.cross_gram(NEW), lambda: problem.prepared(NEW)):
        with pytest.raises(DataError, match="this problem has K only"):
            task()
    with pytest.raises(DataError, match="give dual coefficients"):
        State.from_weights(problem, ONE, np.ones(D))


def test_a_function_is_passed_over_once_for_the_gram_matrix() -> None:
    passes = []

    def counted() -> Iterator[Array]:
        passes.append(1)
        return blocks()

    problem = Problem.from_features(counted, Y)
    assert len(passes) == 1
    problem.weights_of(np.ones((1, N)))
    assert len(passes) == 2


def test_blocks_that_do_not_fit_the_labels_are_named() -> None:
    with pytest.raises(DataError, match=r"block 1 of the features has shape \(8, 7\); a block has 9 rows"):
        Problem.from_features(blocks, np.ones(9))
    empty: list[Any] = [lambda: iter([]), iter([]), lambda: iter([np.ones((8, 0))])]
    for nothing in empty:
        with pytest.raises(DataError, match="yield no column"):
            Problem.from_features(nothing, Y)


def test_a_function_that_changes_its_mind_is_found_out() -> None:
    answers = iter([[X], [X[:, 1:]]])
    problem = Problem.from_features(lambda: next(answers), Y)
    with pytest.raises(DataError, match="gave 39 columns, but the first gave 40"):
        problem.weights_of(np.ones((1, N)))


def test_new_points_have_as_many_features(tmp_path: Path) -> None:
    problem = Problem.from_features(X, Y)
    with pytest.raises(DataError, match="new points have 3 features; this problem has 40"):
        problem.cross_gram(np.ones((2, 3)))
    with pytest.raises(DataError, match="only once"):
        problem.cross_gram(blocks())
    loaded = Problem.load(problem.save(tmp_path / "p.npz"))
    with pytest.raises(DataError, match="loaded from a saved record"):
        loaded.cross_gram(NEW)


def test_a_nearly_singular_function_is_passed_over_again_for_its_digits() -> None:
    """Condition 1e9 of X is 1e18 of K; the singular values come from a second pass over the blocks."""
    rng = np.random.default_rng(6)
    left, right = np.linalg.qr(rng.normal(size=(6, 6)))[0], np.linalg.qr(rng.normal(size=(30, 6)))[0]
    features = (left * np.geomspace(1, 1e-9, 6)) @ right.T

    def narrow() -> Iterator[Array]:
        block = np.empty((6, 1))
        for column in features.T:
            block[:, 0] = column
            yield block

    problem = Problem.from_features(narrow, np.ones(6))
    assert problem.facts.backing == "the features"
    assert problem.facts.rank == 6
    assert problem.facts.condition == pytest.approx(1e18, rel=1e-5)
    assert Problem.from_features(narrow(), np.ones(6)).facts.rank < 6
