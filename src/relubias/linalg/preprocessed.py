"""Preprocessed features: what is done to them, recorded, and done block by block whenever they are read.

With x_j a column, x̄_j its mean and s_j² = (1/n) Σ_i (x_ij − x̄_j)² its variance (divided by n, ddof = 0):

    centre        x_ij ← x_ij − x̄_j
    standardise   x_ij ← (x_ij − x̄_j) / s_j
    unit-rows     x_i  ← x_i / ‖x_i‖           (samples that are 0 stay 0)

so that x_ij ← (x_ij − shift_j) / scale_j or x_i ← x_i / row_scale_i. New points get the shift and the scale of the
samples that these were computed from, or the norms of their own.

No preprocessed copy is kept, hence sparse and memory-mapped features stay what they are. The mean is kept as the
unevaluated sum of two numbers (the mean, and the mean of the deviations from it), so that a small spread around a
large mean survives. For the statistics columns are divided by a power of two near their largest entry, which is
exact, so that neither 1e300 nor 1e-300 over- or underflows. A column is *constant* where its largest and smallest
entry differ by rounding only, max − min ≤ 4 ε max|x|: its deviations are noise, and it becomes 0 (scale_j = ∞).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from relubias.linalg.factor import EPS
from relubias.linalg.gram import Array, column_blocks, is_sparse

_Scaling = tuple[Array, Array, Array]


@dataclass(frozen=True, eq=False)
class Preprocessed:
    """Features that are centred, standardised or normalised whenever a block of them is read.

    ``numpy.asarray`` makes the whole preprocessed array, where that is wanted.

    Attributes
    ----------
    features : array, sparse array or FeatureSource, shape (n_samples, n_features)
        The features as given.
    how : {"centre", "standardise", "unit-rows"}
    shift : ndarray, shape (2, n_features), or None
        The means of the columns, and what rounding left of them: the shift is the sum of both.
    scale : ndarray, shape (n_features,), or None
        What columns are divided by; infinite where a column is constant.
    row_scale : ndarray, shape (n_samples,), or None
        What rows are divided by; 1 where a row is zero.
    """

    features: Any
    how: str
    shift: Array | None = None
    scale: Array | None = None
    row_scale: Array | None = None

    @classmethod
    def of(cls, features: Any, how: str) -> Preprocessed:
        """Compute the shift and the scale in one pass over the features.

        Where an entry is not finite or a norm overflows, so are the results; K then tells.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            if how == "unit-rows":
                return cls(features, how, row_scale=_row_norms(features))
            means, rests, scales = _column_statistics(features, unit_variance=how == "standardise")
            return cls(features, how, shift=np.stack([means, rests]), scale=scales)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        n_samples, n_features = self.features.shape
        return n_samples, n_features

    def column_blocks(self, width: int) -> Iterator[Array]:
        """Yield the preprocessed columns in blocks of `width`."""
        first = 0
        for block in column_blocks(self.features, width):
            columns = slice(first, first + block.shape[1])
            first += block.shape[1]
            with np.errstate(invalid="ignore", over="ignore"):  # K tells
                if self.row_scale is not None:
                    done = block / self.row_scale[:, None]
                elif self.shift is not None and self.scale is not None:
                    done = block - self.shift[0, columns]
                    done -= self.shift[1, columns]
                    done /= self.scale[columns]
            yield done

    def prepare(self, features: Any) -> Preprocessed:
        """Treat new points as these samples were treated: same shift and scale of columns, own norms of rows."""
        if self.how == "unit-rows":
            return Preprocessed.of(features, self.how)
        return replace(self, features=features)

    @property
    def constant(self) -> NDArray[np.intp]:
        """Indices of the columns that became 0; empty where rows were divided."""
        return np.flatnonzero(np.isinf(self.scale)) if self.scale is not None else np.zeros(0, dtype=np.intp)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Make the whole preprocessed array."""
        if copy is False:
            raise ValueError("preprocessed features are not kept as an array; making one is a copy.")
        whole = np.concatenate(list(column_blocks(self)), axis=1)
        return whole if dtype is None else whole.astype(dtype)


def constant_columns(features: Any) -> NDArray[np.intp]:
    """Indices of the columns whose entries differ by rounding only."""
    if is_sparse(features):
        extremes = [(np.ravel(features.max(axis=0).toarray()), np.ravel(features.min(axis=0).toarray()))]
    else:
        extremes = [(block.max(axis=0), block.min(axis=0)) for block in column_blocks(features)]
    return np.flatnonzero(np.concatenate([_is_constant(high, low) for high, low in extremes]))


def _column_statistics(features: Any, *, unit_variance: bool) -> _Scaling:
    """Means, means of the deviations from them, and scales of the columns, in one pass."""
    parts = [_statistics_of(block, unit_variance) for block in column_blocks(features)]
    means, rests, scales = (np.concatenate(part) for part in zip(*parts, strict=True))
    return means, rests, scales


def _statistics_of(block: Array, unit_variance: bool) -> _Scaling:
    high, low = block.max(axis=0), block.min(axis=0)
    exponent = np.frexp(np.maximum(high, -low))[1]
    scaled = np.ldexp(block, -exponent)
    mean = scaled.mean(axis=0)
    scaled -= mean
    rest = scaled.mean(axis=0)
    scale = np.ones(block.shape[1])
    if unit_variance:
        scaled -= rest
        scale = np.ldexp(np.sqrt(np.einsum("ij,ij->j", scaled, scaled) / len(scaled)), exponent)
    scale[_is_constant(high, low)] = np.inf
    return np.ldexp(mean, exponent), np.ldexp(rest, exponent), scale


def _row_norms(features: Any) -> Array:
    norms = np.zeros(features.shape[0])
    for block in column_blocks(features):
        exponent = np.frexp(np.maximum(block.max(axis=1), -block.min(axis=1)))[1]
        norms = np.hypot(norms, np.ldexp(np.linalg.norm(np.ldexp(block, -exponent[:, None]), axis=1), exponent))
    norms[norms == 0] = 1.0
    return norms


def _is_constant(high: NDArray[Any], low: NDArray[Any]) -> NDArray[np.bool_]:
    # halves, so that the difference cannot overflow
    highest, lowest = 0.5 * np.asarray(high, dtype=np.float64), 0.5 * np.asarray(low, dtype=np.float64)
    return np.asarray(highest - lowest <= 4 * EPS * np.maximum(np.abs(highest), np.abs(lowest)))
