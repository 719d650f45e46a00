"""The Gram matrix K = X Xᵀ in float64, accumulated over blocks of columns, and other products with X.

    K = Σ_b X_b X_bᵀ,      X = [X_1 | X_2 | …],  X_b of shape (n, block)

Only one block is ever converted to float64, so that X may be float32, integers, boolean, a memory map, sparse or
anything else that yields blocks (a :class:`FeatureSource`), and no second array of the size of X is made. A float64
array in memory needs no conversion at all. Products of sparse matrices stay sparse where that is cheaper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.linalg.blas
import scipy.sparse
from numpy.typing import NDArray

from relubias.linalg.blas import Array as Array
from relubias.linalg.blas import gram_product, mirrored, product

#: Number of float64 entries in one converted block: 2**18 of them are 2 MiB, and larger blocks are no faster.
BLOCK_ENTRIES = 2**18

#: What one product inside a sparse X Xᵀ costs, in products of a dense one (measured: 130 to 450).
SPARSE_COST = 150


@runtime_checkable
class FeatureSource(Protocol):
    """Features that are not an array and not a sparse matrix, but can be seen block by block, more than once."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        ...

    def column_blocks(self, width: int) -> Iterator[Array]:
        """Yield all columns in order as float64 blocks of `width` columns; only the last may have fewer."""
        ...


def is_sparse(features: Any) -> bool:
    """True for scipy sparse arrays and matrices."""
    return bool(scipy.sparse.issparse(features))


def block_width(n_samples: int) -> int:
    """Columns a block, so that a block has `BLOCK_ENTRIES` numbers."""
    return max(1, BLOCK_ENTRIES // max(1, n_samples))


def column_blocks(features: Any, width: int | None = None) -> Iterator[Array]:
    """Yield the columns of `features` as dense float64 blocks.

    Parameters
    ----------
    features : array, sparse array or FeatureSource, shape (n_samples, n_features)
    width : int, optional
        Columns a block; by default as many as make `BLOCK_ENTRIES` numbers.

    Yields
    ------
    ndarray, shape (n_samples, width), float64
        Only to be read: it may be a view of the features.
    """
    n_samples, n_features = features.shape
    sparse = is_sparse(features)
    # smaller ones of sparse features, whose zeros should not take more memory than the rest
    width = width or max(1, block_width(n_samples) // (4 if sparse else 1))
    if isinstance(features, FeatureSource):
        yield from features.column_blocks(width)
        return
    source = features.tocsc() if sparse else features
    for first in range(0, n_features, width):
        block = source[:, first : first + width]
        # float64 before the zeros are filled in: entries given twice are added, which int8 cannot hold
        with np.errstate(over="ignore"):  # a longer float may not fit: it is then not finite
            dense = as_float64(block).toarray() if sparse else np.asarray(block, dtype=np.float64)
        yield dense if _is_direct(dense) else np.ascontiguousarray(dense)


def gram_matrix(features: Any) -> Array:
    """Compute K = X Xᵀ in float64 without a second copy of X.

    Parameters
    ----------
    features : ndarray, memmap, sparse array or FeatureSource, shape (n_samples, n_features)
        Any real dtype. Overflow gives infinities, which the caller reports.

    Returns
    -------
    ndarray, shape (n_samples, n_samples)
        Exactly symmetric, C-contiguous.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if is_sparse(features) and _stays_sparse(features):
            numbers = as_float64(features)
            return symmetrised(np.asarray((numbers @ numbers.T).toarray(), dtype=np.float64))
        in_memory = isinstance(features, np.ndarray) and not isinstance(features, np.memmap)
        if in_memory and features.dtype == np.float64 and _is_direct(features):
            return gram_product(features)
        return gram_of_blocks(column_blocks(features), features.shape[0])[0]


def gram_of_blocks(blocks: Iterable[Array], n_samples: int) -> tuple[Array, int]:
    """Compute K = Σ_b X_b X_bᵀ in one pass over the blocks; also return the number of columns seen."""
    gram = np.zeros((n_samples, n_samples), order="F")
    n_features = 0
    for block in blocks:
        n_features += block.shape[1]
        # X_b X_bᵀ is added where K lies; of the symmetric matrix BLAS computes the lower triangle only
        straight = block.flags.f_contiguous
        gram = scipy.linalg.blas.dsyrk(
            1.0, block if straight else block.T, beta=1.0, c=gram, trans=not straight, lower=1, overwrite_c=1
        )
    return mirrored(gram.T), n_features  # C-contiguous, its upper triangle filled


def cross_product(left: Any, right: Any) -> Array:
    """Return L Rᵀ, shape (n_left, n_right), for two matrices with the same columns."""
    if is_sparse(left) and is_sparse(right):
        return np.asarray((as_float64(left) @ as_float64(right).T).toarray(), dtype=np.float64)
    result = np.zeros((left.shape[0], right.shape[0]))
    width = block_width(max(result.shape))
    for left_block, right_block in zip(column_blocks(left, width), column_blocks(right, width), strict=True):
        result += product(left_block, right_block.T)
    return result


def row_combinations(coefficients: Array, features: Any) -> Array:
    """Return A X, shape (m, n_features), for coefficients A of shape (m, n_samples)."""
    if is_sparse(features):
        return np.ascontiguousarray((as_float64(features).T @ coefficients.T).T)
    result = np.empty((len(coefficients), features.shape[1]))
    first = 0
    for block in column_blocks(features):
        result[:, first : first + block.shape[1]] = product(coefficients, block)
        first += block.shape[1]
    return result


def as_float64(features: Any) -> Any:
    """Return a CSR or CSC matrix with its entries in float64; the places of the entries are shared, not copied."""
    if features.dtype == np.float64:
        return features
    parts = (features.data.astype(np.float64), features.indices, features.indptr)
    return type(features)(parts, shape=features.shape)


def root_units(squares: Array) -> Array:
    """Return the powers of two nearest to the roots of non-negative numbers, 1 for 0: dividing by them is exact."""
    # a number is in [½, 1) times 2^e, and its root nearest to 2^⌊e/2⌋
    return np.asarray(np.ldexp(1.0, np.frexp(squares)[1] >> 1))


def symmetrised(gram: Array) -> Array:
    """Return (K + Kᵀ)/2 as a C-contiguous array."""
    return np.ascontiguousarray(0.5 * (gram + gram.T))


def _stays_sparse(features: Any) -> bool:
    """Whether Σ_j nnz_j² sparse products, nnz_j the entries of column j, are cheaper than n² d dense ones."""
    n_samples, n_features = features.shape
    if features.format == "csc":
        counts = np.diff(features.indptr)
    else:
        counts = np.bincount(features.indices, minlength=n_features)
    sparse_products = float(np.square(counts, dtype=np.float64).sum())
    return bool(SPARSE_COST * sparse_products < float(n_samples) ** 2 * n_features)


def _is_direct(array: NDArray[Any]) -> bool:
    """Whether BLAS can read the array where it lies: one axis without gaps, none reversed or repeated."""
    return bool(array.itemsize in array.strides and min(array.strides) > 0)
