"""Labels in a file of their own, for features that come as a bare array: one number a sample, in the same order.

An .npy file, a text file with one number a line (a first line that is no number is its header), or a table in a
text file, of which `target` names the column (beside names of the rows alone it needs no name).
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relubias.errors import DataError
from relubias.files.csv import read_column
from relubias.files.dialect import DELIMITERS, Dialect
from relubias.files.npy import mapped
from relubias.files.target import quoted
from relubias.files.text import text_lines

SUFFIXES = (".npy", ".csv", ".tsv", ".txt")


def read_labels(path: Path, suffix: str, target: str | int | None) -> tuple[NDArray[Any], str | None]:
    """Return the labels and the name of their column, if it has one.

    Parameters
    ----------
    path : path
    suffix : {".npy", ".csv", ".tsv", ".txt"}
    target : str, int or None
        Column of a table.

    Raises
    ------
    DataError
        If the file does not hold one finite number a sample.
    """
    if suffix == ".npy":
        array = mapped(path)
        if array.ndim != 1 and not (array.ndim == 2 and 1 in array.shape):
            raise DataError(f"the labels have shape {array.shape}; one number a sample is needed.")
        return np.array(array).reshape(-1), None
    with contextlib.closing(text_lines(path)) as lines:
        first = next((line for line in lines if line.strip()), "")
    if any(mark in first.rstrip("\r\n") for mark in DELIMITERS):
        return read_column(path, target)
    return _one_a_line(path)


def _one_a_line(path: Path) -> tuple[NDArray[Any], str | None]:
    plain = Dialect("\t")
    numbers: list[float] = []
    name = None
    with contextlib.closing(text_lines(path)) as lines:
        cells: Iterator[tuple[int, str]] = (
            (number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()
        )
        number, cell = next(cells, (0, ""))
        if not cell:
            raise DataError("the file is empty; one number a line is needed.")
        if plain.number(cell) is None:
            name = cell.strip('"')
        else:
            cells = itertools.chain([(number, cell)], cells)
        for number, cell in cells:
            value = plain.number(cell)
            if value is None or not np.isfinite(value):
                raise DataError(f"line {number}: {quoted([cell])} is not a finite number; labels must be numbers.")
            numbers.append(value)
    return np.array(numbers, dtype=np.float64), name
