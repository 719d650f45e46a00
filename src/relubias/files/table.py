"""What every reader of a file returns: features or their Gram matrix, labels, and names.

To add a format, write a function ``(path, target) -> Table`` that raises :class:`~relubias.errors.DataError`
for everything it cannot use, and enter its suffix in :data:`relubias.files.reading.READERS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Table:
    """The contents of one file, sorted into samples and features; nothing is centred or scaled yet.

    Attributes
    ----------
    features : array, memmap, sparse array or FeatureSource, shape (n_samples, n_features), or None
    labels : ndarray, shape (n_samples,), or None
        None where the file has none.
    gram : ndarray, shape (n_samples, n_samples), or None
        K, where the file holds that instead of features.
    n_features : int or None
        Where the file holds K and says so.
    feature_names, sample_names : tuple of str or None
    target_name : str or None
        Name of the column (or row) that holds the labels.
    test : tuple of array, or None
        Features and labels of points that are not trained on.
    notes : tuple of str
        What was decided while reading, one sentence each.
    """

    features: Any
    labels: Any
    gram: NDArray[Any] | None = None
    n_features: int | None = None
    feature_names: tuple[str, ...] | None = None
    sample_names: tuple[str, ...] | None = None
    target_name: str | None = None
    test: tuple[Any, Any] | None = None
    notes: tuple[str, ...] = ()
