"""The regression problem: n samples through their Gram matrix K = XXᵀ, and n labels y.

Everything that training and the minimum-norm references need is K and y; the features X are kept only to
return weights and to predict at new points. Nothing is centred or scaled here; features that come preprocessed
(:class:`~relubias.linalg.preprocessed.Preprocessed`) carry the record of it, and new points are treated alike.
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

from relubias.archive import load_record, nested, part, rebuilding, save_record
from relubias.arguments import as_count, is_number
from relubias.errors import DataError
from relubias.facts import Facts, duplicate_groups, facts_of
from relubias.held_out import HeldOut
from relubias.linalg.factor import GramOperator
from relubias.linalg.factored import FactorOperator
from relubias.linalg.gram import (
    Array,
    column_blocks,
    cross_product,
    gram_matrix,
    row_combinations,
)
from relubias.linalg.lq import lower_factor
from relubias.linalg.preprocessed import Preprocessed
from relubias.linalg.sources import ONE_PASS, as_features, is_streamed, streamed
from relubias.linalg.validation import (
    as_factor,
    as_gram,
    as_labels,
    frozen,
    names_of,
    not_finite_error,
    require_tractable,
    require_tractable_features,
)
from relubias.population import Population

#: K, labels, and products of the two are between 1/RANGE and RANGE: squares of them are numbers.
RANGE = 1e150
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
    population : Population or None
        ‖λ‖₁, d₂ and d_∞ of the distribution, where the samples were drawn from a known one.
    test : HeldOut or None
        Points that are not trained on, with their labels.
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
    population: Population | None = None
    test: HeldOut | None = None

    def __post_init__(self) -> None:
        if self.test is not None:
            self.test.require_beside(self.gram)

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
        population: Population | None = None,
        test: HeldOut | None = None,
    ) -> Problem:
        """Compute K = XXᵀ in float64, block by block, and check what was given.

        Parameters
        ----------
        features : array, memmap, scipy sparse array or callable, shape (n_samples, n_features)
            Any real dtype. A callable returns a fresh iterator of column blocks, each of shape (n_samples, some
            width), every time it is called. An iterator itself is passed over once: the problem then has K, but no
            features.
        labels : array_like, shape (n_samples,)
        feature_names, sample_names : sequence of str, optional
            One a feature, and one a sample. Column names of a pandas table become the feature names by default.
        target_name, label_mean, source, notes, population, test : optional
            The attributes of these names.

        Returns
        -------
        Problem

        Raises
        ------
        DataError
            If shapes do not match, there is no sample, an entry is not a finite real number, K overflows, there
            are more than `MOST_SAMPLES` samples, or the test points do not match.
        ArgumentError
            If the number of names is wrong.
        """
        matrix: Any
        if feature_names is None and hasattr(features, "columns"):
            feature_names = [str(name) for name in features.columns]
        if is_streamed(features):
            target = as_labels(labels)
            require_tractable(len(target))
            matrix, gram, n_features = streamed(features, len(target))
            notes = (*notes, ONE_PASS) if matrix is None else notes
        else:
            matrix = require_tractable_features(features)
            target = as_labels(labels, matrix.shape[0])
            gram, n_features = gram_matrix(matrix), matrix.shape[1]
        if not np.all(np.isfinite(gram)):
            raise not_finite_error(matrix, feature_names)
        return cls(
            gram=frozen(gram),
            labels=frozen(target),
            features=matrix,
            n_features=n_features,
            feature_names=names_of(feature_names, n_features, "feature_names"),
            sample_names=names_of(sample_names, len(target), "sample_names"),
            target_name=target_name,
            preprocess=matrix.how if isinstance(matrix, Preprocessed) else "none",
            label_mean=float(label_mean),
            source=source,
            notes=tuple(notes),
            population=population,
            test=test,
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
        population: Population | None = None,
        test: HeldOut | None = None,
    ) -> Problem:
        """Take K itself; features are then not at hand.

        Parameters
        ----------
        gram : array_like, shape (n_samples, n_samples)
            Symmetric positive semidefinite up to rounding.
        labels : array_like, shape (n_samples,)
        n_features : int, optional
            Number of features behind K, where it is known.
        sample_names : sequence of str, optional
            One a sample.
        target_name, label_mean, source, notes, population, test : optional
            The attributes of these names.

        Returns
        -------
        Problem

        Raises
        ------
        DataError
            If K is not square, finite, symmetric (to 1e-10 of its largest entry) and positive semidefinite
            (to rounding), or the labels or the test points do not match.
        ArgumentError
            If the number of names is wrong.
        """
        matrix = as_gram(gram)
        target = as_labels(labels, len(matrix))
        problem = cls(
            gram=frozen(matrix),
            labels=frozen(target),
            n_features=n_features,
            sample_names=names_of(sample_names, len(target), "sample_names"),
            target_name=target_name,
            label_mean=float(label_mean),
            source=source,
            notes=tuple(notes),
            population=population,
            test=test,
        )
        # the positive labels ahead: they are what a minimum norm eliminates
        if problem.operator.ordered(problem.labels > 0) is not None:
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
        return facts_of(self.operator, self.labels, self.n_features, duplicates=self.duplicates)

    @cached_property
    def duplicates(self) -> tuple[tuple[int, ...], ...]:
        """Groups of samples that coincide up to rounding; one of the facts, which training needs without the others."""
        return duplicate_groups(self.gram, self._rows)

    def _rows(self) -> Array | None:
        """L, whose rows have the digits of the samples; None where only K is at hand."""
        if self.operator.factor is not None or self.features is None:
            return self.operator.factor
        return lower_factor(column_blocks(self.features), self.n_samples)

    @property
    def d2(self) -> float | None:
        """Effective dimension d₂: of the distribution where it is known, else as estimated; None where it cannot be."""
        if self.population is not None:
            return self.population.d2
        estimate = self.facts.d2_estimate
        return None if estimate is None else estimate.value

    @property
    def longest(self) -> float:
        """The largest norm of a sample, max ‖x_i‖."""
        return float(np.sqrt(np.diagonal(self.gram).max()))

    @property
    def largest_label(self) -> float:
        """max |y_i|."""
        return float(np.abs(self.labels).max())

    @cached_property
    def is_in_range(self) -> bool:
        """Whether K_ii and max|y|, their product and their quotient are between 1e-150 and 1e150; zeros are left aside.

        Norms and losses are squares of these, and have to stay within double precision.
        """
        squares, label = np.diagonal(self.gram), self.largest_label
        largest = float(squares.max())
        if largest <= 0.0:
            return label == 0.0 or 1 / RANGE <= label <= RANGE
        smallest = float(np.min(squares, where=squares > 0, initial=largest))
        sizes = [smallest, largest]
        if label > 0.0:
            sizes += [label, smallest * label, largest * label, label / smallest, label / largest]
        return all(1 / RANGE <= size <= RANGE for size in sizes)

    @property
    def label_scale(self) -> float:
        """Root mean square of the labels."""
        scale = self.largest_label
        return scale * float(np.sqrt(np.mean(np.square(self.labels / scale)))) if scale else 0.0

    def sample(self, index: int) -> str:
        """Name of a sample for messages: its own name, or its row number counted from 1.

        Parameters
        ----------
        index : int
            Counted from 0.

        Returns
        -------
        str
        """
        return f"{self.sample_names[index]!r}" if self.sample_names else f"row {index + 1}"

    def prepared(self, features: Any) -> Any:
        """Return features of new points as this problem sees its own: with the recorded preprocessing applied.

        Parameters
        ----------
        features : array, sparse array, callable or source of column blocks, shape (n_new, n_features)
            Raw, as in the file; a `Preprocessed` record is taken as it is.

        Returns
        -------
        array, sparse array or source of column blocks, shape (n_new, n_features)

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
        """Return X_new Xᵀ, shape (n_new, n_samples), for features at new points.

        Parameters
        ----------
        features : array, sparse array, callable or source of column blocks, shape (n_new, n_features)
            As for :meth:`prepared`.

        Raises
        ------
        DataError
            If this problem has no features, or the numbers of features differ.
        """
        own = self._required_features("predictions at new points need")
        return cross_product(self.prepared(features), own)

    def primal_of(self, weights: Array) -> Array:
        """Return W Xᵀ, the primal coefficients of weights, shape (m, n_samples), in label units.

        Parameters
        ----------
        weights : ndarray, shape (m, n_features)
            W, one row a neuron.

        Raises
        ------
        DataError
            If this problem has no features.
        """
        return cross_product(weights, self._required_features("weights need"))

    def weights_of(self, dual: Array) -> Array:
        """Return the weights w_k = Xᵀα_k, shape (m, n_features).

        Parameters
        ----------
        dual : ndarray, shape (m, n_samples)
            α, one row a neuron.

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
        """Write K, labels, names and test points (not the features) to one ``.npz`` file that :meth:`load` reads.

        Parameters
        ----------
        path : path
            A file that is there is replaced.

        Returns
        -------
        Path
            Of the file.

        Raises
        ------
        ArgumentError
            If the file cannot be written.
        """
        return save_record(path, "problem", *self.to_parts())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Problem:
        """Read what :meth:`save` wrote. Features are not stored, so the result has none.

        Parameters
        ----------
        path : path

        Returns
        -------
        Problem

        Raises
        ------
        DataError
            If there is no such file, or it is not a saved problem, whole and undamaged.
        """
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
            "population": None if self.population is None else self.population.as_dict(),
        }
        arrays = {"gram": self.gram, "labels": self.labels}
        if self.operator.factor is not None:
            arrays["factor"] = self.operator.factor
        if self.test is not None:
            arrays |= nested("test", self.test.to_arrays())
        return arrays, {"problem": meta}

    @classmethod
    def from_parts(cls, arrays: dict[str, NDArray[Any]], meta: dict[str, Any]) -> Problem:
        """Rebuild a problem from :meth:`to_parts`.

        Parameters
        ----------
        arrays : dict of ndarray
        meta : dict

        Returns
        -------
        Problem

        Raises
        ------
        DataError
            If something is missing, or cannot be what it should be.
        """
        with rebuilding("problem"):
            fields = dict(meta["problem"])
            population, test = fields.pop("population", None), part("test", arrays)  # older files have neither
            gram = as_gram(arrays["gram"])
            if np.any(np.diagonal(gram) < 0):
                raise DataError("the saved K has a negative entry on its diagonal; no features X give K = X Xᵀ.")
            _require_plain(fields)
            fields["notes"] = tuple(fields["notes"])
            fields["n_features"] = as_count(fields["n_features"], "the number of features")
            for key, length in (("feature_names", fields["n_features"] or 0), ("sample_names", len(gram))):
                fields[key] = names_of(fields[key], length, key)
            return cls(
                gram=frozen(gram),
                labels=frozen(as_labels(arrays["labels"], len(gram))),
                factor=frozen(as_factor(arrays["factor"], len(gram))) if "factor" in arrays else None,
                population=None if population is None else Population.from_dict(population),
                test=HeldOut.from_arrays(test) if test else None,
                **fields,
            )


def _require_plain(fields: dict[str, Any]) -> None:
    """Raise DataError where a description of the problem is not of the type that was saved."""
    types: dict[str, Any] = {"source": str, "preprocess": str, "target_name": str | None}
    types |= {"notes": list, "feature_names": list | None, "sample_names": list | None}
    for key, type_ in types.items():
        if not isinstance(fields[key], type_):
            raise DataError(f"the saved {key} is {fields[key]!r:.80}; the file is damaged or was changed.")
    if not (is_number(fields["label_mean"]) and np.isfinite(fields["label_mean"])):
        raise DataError(f"the saved label_mean is {fields['label_mean']!r:.80}, not a finite number.")


def same_problem(first: Problem, second: Problem) -> bool:
    """True where both have the same K and the same labels."""
    return first is second or (np.array_equal(first.labels, second.labels) and np.array_equal(first.gram, second.gram))
