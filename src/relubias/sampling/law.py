"""What a feature law is: a distribution of the rows x_i ∈ R^d, drawn through K = X Xᵀ or, where they fit, as X.

Rows have mean zero where they have a mean, and covariance Σ with spectrum λ. :meth:`FeatureLaw.gram` never holds
an array of shape (N, d). The same seed need not give the same rows to :meth:`~FeatureLaw.gram` and
:meth:`~FeatureLaw.rows`: their laws agree, not their numbers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from relubias.arguments import generator_of
from relubias.errors import ArgumentError
from relubias.linalg.gram import Array, gram_of_blocks
from relubias.linalg.validation import MOST_SAMPLES
from relubias.population import Population
from relubias.sampling.records import as_plain, settle, whole
from relubias.sampling.spectra import Isotropic, Spectrum
from relubias.sampling.streaming import assembled, drawn_blocks, require_holdable


@dataclass(frozen=True)
class FeatureLaw(ABC):
    """A distribution of feature vectors.

    Attributes
    ----------
    n_features : int
        d, at most 1e15.
    """

    kind: ClassVar[str]
    n_features: int

    def __post_init__(self) -> None:
        settle(self, n_features=whole(self.n_features, "n_features"))

    @property
    @abstractmethod
    def population(self) -> Population:
        """‖λ‖₁, d₂ and d_∞ of the covariance of a row, and which assumptions of the theorems hold."""

    @property
    def product_scale(self) -> float:
        """Root mean square of the inner product of two different rows; of independent ones, ‖λ‖₂ = ‖λ‖₁/√d₂."""
        return self.population.trace / math.sqrt(self.population.d2)

    def gram(self, n_rows: int, rng: int | np.random.Generator) -> Array:
        """Draw K = X Xᵀ of `n_rows` rows without X.

        Parameters
        ----------
        n_rows : int
            N, of all rows that are to have inner products with each other: samples, test points, teachers.
        rng : int or numpy.random.Generator

        Returns
        -------
        ndarray, shape (n_rows, n_rows), float64
            Exactly symmetric. The same bits for the same seed and number of BLAS threads.

        Raises
        ------
        ArgumentError
            If `n_rows` or `rng` make no sense, more numbers would have to be drawn than is sane, or what is drawn is
            too large for float64.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            return finite(self._gram(_checked_rows(n_rows), generator_of(rng)))

    def rows(self, n_rows: int, rng: int | np.random.Generator) -> Array:
        """Draw X itself, shape (`n_rows`, n_features).

        Parameters
        ----------
        n_rows : int
            N, as for :meth:`gram`.
        rng : int or numpy.random.Generator

        Raises
        ------
        ArgumentError
            If `n_rows` or `rng` make no sense, X would not fit in memory, or what is drawn is too large for float64.
        """
        n = _checked_rows(n_rows)
        require_holdable(n, self.n_features)
        with np.errstate(over="ignore", invalid="ignore"):
            return finite(self._rows(n, generator_of(rng)))

    def as_dict(self) -> dict[str, Any]:
        """The law as plain values, from which ``features_from_dict`` rebuilds it."""
        return as_plain(self)

    @abstractmethod
    def _gram(self, n_rows: int, generator: np.random.Generator) -> Array: ...

    @abstractmethod
    def _rows(self, n_rows: int, generator: np.random.Generator) -> Array: ...


@dataclass(frozen=True)
class IndependentComponents(FeatureLaw):
    """x_ij = √λ_j z_ij with independent z_ij of one distribution, of variance 1 where it has a variance.

    Attributes
    ----------
    spectrum : Spectrum
        λ; all 1 by default.
    """

    spectrum: Spectrum = field(default_factory=Isotropic, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, spectrum=checked_spectrum(self.spectrum, self.n_features))

    @property
    def population(self) -> Population:
        """‖λ‖₁, d₂ and d_∞ of the spectrum; rows are independent."""
        known = self.spectrum.population(self.n_features)
        return replace(known, sub_gaussian=self.sub_gaussian, independent=True)

    @property
    @abstractmethod
    def sub_gaussian(self) -> bool:
        """Whether z has tails like those of a Gaussian."""

    @abstractmethod
    def standardised(self, generator: np.random.Generator, shape: tuple[int, int]) -> Array:
        """Draw independent z, of variance 1 where they have a variance.

        Parameters
        ----------
        generator : numpy.random.Generator
        shape : tuple of int
            Numbers of rows and of components.

        Returns
        -------
        ndarray of this shape, float64
        """

    def _blocks(self, n_rows: int, generator: np.random.Generator) -> Iterator[Array]:
        return drawn_blocks(self.standardised, self.spectrum, self.n_features, n_rows, generator)

    def _gram(self, n_rows: int, generator: np.random.Generator) -> Array:
        return gram_of_blocks(self._blocks(n_rows, generator), n_rows)[0]

    def _rows(self, n_rows: int, generator: np.random.Generator) -> Array:
        return assembled(self._blocks(n_rows, generator), n_rows, self.n_features)


def checked_spectrum(spectrum: Any, n_features: int) -> Spectrum:
    """Return the spectrum, if it is one of so many features.

    Raises
    ------
    ArgumentError
        If it is not.
    """
    if not isinstance(spectrum, Spectrum):
        raise ArgumentError(f"spectrum must be a record of relubias.sampling.spectra; it is {spectrum!r:.80}.")
    spectrum.require(n_features)
    return spectrum


def finite(drawn: Array) -> Array:
    """Return what was drawn, or raise ArgumentError where it, or inner products of it, left the range of numbers."""
    if np.all(np.isfinite(drawn)):
        return drawn
    raise ArgumentError(
        "this draw has numbers, or inner products, that are too large for float64; take lighter tails or smaller "
        "eigenvalues."
    )


def _checked_rows(n_rows: int) -> int:
    return whole(n_rows, "the number of rows", most=MOST_SAMPLES)
