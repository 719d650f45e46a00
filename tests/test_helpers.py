"""The helpers of the tests can fail."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import assert_close, gram_descent, random_problem, weight_space_descent


def test_assert_close_rejects_a_pair_that_differs() -> None:
    with pytest.raises(AssertionError):
        assert_close([1.0, 2.0], [1.0, 2.1], relative=1e-3)


def test_assert_close_rejects_other_shapes() -> None:
    with pytest.raises(AssertionError):
        assert_close([1.0, 2.0], [1.0], relative=1.0)


def test_the_two_slow_references_agree() -> None:
    problem = random_problem(10, 30, seed=1)
    weights = np.random.default_rng(2).normal(size=(1, 30)) * 1e-2
    eta = 0.5 / np.linalg.eigvalsh(problem.gram)[-1]
    after = weight_space_descent(problem.features, problem.labels, weights, np.ones(1), eta, 50)
    primal, _ = gram_descent(problem.gram, problem.labels, problem.features @ weights[0], eta, 50)
    assert_close(problem.features @ after[0], primal, relative=1e-12)
