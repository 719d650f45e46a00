"""The pivoted Cholesky factor of positive semidefinite matrices."""

from __future__ import annotations

import numpy as np
import pytest

from relubias.linalg.cholesky import cholesky


def semidefinite(size: int, rank: int, seed: int) -> np.ndarray:
    factor = np.random.default_rng(seed).standard_normal((size, rank))
    return factor @ factor.T


def test_a_definite_matrix_keeps_all_rows_in_order() -> None:
    matrix = semidefinite(12, 40, seed=0)
    factor = cholesky(matrix)
    assert factor.complete
    assert list(factor.kept) == list(range(12))
    np.testing.assert_allclose(factor.lower @ factor.lower.T, matrix, rtol=1e-13)


@pytest.mark.parametrize("rank", [1, 5, 11])
def test_a_singular_matrix_keeps_as_many_rows_as_its_rank(rank: int) -> None:
    matrix = semidefinite(12, rank, seed=rank)
    factor = cholesky(matrix)
    assert len(factor.kept) == rank
    assert not factor.complete
    np.testing.assert_allclose(factor.lower @ factor.lower.T, matrix[np.ix_(factor.kept, factor.kept)], atol=1e-12)


def test_of_two_equal_rows_one_is_left_out() -> None:
    features = np.random.default_rng(3).standard_normal((6, 30))
    features[4] = features[1]
    factor = cholesky(features @ features.T)
    assert len(factor.kept) == 5
    assert len({1, 4} & set(factor.kept.tolist())) == 1


def test_solving_is_solving() -> None:
    matrix = semidefinite(8, 20, seed=4)
    right = np.random.default_rng(5).standard_normal((8, 3))
    factor = cholesky(matrix)
    np.testing.assert_allclose(matrix @ factor.solve(right), right, atol=1e-12)
    np.testing.assert_allclose(factor.lower @ factor.half_solve(right), right, atol=1e-13)
    np.testing.assert_allclose(factor.lower.T @ factor.half_solve_transposed(right), right, atol=1e-13)


@pytest.mark.parametrize("size", [0, 3])
def test_an_empty_or_zero_matrix_has_no_independent_row(size: int) -> None:
    factor = cholesky(np.zeros((size, size)))
    assert len(factor.kept) == 0
    assert factor.solve(np.zeros(0)).shape == (0,)
    assert factor.half_solve(np.zeros((0, 4))).shape == (0, 4)
    assert factor.half_solve_transposed(np.zeros((0, 4))).shape == (0, 4)
