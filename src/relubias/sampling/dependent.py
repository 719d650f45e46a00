"""Designs that break an assumption of the theorems, as negative controls.

* **Equicorrelated rows.** x_i = √ρ g + √(1 − ρ) z_i with a common g: each row is N(0, Σ), but no two are
  independent. With R = (1 − ρ) I + ρ 11ᵀ and Z Gaussian of shape (N, d), X = R^½ Z, hence K = R^½ (Z Zᵀ) R^½, and

      R^½ = √(1 − ρ) (I − J) + √(1 − ρ + Nρ) J,      J = 11ᵀ/N.

  Two rows share g, so that their inner product is not centred: E x_iᵀx_j = ρ‖λ‖₁, and
  E (x_iᵀx_j)² = (1 + ρ²)‖λ‖₂² + ρ²‖λ‖₁².

* **Rows on a subspace** of dimension r ≪ d: x = √(d/r) U z with z ~ N(0, I_r) and U of orthonormal columns, so that
  ‖λ‖₁ = d while d₂ = d_∞ = r, however large d is. Since UᵀU = I, K is that of Gaussian features in dimension r.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from relubias.linalg.gram import Array, symmetrised
from relubias.population import Population
from relubias.sampling.law import FeatureLaw, checked_spectrum
from relubias.sampling.normal import Gaussian
from relubias.sampling.records import real, settle, whole
from relubias.sampling.spectra import Isotropic, Spectrum
from relubias.sampling.streaming import require_holdable


@dataclass(frozen=True)
class Equicorrelated(FeatureLaw):
    """Gaussian rows of which any two have this `correlation` ρ ∈ [0, 1], component by component."""

    kind: ClassVar[str] = "equicorrelated"
    correlation: float
    spectrum: Spectrum = field(default_factory=Isotropic, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        rho = real(self.correlation, "correlation", "from 0 to 1", lambda number: 0.0 <= number <= 1.0)
        settle(self, correlation=rho, spectrum=checked_spectrum(self.spectrum, self.n_features))

    @property
    def population(self) -> Population:
        """Of the spectrum: the covariance of one row does not know of the others."""
        known = self.spectrum.population(self.n_features)
        return replace(known, sub_gaussian=True, independent=self.correlation == 0.0)

    @property
    def product_scale(self) -> float:
        """√((1 + ρ²)‖λ‖₂² + ρ²‖λ‖₁²)."""
        square = self.correlation**2
        return super().product_scale * math.sqrt(1.0 + square + square * self.population.d2)

    def _gram(self, n_rows: int, generator: np.random.Generator) -> Array:
        half = self._correlated(self._independent._gram(n_rows, generator))
        return symmetrised(self._correlated(half.T))

    def _rows(self, n_rows: int, generator: np.random.Generator) -> Array:
        return self._correlated(self._independent._rows(n_rows, generator))

    @property
    def _independent(self) -> Gaussian:
        return Gaussian(self.n_features, spectrum=self.spectrum)

    def _correlated(self, independent: Array) -> Array:
        """R^½ A, in place."""
        alone = math.sqrt(1.0 - self.correlation)
        common = math.sqrt(1.0 - self.correlation + len(independent) * self.correlation)
        mean = independent.mean(axis=0)
        independent -= mean
        independent *= alone
        independent += common * mean
        return independent


@dataclass(frozen=True)
class Subspace(FeatureLaw):
    """Gaussian rows on a subspace of this `dimension` r ≤ d, isotropic there, of mean squared length d."""

    kind: ClassVar[str] = "subspace"
    dimension: int

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, dimension=whole(self.dimension, "the dimension of the subspace", most=self.n_features))

    @property
    def population(self) -> Population:
        """‖λ‖₁ = d, d₂ = d_∞ = r; given the subspace, rows are independent and Gaussian."""
        return self._within.population

    @property
    def _within(self) -> Gaussian:
        return Gaussian(self.dimension, spectrum=Isotropic(self.n_features / self.dimension))

    def _gram(self, n_rows: int, generator: np.random.Generator) -> Array:
        return self._within._gram(n_rows, generator)

    def _rows(self, n_rows: int, generator: np.random.Generator) -> Array:
        require_holdable(self.dimension, self.n_features)
        basis, _ = np.linalg.qr(generator.standard_normal((self.n_features, self.dimension)))
        return np.asarray(self._within._rows(n_rows, generator) @ basis.T)
