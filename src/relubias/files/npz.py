"""Arrays with names in .npz files; nothing in them is unpickled.

    X              features, shape (n_samples, n_features), any real dtype, kept as it is
    K              or their Gram matrix, shape (n_samples, n_samples)
    y              labels, shape (n_samples,); optional, `target` names another array
    X_test, y_test points that are not trained on, and their labels; optional, beside X
    feature_names, sample_names, n_features (with K)       optional

A sparse matrix that scipy.sparse.save_npz wrote is read too; it has no labels in it. A problem that was saved is a
record of its own and is loaded as such.
"""

from __future__ import annotations

import contextlib
import os
import zipfile
import zlib
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from relubias.errors import ArgumentError, DataError
from relubias.files.table import Table
from relubias.files.target import CUSTOMARY, quoted

_SCIPY = {"format", "shape", "data"}
_SAVED = "relubias.json"


def read_npz(path: str | os.PathLike[str], target: str | int | None) -> Table:
    """Read features or a Gram matrix, labels and names.

    Parameters
    ----------
    path : path
    target : str or None
        Name of the array of labels; by default the one that is called y, target, label, labels, class or response.

    Raises
    ------
    DataError
        If the file is damaged, holds Python objects, or has not one of X and K, or not the target.
    ArgumentError
        If `target` is not a name.
    """
    if target is not None and not isinstance(target, str):
        raise ArgumentError(f"target is {target!r}; give the name of an array in the file.")
    try:
        # opened here, because a damaged archive would stay open otherwise
        with open(path, "rb") as stream, contextlib.ExitStack() as stack:
            archive = np.load(stream, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise DataError("the file is one array, not an archive of arrays; give it the suffix .npy.")
            stack.enter_context(archive)
            if set(archive.files) >= _SCIPY:
                return _sparse_table(path, target)
            return _table(archive, target)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"the file cannot be read as an archive of arrays ({str(error).rstrip('.')}); write it with numpy.savez, "
            "without Python objects in it."
        ) from error


def is_saved(path: str | os.PathLike[str]) -> bool:
    """Whether the file is an archive with a record that relubias saved, of whatever kind."""
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{_SAVED}.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def _table(archive: Any, target: str | None) -> Table:
    keys = tuple(archive.files)
    held = [key for key in ("X", "K") if key in keys]
    if len(held) != 1:
        what = "both X and K" if held else "neither X nor K"
        raise DataError(
            f"the archive holds {what} (its arrays are {quoted(keys)}); give the features as X or their Gram matrix "
            "as K."
        )
    matrix = archive[held[0]]
    if matrix.ndim != 2:
        raise DataError(f"{held[0]} has shape {matrix.shape}; it must have two axes.")
    label_key = _label_key(keys, target)
    is_gram = held == ["K"]
    return Table(
        features=None if is_gram else matrix,
        labels=None if label_key is None else archive[label_key],
        gram=matrix if is_gram else None,
        n_features=_count(archive["n_features"]) if is_gram and "n_features" in keys else None,
        feature_names=None if is_gram else _names(archive, "feature_names", matrix.shape[1]),
        sample_names=_names(archive, "sample_names", matrix.shape[0]),
        target_name=label_key,
        test=None if is_gram or not {"X_test", "y_test"} <= set(keys) else (archive["X_test"], archive["y_test"]),
    )


def _label_key(keys: tuple[str, ...], target: str | None) -> str | None:
    if target is None:
        found = [key for key in keys if key.casefold() in CUSTOMARY]
        if len(found) > 1:
            raise DataError(f"{len(found)} arrays could be the target ({quoted(found)}); give its name.")
        return found[0] if found else None
    if target not in keys:
        raise DataError(f"there is no array {target!r} in the archive; it holds {quoted(keys)}.")
    return target


def _names(archive: Any, key: str, count: int) -> tuple[str, ...] | None:
    if key not in archive.files:
        return None
    values: NDArray[Any] = archive[key]
    if values.shape != (count,):
        raise DataError(f"{key} has shape {values.shape}, but {count} names are needed.")
    return tuple(name.decode() if isinstance(name, bytes) else str(name) for name in values.tolist())


def _count(value: NDArray[Any]) -> int:
    if value.size != 1 or value.dtype.kind not in "iu" or int(value.reshape(())) < 1:
        raise DataError(f"n_features is {value!r}; it must be a whole number from 1.")
    return int(value.reshape(()))


def _sparse_table(path: str | os.PathLike[str], target: str | None) -> Table:
    if target is not None:
        raise DataError(f"there is no array {target!r}: the file holds one sparse matrix; give the labels as a file.")
    return Table(features=scipy.sparse.load_npz(path), labels=None)
