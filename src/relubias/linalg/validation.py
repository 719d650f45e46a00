"""What is asked of features and labels before anything is computed from them, and what is said where it fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relubias.errors import ArgumentError, DataError
from relubias.linalg.gram import Array, column_blocks, symmetrised
from relubias.linalg.preprocessed import Preprocessed
from relubias.linalg.sources import as_features

#: Most samples of which K is computed from features; K then takes 3.2 GB, and as much again when it is decomposed.
MOST_SAMPLES = 20_000


def require_tractable(n_samples: int) -> None:
    """Refuse a number of samples whose K would fill the memory, before anything of that size is allocated.

    Raises
    ------
    DataError
        If there are more than `MOST_SAMPLES`.
    """
    if n_samples > MOST_SAMPLES:
        raise DataError(
            f"there are {n_samples} samples, so that K would take {8e-9 * n_samples**2:.1f} GB; at most {MOST_SAMPLES} "
            "are taken. If the rows are features, transpose the data; else choose some of the samples."
        )


def require_tractable_features(features: Any) -> Any:
    """Return features of any kind as :func:`~relubias.linalg.sources.as_features` does, if K can be computed.

    Raises
    ------
    DataError
        If they are no features, have no sample or no feature, or too many samples.
    """
    matrix = as_features(features)
    if 0 in matrix.shape:
        raise DataError(f"features have shape {matrix.shape}; at least one sample and one feature are needed.")
    require_tractable(matrix.shape[0])
    return matrix


def real_array(values: Any, what: str) -> NDArray[Any]:
    """Return an array of real numbers, or raise DataError."""
    if np.ma.isMaskedArray(values) and np.any(np.ma.getmaskarray(values)):
        raise DataError(f"{what} have masked entries; remove or replace them first.")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{what} are no array: {error}.") from error
    if array.dtype.kind not in "biuf":
        raise DataError(f"{what} must be real numbers; the dtype is {array.dtype}.")
    return array


def as_labels(labels: ArrayLike, n_samples: int | None = None) -> Array:
    """Return a float64 copy of the labels, one finite number a sample, or raise DataError."""
    target = np.array(real_array(labels, "labels"), dtype=np.float64)
    if target.ndim == 2 and 1 in target.shape:
        target = target.reshape(-1)
    if n_samples is None and (target.ndim != 1 or not len(target)):
        raise DataError(f"the labels have shape {np.shape(labels)}; give one number a sample.")
    if n_samples is not None and (target.ndim != 1 or len(target) != n_samples):
        raise DataError(
            f"there are {n_samples} samples, but the labels have shape {np.shape(labels)}; give one a sample."
        )
    require_finite(target, "labels")
    return target


def require_finite(array: Array, what: str) -> None:
    """Raise DataError naming the first entry that is not finite."""
    if np.isfinite(array).all():
        return
    bad = np.argwhere(~np.isfinite(array))
    place = tuple(int(i) for i in bad[0])
    more = f" ({len(bad) - 1} more like it)" if len(bad) > 1 else ""
    raise DataError(
        f"{what}: entry {place if len(place) > 1 else place[0]} is {array[place]}, not a finite number{more}; "
        "remove or replace such entries first."
    )


def not_finite_error(features: Any, names: Sequence[str] | None) -> DataError:
    """Find out why K is not finite."""
    raw = features.features if isinstance(features, Preprocessed) else features
    count, first, column = 0, None, 0
    for block in () if raw is None else column_blocks(raw):
        bad = np.argwhere(~np.isfinite(block))
        if len(bad) and first is None:
            row, offset = (int(i) for i in bad[0])
            name = f"column {names[column + offset]!r}" if names else f"column {column + offset + 1}"
            first = f"features: row {row + 1}, {name} is {block[row, offset]}, not a finite number"
        count += len(bad)
        column += block.shape[1]
    if first is None:
        return DataError("the features are so large that their inner products overflow; divide them by a constant.")
    more = f" ({count - 1} more like it)" if count > 1 else ""
    return DataError(f"{first}{more}; remove or replace such entries first.")


def names_of(names: Sequence[str] | None, length: int, what: str) -> tuple[str, ...] | None:
    """Return names as text, or raise ArgumentError where their number is wrong."""
    if names is None:
        return None
    if len(names) != length:
        raise ArgumentError(f"{what} has {len(names)} entries, but {length} are needed.")
    return tuple(str(name) for name in names)


def as_gram(gram: ArrayLike) -> Array:
    """Return a matrix that is square, finite and symmetric to 1e-10 of its largest entry, made exactly symmetric.

    Raises
    ------
    DataError
        If it is not.
    """
    matrix = real_array(gram, "the Gram matrix").astype(np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise DataError(f"a Gram matrix is square with at least one row; this one has shape {matrix.shape}.")
    require_finite(matrix, "the Gram matrix")
    if _is_symmetric(matrix):
        return np.ascontiguousarray(matrix)
    asymmetry = np.abs(matrix - matrix.T)
    i, j = divmod(int(np.argmax(asymmetry)), matrix.shape[0])
    if asymmetry[i, j] > 1e-10 * float(np.abs(matrix).max()):
        raise DataError(
            f"the Gram matrix is not symmetric: entry ({i}, {j}) is {matrix[i, j]:.6g}, "
            f"entry ({j}, {i}) is {matrix[j, i]:.6g}; give K = X Xᵀ."
        )
    return symmetrised(matrix)


def _is_symmetric(matrix: Array) -> bool:
    """Whether a square matrix is so to the last bit: halves are compared, and no half with itself."""
    half = len(matrix) // 2
    if half < 64:
        return bool(np.array_equal(matrix, matrix.T))
    corners = matrix[:half, :half], matrix[half:, half:]
    return np.array_equal(matrix[:half, half:], matrix[half:, :half].T) and all(map(_is_symmetric, corners))


def as_factor(factor: Any, n_samples: int) -> Array:
    """Return L of K = L Lᵀ in float64, C-contiguous, or raise DataError."""
    lower = np.array(real_array(factor, "the factor of K"), dtype=np.float64, order="C")
    if lower.ndim != 2 or len(lower) != n_samples:
        raise DataError(f"the factor of K has shape {lower.shape}, for {n_samples} samples.")
    require_finite(lower, "the factor of K")
    return lower


def frozen(array: Array) -> Array:
    """Return the array, which from now on can only be read."""
    array.flags.writeable = False
    return array
