"""From a file to a :class:`~relubias.problem.Problem`: the reader is chosen by the suffix of the name."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from relubias.errors import DataError
from relubias.files.csv import read_csv
from relubias.files.labels import SUFFIXES, read_labels
from relubias.files.npy import read_npy
from relubias.files.npz import is_saved, read_npz
from relubias.files.parquet import read_parquet
from relubias.files.preprocess import preprocess_features, preprocess_named
from relubias.files.svmlight import read_svmlight
from relubias.files.table import Table
from relubias.files.target import quoted
from relubias.held_out import HeldOut
from relubias.linalg.gram import Array, column_blocks
from relubias.linalg.preprocessed import Preprocessed, constant_columns
from relubias.linalg.validation import as_labels
from relubias.problem import Problem

T = TypeVar("T")

Reader = Callable[[Path, str | int | None], Table]

_TEXT: dict[str, Reader] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), read_csv),
    **dict.fromkeys((".svmlight", ".libsvm", ".svm"), read_svmlight),
}
#: Formats that may hold no labels, which then come in a file of their own.
_ARRAYS: dict[str, Reader] = {".npy": read_npy, ".npz": read_npz}

#: Reader of each suffix; ``.gz`` after it is allowed where the format is text.
READERS: dict[str, Reader] = {**_TEXT, **_ARRAYS, ".parquet": read_parquet}


def read(
    path: str | os.PathLike[str],
    *,
    target: str | int | None = None,
    labels: str | os.PathLike[str] | None = None,
    preprocess: str = "none",
    centre_labels: bool = False,
) -> Problem:
    """Read a file of numbers and compute its Gram matrix.

    A table has a sample a row and a feature a column; it is read transposed where the target is the name of
    a row. In text the delimiter (comma, tab, semicolon, bar), a missing header and a first column with names of
    samples are recognised. Whatever was decided so is a sentence in the `notes` of the problem.

    ======================== ==========================================================================
    suffix                   what is in it
    ======================== ==========================================================================
    .csv .tsv .txt           a table; plain or ``.gz``
    .parquet                 a table
    .svmlight .libsvm .svm   a label and index:value pairs a line; plain or ``.gz``; stays sparse
    .npy                     an array of shape (n_samples, n_features), mapped into memory and not loaded
    .npz                     arrays ``X`` (features) or ``K`` (their Gram matrix), and ``y``; optionally
                             ``X_test`` and ``y_test``, points that are not trained on; ``feature_names``,
                             ``sample_names`` and, with ``K``, ``n_features``; or a sparse
                             matrix written by ``scipy.sparse.save_npz``; or a problem that ``Problem.save`` wrote
    ======================== ==========================================================================

    Parameters
    ----------
    path : path
    target : str or int, optional
        Name of the column of labels, or its position in the file counted from 1 (−1 is the last; digits in a
        string are a position where no column has that name). By default the column that is called y, target,
        label, labels, class or response, in any case. In .npy files a position, in .npz files the name of an
        array; in svmlight files there is nothing to choose. With `labels`, a column of that file.
    labels : path, optional
        File with the labels of an .npy or .npz file that has none: .npy, text with one number a line, or a table
        in text. The order of the samples is that of the features.
    preprocess : {"none", "centre", "standardise", "unit-rows"}
        What is done to the features: nothing; columns to mean 0; columns to mean 0 and standard deviation 1
        (variance divided by n); samples to norm 1. Constant columns become 0 when centred or standardised. It is
        done block by block whenever features are read, and to new points likewise; no preprocessed copy is kept.
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
    MissingDependency
        If the file is Parquet and pyarrow is not installed.
    """
    how = preprocess_named(preprocess)
    source = os.fspath(path)
    suffix = _suffix_of(Path(path), READERS)
    if suffix == ".npz" and is_saved(path):
        if target is not None or labels is not None or how != "none" or centre_labels:
            raise DataError(f"{source}: a saved problem is read as it is, with the labels and the treatment it has.")
        return Problem.load(path)
    if labels is None:
        return _said_of(source, lambda: _problem(READERS[suffix](Path(path), target), how, source, centre_labels))
    if suffix not in _ARRAYS:
        raise DataError(
            f"{source}: labels from another file can be given with .npy and .npz files only, since nothing would tell "
            "whether the rows of two tables are in the same order; put the labels into the file."
        )
    label_path = Path(labels)
    label_suffix = _suffix_of(label_path, SUFFIXES)
    bare = _said_of(source, lambda: _without_labels(_ARRAYS[suffix](Path(path), None)))
    values, name = _said_of(os.fspath(labels), lambda: read_labels(label_path, label_suffix, target))
    return _said_of(
        source, lambda: _problem(replace(bare, labels=values, target_name=name), how, source, centre_labels)
    )


def _said_of(source: str, task: Callable[[], T]) -> T:
    """Do the task; what is wrong is said with the name of the file."""
    try:
        return task()
    except DataError as error:
        raise DataError(f"{source}: {error}") from error.__cause__


def _without_labels(table: Table) -> Table:
    if table.labels is not None:
        raise DataError(f"the file has labels of its own ({table.target_name!r}); leave out the file of labels.")
    return table


def _problem(table: Table, how: str, source: str, centre_labels: bool) -> Problem:
    if table.labels is None:
        raise DataError(
            "the file holds features but no labels; give the target (in .npy the position of a column, in .npz the "
            "name of an array) or a file with the labels."
        )
    target, label_mean = as_labels(table.labels), 0.0
    if centre_labels:
        target, label_mean = _centred(target)
    common: dict[str, Any] = {
        "sample_names": table.sample_names,
        "target_name": table.target_name,
        "label_mean": label_mean,
        "source": source,
    }
    if table.gram is not None:
        if how != "none":
            raise DataError(f"the file holds a Gram matrix, and {how!r} needs the features; preprocess them before.")
        return Problem.from_gram(table.gram, target, n_features=table.n_features, notes=table.notes, **common)
    features = preprocess_features(table.features, how)
    notes = table.notes + _constancy(features, table.feature_names)
    problem = Problem.from_features(features, target, feature_names=table.feature_names, notes=notes, **common)
    if table.test is not None:
        problem = replace(problem, test=_test_points(problem, *table.test))
    return replace(problem, notes=notes + _zero_samples(problem)) if how == "unit-rows" else problem


def _test_points(problem: Problem, features: Any, labels: Any) -> HeldOut:
    """Points that are treated as the samples were."""
    points = problem.prepared(features)
    squares = sum(np.square(block).sum(axis=1) for block in column_blocks(points))
    targets = as_labels(labels, points.shape[0]) - problem.label_mean
    return HeldOut(problem.cross_gram(points), np.asarray(squares), targets, points)


def _suffix_of(path: Path, known: Collection[str]) -> str:
    """Return the suffix in lower case, without ``.gz``, if the file exists and its format is known."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; give the name of a file in it.")
    name = path.name.lower()
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix not in known or (name.endswith(".gz") and suffix not in _TEXT):
        listed = ", ".join(known)
        compressible = ", ".join(other for other in known if other in _TEXT)
        raise DataError(
            f"{path}: the suffix {path.suffix!r} is not one of {listed} ({compressible} also with .gz); export the "
            "data as one."
        )
    if not path.exists():
        folder = path.parent
        names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
        close = difflib.get_close_matches(path.name, names, n=1)
        meant = f"did you mean {folder / close[0]}?" if close else "check the name and the current folder."
        raise DataError(f"there is no file {path}; {meant}")
    return suffix


