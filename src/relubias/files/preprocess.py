"""What may be done to features before K is computed; nothing is ever done unasked.

With x_j a column, x̄_j its mean and s_j² = (1/n) Σ_i (x_ij − x̄_j)² its variance (divided by n, ddof = 0):

    centre        x_ij ← x_ij − x̄_j
    standardise   x_ij ← (x_ij − x̄_j) / s_j
    unit-rows     x_i  ← x_i / ‖x_i‖           (samples that are 0 stay 0)

Columns are first divided by a power of two near their largest entry, which is exact, so that neither 1e300 nor
1e-300 over- or underflows; means are corrected once by the mean of the deviations. A column is *constant* where its
largest and smallest entry differ by rounding only, max − min ≤ 4 ε max|x|: its deviations are noise, and it
becomes 0.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relubias.errors import ArgumentError, DataError
from relubias.linalg.factor import EPS
from relubias.linalg.gram import Array

PREPROCESSES = ("none", "centre", "standardise", "unit-rows")
_AMERICAN = {"center": "centre", "standardize": "standardise"}

#: Numbers worked on at once: 1 MiB of them, so that the intermediate arrays stay in the cache.
BLOCK_ENTRIES = 2**17


def preprocess_named(name: str) -> str:
    """Return the name in our spelling.

    Raises
    ------
    ArgumentError
        If there is no such preprocessing.
    """
    spelled = _AMERICAN.get(name, name)
    if spelled not in PREPROCESSES:
        raise ArgumentError(f"preprocess is {name!r}; it can be {', '.join(PREPROCESSES[:-1])} or {PREPROCESSES[-1]}.")
    return spelled


def preprocess_features(features: ArrayLike, how: str) -> Array:
    """Return a preprocessed copy of dense features.

    Parameters
    ----------
    features : array_like, shape (n_samples, n_features)
    how : {"none", "centre", "standardise", "unit-rows"}
        "center" and "standardize" are accepted too.

    Returns
    -------
    ndarray, shape (n_samples, n_features), float64

    Raises
    ------
    ArgumentError
        If `how` is none of these.
    DataError
        If the features do not have two axes.
    """
    name = preprocess_named(how)
    values = np.array(features, dtype=np.float64)
    if values.ndim != 2:
        raise DataError(f"features must have two axes (samples, features); this array has shape {values.shape}.")
    preprocess_in_place(values, name)
    return values


def preprocess_in_place(values: Array, how: str) -> None:
    """Overwrite `values` by the preprocessed features, block by block."""
    if how in ("centre", "standardise"):
        for block in _column_views(values):
            _centre(block, unit_variance=how == "standardise")
    elif how == "unit-rows":
        for block in _row_views(values):
            _normalise(block)


def constant_columns(values: Array) -> NDArray[np.intp]:
    """Indices of the columns whose entries differ by rounding only."""
    blocks = [_is_constant(block) for block in _column_views(values)]
    return np.flatnonzero(np.concatenate(blocks)) if blocks else np.zeros(0, dtype=np.intp)


def _centre(block: Array, *, unit_variance: bool) -> None:
    exponent = _exponents(block, axis=0)
    constant = _is_constant(block)
    scaled = np.ldexp(block, -exponent)
    for _ in range(2):
        scaled -= scaled.mean(axis=0)
    scaled[:, constant] = 0.0
    if unit_variance:
        deviation = np.sqrt(np.mean(np.square(scaled), axis=0))
        deviation[constant] = 1.0
        np.divide(scaled, deviation, out=block)
    else:
        with np.errstate(over="ignore"):  # an infinity here is reported when K is computed
            np.ldexp(scaled, exponent, out=block)


def _normalise(block: Array) -> None:
    scaled = np.ldexp(block, -_exponents(block, axis=1))
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    norms[norms == 0] = 1.0
    np.divide(scaled, norms, out=block)


def _is_constant(block: Array) -> NDArray[np.bool_]:
    high, low = block.max(axis=0), block.min(axis=0)
    # halves, so that the difference cannot overflow
    return np.asarray(0.5 * high - 0.5 * low <= 2 * EPS * np.maximum(np.abs(high), np.abs(low)))


def _exponents(block: Array, *, axis: int) -> NDArray[np.intc]:
    largest = np.maximum(block.max(axis=axis, keepdims=True), -block.min(axis=axis, keepdims=True))
    exponents: NDArray[np.intc] = np.frexp(largest)[1]
    return exponents


def _column_views(values: Array) -> Iterator[Array]:
    width = max(1, BLOCK_ENTRIES // max(1, values.shape[0]))
    for first in range(0, values.shape[1], width):
        yield values[:, first : first + width]


def _row_views(values: Array) -> Iterator[Array]:
    height = max(1, BLOCK_ENTRIES // max(1, values.shape[1]))
    for first in range(0, values.shape[0], height):
        yield values[first : first + height]
