"""Gaussian features, whose Gram matrix costs no d where eigenvalues are equal.

    K = Σ_j λ_j z_j z_jᵀ = Σ_g λ_g W_g + Σ_{the rest} λ_j z_j z_jᵀ,      z_j ~ N(0, I_N),

where W_g, for an eigenvalue that occurs at least N times, is a Wishart matrix with that many degrees of freedom,
drawn by Bartlett's decomposition; the rest is streamed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from relubias.linalg.gram import Array, gram_of_blocks
from relubias.sampling.law import IndependentComponents
from relubias.sampling.streaming import drawn_blocks
from relubias.sampling.wishart import wishart


@dataclass(frozen=True)
class Gaussian(IndependentComponents):
    """x ~ N(0, Σ), Σ with the given spectrum."""

    kind: ClassVar[str] = "gaussian"

    @property
    def sub_gaussian(self) -> bool:
        """By definition."""
        return True

    def standardised(self, generator: np.random.Generator, shape: tuple[int, int]) -> Array:
        """Standard normal numbers."""
        return generator.standard_normal(shape)

    def _gram(self, n_rows: int, generator: np.random.Generator) -> Array:
        frequent, rest, n_rest = self.spectrum.split(self.n_features, n_rows)
        gram = np.zeros((n_rows, n_rows))
        if n_rest:
            blocks = drawn_blocks(self.standardised, rest, n_rest, n_rows, generator)
            gram = gram_of_blocks(blocks, n_rows)[0]
        for eigenvalue, count in frequent:
            gram += eigenvalue * wishart(n_rows, count, generator)
        return gram
