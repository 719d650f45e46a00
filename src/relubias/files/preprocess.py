"""What may be done to features before K is computed, by name; nothing is ever done unasked.

:mod:`relubias.linalg.preprocessed` says what each name does, and does it.
"""

from __future__ import annotations

from typing import Any

from relubias.errors import ArgumentError, DataError
from relubias.linalg.preprocessed import Preprocessed
from relubias.linalg.validation import require_tractable_features

PREPROCESSES = ("none", "centre", "standardise", "unit-rows")
_AMERICAN = {"center": "centre", "standardize": "standardise"}


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


def preprocess_features(features: Any, how: str) -> Any:
    """Return features that are preprocessed whenever they are read; they are not copied.

    Parameters
    ----------
    features : array, memmap, sparse array or callable, shape (n_samples, n_features)
        As for :meth:`relubias.Problem.from_features`. Sparse features stay sparse, a memory map stays on disk.
    how : {"none", "centre", "standardise", "unit-rows"}
        Nothing; columns to mean 0; columns to mean 0 and standard deviation 1 (variance divided by n); samples to
        norm 1. Constant columns become 0 when centred or standardised. "center" and "standardize" are accepted too.

    Returns
    -------
    Preprocessed
        A record that :meth:`relubias.Problem.from_features` takes; for "none", the features themselves.

    Raises
    ------
    ArgumentError
        If `how` is none of these.
    DataError
        If the features do not have two axes, are empty or not real numbers, or are preprocessed already.
    """
    name = preprocess_named(how)
    matrix = require_tractable_features(features)
    if isinstance(matrix, Preprocessed):
        raise DataError(f"the features are already {matrix.how!r}; preprocess the features as they were.")
    return matrix if name == "none" else Preprocessed.of(matrix, name)