def _constancy(features: Any, names: tuple[str, ...] | None) -> tuple[str, ...]:
    """A sentence on columns in which there is nothing to see."""
    is_shifted = isinstance(features, Preprocessed) and features.shift is not None
    raw = features.features if isinstance(features, Preprocessed) else features
    constant = features.constant if is_shifted else constant_columns(raw)
    if not len(constant):
        return ()
    shown = [names[j] if names else f"column {j + 1}" for j in constant[:4]]
    are, became = "is" if len(constant) == 1 else "are", " and became 0" if is_shifted else ""
    return (f"{len(constant)} of {raw.shape[1]} features {are} constant{became} ({quoted(shown, 3)}).",)


def _zero_samples(problem: Problem) -> tuple[str, ...]:
    """A sentence on samples without a direction."""
    zero = np.flatnonzero(np.diagonal(problem.gram) == 0)
    if not len(zero):
        return ()
    rows = ", ".join(str(row + 1) for row in zero[:5]) + (", …" if len(zero) > 5 else "")
    return (f"{len(zero)} sample{'s are' if len(zero) > 1 else ' is'} zero and cannot have norm 1 (row {rows}).",)


def _centred(labels: Array) -> tuple[Array, float]:
    mean = math.fsum(labels / len(labels))
    return labels - mean, mean
