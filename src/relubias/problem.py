"""The regression problem: n samples through their Gram matrix K = XXᵀ, and n labels y.

Everything that training and the minimum-norm references need is K and y; the features X are kept only to
return weights and to predict at new points. Nothing is centred or scaled here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relubias.archive import load_record, save_record
from relubias.errors import ArgumentError, DataError
from relubias.facts import Facts, facts_of
from relubias.linalg.factor import GramOperator
from relubias.linalg.factored import FactorOperator
from relubias.linalg.gram import BLOCK_ENTRIES, Array, column_blocks, gram_matrix, is_sparse, symmetrised
from relubias.linalg.lq import lower_factor

#: Up to this condition number K itself has digits enough.
TRUSTED_CONDITION = 1e10


@dataclass(frozen=True, eq=False)
class Problem:
    """Gram matrix, labels and names of a regression problem.

    Make one with :meth:`from_features`, :meth:`from_gram` or :func:`relubias.read`.

    Attributes
    ----------
    gram : ndarray, shape (n_samples, n_samples), float64
        K = XXᵀ.
    labels : ndarray, shape (n_samples,), float64
    features : array, memmap or sparse array, shape (n_samples, n_features), or None
        As given, not converted.
    n_features : int or None
    feature_names, sample_names : tuple of str or None
    target_name : str or None
    preprocess : str
        What was done to the features before: ``"none"``, ``"centre"``, ``"standardise"`` or ``"unit-rows"``.
    label_mean : float
        What was subtracted from the labels before they came here; 0.0 if nothing.
    source : str
        Where the data came from, in words.
    notes : tuple of str
        Remarks made while the data were read.
    factor : ndarray, shape (n_samples, r), or None
        L with K = L Lᵀ and the digits of X, where it is known already.
    """

    gram: Array
    labels: Array
    features: Any = None
    n_features: int | None = None
    feature_names: tuple[str, ...] | None = None
    sample_names: tuple[str, ...] | None = None
    target_name: str | None = None
    preprocess: str = "none"
    label_mean: float = 0.0
    source: str = "arrays"
    notes: tuple[str, ...] = ()
    factor: Array | None = None

    @classmethod
    def from_features(
        cls,
        features: Any,
        labels: ArrayLike,
        *,
        feature_names: Sequence[str] | None = None,
        sample_names: Sequence[str] | None = None,
        target_name: str | None = None,
        preprocess: str = "none",
        label_mean: float = 0.0,
        source: str = "arrays",
        notes: Sequence[str] = (),
    ) -> Problem:
        """Compute K = XXᵀ in float64, block by block, and check what was given.

        Parameters
        ----------
        features : array, memmap or scipy sparse array, shape (n_samples, n_features)
            Any real dtype.
        labels : array_like, shape (n_samples,)

        Raises
        ------
        DataError
            If shapes do not match, there is no sample, an entry is not a finite real number, or K overflows.
        """
        matrix = _as_matrix(features)
        n_samples, n_features = matrix.shape
        if n_samples == 0 or n_features == 0:
            raise DataError(f"features have shape {matrix.shape}; at least one sample and one feature are needed.")
        target = _as_labels(labels, n_samples)
        gram = gram_matrix(matrix)
        if not np.all(np.isfinite(gram)):
            _explain_nonfinite(matrix, feature_names)
        return cls(
            gram=_frozen(gram),
            labels=_frozen(target),
            features=matrix,
            n_features=n_features,
            feature_names=_names(feature_names, n_features, "feature_names"),
            sample_names=_names(sample_names, n_samples, "sample_names"),
            target_name=target_name,
            preprocess=preprocess,
            label_mean=float(label_mean),
            source=source,
            notes=tuple(notes),
        )

    @classmethod
    def from_gram(
        cls,
        gram: ArrayLike,
        labels: ArrayLike,
        *,
        n_features: int | None = None,
        sample_names: Sequence[str] | None = None,
        source: str = "a Gram matrix",
    ) -> Problem:
        """Take K itself; features are then not at hand.

        Parameters
        ----------
        gram : array_like, shape (n_samples, n_samples)
            Symmetric positive semidefinite up to rounding.
        labels : array_like, shape (n_samples,)
        n_features : int, optional
            Number of features behind K, where it is known.

        Raises
        ------
        DataError
            If K is not square, finite, symmetric (to 1e-10 of its largest entry) and positive semidefinite
            (to rounding), or the labels do not match.
        """
        matrix = _real_array(gram, "the Gram matrix").astype(np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
            raise DataError(f"a Gram matrix is square with at least one row; this one has shape {matrix.shape}.")
        target = _as_labels(labels, matrix.shape[0])
        _require_finite(matrix, "the Gram matrix")
        asymmetry = np.abs(matrix - matrix.T)
        i, j = divmod(int(np.argmax(asymmetry)), matrix.shape[0])
        if asymmetry[i, j] > 1e-10 * float(np.abs(matrix).max()):
            raise DataError(
                f"the Gram matrix is not symmetric: entry ({i}, {j}) is {matrix[i, j]:.6g}, "
                f"entry ({j}, {i}) is {matrix[j, i]:.6g}; give K = X Xᵀ."
            )
        problem = cls(
            gram=_frozen(symmetrised(matrix)),
            labels=_frozen(target),
            n_features=n_features,
            sample_names=_names(sample_names, len(target), "sample_names"),
            source=source,
        )
        if problem.operator.is_regular:
            return problem
        smallest, largest = problem.operator.spectrum[[0, -1]]
        if smallest < -10 * len(target) * np.finfo(float).eps * max(abs(largest), abs(smallest)):
            raise DataError(
                f"the Gram matrix is indefinite: its smallest eigenvalue is {smallest:.6g}, its largest {largest:.6g}; "
                "no features X give K = X Xᵀ."
            )
        return problem

    @property
    def n_samples(self) -> int:
        """Number of samples n."""
        return len(self.labels)

    @cached_property
    def operator(self) -> GramOperator:
        """The operator through which dynamics and references see K.

        Where K has lost digits (condition above 1e10) and the features can be read a second time, a factor of X
        stands behind it.
        """
        if self.factor is not None:
            return FactorOperator(self.gram, self.factor)
        operator = GramOperator(self.gram)
        if self.features is None or operator.condition <= TRUSTED_CONDITION:
            return operator
        return FactorOperator(self.gram, lower_factor(column_blocks(self.features), self.n_samples))

    @cached_property
    def facts(self) -> Facts:
        """Rank, condition, digits, effective dimension, duplicates and label counts."""
        return facts_of(self.operator, self.labels, self.n_features)

    @property
    def label_scale(self) -> float:
        """Root mean square of the labels."""
        scale = float(np.abs(self.labels).max())
        return scale * float(np.sqrt(np.mean(np.square(self.labels / scale)))) if scale else 0.0

    def sample(self, index: int) -> str:
        """Name of a sample for messages: its own name, or its row number counted from 1."""
        return f"{self.sample_names[index]!r}" if self.sample_names else f"row {index + 1}"

    def cross_gram(self, features: Any) -> Array:
        """Return X_new Xᵀ, shape (n_new, n_samples), for features at new points.

        Raises
        ------
        DataError
            If this problem has no features, or the numbers of features differ.
        """
        if self.features is None:
            raise DataError("this problem was given by its Gram matrix, so new points need features it does not have.")
        new = _as_matrix(features)
        if new.shape[1] != self.n_features:
            raise DataError(f"new points have {new.shape[1]} features; this problem has {self.n_features}.")
        cross = np.zeros((new.shape[0], self.n_samples))
        width = max(1, BLOCK_ENTRIES // max(cross.shape))
        blocks = zip(column_blocks(new, width), column_blocks(self.features, width), strict=True)
        for left, right in blocks:
            cross += left @ right.T
        return cross

    def weights_of(self, dual: Array) -> Array:
        """Return Xᵀα for dual coefficients of shape (m, n): weights of shape (m, n_features).

        Raises
        ------
        DataError
            If this problem has no features.
        """
        if self.features is None:
            raise DataError("this problem was given by its Gram matrix; weights need the features.")
        return np.concatenate([dual @ block for block in column_blocks(self.features)], axis=1)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write K, labels and names (not the features) to one ``.npz`` file that :meth:`load` reads."""
        return save_record(path, "problem", *self.to_parts())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Problem:
        """Read what :meth:`save` wrote. Features are not stored, so the result has none."""
        return cls.from_parts(*load_record(path, "problem"))

    def to_parts(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays and JSON-able values from which :meth:`from_parts` rebuilds the problem without its features."""
        meta = {
            "n_features": self.n_features,
            "feature_names": self.feature_names,
            "sample_names": self.sample_names,
            "target_name": self.target_name,
            "preprocess": self.preprocess,
            "label_mean": self.label_mean,
            "source": self.source,
            "notes": self.notes,
        }
        arrays = {"gram": self.gram, "labels": self.labels}
        if self.operator.factor is not None:
            arrays["factor"] = self.operator.factor
        return arrays, {"problem": meta}

    @classmethod
    def from_parts(cls, arrays: dict[str, NDArray[Any]], meta: dict[str, Any]) -> Problem:
        """Rebuild a problem from :meth:`to_parts`."""
        fields = dict(meta["problem"])
        for key in ("feature_names", "sample_names", "notes"):
            fields[key] = None if fields[key] is None else tuple(fields[key])
        factor = np.ascontiguousarray(arrays["factor"]) if "factor" in arrays else None
        return cls(gram=_frozen(arrays["gram"]), labels=_frozen(arrays["labels"]), factor=factor, **fields)


def same_problem(first: Problem, second: Problem) -> bool:
    """True where both have the same K and the same labels."""
    return first is second or (np.array_equal(first.labels, second.labels) and np.array_equal(first.gram, second.gram))


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _real_array(values: Any, what: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise DataError(f"{what} must be real numbers; the dtype is {array.dtype}.")
    return array


def _as_matrix(features: Any) -> Any:
    if is_sparse(features):
        if features.dtype.kind not in "biuf":
            raise DataError(f"features must be real numbers; the dtype is {features.dtype}.")
        return features if features.format in ("csr", "csc") else features.tocsr()
    matrix = features if isinstance(features, np.ndarray) else np.asarray(features)
    if matrix.dtype.kind not in "biuf":
        raise DataError(f"features must be real numbers; the dtype is {matrix.dtype}.")
    if matrix.ndim != 2:
        raise DataError(f"features must have two axes (samples, features); this array has shape {matrix.shape}.")
    return matrix


def _as_labels(labels: ArrayLike, n_samples: int) -> Array:
    target = np.array(_real_array(labels, "labels"), dtype=np.float64)
    if target.ndim == 2 and 1 in target.shape:
        target = target.reshape(-1)
    if target.ndim != 1 or len(target) != n_samples:
        raise DataError(
            f"there are {n_samples} samples, but the labels have shape {np.shape(labels)}; give one a sample."
        )
    _require_finite(target, "labels")
    return target


def _require_finite(array: Array, what: str) -> None:
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        place = tuple(int(i) for i in bad[0])
        more = f" ({len(bad) - 1} more like it)" if len(bad) > 1 else ""
        raise DataError(
            f"{what}: entry {place if len(place) > 1 else place[0]} is {array[place]}, not a finite number{more}; "
            "remove or replace such entries first."
        )


def _explain_nonfinite(features: Any, names: Sequence[str] | None) -> None:
    count, first, column = 0, None, 0
    for block in column_blocks(features):
        bad = np.argwhere(~np.isfinite(block))
        if len(bad) and first is None:
            row, offset = (int(i) for i in bad[0])
            name = f"column {names[column + offset]!r}" if names else f"column {column + offset + 1}"
            first = f"features: row {row + 1}, {name} is {block[row, offset]}, not a finite number"
        count += len(bad)
        column += block.shape[1]
    if first is None:
        raise DataError("the features are so large that their inner products overflow; divide them by a constant.")
    more = f" ({count - 1} more like it)" if count > 1 else ""
    raise DataError(f"{first}{more}; remove or replace such entries first.")


def _names(names: Sequence[str] | None, length: int, what: str) -> tuple[str, ...] | None:
    if names is None:
        return None
    if len(names) != length:
        raise ArgumentError(f"{what} has {len(names)} entries, but {length} are needed.")
    return tuple(str(name) for name in names)
