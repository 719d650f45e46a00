"""Arrays in .npy files. The file is mapped into memory and read when it is needed, never loaded as a whole."""

from __future__ import annotations

import operator
import os
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relubias.errors import ArgumentError, DataError
from relubias.files.orientation import suspicion
from relubias.files.table import Table
from relubias.files.target import column_at
from relubias.linalg.sources import Joined


def read_npy(path: str | os.PathLike[str], target: str | int | None) -> Table:
    """Map an array of shape (n_samples, n_features), with or without a column of labels.

    Parameters
    ----------
    path : path
    target : int, str or None
        Position of the column of labels, counted from 1 (−1 is the last); without it, all columns are features.

    Raises
    ------
    DataError
        If the file is not an array of real numbers with two axes, or has no such column.
    ArgumentError
        If `target` is not a position.
    """
    array = mapped(path)
    if array.ndim != 2:
        raise DataError(f"the array has shape {array.shape}; features have two axes (samples, features).")
    notes = suspicion(array.shape)
    if target is None:
        return Table(features=array, labels=None, notes=notes)
    column = column_at(_position(target), array.shape[1])
    if array.shape[1] < 2:
        raise DataError("there is no feature beside the labels; at least one is needed.")
    return Table(
        features=_without(array, column),
        labels=np.array(array[:, column]),
        target_name=f"column {column + 1}",
        notes=notes,
    )


def mapped(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Map an array of real numbers, read-only.

    Raises
    ------
    DataError
        If the file cannot be read, holds Python objects or no real numbers, or is empty.
    """
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(
            f"the file cannot be mapped as an array of numbers ({str(error).rstrip('.')}); write it with numpy.save, "
            "without Python objects in it."
        ) from error
    if not isinstance(array, np.ndarray):
        raise DataError("the file is an .npz archive, not one array; give it the suffix .npz.")
    if array.dtype.kind not in "biuf":
        raise DataError(f"the array has dtype {array.dtype}; it must be real numbers.")
    return array


def _position(target: str | int) -> int:
    if isinstance(target, str) and re.fullmatch(r"\s*[-+]?\d+\s*", target):
        return int(target)
    try:
        return operator.index(target)  # type: ignore[arg-type]  # other strings fail here, as they should
    except TypeError:
        raise ArgumentError(
            f"target is {target!r}, but columns of an array have no names; give a position, counted from 1."
        ) from None


def _without(array: NDArray[Any], column: int) -> Any:
    """Leave a column out: a view where it is the first or the last one, else the two parts beside it."""
    if column == 0:
        return array[:, 1:]
    if column == array.shape[1] - 1:
        return array[:, :-1]
    return Joined((array[:, :column], array[:, column + 1 :]))
