"""Sparse features in text files of the svmlight format, plain or .gz: a sample a line,

    label index:value index:value …  # comment

with indices that increase along a line. They are counted from 1, unless one is 0. Whatever does not occur is 0.
"""

from __future__ import annotations

import contextlib
import os
import re
from array import array
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse

from relubias.errors import DataError
from relubias.files.table import Table
from relubias.files.target import quoted
from relubias.files.text import text_lines

_PAIRS = re.compile(r"(?:\s+[0-9]{1,10}:[^\s:]+)*\s*")
_PAIR = re.compile(r"[0-9]+:[^\s:]+")
_LARGEST = 2**31 - 1  # index; what needs more could not be held as weights


@dataclass
class _Entries:
    """The nonzero entries line by line, as a CSR matrix holds them."""

    labels: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("d"))
    indices: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q", [0]))


def read_svmlight(path: str | os.PathLike[str], target: str | int | None) -> Table:
    """Read sparse features and their labels.

    Parameters
    ----------
    path : path
    target : None
        Labels stand first on every line.

    Raises
    ------
    DataError
        If a line is not in the format, a number is not finite, there is no line, or a target is given.
    """
    if target is not None:
        raise DataError("in this format labels stand first on every line; leave the target out.")
    entries = _Entries()
    with contextlib.closing(text_lines(path)) as lines:
        for number, text in enumerate(lines, 1):
            line = text.partition("#")[0]
            if line.strip():
                _append(entries, line, number)
    if not entries.labels:
        raise DataError("the file holds no sample; at least one line 'label index:value …' is needed.")
    if not entries.indices:
        raise DataError("no line has an index:value pair, so there is no feature; at least one is needed.")
    indices = np.frombuffer(entries.indices, dtype=np.int64)
    first = 0 if indices.min() == 0 else 1
    n_features = int(indices.max()) + 1 - first
    places = np.int32 if max(n_features, len(indices)) < 2**31 else np.int64
    features = scipy.sparse.csr_array(
        (
            np.frombuffer(entries.values),
            (indices - first).astype(places),
            np.frombuffer(entries.ends, dtype=np.int64).astype(places),
        ),
        shape=(len(entries.labels), n_features),
    )
    why = "one index is 0" if first == 0 else "no index is 0"
    return Table(
        features=features,
        labels=np.frombuffer(entries.labels),
        notes=(f"{why}, so indices are counted from {first}: there are {n_features} features.",),
    )


def _append(entries: _Entries, line: str, number: int) -> None:
    """Append one line; a line with a fault is looked at token by token."""
    label = line.split(None, 1)[0]
    rest = line.lstrip()[len(label) :]
    if "_" in line or _PAIRS.fullmatch(rest) is None:  # Python reads 1_000 as a number; files do not mean it so
        raise _fault(line, number)
    parts = rest.replace(":", " ").split()
    indices = np.fromiter(map(int, parts[::2]), np.int64)
    try:
        value = float(label)
        values = np.fromiter(map(float, parts[1::2]), np.float64)
    except ValueError:
        raise _fault(line, number) from None
    increasing = bool(np.all(np.diff(indices) > 0)) and (not len(indices) or indices[-1] <= _LARGEST)
    if not (increasing and np.isfinite(value) and np.isfinite(values).all()):
        raise _fault(line, number)
    entries.labels.append(value)
    entries.values.frombytes(values.view(np.uint8).data)
    entries.indices.frombytes(indices.view(np.uint8).data)
    entries.ends.append(len(entries.indices))


def _fault(line: str, number: int) -> DataError:
    """Find the first token of the line that is not what it should be."""
    label, *tokens = line.split()
    remedy = "each line is 'label index:value index:value …' with increasing indices"
    if "," in label:
        return DataError(f"line {number} has several labels ({quoted([label])}); keep one number a line.")
    if ":" in label:
        return DataError(f"line {number} begins with {quoted([label])}, not with a label; {remedy}.")
    if _number(label) is None:
        return DataError(
            f"line {number}: the label {quoted([label])} is not a finite number; labels must be numbers, for two "
            "classes -1 and +1."
        )
    last = -1
    for token in tokens:
        if token.startswith("qid:"):
            return DataError(f"line {number}: {quoted([token])} marks a ranking, which is no regression; remove qid:.")
        index, _, value = token.partition(":")
        if _PAIR.fullmatch(token) is None:
            return DataError(f"line {number}: {quoted([token])} is not an index:value pair; {remedy}.")
        if _number(value) is None:
            return DataError(
                f"line {number}, index {index}: {quoted([value])} is not a finite number; remove or replace it."
            )
        if int(index) <= last:
            return DataError(f"line {number}: index {index} comes after index {last}; {remedy}.")
        last = int(index)
        if last > _LARGEST:
            return DataError(f"line {number}: index {index} is larger than {_LARGEST}; number the features anew.")
    return DataError(f"line {number} cannot be read; {remedy}.")


def _number(text: str) -> float | None:
    """The value of a finite number, else None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if "_" not in text and np.isfinite(value) else None
