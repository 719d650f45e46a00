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
        return self._substituted(right, transposed=0)

    def half_solve_transposed(self, right: Array) -> Array:
        """Return L⁻ᵀ b."""
        return self._substituted(right, transposed=1)

    def _substituted(self, right: Array, *, transposed: int) -> Array:
        # BLAS itself: LAPACK's trtrs, which solve_triangular calls, takes threads for any size and may wait
        # milliseconds for them where microseconds do.
        if not right.size:
            return np.array(right, dtype=np.float64)
        if right.ndim == 1:
            return np.asarray(scipy.linalg.blas.dtrsv(self.lower, right, lower=1, trans=transposed))
        return np.asarray(scipy.linalg.blas.dtrsm(1.0, self.lower, right, lower=1, trans_a=transposed))

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
    floor = (size + 16) * EPS * float(matrix.diagonal().max(initial=0.0))
    if size == 0 or floor == 0.0:
        return Cholesky(size, np.zeros(0, dtype=np.intp), np.zeros((0, 0)))
    # its transpose has the order of entries that LAPACK wants
    lower, info = scipy.linalg.lapack.dpotrf(matrix.T, lower=1, clean=1)
    if info == 0 and float(lower.diagonal().min()) ** 2 > floor:
        return Cholesky(size, np.arange(size), lower)
    lower, pivots, rank, _ = scipy.linalg.lapack.dpstrf(matrix, lower=1, tol=floor)
    kept = np.asarray(pivots[:rank], dtype=np.intp) - 1
    return Cholesky(size, kept, np.tril(lower[:rank, :rank]))
