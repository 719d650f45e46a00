"""One operator for K = X Xᵀ: everything dynamics and references ask of the data.

They never touch K directly, so that another backing (a factor K = L Lᵀ where K has too few digits) can
take its place. With A a set of samples the operator offers

    matvec(a) = K a,    columns(A) = K[:, A],    block(A, B) = K_AB,

the modes of an activation pattern D,

    H = Σ_k D_k K D_k = Q Λ Qᵀ     on the samples active somewhere,     images  K D_k Q,

and the size of the rounding errors in them: entries of K are trusted to ε √(K_ii K_jj), eigenvalues to
ε (n + 16) ‖K‖, and an eigenvalue at or below `cutoff` is taken for zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.linalg.blas import gram_product, product
from relubias.linalg.gram import Array, root_units
from relubias.linalg.ordered import OrderedFactor, ordered_factor, regularity, shifted_factor
from relubias.linalg.wide import converted_product, wide_product

#: Slopes σ′ of each sample in each neuron, shape (n_neurons, n_samples); of a ReLU, whether it is active.
Slopes = NDArray[np.bool_] | NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
#: Most samples for which a factor is kept for later: it takes as much memory as K.
KEPT = 4096


def spectral_error(size: int) -> float:
    """Relative backward error of an eigendecomposition or a singular value decomposition: (16 + 2√size) ε."""
    return (16.0 + 2.0 * float(np.sqrt(size))) * EPS


def scaled(factors: NDArray[Any], rows: Array) -> Array:
    """Multiply rows by factors; nothing is copied where all of them are 1."""
    return rows if np.all(factors == 1) else rows * factors[:, None]


def null_level(size: int) -> float:
    """Eigenvalues (or singular values) up to this fraction of the largest one count as zero: 4 (size + 16) ε."""
    return 4.0 * (size + 16) * EPS


@dataclass(frozen=True, eq=False)
class PatternModes:
    """The modes of H = Σ_k D_k K D_k with a positive eigenvalue.

    What was decomposed is H + E with ‖E‖ ≤ δ. With the growths Ĝ_j = η Σ_{s<t} |1 − ηλ_j|^s, Ĝ the largest of them,
    c the residual in the modes and r⊥ what no mode carries, Duhamel's formula

        f_t(H + E) − f_t(H) = −η Σ_{s<t} f_{t−1−s}(H) E (I − η(H + E))^s,      f_t(λ) = (1 − (1 − ηλ)^t)/λ,

    with ‖K_i D_k f(H)‖ ≤ √(2 K_ii Ĝ), bounds the error of β by

        √(2 K_ii Ĝ) · δ (Σ_j |c_j| Ĝ_j + Ĝ ‖r⊥‖),       and by  δ (Σ_j |c_j| Ĝ_j + Ĝ ‖r⊥‖)

    for an active sample of a single neuron; the last term is the tilt of the modes towards the kernel. (Ours.)

    Attributes
    ----------
    union : ndarray of int
        U, the samples active in some neuron.
    values : ndarray, shape (r,)
        Positive eigenvalues, ascending; those at rounding level are left out.
    vectors : ndarray, shape (len(U), r)
        Q.
    images : ndarray, shape (n_neurons, n_samples, r)
        K D_k Q.
    largest : float
        λ_max(H).
    blur : float
        δ.
    """

    union: NDArray[np.intp]
    values: Array
    vectors: Array
    images: Array
    largest: float
    blur: float

    @property
    def smallest(self) -> float:
        """Lower bound of the smallest positive eigenvalue; eigenvalues at rounding level count as zero."""
        return max(float(self.values[0]) - self.blur, EPS * float(self.values[0]))

    @property
    def ceiling(self) -> float:
        """Upper bound of λ_max(H)."""
        return self.largest + self.blur

    def rounding(self, size: Array, lost: float, growth: Array) -> tuple[float, float]:
        """Error of β, of an active sample of a single neuron and, per √K_ii, of any other.

        Parameters
        ----------
        size : ndarray, shape (r,)
            |c|.
        lost : float
            ‖r⊥‖.
        growth : ndarray, shape (r,)
            Ĝ_j.
        """
        most = float(growth.max(initial=0.0))
        own = self.blur * (float(size @ growth) + most * lost)
        return own, float(np.sqrt(2.0 * most)) * own


class GramOperator:
    """The operator backed by the matrix K itself.

    Parameters
    ----------
    gram : ndarray, shape (n, n)
        Symmetric positive semidefinite, C-contiguous float64.
    """

    #: From what products are computed, in words.
    backing = "the Gram matrix"

    def __init__(self, gram: Array) -> None:
        self.gram = gram
        self._ordered: OrderedFactor | None = None

    @property
    def factor(self) -> Array | None:
        """L with K = L Lᵀ through which products pass; None where they use K itself."""
        return None

    @property
    def n_samples(self) -> int:
        """Number of samples n."""
        return int(self.gram.shape[0])

    @cached_property
    def diagonal(self) -> Array:
        """Squared norms of the samples, K_ii, shape (n,)."""
        return np.maximum(np.diagonal(self.gram), 0.0)

    @cached_property
    def units(self) -> Array:
        """Powers of two near ‖x_i‖, shape (n,): dividing by them is exact and makes solvers blind to units."""
        return root_units(self.diagonal)

    @cached_property
    def eigensystem(self) -> tuple[Array, Array]:
        """Eigenvalues in ascending order, shape (n,), and eigenvectors as columns, shape (n, n)."""
        values, vectors = scipy.linalg.eigh(self.gram, check_finite=False)
        return values, vectors

    @cached_property
    def spectrum(self) -> Array:
        """Eigenvalues of K in ascending order, shape (n,); as computed, so that rounding may make some < 0.

        Never those of `eigensystem`, whose rounding is another: the default step 1/λ_max, and with it the run, must
        not depend on what was asked of the operator before.
        """
        return np.asarray(scipy.linalg.eigvalsh(self.gram, check_finite=False))

    @property
    def largest(self) -> float:
        """The largest eigenvalue λ_max(K)."""
        return max(0.0, float(self.spectrum[-1]))

    @property
    def cutoff(self) -> float:
        """Eigenvalues up to this size, (n + 16) ε λ_max, are indistinguishable from zero.

        The rounding of K and of the eigenvalues grows with n, but is several ε even for a handful of samples.
        """
        return (self.n_samples + 16) * EPS * self.largest

    @property
    def rank(self) -> int:
        """Number of eigenvalues above `cutoff`."""
        return int(np.count_nonzero(self.spectrum > self.cutoff))

    @cached_property
    def is_regular(self) -> bool:
        """True only where every eigenvalue is proven to exceed `cutoff`, so that no spectrum is needed.

        K − 2(n + 16)ε tr(K) I then has a Cholesky factor, whose rounding is less than half of what was subtracted.
        """
        return self._exceeds(regularity(self.n_samples))

    def ordered(self, front: NDArray[np.bool_]) -> OrderedFactor | None:
        """Return a factor of K with the samples `front` ahead, which proves it regular; None where that is not so.

        The last one is kept for the next who asks, and `is_regular` needs no factor of its own any more.
        """
        kept = self._ordered
        if kept is not None and np.array_equal(kept.front, np.flatnonzero(front)):
            return kept
        known = vars(self).get("is_regular")
        factor = None if known is False else ordered_factor(self.gram, front)
        self._ordered = factor if self.n_samples <= KEPT else None
        if known is None:
            self.is_regular = factor is not None
        return factor

    def is_conditioned(self, limit: float) -> bool:
        """Whether all n eigenvalues are positive with a ratio of at most `limit`.

        Where λ_min > tr(K)/limit that is proven by a Cholesky factor, at a small part of the cost of a spectrum.
        """
        return self._exceeds(1 / limit) or (self.rank == self.n_samples and self.condition <= limit)

    def _exceeds(self, fraction: float) -> bool:
        """Whether K − fraction · tr(K) I has a Cholesky factor, so that λ_min is above fraction · tr(K)."""
        exceeds = shifted_factor(self.gram.copy(), fraction * float(self.diagonal.sum())) is not None
        if exceeds and fraction >= regularity(self.n_samples):
            self.is_regular = True
        return exceeds

    def rank_of(self, index: NDArray[np.intp]) -> int:
        """Rank of the samples `index`: eigenvalues of their block of K above `cutoff`."""
        if not len(index):
            return 0
        return int(np.count_nonzero(scipy.linalg.eigvalsh(self.block(index), check_finite=False) > self.cutoff))

    @cached_property
    def _cholesky(self) -> tuple[Array, bool]:
        factor, lower = scipy.linalg.cho_factor(self.gram, lower=True, check_finite=False)
        return factor, bool(lower)

    @property
    def condition(self) -> float:
        """Ratio of the largest eigenvalue to the smallest one counted in the rank; infinite where K = 0."""
        return float(self.spectrum[-1] / self.spectrum[-self.rank]) if self.rank else float("inf")

    @property
    def digits(self) -> float:
        """Decimal digits to which results can be trusted, −log₁₀(ε cond K), at least 0."""
        return max(0.0, -float(np.log10(EPS * self.condition))) if self.rank else 0.0

    def matvec(self, vector: Array) -> Array:
        """Return K a for a vector (n,) or for the columns of a matrix (n, p)."""
        return product(self.gram, vector)

    def wide_matvec(self, vector: NDArray[Any]) -> NDArray[np.longdouble]:
        """Return K a in extended precision where the machine has it, for residuals.

        Rounding of the sum is then far below that of the entries, as iterative refinement needs.
        """
        if self._is_even:
            return wide_product(self.gram, vector, self._longest)
        return converted_product(self.gram, vector)

    @cached_property
    def roots(self) -> Array:
        """√K_ii = ‖x_i‖, shape (n,)."""
        return np.sqrt(self.diagonal)

    @cached_property
    def _longest(self) -> float:
        """The largest K_ii, which no entry exceeds."""
        return float(self.diagonal.max(initial=0.0))

    @cached_property
    def _is_even(self) -> bool:
        """Whether samples are of comparable length, so that digits relative to the longest suffice for all."""
        return self.n_samples <= 4096 and self._longest <= 1024.0 * float(self.diagonal.min(initial=np.inf))

    def matvec_bound(self, vectors: Array) -> Array:
        """Return bounds √K_ii Σ_j √K_jj |a_j| ≥ Σ_j |K_ij a_j| for each row a of `vectors`, shape (p, n)."""
        return np.asarray((np.abs(vectors) @ self.roots)[:, None] * self.roots)

    def image_error(self, dual: Array) -> Array:
        """Bound for the error of K a, a of shape (n,), that rounding of the data explains: ε √K_ii Σ_j √K_jj |a_j|."""
        return np.asarray(EPS * self.roots * self._reach(dual))

    def square_error(self, dual: Array) -> float:
        """Bound for the error of aᵀK a, accumulated in extended precision: ε (Σ_j √K_jj |a_j|)²."""
        return self._square_eps * self._reach(dual) ** 2

    def defect(self, dual: Array, primal: Array) -> Array:
        """How far `primal`, shape (n,), is from being the pre-activations X w of the weights w = Xᵀa."""
        return np.asarray(primal - self.wide_matvec(dual), dtype=np.float64)

    def _reach(self, dual: Array) -> float:
        return float(self.roots @ np.abs(dual))

    @property
    def _square_eps(self) -> float:
        return EPS + self.n_samples * float(np.finfo(np.longdouble).eps)

    def columns(self, index: NDArray[np.intp]) -> Array:
        """Return K[:, index], shape (n, len(index))."""
        return self.gram[:, index]

    def block(self, index: NDArray[np.intp], others: NDArray[np.intp] | None = None) -> Array:
        """Return K[index, others]; the principal block K[index, index] where no others are given."""
        return self.gram.take(index, axis=0).take(index if others is None else others, axis=1)

    def lengths(self, duals: Array) -> Array:
        """Return ‖Xᵀa‖ for each row a of `duals`, shape (p, n)."""
        squares = np.einsum("pn,pn->p", duals, self.matvec(duals.T).T)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    def curvature(self, slopes: Slopes) -> tuple[NDArray[np.intp], Array]:
        """Return the samples U with a slope in some neuron and H = Σ_k D_k K D_k on them."""
        union = np.flatnonzero(slopes.any(axis=0))
        block = self.block(union)
        if len(slopes) == 1 and np.all(slopes[:, union] == 1):
            return union, block
        together = slopes[:, union].astype(np.float64)
        return union, block * gram_product(together.T)

    def pattern_modes(self, slopes: Slopes) -> PatternModes:
        """Decompose H for D_k = diag(slopes[k]), shape (m, n), of which at least one is not 0."""
        union, matrix = self.curvature(slopes)
        values, vectors = scipy.linalg.eigh(matrix, check_finite=False)
        largest, size = float(values[-1]), len(union)
        kept = values > null_level(size) * largest
        values, vectors = values[kept], vectors[:, kept]
        columns, within = self.columns(union), slopes[:, union]
        images = np.stack([product(columns[:, own != 0], scaled(own[own != 0], vectors[own != 0])) for own in within])
        if len(slopes) == 1:  # D K D Q = QΛ holds exactly, the product only to rounding
            images[0, union] = scaled(1.0 / within[0], vectors * values)
        return PatternModes(union, values, vectors, images, largest, spectral_error(size) * largest)

    def project(self, dual: Array) -> Array:
        """Return the representative of `dual`, shape (n,) or (p, n), that is orthogonal to the kernel of K.

        Raw dual coefficients are unique only up to that kernel; K⁺β fixes them.
        """
        if self.is_regular or self.rank == self.n_samples:
            return dual
        values, vectors = self.eigensystem
        kernel = vectors[:, values <= self.cutoff]
        return dual - (dual @ kernel) @ kernel.T

    def pseudo_solve(self, primal: Array) -> Array:
        """Return K⁺ b for b of shape (n,) or, row by row, (p, n); by Cholesky where K is regular."""
        if self.is_regular:
            return np.asarray(scipy.linalg.cho_solve(self._cholesky, primal.T, check_finite=False).T)
        return self._spectral_solve(primal)

    def _spectral_solve(self, primal: Array) -> Array:
        values, vectors = self.eigensystem
        kept = values > self.cutoff
        basis = vectors[:, kept]
        return ((primal @ basis) / values[kept]) @ basis.T
