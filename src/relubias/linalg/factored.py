"""The operator backed by a factor of X, where K has too few digits.

    K = L Lᵀ,   L = U Σ Vᵀ :       eigenvalues σ², known to ε σ_max σ where K's own are known to ε σ_max²

Products pass through the factor, K a = L (Lᵀ a), so that their errors are those of a small relative change of the
features: directions of the weights down to σ = ε σ_max are told apart, twice as many digits as K shows.

For the modes of a pattern, with B = [D_1 L, D_2 L, …] on the samples active somewhere,

    H = B Bᵀ,    B = Q Σ Wᵀ,    K D_k Q = L W_k Σ,

W_k the rows of W that belong to D_k L.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.linalg.blas import product
from relubias.linalg.factor import EPS, GramOperator, PatternModes, Slopes, null_level, scaled, spectral_error
from relubias.linalg.gram import Array


@dataclass(frozen=True, eq=False)
class FactorModes(PatternModes):
    """Modes from the singular values of B, where what was decomposed is B + E with ‖E‖ ≤ δ.

    A step through B + E instead of B moves the weights by η Eᵀr and by η Bᵀ E times the way they have come. Summed
    over the steps, with the letters of the base class, the error of β is at most about

        √K_ii δ (Σ_j |c_j| (Ĝ_j + 2√(Ĝ Ĝ_j)) + Ĝ ‖r⊥‖),    and    4 δ √Ĝ (Σ_j |c_j| + ‖r⊥‖)

    for an active sample of a single neuron. (Ours.)
    """

    @property
    def smallest(self) -> float:
        """Lower bound of the smallest positive eigenvalue; singular values at rounding level count as zero."""
        value = float(np.sqrt(self.values[0]))
        return max(value - self.blur, EPS * value) ** 2

    @property
    def ceiling(self) -> float:
        """Upper bound of λ_max(H)."""
        return float((np.sqrt(self.largest) + self.blur) ** 2)

    def rounding(self, size: Array, lost: float, growth: Array) -> tuple[float, float]:
        """Error of β, of an active sample of a single neuron and, per √K_ii, of any other; see the base class."""
        most = float(growth.max(initial=0.0))
        own = 4.0 * self.blur * float(np.sqrt(most)) * (float(size.sum()) + lost)
        return own, self.blur * (float(size @ (growth + 2.0 * np.sqrt(most * growth))) + most * lost)


class FactorOperator(GramOperator):
    """The operator backed by K = L Lᵀ.

    Parameters
    ----------
    gram : ndarray, shape (n, n)
        K, for the entries that do not need more digits than it has.
    factor : ndarray, shape (n, r), C-contiguous
        L, from :func:`relubias.linalg.lq.lower_factor`.
    """

    backing = "the features"

    def __init__(self, gram: Array, factor: Array) -> None:
        super().__init__(gram)
        self._lower = factor

    @property
    def factor(self) -> Array:
        """L."""
        return self._lower

    @cached_property
    def diagonal(self) -> Array:
        """Squared norms of the samples, K_ii, shape (n,)."""
        return np.asarray(np.einsum("nr,nr->n", self._lower, self._lower))

    @cached_property
    def _singular(self) -> tuple[Array, Array]:
        """Singular values in ascending order, as many as samples, and left singular vectors as columns."""
        left, values, _ = scipy.linalg.svd(self._lower, full_matrices=True, check_finite=False)
        padded = np.zeros(self.n_samples)
        padded[: len(values)] = values
        return padded[::-1], left[:, ::-1]

    @cached_property
    def eigensystem(self) -> tuple[Array, Array]:
        """Eigenvalues σ² in ascending order, shape (n,), and eigenvectors as columns, shape (n, n)."""
        values, vectors = self._singular
        return values**2, vectors

    @cached_property
    def spectrum(self) -> Array:
        """Eigenvalues of K in ascending order, shape (n,)."""
        return self.eigensystem[0]

    @property
    def cutoff(self) -> float:
        """Eigenvalues up to this size, ((n + 16) ε σ_max)², are indistinguishable from zero."""
        return ((self.n_samples + 16) * EPS) ** 2 * self.largest

    def rank_of(self, index: NDArray[np.intp]) -> int:
        """Rank of the samples `index`: squared singular values of their rows of L above `cutoff`."""
        if not len(index):
            return 0
        values = scipy.linalg.svdvals(self._lower[index], check_finite=False)
        return int(np.count_nonzero(values**2 > self.cutoff))

    @property
    def digits(self) -> float:
        """Decimal digits to which results can be trusted, −log₁₀(ε cond X), at least 0."""
        return max(0.0, -float(np.log10(EPS * np.sqrt(self.condition)))) if self.rank else 0.0

    def matvec(self, vector: Array) -> Array:
        """Return K a = L (Lᵀ a) for a vector (n,) or for the columns of a matrix (n, p)."""
        return product(self._lower, product(self._lower.T, vector))

    def wide_matvec(self, vector: NDArray[Any]) -> NDArray[np.longdouble]:
        """Return K a in extended precision where the machine has it."""
        wide = self._lower.astype(np.longdouble)
        return np.asarray(wide @ (wide.T @ np.asarray(vector, dtype=np.longdouble)))

    def pseudo_solve(self, primal: Array) -> Array:
        """Return K⁺ b for b of shape (n,) or, row by row, (p, n), from the singular values of L."""
        return self._spectral_solve(primal)

    def image_error(self, dual: Array) -> Array:
        """Bound for the error of K a that the rounding of X explains: ε √K_ii ‖Xᵀa‖."""
        return np.asarray(EPS * self.roots * self._length(dual))

    def square_error(self, dual: Array) -> float:
        """Bound for the error of ‖Xᵀa‖², accumulated in extended precision: 2 ε Σ_j √K_jj |a_j| ‖Xᵀa‖."""
        return 2 * self._square_eps * self._reach(dual) * self._length(dual)

    def defect(self, dual: Array, primal: Array) -> Array:
        """How far `primal`, shape (n,), is from being the pre-activations X w of the weights w = Xᵀa, for certain.

        It is the part outside the range of X, and of the difference from K a what is more than rounding: large
        coefficients a that cancel leave an error of (n + 16) ε √K_ii Σ_j √K_jj |a_j| there.
        """
        values, vectors = self.eigensystem
        kernel = vectors[:, values <= self.cutoff]
        outside = np.abs(kernel @ (kernel.T @ primal))
        rounding = (self.n_samples + 16) * EPS * np.sqrt(self.diagonal) * self._reach(dual)
        difference = np.abs(np.asarray(primal - self.wide_matvec(dual), dtype=np.float64))
        return np.maximum(outside, np.maximum(difference - rounding, 0.0))

    def _length(self, dual: Array) -> float:
        return float(np.linalg.norm(self._lower.astype(np.longdouble).T @ dual.astype(np.longdouble)))

    def lengths(self, duals: Array) -> Array:
        """Return ‖Xᵀa‖ = ‖Lᵀa‖ for each row a of `duals`, shape (p, n)."""
        return np.asarray(np.linalg.norm(duals @ self._lower, axis=1))

    def pattern_modes(self, slopes: Slopes) -> PatternModes:
        """Decompose H for D_k = diag(slopes[k]), shape (m, n), by the singular values of B."""
        union = np.flatnonzero(slopes.any(axis=0))
        stacked = np.concatenate([own[union, None] * self._lower[union] for own in slopes], axis=1)
        vectors, values, right = scipy.linalg.svd(stacked, full_matrices=False, check_finite=False)
        size, largest = len(union), float(values[0])
        kept = np.flatnonzero(values > null_level(size) * largest)[::-1]
        vectors, values, right = vectors[:, kept], values[kept], right[kept]
        width = self._lower.shape[1]
        parts = [right[:, k * width : (k + 1) * width].T for k in range(len(slopes))]
        images = np.stack([product(self._lower, part) * values for part in parts])
        if len(slopes) == 1:  # D K D Q = Q Σ² holds exactly, the product only to rounding
            images[0, union] = scaled(1.0 / slopes[0, union], vectors * values**2)
        return FactorModes(union, values**2, vectors, images, largest**2, spectral_error(size) * largest)
