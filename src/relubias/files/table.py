"""What every reader of a file returns: features, labels and their names.

To add a format, write a function ``(path, target) -> Table`` that raises :class:`~relubias.errors.DataError`
for everything it cannot use, and enter its suffix in :data:`relubias.files.reading.READERS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relubias.linalg.gram import Array


@dataclass(frozen=True, eq=False)
class Table:
    """The contents of one file, sorted into samples and features; nothing is centred or scaled yet.

    Attributes
    ----------
    features : array, shape (n_samples, n_features)
        Owned by whoever holds the table: it may be overwritten.
    labels : ndarray, shape (n_samples,)
    feature_names, sample_names : tuple of str or None
    target_name : str or None
        Name of the column (or row) that holds the labels.
    notes : tuple of str
        What was decided while reading, one sentence each.
    """

    features: Any
    labels: Array
    feature_names: tuple[str, ...] | None = None
    sample_names: tuple[str, ...] | None = None
    target_name: str | None = None
    notes: tuple[str, ...] = ()
