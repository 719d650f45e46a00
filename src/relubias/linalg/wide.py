"""Products K a to more digits than double precision has, by products in double precision that are exact.

A matrix and a vector are cut into parts of few bits, all of a part on one grid,

    K = K₁ + K₂,        a = a₁ + a₂ + a₃,

K₁, a₁ and a₂ of b bits each with 2b + log₂ n ≤ 53. Then K₁a₁ and K₁a₂ are sums of whole multiples of one unit, below
2⁵³ of them, and no rounding occurs, in whatever order BLAS adds them up [1]_. What is left, K₁a₃ + K₂a, is smaller by
2⁻ᵇ, and its rounding by as much: at most n 2⁻⁵³⁻ᵇ max|K| Σ|a|, which for n ≤ 4000 is below that of sums of 64 bits.

References
----------
.. [1] K. Ozaki, T. Ogita, S. Oishi and S. M. Rump, "Error-free transformations of matrix multiplication by using fast
       routines of matrix multiplication and its applications", Numerical Algorithms 59 (2012).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.gram import Array

#: Sizes of K, of a and of K a for which no cut overflows, or loses bits at the smallest numbers that there are.
LEAST, MOST = 1e-200, 1e200
#: Entries of K that are cut at once: their parts stay in the cache, and small enough not to be taken from the system.
ENTRIES = 16_000


def wide_product(matrix: Array, vector: NDArray[Any], largest: float) -> NDArray[np.longdouble]:
    """Return K a to about the digits of extended precision, relative to max|K| Σ|a|.

    Parameters
    ----------
    matrix : ndarray, shape (n, n)
        K, finite.
    vector : ndarray, shape (n,)
        a, in double or extended precision.
    largest : float
        max|K|, or a little more.

    Returns
    -------
    ndarray, shape (n,)
    """
    high = np.asarray(vector, dtype=np.float64)
    size = float(np.abs(high).max(initial=0.0))
    if not (LEAST < size < MOST and LEAST < largest < MOST and LEAST < size * largest < MOST):
        return converted_product(matrix, vector)
    count = len(high)
    bits = (53 - (count - 1).bit_length()) // 2
    first, rest = _cut(high, size, bits)
    second, rest = _cut(rest, size * 2.0**-bits, bits)
    third = rest + np.asarray(vector - high, dtype=np.float64)
    image = np.empty(count, dtype=np.longdouble)
    step = max(1, ENTRIES // count)
    for start in range(0, count, step):
        rows = slice(start, start + step)
        coarse, fine = _cut(matrix[rows], largest, bits)
        image[rows] = coarse @ first
        image[rows] += coarse @ second
        image[rows] += coarse @ third + fine @ high
    return image


def converted_product(matrix: Array, vector: NDArray[Any]) -> NDArray[np.longdouble]:
    """Return K a with every product and sum in extended precision: slower, and to each row's own digits."""
    # einsum converts K piece by piece, without a copy of the whole
    return np.asarray(np.einsum("ij,j->i", matrix, np.asarray(vector, dtype=np.longdouble)), dtype=np.longdouble)


def _cut(values: Array, largest: float, bits: int) -> tuple[Array, Array]:
    """The values rounded to multiples of about 2^(1 − bits) times the largest, and what that leaves; both exact."""
    shift = 1.5 * np.exp2(np.ceil(np.log2(largest)) + 53 - bits)
    coarse = values + shift
    coarse -= shift
    return coarse, values - coarse
