"""Products by the BLAS whose threads the factorisations use.

NumPy and SciPy may each come with a BLAS that has threads of its own. Threads which have just worked wait busily for
more, for milliseconds, and where there is not a core for each the threads of the other library have to wait until they
give up. A computation of half a millisecond that alternates between products of the one and factorisations of the
other takes sixteen times as long (n = 200, two cores). So products of matrices beside a factorisation go to SciPy's,
which has the factorisations; what is too small for threads may be written with ``@``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg.blas
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Rows that are mirrored at once: a block and its transpose then stay in the cache.
_MIRRORED = 256


def product(left: Array, right: Array) -> Array:
    """Return L R, or L r.

    Parameters
    ----------
    left : ndarray, shape (m, k)
        Read where it lies if one axis has no gaps, else copied.
    right : ndarray, shape (k, p) or (k,)

    Returns
    -------
    ndarray, shape (m, p) or (m,)
        C-contiguous.
    """
    if not left.size or not right.size:
        return left @ right
    first, is_first_turned = _columns(left)
    if right.ndim == 1:
        return np.asarray(scipy.linalg.blas.dgemv(1.0, first, right, trans=is_first_turned))
    second, is_second_turned = _columns(right)
    # (L R)ᵀ = Rᵀ Lᵀ, whose columns are contiguous
    turned = scipy.linalg.blas.dgemm(1.0, second, first, trans_a=not is_second_turned, trans_b=not is_first_turned)
    return np.asarray(turned.T)


def gram_product(rows: Array) -> Array:
    """Return A Aᵀ for A of shape (m, k), exactly symmetric and C-contiguous, in half the operations of a product."""
    if not rows.size:
        return np.zeros((len(rows), len(rows)))
    columns, is_turned = _columns(rows)
    return mirrored(scipy.linalg.blas.dsyrk(1.0, columns, trans=is_turned, lower=1).T)


def frobenius(matrix: Array) -> float:
    """Return ‖A‖_F, which asks no BLAS: NumPy's norm does, and for a large matrix with threads."""
    return float(np.sqrt(np.square(matrix).sum()))


def mirrored(upper: Array) -> Array:
    """Fill the lower triangle of a matrix, shape (m, m), that has zeros there, with the upper one, in place."""
    diagonal = upper.diagonal().copy()
    np.fill_diagonal(upper, 0.0)
    for first in range(0, len(upper), _MIRRORED):
        rows = slice(first, first + _MIRRORED)
        upper[rows, :first] = upper[:first, rows].T
        upper[rows, rows] += upper[rows, rows].T
    np.fill_diagonal(upper, diagonal)
    return upper


def _columns(matrix: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """The matrix with contiguous columns, as BLAS reads it, and whether that is its transpose."""
    return (matrix, False) if matrix.flags.f_contiguous else (matrix.T, True)
