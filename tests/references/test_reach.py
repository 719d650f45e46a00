"""Which labels networks of any number of neurons can fit: against the span of what many random neurons compute."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import Array

from relubias import Problem
from relubias.references.reach import reachable, wanted


def nearest_by_random_neurons(features: Array, labels: Array) -> Array:
    """The nearest labels in the span of σ(Xu) over 400 random u."""
    vectors = np.random.default_rng(0).standard_normal((400, features.shape[1]))
    images = np.maximum(vectors @ features.T, 0.0)
    return np.asarray(images.T @ np.linalg.lstsq(images.T, labels)[0])


LINE, PLANE = np.array([[1.0], [-2.0], [3.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
CASES = {
    "one line": LINE,
    "two opposite rows": np.array([[1.0], [-1.0]]),
    "three lines in a plane, both ways": np.vstack([PLANE, -2 * PLANE]),
    "multiples": np.vstack([PLANE, 2 * PLANE[:2]]),
    "a zero row": np.vstack([PLANE, np.zeros((1, 2))]),
    "copies": np.vstack([PLANE, PLANE[1:]]),
    "general position": np.random.default_rng(1).standard_normal((7, 3)),
}


@pytest.mark.parametrize("name", CASES)
def test_labels_move_to_the_nearest_ones_that_neurons_reach(name: str) -> None:
    features = CASES[name]
    labels = np.random.default_rng(2).standard_normal(len(features))
    found, _ = reachable(Problem.from_features(features, labels))
    np.testing.assert_allclose(found, nearest_by_random_neurons(features, labels), atol=1e-9)
    again, _ = reachable(Problem.from_features(features, found))
    np.testing.assert_array_equal(again, found)
    assert (name in ("two opposite rows", "general position")) == bool(np.array_equal(found, labels))


def test_zero_rows_and_copies_are_not_needed() -> None:
    features = np.vstack([PLANE, PLANE[1:], np.zeros((1, 2))])
    _, kept = reachable(Problem.from_features(features, np.ones(6)))
    assert kept.tolist() == [True, True, True, False, False, False]


def test_labels_of_a_sign_without_neurons_are_zero() -> None:
    np.testing.assert_array_equal(wanted(np.array([1.0, -2.0, 0.0]), (1,)), [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(wanted(np.array([1.0, -2.0, 0.0]), (1, -1)), [1.0, -2.0, 0.0])
