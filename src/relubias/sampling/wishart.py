"""The Gram matrix of Gaussian rows in any dimension: Bartlett's decomposition.

For X of shape (N, d) with independent standard normal entries and d ≥ N, K = X Xᵀ has the law of L Lᵀ, where L is
lower triangular with independent entries,

    L_ii ~ χ with d − i + 1 degrees of freedom, i = 1 … N,      L_ij ~ N(0, 1) for j < i.

(Rotate the rows so that the first lies on the first axis, then the rest so that the second lies in the plane of the
first two, and so on: what is left of a row after i − 1 axes has a χ-distributed length.) That is N(N + 1)/2 numbers,
whatever d is. Source: Bartlett (1933).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg.lapack

from relubias.linalg.gram import Array


def wishart(n_rows: int, degrees: int, generator: np.random.Generator) -> Array:
    """Draw K = X Xᵀ for X of shape (`n_rows`, `degrees`) with independent standard normal entries.

    Parameters
    ----------
    n_rows : int
    degrees : int
        The dimension of the rows, at least `n_rows`.
    generator : numpy.random.Generator

    Returns
    -------
    ndarray, shape (n_rows, n_rows)
        Exactly symmetric.
    """
    return triangular_product(bartlett_factor(degrees - np.arange(n_rows, dtype=np.float64), generator))


def bartlett_factor(degrees: Array, generator: np.random.Generator) -> Array:
    """Draw the lower triangular L with χ of these degrees of freedom on the diagonal, shape (N, N)."""
    lower = np.zeros((len(degrees), len(degrees)))
    for i in range(1, len(degrees)):
        generator.standard_normal(out=lower[i, :i])
    np.fill_diagonal(lower, np.sqrt(generator.chisquare(degrees)))
    return lower


def triangular_product(lower: Array) -> Array:
    """Return L Lᵀ in a third of the operations of a full product, exactly symmetric.

    Its last bits depend on the number of BLAS threads.
    """
    # LAPACK knows U Uᵀ for upper triangular U only; read backwards, a lower triangle is an upper one
    upper, _ = scipy.linalg.lapack.dlauum(np.array(lower[::-1, ::-1], order="F"), lower=0, overwrite_c=1)
    half = upper[::-1, ::-1]
    return np.ascontiguousarray(np.tril(half) + np.tril(half, -1).T)
