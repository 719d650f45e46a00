"""The triangular factor of X, taken up in column blocks: X = L Q with Q Qᵀ = I, so that K = X Xᵀ = L Lᵀ.

    [L | X_b] = L′ Q′      for each block X_b of columns,      L ← L′

Orthogonal transformations keep every singular value to ε σ_max, where forming K loses those below √ε σ_max.
Memory is that of one block; the cost is 2 n² d flops, about twice that of K.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.linalg

from relubias.linalg.gram import Array


def lower_factor(blocks: Iterable[Array], n_samples: int) -> Array:
    """Return L, shape (n, r) with r = min(n, d), such that L Lᵀ = Σ_b X_b X_bᵀ.

    Parameters
    ----------
    blocks : iterable of ndarray, shape (n, width)
        The columns of X in order; narrow blocks are gathered before they are factored.
    n_samples : int
    """
    factor = np.empty((n_samples, 0))
    waiting: list[Array] = []
    width = 0
    for block in blocks:
        waiting.append(block)
        width += block.shape[1]
        if width >= 4 * n_samples:
            factor, waiting, width = _absorbed(factor, waiting), [], 0
    return _absorbed(factor, waiting) if waiting else factor


def _absorbed(factor: Array, blocks: list[Array]) -> Array:
    n_samples = len(factor)
    (triangle,) = scipy.linalg.qr(np.concatenate([factor, *blocks], axis=1).T, mode="r", check_finite=False)
    return np.ascontiguousarray(triangle[:n_samples].T)
