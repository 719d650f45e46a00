"""From a file to a :class:`~relubias.problem.Problem`: the reader is chosen by the suffix of the name."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable
from pathlib import Path

from relubias.errors import DataError
from relubias.files.csv import read_csv
from relubias.files.preprocess import constant_columns, preprocess_in_place, preprocess_named
from relubias.files.table import Table
from relubias.files.target import quoted
from relubias.linalg.gram import Array
from relubias.problem import Problem

Reader = Callable[[Path, str | int | None], Table]

#: Reader of each suffix; ``.gz`` after it is allowed where the format is text.
READERS: dict[str, Reader] = {".csv": read_csv, ".tsv": read_csv, ".txt": read_csv}


def read(
    path: str | os.PathLike[str],
    *,
    target: str | int | None = None,
    preprocess: str = "none",
    centre_labels: bool = False,
) -> Problem:
    """Read a file of numbers and compute its Gram matrix.

    A text table has a sample a row and a feature a column; it is read transposed where the target is the name of
    a row. The delimiter (comma, tab, semicolon, bar), a missing header and a first column with names of samples
    are recognised. Whatever was decided so is a sentence in the `notes` of the problem.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv`` or ``.txt``, plain or ``.gz``.
    target : str or int, optional
        Name of the column of labels, or its position in the file counted from 1 (−1 is the last; digits in a
        string are a position where no column has that name). By default the column that is called y, target,
        label, labels, class or response, in any case.
    preprocess : {"none", "centre", "standardise", "unit-rows"}
        What is done to the features: nothing; columns to mean 0; columns to mean 0 and standard deviation 1
        (variance divided by n); samples to norm 1. Constant columns become 0 when centred or standardised.
    centre_labels : bool
        Subtract the mean of the labels; it is kept as `label_mean`.

    Returns
    -------
    Problem

    Raises
    ------
    DataError
        If the file cannot be read as a table of finite numbers, or the target is not in it. The message names
        the place and the remedy.
    ArgumentError
        If there is no such preprocessing, or `target` is neither a string nor a whole number.
    """
    how = preprocess_named(preprocess)
    source = os.fspath(path)
    reader = _reader_of(Path(path))
    try:
        return _problem(reader(Path(path), target), how, source, centre_labels=centre_labels)
    except DataError as error:
        raise DataError(f"{source}: {error}") from error.__cause__


def _problem(table: Table, how: str, source: str, *, centre_labels: bool) -> Problem:
    notes = table.notes + _constancy(table, how)
    preprocess_in_place(table.features, how)
    labels, label_mean = _centred(table.labels) if centre_labels else (table.labels, 0.0)
    return Problem.from_features(
        table.features,
        labels,
        feature_names=table.feature_names,
        sample_names=table.sample_names,
        target_name=table.target_name,
        preprocess=how,
        label_mean=label_mean,
        source=source,
        notes=notes,
    )


def _reader_of(path: Path) -> Reader:
    if path.is_dir():
        raise DataError(f"{path} is a folder; give the name of a file in it.")
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in READERS:
        known = ", ".join(READERS)
        raise DataError(f"{path}: the suffix {suffix!r} is not one of {known} (plain or .gz); export the data as one.")
    if not path.exists():
        folder = path.parent
        names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
        close = difflib.get_close_matches(path.name, names, n=1)
        meant = f"did you mean {folder / close[0]}?" if close else "check the name and the current folder."
        raise DataError(f"there is no file {path}; {meant}")
    return READERS[suffix]


def _constancy(table: Table, how: str) -> tuple[str, ...]:
    """Sentences on columns and samples in which there is nothing to see."""
    notes = []
    constant = constant_columns(table.features)
    if len(constant):
        names = table.feature_names or tuple(f"column {j + 1}" for j in range(table.features.shape[1]))
        became = " and became 0" if how in ("centre", "standardise") else ""
        notes.append(
            f"{len(constant)} of {table.features.shape[1]} features {'is' if len(constant) == 1 else 'are'} constant"
            f"{became} ({quoted([names[j] for j in constant[:4]], 3)})."
        )
    zero = [row for row, sample in enumerate(table.features) if not sample.any()] if how == "unit-rows" else []
    if zero:
        rows = ", ".join(str(row + 1) for row in zero[:5]) + (", …" if len(zero) > 5 else "")
        notes.append(
            f"{len(zero)} sample{'s are' if len(zero) > 1 else ' is'} zero and cannot have norm 1 (row {rows})."
        )
    return tuple(notes)


def _centred(labels: Array) -> tuple[Array, float]:
    mean = math.fsum(labels / len(labels))
    return labels - mean, mean
