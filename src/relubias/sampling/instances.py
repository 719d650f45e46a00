"""Classic instances: small problems of a known shape, most of them without any randomness.

* **Orthogonal**: K = diag(‖x_i‖²). Samples do not interfere; everything decouples.
* **Coherent**: unit rows at one cosine ρ to each other, K = (1 − ρ) I + ρ 11ᵀ, −1/(n−1) ≤ ρ ≤ 1.
* **Vardi–Shamir** (2021): rows (3, −1, 0), (4, 2, 0), (0, γ, γ), y = (16, 18, 0), one ReLU. For every γ > 0 the global
  minimisers are the same set {(5, −1, c): c ≤ 1}, whose shortest is (5, −1, 0), but where gradient descent ends in it
  depends on γ: its limit is no function of the set of minimisers.
* **Duplicates**: orthogonal unit rows, the last of which repeat the first; with the same labels, or with conflicting
  ones, which no model interpolates.
* **Lemma 5 without its hypotheses**: K = [[1, 0, −.9], [0, 1, .3], [−.9, .3, 1]], y = (5, −1, ½). The third sample has
  the sign of the neuron, and yet the first step from β = 1e-3·1 with η = ½ makes it inactive.
* **Two samples** in the plane at a given angle, for the blackboard.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.problem import Problem
from relubias.sampling.labels import LabelLaw, Signs, checked_labels, labels_from_dict
from relubias.sampling.records import (
    any_real,
    as_plain,
    items,
    real,
    rebuilt,
    require_drawable,
    settle,
    size,
    size_or_zero,
    whole,
)
from relubias.sampling.streams import Rng, seed_in_words, streams

#: Lengths are from 1/_LONGEST to this, so that their squares are numbers.
_LONGEST = 1e75


class Instance:
    """What instances have in common: they are drawn, written as plain values and rebuilt alike."""

    kind: ClassVar[str]

    def draw(self, *, rng: Rng = None, features: bool = False) -> Problem:
        """Return the problem.

        Parameters
        ----------
        rng : int or numpy.random.Generator, optional
            Needed where labels are drawn; where nothing is random it changes nothing.
        features : bool
            Keep X; small instances have it anyway.
        """
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """The instance as plain values."""
        return as_plain(self)

    @classmethod
    def from_dict(cls, values: Any) -> Any:
        """Rebuild an instance from :meth:`as_dict`.

        Parameters
        ----------
        values : dict
            The kind, and the fields that have no default.

        Returns
        -------
        Instance

        Raises
        ------
        ArgumentError, DataError
            With the key, where something is unknown, missing or out of range.
        """
        nested = {"labels": labels_from_dict} if issubclass(cls, Labelled) else None
        return rebuilt({cls.kind: cls}, values, "problem", nested)


class Labelled(Instance):
    """Instances of any number of samples, whose labels follow a law."""

    n_samples: int
    labels: LabelLaw

    @property
    def words(self) -> str:
        """What the rows are, for the source of the problem."""
        raise NotImplementedError

    def _check(self) -> None:
        settle(self, n_samples=whole(self.n_samples, "n_samples"), labels=checked_labels(self.labels))
        require_drawable(self.n_samples)
        if self.labels.n_teachers:
            raise ArgumentError(
                f"{self.kind} samples have no teachers among them; give signs, or the labels themselves."
            )

    def _labels(self, rng: Rng, count: int) -> Array:
        (generator,) = streams(0 if rng is None and self.labels.kind == "given" else rng, 1)
        return self.labels.draw(np.empty((0, count)), 1.0, count, generator)[0]

    def _problem(self, gram: Array, rows: Array | None, labels: Array, rng: Rng) -> Problem:
        seed = "" if self.labels.kind == "given" else seed_in_words(rng)
        source = f"{self.words}, labels by {self.labels.kind}{seed}"
        if rows is None:
            return Problem.from_gram(gram, labels, n_features=len(gram), source=source)
        return Problem.from_features(rows, labels, source=source)


@dataclass(frozen=True)
class Orthogonal(Labelled):
    """Exactly orthogonal rows.

    Attributes
    ----------
    n_samples : int
    squared_norms : float or tuple of float
        ‖x_i‖², one for all samples or one each.
    labels : LabelLaw
    """

    kind: ClassVar[str] = "orthogonal"

    n_samples: int
    squared_norms: float | tuple[float, ...] = 1.0
    labels: LabelLaw = field(default_factory=Signs)

    def __post_init__(self) -> None:
        self._check()
        several = items(self.squared_norms)
        if several is None:
            settle(self, squared_norms=size(self.squared_norms, "squared_norms"))
            return
        if len(several) != self.n_samples:
            raise ArgumentError(f"{len(several)} squared_norms are given for {self.n_samples} samples.")
        settle(self, squared_norms=tuple(size(value, "each of squared_norms") for value in several))

    @property
    def words(self) -> str:
        """What the rows are."""
        return "exactly orthogonal rows"

    @property
    def _sizes(self) -> tuple[float, ...]:
        given = self.squared_norms
        return given if isinstance(given, tuple) else (given,) * self.n_samples

    def draw(self, *, rng: Rng = None, features: bool = False) -> Problem:
        """Return the problem; see :meth:`Instance.draw`."""
        sizes = np.array(self._sizes, dtype=np.float64)
        rows = np.diag(np.sqrt(sizes)) if features else None
        return self._problem(np.diag(sizes), rows, self._labels(rng, self.n_samples), rng)


@dataclass(frozen=True)
class Coherent(Labelled):
    """Unit rows, all pairs of which have the same cosine.

    Attributes
    ----------
    n_samples : int
    cosine : float
        ρ from −1/(n − 1), where the rows are dependent, to 1, where they coincide.
    labels : LabelLaw
    """

    kind: ClassVar[str] = "coherent"

    n_samples: int
    cosine: float
    labels: LabelLaw = field(default_factory=Signs)

    def __post_init__(self) -> None:
        self._check()
        least = -1.0 / max(1, self.n_samples - 1)
        wanted = f"from {least:.6g} (−1/(n − 1)) to 1"
        what = f"cosine of {self.n_samples} rows"
        settle(self, cosine=real(self.cosine, what, wanted, lambda number: least <= number <= 1.0))

    @property
    def words(self) -> str:
        """What the rows are."""
        return f"unit rows at cosine {self.cosine:g} to each other"

    def draw(self, *, rng: Rng = None, features: bool = False) -> Problem:
        """Return the problem; see :meth:`Instance.draw`."""
        n, rho = self.n_samples, self.cosine
        gram = np.full((n, n), rho)
        np.fill_diagonal(gram, 1.0)
        rows = None
        if features:  # the symmetric root of K, which has two eigenvalues
            low, high = math.sqrt(1.0 - rho), math.sqrt(max(0.0, 1.0 + (n - 1) * rho))
            rows = low * np.eye(n) + (high - low) / n
        return self._problem(gram, rows, self._labels(rng, n), rng)


@dataclass(frozen=True)
class Duplicates(Labelled):
    """Orthogonal unit rows, the last of which repeat the first one.

    Attributes
    ----------
    n_samples : int
        Copies included.
    copies : int
        How many rows repeat the first, from 1 to n_samples − 1.
    conflicting : bool
        The copies have the opposite of the first label; else the same.
    labels : LabelLaw
        Of the rows that are no copies.
    """

    kind: ClassVar[str] = "duplicates"

    n_samples: int
    copies: int = 1
    conflicting: bool = False
    labels: LabelLaw = field(default_factory=Signs)

    def __post_init__(self) -> None:
        self._check()
        if self.n_samples < 2:
            raise ArgumentError("duplicates need n_samples of at least 2: a row and its copy.")
        settle(self, copies=whole(self.copies, "copies", 1, self.n_samples - 1))
        if not isinstance(self.conflicting, bool | np.bool_):
            raise ArgumentError(f"conflicting must be true or false; it is {self.conflicting!r:.80}.")
        settle(self, conflicting=bool(self.conflicting))

    @property
    def words(self) -> str:
        """What the rows are."""
        kind = "conflicting" if self.conflicting else "the same"
        return f"orthogonal unit rows, the first repeated {self.copies} times with {kind} labels"

    def draw(self, *, rng: Rng = None, features: bool = False) -> Problem:
        """Return the problem, with its features; see :meth:`Instance.draw`."""
        distinct = self.n_samples - self.copies
        rows = np.vstack([np.eye(distinct), np.tile(np.eye(distinct)[0], (self.copies, 1))])
        labels = self._labels(rng, distinct)
        repeated = np.full(self.copies, -labels[0] if self.conflicting else labels[0])
        return self._problem(rows @ rows.T, rows, np.concatenate([labels, repeated]), rng)


@dataclass(frozen=True)
class VardiShamir(Instance):
    """The family of Vardi and Shamir, in which no function of the minimisers describes the limit.

    Attributes
    ----------
    gamma : float
        γ > 0.
    """

    kind: ClassVar[str] = "vardi-shamir"

    gamma: float = 1.0

    def __post_init__(self) -> None:
        settle(self, gamma=size(self.gamma, "gamma", _LONGEST))

    def draw(self, *, rng: Rng = None, features: bool = False) -> Problem:
        """Return the problem, with its features; see :meth:`Instance.draw`."""
        rows = np.array([[3.0, -1.0, 0.0], [4.0, 2.0, 0.0], [0.0, self.gamma, self.gamma]])
        source = f"the family of Vardi and Shamir, γ = {self.gamma:g}"
        return Problem.from_features(rows, [16.0, 18.0, 0.0], source=source)


@dataclass(frozen=True)
class Lemma5Counterexample(Instance):
    """Three samples of which an active one with the sign of the neuron goes off at the first step."""

    kind: ClassVar[str] = "lemma5-counterexample"

    def draw(self, *, rng: Rng = None, features: bool = False) -> Problem:
        """Return the problem, with its features; see :meth:`Instance.draw`."""
        rows = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-0.9, 0.3, math.sqrt(0.1)]])
        source = "the three samples on which Lemma 5 fails without its hypotheses"
        return Problem.from_features(rows, [5.0, -1.0, 0.5], source=source)


@dataclass(frozen=True)
class TwoSamples(Instance):
    """Two samples in the plane.

    Attributes
    ----------
    angle : float
        Between them, in degrees.
    labels : tuple of float
    norms : tuple of float
        ‖x_1‖ and ‖x_2‖.
    """

    kind: ClassVar[str] = "two-samples"

    angle: float
    labels: tuple[float, float] = (1.0, -1.0)
    norms: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        for name in ("labels", "norms"):
            pair = items(getattr(self, name)) or ()
            if len(pair) != 2:
                raise ArgumentError(f"{name} of two samples must be two numbers; they are {getattr(self, name)!r:.80}.")
            settle(self, **{name: tuple(size_or_zero(value, f"each of {name}") for value in pair)})
        settle(self, angle=any_real(self.angle, "angle"), norms=tuple(size(v, "norms", _LONGEST) for v in self.norms))

    def draw(self, *, rng: Rng = None, features: bool = False) -> Problem:
        """Return the problem, with its features; see :meth:`Instance.draw`."""
        from scipy.special import cosdg, sindg  # exact at right angles; slow to import

        second = [float(cosdg(self.angle)), float(sindg(self.angle))]
        rows = np.array(self.norms)[:, None] * np.array([[1.0, 0.0], second])
        return Problem.from_features(rows, self.labels, source=f"two samples at {self.angle:g} degrees")


INSTANCES: dict[str, type[Instance]] = {
    instance.kind: instance
    for instance in (Orthogonal, Coherent, Duplicates, VardiShamir, Lemma5Counterexample, TwoSamples)
}
