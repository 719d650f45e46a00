"""The regression problem: n samples through their Gram matrix K = XXᵀ, and n labels y.

Everything that training and the minimum-norm references need is K and y; the features X are kept only to
return weights and to predict at new points. Nothing is centred or scaled here; features that come preprocessed
(:class:`~relubias.linalg.preprocessed.Preprocessed`) carry the record of it, and new points are treated alike.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relubias.archive import load_record, save_record
from relubias.errors import DataError
from relubias.facts import Facts, facts_of
from relubias.linalg.factor import GramOperator
from relubias.linalg.factored import FactorOperator
from relubias.linalg.gram import (
    Array,
    FeatureSource,
    column_blocks,
    cross_product,
    gram_matrix,
    gram_of_blocks,
    row_combinations,
    symmetrised,
)
from relubias.linalg.lq import lower_factor
from relubias.linalg.preprocessed import Preprocessed
from relubias.linalg.sources import ColumnBlocks, as_features, default_blocks, opened
from relubias.linalg.validation import (
    as_labels,
    names_of,
    not_finite_error,
    real_array,
    require_finite,
    require_tractable,
    require_tractable_features,
)

#: What is said where a source of features was spent in one pass.
ONE_PASS = (
    "the features came from an iterator and were passed over once: K is complete, but weights, predictions at new "
    "points and a second look for more digits are out of reach."
)

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
    features : array, memmap, sparse array or source of column blocks, shape (n_samples, n_features), or None
        As given, not converted. Weights refer to these; they are a
        :class:`~relubias.linalg.preprocessed.Preprocessed` record where something was done to them.
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
        label_mean: float = 0.0,
        source: str = "arrays",
        notes: Sequence[str] = (),
    ) -> Problem:
        """Compute K = XXᵀ in float64, block by block, and check what was given.

        Column names of a pandas table become the feature names.

        Parameters
        ----------
        features : array, memmap, scipy sparse array or callable, shape (n_samples, n_features)
            Any real dtype. A callable returns a fresh iterator of column blocks, each of shape (n_samples, some
            width), every time it is called. An iterator itself is passed over once: the problem then has K, but no
            features.
        labels : array_like, shape (n_samples,)

        Raises
        ------
        DataError
            If shapes do not match, there is no sample, an entry is not a finite real number, K overflows, or there
            are more than `MOST_SAMPLES` samples.
        """
        matrix: Any
        if feature_names is None and hasattr(features, "columns"):
            feature_names = [str(name) for name in features.columns]
        if _is_streamed(features):
            target = as_labels(labels)
            require_tractable(len(target))
            matrix, gram, n_features = _streamed(features, len(target))
            notes = (*notes, ONE_PASS) if matrix is None else notes
        else:
            matrix = require_tractable_features(features)
            target = as_labels(labels, matrix.shape[0])
            gram, n_features = gram_matrix(matrix), matrix.shape[1]
        if not np.all(np.isfinite(gram)):
            raise not_finite_error(matrix, feature_names)
        return cls(
            gram=_frozen(gram),
            labels=_frozen(target),
            features=matrix,
            n_features=n_features,
            feature_names=names_of(feature_names, n_features, "feature_names"),
            sample_names=names_of(sample_names, len(target), "sample_names"),
            target_name=target_name,
            preprocess=matrix.how if isinstance(matrix, Preprocessed) else "none",
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
        target_name: str | None = None,
        label_mean: float = 0.0,
        source: str = "a Gram matrix",
        notes: Sequence[str] = (),
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
        matrix = real_array(gram, "the Gram matrix").astype(np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
            raise DataError(f"a Gram matrix is square with at least one row; this one has shape {matrix.shape}.")
        target = as_labels(labels, matrix.shape[0])
        require_finite(matrix, "the Gram matrix")
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
            sample_names=names_of(sample_names, len(target), "sample_names"),
            target_name=target_name,
            label_mean=float(label_mean),
            source=source,
            notes=tuple(notes),
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

    def __repr__(self) -> str:
        features = "an unknown number of" if self.n_features is None else f"{self.n_features:,}"
        return f"<Problem: {self.n_samples:,} samples, {features} features, from {self.source}>"

    @property
    def n_samples(self) -> int:
        """Number of samples n."""
        return len(self.labels)

    @cached_property
    def operator(self) -> GramOperator:
        """The operator through which dynamics and references see K.

        Where K has lost digits or directions, and the features can be read a second time, a factor of X stands behind
        it. K has lost none where its rank is the most that n samples of d features can have and its condition at
        most 1e10; an eigenvalue below its cutoff may be a direction of X that is small, or none.
        """
        if self.factor is not None:
            return FactorOperator(self.gram, self.factor)
        operator = GramOperator(self.gram)
        if self.features is None or self._has_digits(operator):
            return operator
        return FactorOperator(self.gram, lower_factor(column_blocks(self.features), self.n_samples))

    def _has_digits(self, operator: GramOperator) -> bool:
        """Whether K alone shows every direction of the features, to digits enough."""
        most = self.n_samples if self.n_features is None else min(self.n_samples, self.n_features)
        if most == self.n_samples:
            return operator.is_conditioned(TRUSTED_CONDITION)
        return operator.rank == most and operator.condition <= TRUSTED_CONDITION

    @cached_property
    def facts(self) -> Facts:
        """Rank, condition, digits, effective dimension, duplicates and label counts."""
        return facts_of(self.operator, self.labels, self.n_features, rows=self._rows)

    def _rows(self) -> Array | None:
        """L, whose rows have the digits of the samples; None where only K is at hand."""
        if self.operator.factor is not None or self.features is None:
            return self.operator.factor
        return lower_factor(column_blocks(self.features), self.n_samples)

    @property
    def label_scale(self) -> float:
        """Root mean square of the labels."""
        scale = float(np.abs(self.labels).max())
        return scale * float(np.sqrt(np.mean(np.square(self.labels / scale)))) if scale else 0.0

    def sample(self, index: int) -> str:
        """Name of a sample for messages: its own name, or its row number counted from 1."""
        return f"{self.sample_names[index]!r}" if self.sample_names else f"row {index + 1}"

    def prepared(self, features: Any) -> Any:
        """Return features of new points as this problem sees its own: with the recorded preprocessing applied.

        Parameters
        ----------
        features : array, sparse array, callable or source of column blocks, shape (n_new, n_features)
            Raw, as in the file; a `Preprocessed` record is taken as it is.

        Raises
        ------
        DataError
            If this problem has no features, or the numbers of features differ.
        """
        own = self._required_features("predictions at new points need")
        new = as_features(features)
        if new.shape[1] != self.n_features:
            raise DataError(f"new points have {new.shape[1]} features; this problem has {self.n_features}.")
        if isinstance(own, Preprocessed) and not isinstance(new, Preprocessed):
            return own.prepare(new)
        return new

    def cross_gram(self, features: Any) -> Array:
        """Return X_new Xᵀ, shape (n_new, n_samples), for features at new points, which :meth:`prepared` explains.

        Raises
        ------
        DataError
            If this problem has no features, or the numbers of features differ.
        """
        own = self._required_features("predictions at new points need")
        return cross_product(self.prepared(features), own)

    def primal_of(self, weights: Array) -> Array:
        """Return W Xᵀ, the primal coefficients of weights of shape (m, n_features): shape (m, n_samples).

        Raises
        ------
        DataError
            If this problem has no features.
        """
        return cross_product(weights, self._required_features("weights need"))

    def weights_of(self, dual: Array) -> Array:
        """Return Xᵀα for dual coefficients of shape (m, n): weights of shape (m, n_features).

        Raises
        ------
        DataError
            If this problem has no features.
        """
        return row_combinations(dual, self._required_features("weights need"))

    def _required_features(self, what_needs: str) -> Any:
        """Return the features.

        Raises
        ------
        DataError
            If there are none: `what_needs` is the beginning of the sentence.
        """
        if self.features is None:
            raise DataError(
                f"{what_needs} the features, and this problem has K only: it was given by its Gram matrix, loaded "
                "from a saved record, or read from an iterator that can be passed over once."
            )
        return self.features

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


def _is_streamed(features: Any) -> bool:
    """Whether the features are column blocks yet to come: from a function, or from an iterator."""
    return isinstance(features, Iterator) or (callable(features) and not isinstance(features, FeatureSource))


def _streamed(features: Any, n_samples: int) -> tuple[ColumnBlocks | None, Array, int]:
    """Compute K in one pass over column blocks; the features are kept only where they can be passed over again."""
    make: Callable[[], Any] | None = features if callable(features) else None
    blocks = features if make is None else opened(make)
    with np.errstate(over="ignore", invalid="ignore"):
        gram, n_features = gram_of_blocks(default_blocks(blocks, n_samples), n_samples)
    if n_features == 0:
        raise DataError("the features yield no column; at least one sample and one feature are needed.")
    return None if make is None else ColumnBlocks(make, (n_samples, n_features)), gram, n_features
