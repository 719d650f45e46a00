"""A Cholesky factor of K with some samples in front: it proves that K is regular, and it eliminates those samples.

With the samples in the order (P, N) and a little of the identity taken off,

    K − δ I = ⎡ L_P    0  ⎤ ⎡ L_Pᵀ   W   ⎤        L_P L_Pᵀ = K_PP − δ I,      W = L_P⁻¹ K_PN,
              ⎣ Wᵀ    L_N ⎦ ⎣  0    L_Nᵀ ⎦,       L_N L_Nᵀ = S,  the Schur complement of K_PP − δ I in K − δ I.

δ = 2(n + 16) ε tr(K) is twice the rounding of the factorisation: where it succeeds, all eigenvalues of K are above
(n + 16) ε λ_max. To those who solve with K, δ is an error that iterative refinement removes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.linalg.blas import Array, gram_product


@dataclass(frozen=True, eq=False)
class OrderedFactor:
    """The parts of the factor of K − δ I that elimination wants.

    Attributes
    ----------
    front, rest : ndarray of int
        P and N.
    head : ndarray, shape (p, p)
        L_P, its columns contiguous.
    half : ndarray, shape (p, q)
        W, its columns contiguous.
    schur : ndarray, shape (q, q)
        S.
    """

    front: NDArray[np.intp]
    rest: NDArray[np.intp]
    head: Array
    half: Array
    schur: Array

    def blocks(self, units: Array) -> tuple[Array, Array, Array]:
        """Return L_P, W and S of D⁻¹(K − δ I)D⁻¹, D = diag(units)."""
        inverse = 1.0 / units
        if np.all(inverse == 1.0):
            return self.head, self.half, self.schur
        others = inverse[self.rest]
        return self.head * inverse[self.front][:, None], self.half * others, self.schur * others * others[:, None]


def ordered_factor(gram: Array, front: NDArray[np.bool_]) -> OrderedFactor | None:
    """Factor K − δ I with the samples `front` ahead; None where K is not proven regular.

    Done block by block, so that no copy of the whole K is needed.

    Parameters
    ----------
    gram : ndarray, shape (n, n)
        K, symmetric and finite.
    front : ndarray of bool, shape (n,)
    """
    ahead, rest = np.flatnonzero(front), np.flatnonzero(~front)
    shift = regularity(len(gram)) * float(np.trace(gram))
    below = gram.take(rest, axis=0)
    half, schur = below.take(ahead, axis=1).T, below.take(rest, axis=1)
    del below
    head = shifted_factor(gram.take(ahead, axis=0).take(ahead, axis=1), shift)
    if head is None:
        return None
    if half.size:
        half = scipy.linalg.blas.dtrsm(1.0, head, half, lower=1, overwrite_b=1)
        schur -= gram_product(half.T)
    schur[np.diag_indices_from(schur)] -= shift
    if shifted_factor(schur.copy(), 0.0) is None:
        return None
    return OrderedFactor(ahead, rest, head, half, schur)


def shifted_factor(matrix: Array, shift: float) -> Array | None:
    """Return the Cholesky factor of A − δ I, columns contiguous, in the place of A; None where there is none."""
    if not matrix.size:
        return matrix
    matrix[np.diag_indices_from(matrix)] -= shift
    # LAPACK reads columns: the transpose of the symmetric matrix is overwritten where it lies.
    lower, info = scipy.linalg.lapack.dpotrf(matrix.T, lower=1, overwrite_a=1, clean=1)
    return np.asarray(lower) if info == 0 else None


def regularity(size: int) -> float:
    """2(n + 16) ε: K minus this fraction of its trace has a Cholesky factor only if K is regular."""
    return 2.0 * (size + 16) * float(np.finfo(np.float64).eps)
