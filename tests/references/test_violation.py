"""The least violation of constraints that contradict each other."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from relubias.linalg.factor import GramOperator
from relubias.references import violation
from relubias.references.conditions import Constraints
from relubias.references.violation import compromise, least_violation


def slow_violation(features: np.ndarray, constraints: Constraints) -> np.ndarray:
    """Violations of the least-squares compromise: bounded least squares over the weights and slacks s ≥ 0."""
    n, d = features.shape
    design = np.hstack([features, np.diag(np.where(constraints.equal, 0.0, 1.0))])
    lower = np.concatenate([np.full(d, -np.inf), np.zeros(n)])
    answer = scipy.optimize.lsq_linear(design, constraints.targets, (lower, np.inf), method="bvls", tol=1e-15).x
    return constraints.violations(features @ answer[:d])


@pytest.mark.parametrize("seed", range(30))
def test_agrees_with_bounded_least_squares_over_the_weights(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, labels = rng.standard_normal((12, 4)), rng.standard_normal(12)
    constraints = Constraints(np.maximum(labels, 0.0), labels > 0)
    error = least_violation(GramOperator(features @ features.T), constraints)
    assert error is not None
    expected = slow_violation(features, constraints)
    assert np.linalg.norm(expected) > 1e-3
    np.testing.assert_allclose(-error[constraints.equal], expected[constraints.equal], atol=1e-9)
    np.testing.assert_allclose(np.maximum(-error, 0)[~constraints.equal], expected[~constraints.equal], atol=1e-9)


def test_is_zero_where_the_constraints_can_be_met() -> None:
    rng = np.random.default_rng(0)
    features = rng.standard_normal((12, 8))
    primal = features @ rng.standard_normal(8)
    constraints = Constraints(np.maximum(primal, 0.0), primal > 0)
    error = least_violation(GramOperator(features @ features.T), constraints)
    assert error is not None
    assert np.abs(error).max() <= 1e-10
    assert not np.any(compromise(constraints, error)[1])


def test_a_violated_inequality_becomes_an_equality() -> None:
    constraints = Constraints(np.array([1.0, 0.0, 0.0]), np.array([True, False, False]))
    nearest, violated = compromise(constraints, np.array([0.5, -0.5, 0.0]))
    np.testing.assert_array_equal(violated, [True, True, False])
    np.testing.assert_array_equal(nearest.equal, [True, True, False])
    np.testing.assert_array_equal(nearest.targets, [0.5, 0.5, 0.0])


@pytest.mark.parametrize("seed", [12, 26, 36])
@pytest.mark.parametrize(("second", "expected"), [(-3.0, 0.5), (3.0, -1.0)])
def test_rounding_in_the_kernel_is_no_demand(seed: int, second: float, expected: float) -> None:
    """Twenty pairs of equal rows, one in conflict: all other demands are rounding, and nnls stops short on them."""
    rng = np.random.default_rng(seed)
    features, labels = np.repeat(rng.standard_normal((20, 100)), 2, axis=0), np.repeat(rng.standard_normal(20), 2)
    labels[:2] = 1.0, second
    constraints = Constraints(np.maximum(labels, 0.0), labels > 0)
    error = least_violation(GramOperator(features @ features.T), constraints)
    assert error is not None
    np.testing.assert_allclose(error[:2], [expected, -expected], atol=1e-12)
    np.testing.assert_allclose(error[2:], 0.0, atol=1e-12)


def test_an_answer_that_is_not_the_least_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        bounded = True
        solution = np.full(5, 3.0)

    monkeypatch.setattr(violation, "non_negative_minimum", lambda matrix, linear: Wrong())
    rng = np.random.default_rng(0)
    features, labels = rng.standard_normal((8, 3)), np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0, -1.0])
    constraints = Constraints(np.maximum(labels, 0.0), labels > 0)
    assert least_violation(GramOperator(features @ features.T), constraints) is None
