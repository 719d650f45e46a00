"""The operator with some pre-activations held at zero.

Let Z be samples whose pre-activations β_Z must not move, and let the dual coefficients of all others move at the rates
a (zero on Z). Then those of Z have to move at

    v = −K_ZZ⁻¹ K_Z: a,       and the image of the whole motion is      P a,     P = K − K_:Z K_ZZ⁻¹ K_Z: ,

the Schur complement. With C Cᵀ = K_ZZ (or, where K = L Lᵀ, with an orthonormal basis of the rows L_Z) neither needs an
inverse, and P stays symmetric positive semidefinite to rounding.

A *mixed pattern* gives each neuron k the slopes φ′ of its samples (D_k, zero on Z_k) and its own Z_k. Its modes are

    S = Σ_k D_k P_k D_k = Q Λ Qᵀ      on the samples with a slope somewhere,     images  P_k D_k Q,
    speeds  −K_ZZ⁻¹ K_Z: D_k Q        of the held samples of neuron k.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.linalg.blas import frobenius, gram_product, product
from relubias.linalg.cholesky import Cholesky, cholesky
from relubias.linalg.factor import EPS, GramOperator, PatternModes, null_level, spectral_error
from relubias.linalg.factored import FactorModes
from relubias.linalg.gram import Array


@dataclass(frozen=True, eq=False)
class Held:
    """Samples whose pre-activations are held at zero.

    Attributes
    ----------
    index : ndarray of int, shape (z,)
        Z: independent samples, whose pre-activations hold those of all that depend on them.
    """

    operator: GramOperator
    index: NDArray[np.intp]
    _triangle: Cholesky
    _basis: Array  # C⁻¹ K_Z:, shape (z, n), or an orthonormal basis of the rows of L_Z, shape (r, z)
    _units: Array

    @classmethod
    def of(cls, operator: GramOperator, index: NDArray[np.intp]) -> Held:
        """Hold the samples `index`, or as many of them as are linearly independent."""
        units = operator.units[index]
        factor = operator.factor
        if factor is None:
            triangle = cholesky(operator.block(index) / units / units[:, None])
            kept = triangle.kept
            half = triangle.half_solve(operator.columns(index[kept]).T / units[kept, None])
            return cls(operator, index[kept], triangle, half, units[kept])
        rows = factor[index] / units[:, None]
        basis, upper, pivots = scipy.linalg.qr(rows.T, mode="economic", pivoting=True, check_finite=False)
        sizes = np.abs(np.diagonal(upper))
        rank = int(np.count_nonzero(sizes > (len(index) + 16) * EPS * np.max(sizes, initial=0.0)))
        kept = np.asarray(pivots[:rank], dtype=np.intp)
        triangle = Cholesky(rank, np.arange(rank), np.ascontiguousarray(upper[:rank, :rank].T))
        return cls(operator, index[kept], triangle, np.asarray(basis[:, :rank], dtype=np.float64), units[kept])

    def speeds(self, rates: Array) -> Array:
        """Return v = −K_ZZ⁻¹ K_Z: a for rates a of shape (n,) or (n, p); what a has on Z itself must be zero."""
        factor = self.operator.factor
        reduced = product(self._basis, rates) if factor is None else product(self._basis.T, product(factor.T, rates))
        solved = self._triangle.half_solve_transposed(reduced)
        return -(solved / (self._units if rates.ndim == 1 else self._units[:, None]))

    def half_image(self, rates: Array) -> Array:
        """Return a matrix R with RᵀR = aᵀ P a, from the factor L, for rates a of shape (n, p)."""
        assert self.operator.factor is not None
        reached = product(self.operator.factor.T, rates)
        return reached - product(self._basis, product(self._basis.T, reached))

    def image(self, rates: Array) -> Array:
        """Return P a, shape (n, p), exactly zero on Z."""
        factor = self.operator.factor
        if factor is None:
            moved = self.operator.matvec(rates) - product(self._basis.T, product(self._basis, rates))
        else:
            moved = product(factor, self.half_image(rates))
        moved[self.index] = 0.0
        return moved

    def eliminated(self, index: NDArray[np.intp]) -> Array:
        """Return K_AZ K_ZZ⁻¹ K_ZA for A = `index`."""
        return gram_product(self._basis[:, index].T)


@dataclass(frozen=True, eq=False)
class MixedModes:
    """The modes of a mixed pattern.

    Attributes
    ----------
    modes : PatternModes
        U, λ, Q and P_k D_k Q, the bounds of their rounding included.
    speeds : ndarray, shape (n_neurons, n_samples, r)
        −K_ZZ⁻¹ K_Z: D_k Q on the held samples, zero elsewhere.
    held : tuple of Held
        Z_k, one a neuron.
    """

    modes: PatternModes
    speeds: Array
    held: tuple[Held, ...]


def mixed_modes(operator: GramOperator, slopes: Array, held: NDArray[np.bool_]) -> MixedModes:
    """Decompose S for the given slopes and held samples, both of shape (n_neurons, n_samples).

    Held samples must be linearly independent in each neuron, and have slope 0.
    """
    parts = tuple(Held.of(operator, np.flatnonzero(row)) for row in held)
    union = np.flatnonzero(np.any(slopes != 0.0, axis=0))
    if not len(union):
        return _at_rest(operator, slopes.shape, parts)
    if np.all((slopes == 0.0) | (slopes == 1.0)) and not held.any():
        modes = operator.pattern_modes(slopes > 0)
    elif operator.factor is None:
        modes = _from_gram(operator, slopes, parts, union)
    else:
        modes = _from_factor(operator, slopes, parts, union)
    speeds = np.zeros(modes.images.shape)
    for k, part in enumerate(parts):
        if len(part.index):
            speeds[k, part.index] = part.speeds(_spread(slopes[k], union, modes.vectors))
    # An error E of K moves the Schur complement by [I, −K_RZ K_ZZ⁻¹] E [I, −K_RZ K_ZZ⁻¹]ᵀ.
    lean = max((frobenius(speeds[k]) for k in range(len(parts))), default=0.0)
    return MixedModes(replace(modes, blur=modes.blur * (1.0 + lean)), speeds, parts)


def _spread(slopes: Array, union: NDArray[np.intp], vectors: Array) -> Array:
    """D_k Q as rates of all samples, shape (n, r)."""
    rates = np.zeros((len(slopes), vectors.shape[1]))
    rates[union] = slopes[union, None] * vectors
    return rates


def _from_gram(operator: GramOperator, slopes: Array, parts: tuple[Held, ...], union: NDArray[np.intp]) -> PatternModes:
    within = slopes[:, union]
    matrix = operator.block(union) * gram_product(within.T)
    for row, part in zip(within, parts, strict=True):
        matrix -= row[:, None] * part.eliminated(union) * row
    values, vectors = scipy.linalg.eigh(matrix, check_finite=False)
    largest, size = float(values[-1]), len(union)
    kept = values > null_level(size) * float(np.max(np.einsum("ku,ku,u->u", within, within, operator.diagonal[union])))
    values, vectors = values[kept], vectors[:, kept]
    images = np.stack([part.image(_spread(row, union, vectors)) for row, part in zip(slopes, parts, strict=True)])
    return PatternModes(union, values, vectors, images, largest, spectral_error(size) * max(largest, 0.0))


def _from_factor(
    operator: GramOperator, slopes: Array, parts: tuple[Held, ...], union: NDArray[np.intp]
) -> PatternModes:
    identity = np.eye(len(union))
    stacked = np.concatenate(
        [part.half_image(_spread(row, union, identity)) for row, part in zip(slopes, parts, strict=True)]
    ).T
    vectors, values, _ = scipy.linalg.svd(stacked, full_matrices=False, check_finite=False)
    size, largest = len(union), float(values[0])
    scale = float(
        np.sqrt(np.max(np.einsum("ku,ku,u->u", slopes[:, union], slopes[:, union], operator.diagonal[union])))
    )
    kept = np.flatnonzero(values > null_level(size) * scale)[::-1]
    vectors, values = vectors[:, kept], values[kept]
    images = np.stack([part.image(_spread(row, union, vectors)) for row, part in zip(slopes, parts, strict=True)])
    return FactorModes(union, values**2, vectors, images, largest**2, spectral_error(size) * largest)


def _at_rest(operator: GramOperator, shape: tuple[int, ...], parts: tuple[Held, ...]) -> MixedModes:
    """Nothing moves."""
    nothing = np.zeros((*shape, 0))
    none = np.zeros(0, dtype=np.intp)
    modes = PatternModes(none, np.zeros(0), np.zeros((0, 0)), nothing, 0.0, 0.0)
    return MixedModes(modes, nothing.copy(), parts)
