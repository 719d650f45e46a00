"""Cholesky factors of positive semidefinite matrices, on as many rows as are independent.

    A[kept, kept] = L Lᵀ

Where A is numerically positive definite all rows are kept, in order. Else the pivoted factorisation (largest
remaining diagonal entry first) stops at the first pivot that is rounding, and the rows left out are linear
combinations of those kept. Diagonal entries should be of comparable size, so that a small pivot means
dependence and not a small row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.linalg.gram import Array

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Cholesky:
    """A factor L of the rows `kept` of a positive semidefinite matrix of order `size`.

    Attributes
    ----------
    size : int
    kept : ndarray of int
        Independent rows; all of them, in order, where the matrix is positive definite.
    lower : ndarray, shape (len(kept), len(kept))
        L, lower triangular.
    """

    size: int
    kept: NDArray[np.intp]
    lower: Array

    @property
    def complete(self) -> bool:
        """True where no row was left out."""
        return len(self.kept) == self.size

    def half_solve(self, right: Array) -> Array:
        """Return L⁻¹ b for b of shape (k,) or (k, p), k the number of kept rows."""
        if not len(self.kept):
            return np.array(right, dtype=np.float64)
        return np.asarray(scipy.linalg.solve_triangular(self.lower, right, lower=True, check_finite=False))

    def half_solve_transposed(self, right: Array) -> Array:
        """Return L⁻ᵀ b."""
        if not len(self.kept):
            return np.array(right, dtype=np.float64)
        return np.asarray(scipy.linalg.solve_triangular(self.lower, right, lower=True, trans=1, check_finite=False))

    def solve(self, right: Array) -> Array:
        """Return A[kept, kept]⁻¹ b."""
        return self.half_solve_transposed(self.half_solve(right))


def cholesky(matrix: Array) -> Cholesky:
    """Factor a symmetric positive semidefinite matrix on its independent rows.

    Parameters
    ----------
    matrix : ndarray, shape (k, k)
        Finite. It is not changed.

    Returns
    -------
    Cholesky
        Pivots up to (k + 16) ε times the largest diagonal entry count as zero.
    """
    size = matrix.shape[0]
    floor = (size + 16) * EPS * float(np.max(np.diagonal(matrix), initial=0.0))
    if size == 0 or floor == 0.0:
        return Cholesky(size, np.zeros(0, dtype=np.intp), np.zeros((0, 0)))
    lower, info = scipy.linalg.lapack.dpotrf(matrix, lower=1, clean=1)
    if info == 0 and float(np.min(np.diagonal(lower))) ** 2 > floor:
        return Cholesky(size, np.arange(size), lower)
    lower, pivots, rank, _ = scipy.linalg.lapack.dpstrf(matrix, lower=1, tol=floor)
    kept = np.asarray(pivots[:rank], dtype=np.intp) - 1
    return Cholesky(size, kept, np.tril(lower[:rank, :rank]))
