"""Neurons of given cells, from about right to exact. (Ours.)

For any positive η_j

    Σ_j ‖u_j‖ ≤ ½ Σ_j (‖u_j‖²/η_j + η_j),

with equality for η_j = ‖u_j‖: the sum of norms is touched from above by a sum of squares. With the lengths of a
solution that is about right as η, the least sum of squares is attained at neurons whose sum of lengths is too large by
the square of the error only. The labels are equations, and so are the sides of a cell on which a neuron lies, x_iᵀu_j
= 0; with these known the least sum of squares under equations is one linear system. Sides that its solution crosses
become equations too, until there are none: what is returned is in its cells and fits the labels, whatever the sides
that were known. That it is the smallest is for the prices to prove.

Rows have length 1 here, and a neuron is given by its coordinates u_j ∈ R^r with x_iᵀu = l_iᵀu, K = L Lᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.gram import Array
from relubias.references.cells import Cells, Centre
from relubias.references.gauge import Gauge

#: Neurons shorter than this fraction of all of them are left out at first; then fewer are.
SHORT = (1e-3, 1e-5, 1e-7, 0.0)
#: Neurons of one sign whose cosine is above this are one.
PARALLEL = 1.0 - 1e-8
#: How often the lengths are taken for the next η.
ROUNDS = 4
#: Sides count as crossed, and labels as missed, beyond this fraction of the length of a neuron or of the largest label.
CROSSED, MISSED = 1e-13, 1e-9
#: Singular values below this fraction of the largest one mean that neurons are dependent.
DEPENDENT = 1e-12
#: Sizes within this fraction of the lower bound are not improved upon.
NEAR = 1e-11


@dataclass(frozen=True, eq=False)
class Neurons:
    """Vectors u_j in their cells that fit the labels.

    Attributes
    ----------
    cells : Cells
    vectors : ndarray, shape (J, r)
        u_j.
    size : float
        G; infinite where the labels were not fitted.
    """

    cells: Cells
    vectors: Array
    size: float

    @property
    def lengths(self) -> Array:
        """‖u_j‖, shape (J,)."""
        return np.asarray(np.linalg.norm(self.vectors, axis=1))


def exact_neurons(
    factor: Array, labels: Array, cells: Cells, centre: Centre, gauge: Gauge, *, lower_bound: float
) -> Neurons:
    """Find the smallest neurons of these cells from those of the central path; stop when they are near the bound."""
    lengths = centre.lengths
    best = Neurons(cells, np.zeros(centre.vectors.shape), np.inf)
    for short in SHORT:
        kept = lengths > short * lengths.sum()
        own = Cells(cells.signs[kept], cells.patterns[kept])
        vectors, at_zero = centre.vectors[kept], centre.at_zero[kept]
        programs = [_joined(own, vectors, at_zero), (own, vectors, at_zero), (own, vectors, at_zero & False)]
        for cells_, start, held in programs:
            found = _solved(factor, labels, cells_, start, held, gauge)
            best = found if found.size < best.size else best
            if best.size <= lower_bound * (1 + NEAR):
                return _fewest(factor, labels, best, gauge)
    return _fewest(factor, labels, best, gauge) if np.isfinite(best.size) else best


def sums(cells: Cells, lengths: Array) -> tuple[float, float]:
    """S₊ and S₋."""
    return float(lengths[cells.signs > 0].sum()), float(lengths[cells.signs < 0].sum())


def _fewest(factor: Array, labels: Array, found: Neurons, gauge: Gauge) -> Neurons:
    """Leave neurons out as long as the others, made longer or shorter, fit the same labels with the same S₊ and S₋.

    More than n + 2 neurons c_j û_j are dependent in what they fit and in their sums, Σ_j v_j A_j = 0, and along v one
    of the lengths c ≥ 0 comes to 0 first.
    """
    cells, lengths = found.cells, found.lengths
    units = found.vectors / lengths[:, None]
    images = cells.signs[:, None] * np.where(cells.patterns, np.maximum(units @ factor.T, 0.0), 0.0)
    table = np.column_stack([images, cells.signs > 0, cells.signs < 0])
    kept, lengths = np.arange(len(lengths)), lengths.copy()
    while len(kept) > 1:
        left, values, _ = np.linalg.svd(table[kept])
        if len(kept) == np.count_nonzero(values > DEPENDENT * values[0]):
            break
        direction = left[:, -1] * (1.0 if left[:, -1].min() < -left[:, -1].max() else -1.0)
        steps = np.full(len(kept), np.inf)
        falling = direction < 0
        steps[falling] = lengths[kept][falling] / -direction[falling]
        first = int(np.argmin(steps))
        lengths[kept] = np.maximum(lengths[kept] + steps[first] * direction, 0.0)
        kept = np.delete(kept, first)
    fitted = lengths[kept] @ images[kept]
    fewer = Cells(cells.signs[kept], cells.patterns[kept])
    size = gauge.size(*sums(fewer, lengths[kept]))
    if np.abs(fitted - labels).max() > MISSED * np.abs(labels).max() or size > found.size * (1 + NEAR):
        return found
    return Neurons(fewer, lengths[kept, None] * units[kept], size)


def _solved(
    factor: Array, labels: Array, cells: Cells, vectors: Array, at_zero: NDArray[np.bool_], gauge: Gauge
) -> Neurons:
    """Solve for η = ‖u_j‖ a few times; the smallest that fits is kept."""
    best = Neurons(cells, np.zeros(vectors.shape), np.inf)
    helped = np.any(cells.patterns & (cells.signs[:, None] * labels > 0), axis=0)
    if not np.all(helped | (labels == 0)):
        return best
    lengths = np.linalg.norm(vectors, axis=1)
    for _ in range(ROUNDS):
        slopes = gauge.slopes(*sums(cells, lengths))
        roots = np.sqrt(np.maximum(lengths, SHORT[-2] * lengths.sum()) / np.where(cells.signs > 0, *slopes))
        found = _least(factor, labels, cells, roots, at_zero)
        lengths = np.linalg.norm(found, axis=1)
        images = found @ factor.T
        fitted = cells.signs @ np.where(cells.patterns, np.maximum(images, 0.0), 0.0)
        size = gauge.size(*sums(cells, lengths))
        if np.abs(fitted - labels).max() > MISSED * np.abs(labels).max() or size >= best.size * (1 - 1e-14):
            break
        best = Neurons(cells, found, size)
    return best


def _least(factor: Array, labels: Array, cells: Cells, roots: Array, at_zero: NDArray[np.bool_]) -> Array:
    """min Σ ‖u_j‖²/roots_j² under the equations of the labels and of the sides `at_zero`, no side crossed; (J, r)."""
    count, rank = len(roots), factor.shape[1]
    fitting = np.flatnonzero(cells.patterns.any(axis=0))
    share = cells.signs[:, None] * cells.patterns
    labelled = np.einsum("ji,ir->ijr", share * roots[:, None], factor)[fitting].reshape(len(fitting), count * rank)
    held = at_zero.copy()
    side = np.where(cells.patterns, 1.0, -1.0)
    vectors = np.zeros((count, rank))
    for _ in range(held.size):
        j, i = np.nonzero(held)
        sides = np.zeros((len(j), count, rank))
        sides[np.arange(len(j)), j] = factor[i]
        rows = np.concatenate([labelled, sides.reshape(len(j), count * rank)])
        right = np.concatenate([labels[fitting], np.zeros(len(j))])
        vectors = roots[:, None] * np.linalg.lstsq(rows, right)[0].reshape(count, rank)
        images = side * (vectors @ factor.T)
        crossed = (images < -CROSSED * np.linalg.norm(vectors, axis=1)[:, None]) & ~held
        if not np.any(crossed):
            break
        held |= crossed
    return vectors


def _joined(cells: Cells, vectors: Array, at_zero: NDArray[np.bool_]) -> tuple[Cells, Array, NDArray[np.bool_]]:
    """Add up the neurons that are parallel, which lie on the common face of their cells."""
    units = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    near = (units @ units.T > PARALLEL) & (cells.signs == cells.signs[:, None])
    taken = np.zeros(len(vectors), dtype=bool)
    groups = []
    for j in np.argsort(-np.linalg.norm(vectors, axis=1)):
        if not taken[j]:
            groups.append(near[j] & ~taken)
            taken |= near[j]
    signs = np.array([cells.signs[own][0] for own in groups])
    patterns = np.array([cells.patterns[own].all(axis=0) for own in groups])
    sides = [at_zero[own].any(axis=0) | (cells.patterns[own] != cells.patterns[own][0]).any(axis=0) for own in groups]
    return Cells(signs, patterns), np.array([vectors[own].sum(axis=0) for own in groups]), np.array(sides)
