"""The Gram matrix K = X Xᵀ in float64, accumulated over blocks of columns.

    K = Σ_b X_b X_bᵀ,      X = [X_1 | X_2 | …],  X_b of shape (n, block)

Only one block is ever converted to float64, so that X may be float32, integers, boolean, a memory map or
sparse, and no second array of the size of X is made. A float64 array in memory needs no conversion at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Number of float64 entries in one converted block: 2**21 of them are 16 MiB.
BLOCK_ENTRIES = 2**21


def is_sparse(features: Any) -> bool:
    """True for scipy sparse arrays and matrices."""
    return bool(scipy.sparse.issparse(features))


def column_blocks(features: Any, width: int | None = None) -> Iterator[Array]:
    """Yield the columns of `features` as dense float64 blocks.

    Parameters
    ----------
    features : array or sparse array, shape (n_samples, n_features)
    width : int, optional
        Columns a block; by default as many as make `BLOCK_ENTRIES` numbers.

    Yields
    ------
    ndarray, shape (n_samples, width), float64
    """
    n_samples, n_features = features.shape
    width = width or max(1, BLOCK_ENTRIES // max(1, n_samples))
    sparse = is_sparse(features)
    source = features.tocsc() if sparse else features
    for first in range(0, n_features, width):
        block = source[:, first : first + width]
        yield np.asarray(block.toarray() if sparse else block, dtype=np.float64)


def gram_matrix(features: Any) -> Array:
    """Compute K = X Xᵀ in float64 without a second copy of X.

    Parameters
    ----------
    features : ndarray, memmap or sparse array, shape (n_samples, n_features)
        Any real dtype. Overflow gives infinities, which the caller reports.

    Returns
    -------
    ndarray, shape (n_samples, n_samples)
        Exactly symmetric.
    """
    n_samples = features.shape[0]
    with np.errstate(over="ignore", invalid="ignore"):
        if is_sparse(features) and features.dtype == np.float64:
            gram = np.asarray((features @ features.T).toarray(), dtype=np.float64)
        elif isinstance(features, np.ndarray) and not isinstance(features, np.memmap) and features.dtype == np.float64:
            gram = features @ features.T
        else:
            gram = np.zeros((n_samples, n_samples))
            for block in column_blocks(features):
                gram += block @ block.T
    return symmetrised(gram)


def symmetrised(gram: Array) -> Array:
    """Return (K + Kᵀ)/2 as a C-contiguous array."""
    return np.ascontiguousarray(0.5 * (gram + gram.T))
