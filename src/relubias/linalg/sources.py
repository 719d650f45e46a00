"""Features that are never held as a whole: seen through blocks of columns, X = [X_1 | X_2 | …].

:class:`ColumnBlocks` asks a function for the blocks, anew for each pass; :class:`Joined` puts matrices side by side.
Both are a :class:`~relubias.linalg.gram.FeatureSource`. A block from outside is checked when it passes: its shape,
its dtype, and that its entries are finite; blocks and their rows are counted from 1 in messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from relubias.errors import DataError
from relubias.linalg.gram import (
    Array,
    FeatureSource,
    as_float64,
    block_width,
    column_blocks,
    gram_of_blocks,
    is_sparse,
)

BlockMaker = Callable[[], Iterable[Any]]

_ONCE = "give a function that returns a fresh iterator of column blocks each time it is called"

#: What is said where a source of features was spent in one pass.
ONE_PASS = (
    "the features came from an iterator and were passed over once: K is complete, but weights, predictions at new "
    "points and a second look for more digits are out of reach."
)


@dataclass(frozen=True, eq=False)
class ColumnBlocks:
    """Features that a function yields in blocks of columns, anew each time it is called.

    Attributes
    ----------
    make : callable
        ``make()`` returns an iterator of arrays or sparse matrices of shape (n_samples, some width); every
        call must yield the same columns. A block may be overwritten once the next one is asked for.
    shape : tuple of int
        Numbers of samples and features.
    """

    make: BlockMaker
    shape: tuple[int, int]

    @classmethod
    def of(cls, make: BlockMaker) -> ColumnBlocks:
        """Find the shape in one pass over the blocks.

        Raises
        ------
        DataError
            If a block cannot be used, or there is none.
        """
        n_samples, n_features = None, 0
        for block in checked_blocks(opened(make)):
            n_samples, n_features = block.shape[0], n_features + block.shape[1]
        if n_samples is None:
            raise DataError("the function yields no block of columns; at least one sample and one feature are needed.")
        return cls(make, (n_samples, n_features))

    def column_blocks(self, width: int) -> Iterator[Array]:
        """Yield the columns in blocks of `width`.

        Raises
        ------
        DataError
            If a block cannot be used, or this pass does not have as many columns as the first one.
        """
        return regrouped(self._pass(), width)

    def _pass(self) -> Iterator[Array]:
        n_samples, expected = self.shape
        seen = 0
        for block in checked_blocks(opened(self.make), n_samples):
            seen += block.shape[1]
            if seen > expected:
                break
            yield block
        if seen != expected:
            count = f"more than {expected}" if seen > expected else str(seen)
            raise DataError(
                f"this pass over the column blocks gave {count} columns, but the first gave {expected}; {_ONCE}, "
                "with the same columns."
            )


@dataclass(frozen=True, eq=False)
class Joined:
    """Matrices with the same samples, side by side: an array without one of its columns, for example."""

    parts: tuple[Any, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        return self.parts[0].shape[0], sum(part.shape[1] for part in self.parts)

    def column_blocks(self, width: int) -> Iterator[Array]:
        """Yield the columns in blocks of `width`."""
        return regrouped((block for part in self.parts for block in column_blocks(part, width)), width)


def as_features(features: Any) -> Any:
    """Return features of any kind as an array, CSR, CSC or a source of blocks, of real numbers on two axes.

    Raises
    ------
    DataError
        If they are none of these.
    """
    if isinstance(features, FeatureSource):
        return features
    if callable(features):
        return ColumnBlocks.of(features)
    if isinstance(features, Iterator):
        raise DataError(f"an iterator can be passed over only once; {_ONCE}.")
    sparse = is_sparse(features)
    matrix: Any = features if sparse or isinstance(features, np.ndarray) else np.asarray(features)
    if matrix.dtype.kind not in "biuf":
        raise DataError(f"features must be real numbers; the dtype is {matrix.dtype}.")
    if matrix.ndim != 2:
        raise DataError(f"features must have two axes (samples, features); this array has shape {matrix.shape}.")
    return matrix.tocsr() if sparse and matrix.format not in ("csr", "csc") else matrix


def opened(make: BlockMaker) -> Iterator[Any]:
    """Call the function that makes the blocks.

    Raises
    ------
    DataError
        If it does not return an iterator of blocks.
    """
    blocks = make()
    if isinstance(blocks, np.ndarray) or is_sparse(blocks) or not isinstance(blocks, Iterable):
        raise DataError(
            f"the function that gives the features returned {type(blocks).__name__}; it must return an iterator of "
            "column blocks, each of shape (n_samples, width)."
        )
    return iter(blocks)


def checked_blocks(blocks: Iterable[Any], n_samples: int | None = None) -> Iterator[Array]:
    """Yield the blocks as dense float64 arrays of our own, large ones in parts.

    Parameters
    ----------
    blocks : iterable of array or sparse matrix
    n_samples : int, optional
        Rows that each must have; by default those of the first block.

    Raises
    ------
    DataError
        If a block does not have two axes or this number of rows, or has an entry that is not a finite real number.
    """
    for position, block in enumerate(blocks, 1):
        matrix: Any = block if is_sparse(block) else np.asarray(block)
        if matrix.dtype.kind not in "biuf":
            raise DataError(f"block {position} of the features has dtype {matrix.dtype}; it must be real numbers.")
        if matrix.ndim != 2 or (n_samples is not None and matrix.shape[0] != n_samples):
            rows = "a row a sample" if n_samples is None else f"{n_samples} rows, one a sample"
            raise DataError(f"block {position} of the features has shape {matrix.shape}; a block has {rows}.")
        n_samples, n_columns = matrix.shape
        columns = matrix.tocsc() if is_sparse(matrix) else matrix
        width = block_width(n_samples)
        for first in range(0, n_columns, width):
            dense = _own_float64(columns[:, first : first + width])
            if not np.isfinite(dense).all():
                raise _not_finite(dense, position, first)
            yield dense


def _own_float64(block: Any) -> Array:
    """Convert, or copy: whoever made the block may use its memory for the next."""
    with np.errstate(over="ignore"):  # a longer float may not fit: it is then not finite
        return np.asarray(as_float64(block).toarray() if is_sparse(block) else np.array(block, dtype=np.float64))


def regrouped(blocks: Iterable[Array], width: int) -> Iterator[Array]:
    """Yield the same columns in blocks of `width`; only the last may have fewer."""
    buffer, held = None, 0
    for block in blocks:
        first, n_columns = 0, block.shape[1]
        while first < n_columns:
            if not held and n_columns - first >= width:
                yield block[:, first : first + width]
                first += width
                continue
            if buffer is None:
                buffer = np.empty((block.shape[0], width), order="F")
            taken = min(width - held, n_columns - first)
            buffer[:, held : held + taken] = block[:, first : first + taken]
            held, first = held + taken, first + taken
            if held == width:
                yield buffer
                held, buffer = 0, None
    if buffer is not None:
        yield buffer[:, :held]


def default_blocks(blocks: Iterable[Any], n_samples: int) -> Iterator[Array]:
    """Check blocks from outside and yield them in blocks of the usual size."""
    return regrouped(checked_blocks(blocks, n_samples), block_width(n_samples))


def is_streamed(features: Any) -> bool:
    """Whether the features are column blocks yet to come: from a function, or from an iterator."""
    return isinstance(features, Iterator) or (callable(features) and not isinstance(features, FeatureSource))


def streamed(features: Any, n_samples: int) -> tuple[ColumnBlocks | None, Array, int]:
    """Compute K in one pass over column blocks; the features are kept only where they can be passed over again."""
    make: BlockMaker | None = features if callable(features) else None
    blocks = features if make is None else opened(make)
    with np.errstate(over="ignore", invalid="ignore"):
        gram, n_features = gram_of_blocks(default_blocks(blocks, n_samples), n_samples)
    if n_features == 0:
        raise DataError("the features yield no column; at least one sample and one feature are needed.")
    return None if make is None else ColumnBlocks(make, (n_samples, n_features)), gram, n_features


def _not_finite(block: Array, position: int, skipped: int) -> DataError:
    bad = np.argwhere(~np.isfinite(block))
    row, column = (int(i) for i in bad[0])
    more = f" ({len(bad) - 1} more like it near it)" if len(bad) > 1 else ""
    return DataError(
        f"block {position} of the features: row {row + 1}, column {skipped + column + 1} of the block is "
        f"{block[row, column]}, not a finite number{more}; remove or replace such entries first."
    )
