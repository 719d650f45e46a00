"""One operator for K = X Xᵀ: everything dynamics and references ask of the data.

They never touch K directly, so that another backing (a factor K = L Lᵀ where K has too few digits) can
take its place. With A a set of samples the operator offers

    matvec(a) = K a,    columns(A) = K[:, A],    block(A, B) = K_AB,    modes(A):  K_AA = Q Λ Qᵀ,

and the size of the rounding errors in them: entries of K are trusted to ε √(K_ii K_jj), eigenvalues to
ε (n + 16) ‖K‖, and an eigenvalue at or below `cutoff` is taken for zero.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.linalg.gram import Array

EPS = float(np.finfo(np.float64).eps)


class GramOperator:
    """The operator backed by the matrix K itself.

    Parameters
    ----------
    gram : ndarray, shape (n, n)
        Symmetric positive semidefinite, C-contiguous float64.
    """

    def __init__(self, gram: Array) -> None:
        self.gram = gram

    @property
    def n_samples(self) -> int:
        """Number of samples n."""
        return int(self.gram.shape[0])

    @cached_property
    def diagonal(self) -> Array:
        """Squared norms of the samples, K_ii, shape (n,)."""
        return np.maximum(np.diagonal(self.gram), 0.0)

    @cached_property
    def eigensystem(self) -> tuple[Array, Array]:
        """Eigenvalues in ascending order, shape (n,), and eigenvectors as columns, shape (n, n)."""
        values, vectors = scipy.linalg.eigh(self.gram, check_finite=False)
        return values, vectors

    @cached_property
    def spectrum(self) -> Array:
        """Eigenvalues of K in ascending order, shape (n,); as computed, so that rounding may make some < 0."""
        if "eigensystem" in self.__dict__:
            return self.eigensystem[0]
        return np.asarray(scipy.linalg.eigvalsh(self.gram, check_finite=False))

    @property
    def largest(self) -> float:
        """The largest eigenvalue λ_max(K)."""
        return max(0.0, float(self.spectrum[-1]))

    @property
    def cutoff(self) -> float:
        """Eigenvalues up to this size, (n + 16) ε λ_max, are indistinguishable from zero.

        The rounding of K and of the eigenvalues grows with n, but is several ε even for a handful of samples.
        """
        return (self.n_samples + 16) * EPS * self.largest

    @property
    def rank(self) -> int:
        """Number of eigenvalues above `cutoff`."""
        return int(np.count_nonzero(self.spectrum > self.cutoff))

    @cached_property
    def is_regular(self) -> bool:
        """True only where every eigenvalue is proven to exceed `cutoff`, so that no spectrum is needed.

        K − 2(n + 16)ε tr(K) I then has a Cholesky factor, whose rounding is less than half of what was subtracted.
        """
        shifted = self.gram.copy()
        shifted[np.diag_indices_from(shifted)] -= 2 * (self.n_samples + 16) * EPS * float(self.diagonal.sum())
        return bool(scipy.linalg.lapack.dpotrf(shifted, lower=1, overwrite_a=1)[1] == 0)

    def matvec(self, vector: Array) -> Array:
        """Return K a for a vector (n,) or for the columns of a matrix (n, p)."""
        return self.gram @ vector

    def wide_matvec(self, vector: NDArray[Any]) -> NDArray[np.longdouble]:
        """Return K a accumulated in extended precision where the machine has it, for residuals.

        Rounding of the sum is then far below that of the entries, as iterative refinement needs.
        """
        # einsum converts K piece by piece, without a copy of the whole.
        return np.asarray(np.einsum("ij,j->i", self.gram, np.asarray(vector, dtype=np.longdouble)), dtype=np.longdouble)

    def columns(self, index: NDArray[np.intp]) -> Array:
        """Return K[:, index], shape (n, len(index))."""
        return self.gram[:, index]

    def block(self, index: NDArray[np.intp], others: NDArray[np.intp] | None = None) -> Array:
        """Return K[index, others]; the principal block K[index, index] where no others are given."""
        return self.gram[np.ix_(index, index if others is None else others)]

    def modes(self, index: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return eigenvalues (ascending) and eigenvectors of the principal block of `index`."""
        values, vectors = scipy.linalg.eigh(self.block(index), check_finite=False)
        return values, vectors

    def project(self, dual: Array) -> Array:
        """Return the representative of `dual`, shape (n,) or (p, n), that is orthogonal to the kernel of K.

        Raw dual coefficients are unique only up to that kernel; K⁺β fixes them.
        """
        if self.is_regular or self.rank == self.n_samples:
            return dual
        values, vectors = self.eigensystem
        kernel = vectors[:, values <= self.cutoff]
        return dual - (dual @ kernel) @ kernel.T

    def pseudo_solve(self, primal: Array) -> Array:
        """Return K⁺ b for b of shape (n,) or, row by row, (p, n)."""
        values, vectors = self.eigensystem
        kept = values > self.cutoff
        basis = vectors[:, kept]
        return ((primal @ basis) / values[kept]) @ basis.T
