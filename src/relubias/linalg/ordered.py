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

from relubias.linalg.gram import Array


@dataclass(frozen=True, eq=False)
class OrderedFactor:
    """The factor of K − δ I.

    Attributes
    ----------
    front, rest : ndarray of int
        P and N.
    lower : ndarray, shape (n, n)
        The factor, its columns contiguous.
    """

    front: NDArray[np.intp]
    rest: NDArray[np.intp]
    lower: Array

    def blocks(self, units: Array) -> tuple[Array, Array, Array]:
        """Return L_P, W and S of D⁻¹(K − δ I)D⁻¹, D = diag(units), of shapes (p, p), (p, q) and (q, q)."""
        split, inverse = len(self.front), 1.0 / units
        head = self.lower[:split, :split] * inverse[self.front][:, None]
        below = self.lower[split:] * inverse[self.rest][:, None]
        corner = below[:, split:]
        return head, below[:, :split].T, corner @ corner.T


def ordered_factor(gram: Array, front: NDArray[np.bool_]) -> OrderedFactor | None:
    """Factor K − δ I with the samples `front` ahead; None where K is not proven regular.

    Parameters
    ----------
    gram : ndarray, shape (n, n)
        K, symmetric and finite.
    front : ndarray of bool, shape (n,)
    """
    ahead, rest = np.flatnonzero(front), np.flatnonzero(~front)
    order = np.concatenate([ahead, rest])
    permuted = gram.take(order, axis=0).take(order, axis=1)
    lower = shifted_factor(permuted, regularity(len(order)) * float(np.trace(gram)))
    return None if lower is None else OrderedFactor(ahead, rest, lower)


def shifted_factor(matrix: Array, shift: float) -> Array | None:
    """Return the Cholesky factor of A − δ I, columns contiguous, in the place of A; None where there is none."""
    matrix[np.diag_indices_from(matrix)] -= shift
    # LAPACK reads columns: the transpose of the symmetric matrix is overwritten where it lies.
    lower, info = scipy.linalg.lapack.dpotrf(matrix.T, lower=1, overwrite_a=1, clean=1)
    return np.asarray(lower) if info == 0 else None


def regularity(size: int) -> float:
    """2(n + 16) ε: K minus this fraction of its trace has a Cholesky factor only if K is regular."""
    return 2.0 * (size + 16) * float(np.finfo(np.float64).eps)
