"""Random problems: samples, test points and teachers are rows of one draw.

With N = n_samples + n_test + n_teachers rows, everything that a problem needs is in their Gram matrix

        ⎡ K        ·     · ⎤   samples
    G = ⎢ X_test Xᵀ  ·     · ⎥   test points
        ⎣ T Xᵀ   T X_testᵀ · ⎦   teachers

so that drawing G (O(N²) numbers for Gaussian features, whatever their number) and splitting it is enough: labels,
test error and K cost no d. Only `features=True` draws X itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from relubias.errors import ArgumentError
from relubias.held_out import HeldOut
from relubias.linalg.gram import Array
from relubias.population import Population
from relubias.problem import Problem
from relubias.sampling.features import FeatureLaw, features_from_dict
from relubias.sampling.labels import LabelLaw, Signs, checked_labels, labels_from_dict
from relubias.sampling.law import finite
from relubias.sampling.records import as_plain, rebuilt, require_drawable, settle, whole
from relubias.sampling.streams import Rng, seed_in_words, streams

#: What is said where the labels of test points are drawn without a look at their features.
UNLEARNABLE = (
    "the labels of the test points are random like those of the samples: nothing can be learned of them, and a test "
    "error near that of predicting 0, or above it, says nothing about the training; a teacher has labels to be learned."
)


@dataclass(frozen=True)
class RandomProblem:
    """A distribution of problems.

    Attributes
    ----------
    n_samples : int
    features : FeatureLaw
    labels : LabelLaw
        By default ±1, half each.
    n_test : int
        Number of test points.

    Raises
    ------
    ArgumentError
        If a number is out of range, there are too many rows, or features or labels are no law.
    """

    kind: ClassVar[str] = "random"

    n_samples: int
    features: FeatureLaw
    labels: LabelLaw = field(default_factory=Signs)
    n_test: int = 0

    def __post_init__(self) -> None:
        settle(
            self,
            n_samples=whole(self.n_samples, "n_samples", 1),
            n_test=whole(self.n_test, "n_test", 0),
            labels=checked_labels(self.labels),
        )
        if not isinstance(self.features, FeatureLaw):
            raise ArgumentError(f"features must be a law such as Gaussian(1000); they are {self.features!r:.80}.")
        require_drawable(self.n_samples + self.n_test + self.labels.n_teachers)

    @property
    def population(self) -> Population:
        """‖λ‖₁, d₂ and d_∞ of the features."""
        return self.features.population

    def draw(self, *, rng: Rng = None, features: bool = False) -> Problem:
        """Draw a problem.

        Parameters
        ----------
        rng : int or numpy.random.Generator
            Required. Features and labels take independent streams of it.
        features : bool
            Draw X itself and keep it, at a cost of (n_samples + n_test + n_teachers) · d numbers. The numbers are
            then others than those that give K alone.

        Returns
        -------
        Problem

        Raises
        ------
        ArgumentError
            If `rng` is missing, X does not fit into memory, what is drawn is too large for float64, or the law of the
            labels cannot label these features.
        """
        n, several = self.n_samples, self.n_samples + self.n_test
        total = several + self.labels.n_teachers
        for_features, for_labels = streams(rng, 2)
        rows = self.features.rows(total, for_features) if features else None
        with np.errstate(over="ignore", invalid="ignore"):
            gram = self.features.gram(total, for_features) if rows is None else finite(rows @ rows.T)
        labels, test_labels = self.labels.draw(gram[several:, :several], self.features.product_scale, n, for_labels)
        test = _test_points(gram, test_labels, n, rows) if self.n_test else None
        common: dict[str, Any] = {"source": self._source(rng), "population": self.population, "test": test}
        common["notes"] = (UNLEARNABLE,) if self.n_test and not self.labels.n_teachers else ()
        if rows is None:
            return Problem.from_gram(gram[:n, :n], labels, n_features=self.features.n_features, **common)
        return Problem.from_features(rows[:n], labels, **common)

    def _source(self, rng: Rng) -> str:
        return f"a draw of {self.features.kind} features, labels by {self.labels.kind}{seed_in_words(rng)}"

    def as_dict(self) -> dict[str, Any]:
        """The distribution as plain values, from which :meth:`from_dict` rebuilds it."""
        return as_plain(self)

    @classmethod
    def from_dict(cls, values: Any) -> RandomProblem:
        """Rebuild a distribution from :meth:`as_dict`.

        Parameters
        ----------
        values : dict
            The kind, and the fields that have no default; features and labels are tables in it.

        Returns
        -------
        RandomProblem

        Raises
        ------
        ArgumentError, DataError
            With the key, where something is unknown, missing or out of range.
        """
        return rebuilt({cls.kind: cls}, values, "problem", {"features": features_from_dict, "labels": labels_from_dict})


def _test_points(gram: Array, labels: Array, n_samples: int, rows: Array | None) -> HeldOut:
    test = slice(n_samples, n_samples + len(labels))
    features = None if rows is None else rows[test]
    return HeldOut(gram[test, :n_samples], np.diagonal(gram)[test], labels, features)
