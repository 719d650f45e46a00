"""Neurons of given cells, from about right to exact: a quadratic program that is solved with a proof. (Ours.)

For any positive η_j

    Σ_j ‖u_j‖ ≤ ½ Σ_j (‖u_j‖²/η_j + η_j),

with equality for η_j = ‖u_j‖: the sum of norms is touched from above by squares. With the lengths of a solution that is
about right as η the squares are least, under the constraints of the cells, at neurons whose sum of lengths is too large by
the square of the error only; and that program is one of lifted samples (:mod:`relubias.references.lifting`), with a proof
that the neurons are in their cells and fit the labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.factor import GramOperator
from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.references.cells import Cells
from relubias.references.conditions import LARGEST_FLOOR
from relubias.references.constrained import best_multipliers
from relubias.references.gauge import Gauge
from relubias.references.lifting import Lifted, lifted, piece

#: Neurons shorter than this fraction of all of them are left out, if the others fit the labels; else than the next one.
SHORT = (1e-3, 1e-6)
#: Neurons of one sign whose cosine is above this are one.
PARALLEL = 1.0 - 1e-8
#: How often the lengths are taken for the next η.
ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Neurons:
    """Vectors u_j in their cells that fit the labels.

    Attributes
    ----------
    cells : Cells
    duals : ndarray, shape (J, n)
        u_j = Xᵀ duals_j.
    lengths : ndarray, shape (J,)
        ‖u_j‖.
    size : float
        G; infinite where the labels were not fitted.
    misfit : float
        Largest violation of the constraints of the cells, relative to the largest label.
    """

    cells: Cells
    duals: Array
    lengths: Array
    size: float
    misfit: float


def exact_neurons(operator: GramOperator, labels: Array, cells: Cells, duals: Array, gauge: Gauge) -> Neurons:
    """Solve for the neurons of these cells, starting from about right ones; `duals` of shape (J, n)."""
    lengths = operator.lengths(duals)
    found = []
    for short in SHORT:
        kept = lengths > short * lengths.sum()
        chosen = Cells(cells.signs[kept], cells.patterns[kept])
        joined, sums_ = _joined(operator, chosen, duals[kept])
        found.append(_solved(operator, labels, joined, operator.lengths(sums_), gauge))
        if len(joined.signs) < len(chosen.signs):
            found.append(_solved(operator, labels, chosen, lengths[kept], gauge))
    least = min(own.size for own in found)
    return next(own for own in found if own.size <= least * (1 + 1e-10) or own.size == least)


def _solved(operator: GramOperator, labels: Array, cells: Cells, lengths: Array, gauge: Gauge) -> Neurons:
    """Solve for η = ‖u_j‖ a few times; the best is kept."""
    network = Network.of_signs([int(sign) for sign in cells.signs])
    rows = [piece(network, cells.patterns[:, i], float(labels[i])) for i in range(len(labels))]
    program = lifted(rows, len(cells.signs))
    best = Neurons(cells, np.zeros(cells.patterns.shape), np.zeros(len(cells.signs)), np.inf, np.inf)
    for _ in range(ROUNDS):
        slopes = gauge.slopes(*sums(cells, lengths))
        weights = np.where(cells.signs > 0, *slopes) / np.maximum(lengths, SHORT[-1] * lengths.sum())
        scaled = Lifted(program.coefficients / np.sqrt(weights), program.samples, program.constraints)
        multipliers, proof = best_multipliers(scaled.operator(operator), scaled.constraints)
        if proof.kkt.primal > LARGEST_FLOOR:
            break
        duals = scaled.dual(multipliers, len(labels)) / np.sqrt(weights)[:, None]
        lengths = operator.lengths(duals)
        found = Neurons(cells, duals, lengths, gauge.size(*sums(cells, lengths)), proof.kkt.primal)
        if found.size >= best.size * (1 - 1e-14):
            break
        best = found
    return best


def sums(cells: Cells, lengths: Array) -> tuple[float, float]:
    """S₊ and S₋."""
    return float(lengths[cells.signs > 0].sum()), float(lengths[cells.signs < 0].sum())


def _joined(operator: GramOperator, cells: Cells, duals: Array) -> tuple[Cells, Array]:
    """Add up the neurons that are parallel, which lie on the common face of their cells."""
    vectors = duals @ operator.gram @ duals.T
    lengths = np.sqrt(np.maximum(np.diagonal(vectors), np.finfo(float).tiny))
    near = (vectors / lengths / lengths[:, None] > PARALLEL) & (cells.signs == cells.signs[:, None])
    taken = np.zeros(len(duals), dtype=bool)
    signs: list[float] = []
    patterns: list[NDArray[np.bool_]] = []
    found: list[Array] = []
    for j in np.argsort(-lengths):
        own = near[j] & ~taken
        if taken[j]:
            continue
        taken |= own
        signs.append(float(cells.signs[j]))
        patterns.append(cells.patterns[own].all(axis=0))
        found.append(duals[own].sum(axis=0))
    return Cells(np.array(signs), np.array(patterns)), np.array(found)
