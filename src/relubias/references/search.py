"""The smallest network of any number of neurons that fits the labels: cells by need, until prices prove it. (Ours.)

    min G(S₊, S₋)   over all networks with f = y,      S_± = Σ_{±a_k>0} |a_k|‖w_k‖

(:mod:`relubias.references.gauge` has the two sizes G.) The networks with neurons in a few cells
(:mod:`relubias.references.cells`) give an upper bound and prices z; the largest loads M_±(z) of a neuron anywhere
(:mod:`relubias.references.load`) turn these into a lower bound

    zᵀy/G*(M₊(z), M₋(z))

for all networks, and name the cells in which a neuron would be worth more than it costs. Those are added, until there
are none.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.linalg.factor import EPS, GramOperator
from relubias.linalg.gram import Array
from relubias.references.cells import Cells, smallest_in
from relubias.references.gauge import Gauge
from relubias.references.load import exact_loads
from relubias.references.neurons import Neurons, exact_neurons
from relubias.references.smallest import WIDTH, Smallest, bound_from

#: Most samples for which sets of samples are enumerated: 2ⁿ of them at worst, for prices of one sign.
MOST = 16
#: Rounds of adding cells, and how many cells a round may add.
ROUNDS, ADDED = 60, 12
#: Loads above the level by less than this fraction are worth no cell.
WORTH = 1e-11
#: Pre-activations below this fraction of the largest one are at zero, and inactive.
SIDE = 1e-9
#: |z_i|‖x_i‖ is held below this multiple of its natural size, and then of the next one.
CEILINGS = (1e3, 1e6, 1e9)


def smallest_network(operator: GramOperator, labels: Array, gauge: Gauge) -> Smallest:
    """Find the smallest network that fits the labels.

    Parameters
    ----------
    operator : GramOperator
        Of rows that are not zero, and of which no two coincide.
    labels : ndarray, shape (n,)
        Labels in the reach of the rows; not all 0.
    gauge : Gauge
    """
    units = operator.roots
    factor = _factor(operator) / units[:, None]
    targets = labels / units
    scale = float(np.abs(targets).max())
    lower, prices, rounds = 0.0, np.zeros(len(labels)), 0
    best: Neurons | None = None
    for ceiling in CEILINGS:
        cells, known, budget = _first(operator, labels, gauge), 0, rounds + ROUNDS
        while known < len(cells.signs) and rounds < budget:
            known, rounds = len(cells.signs), rounds + 1
            centre = smallest_in(factor, targets / scale, cells, gauge, ceiling=ceiling)
            bound, candidate, cells = _priced(operator, labels, centre.prices / units, centre.levels, cells, gauge)
            if bound > lower:
                lower, prices = bound, candidate
        used = Cells(cells.signs[:known], cells.patterns[:known])
        found = exact_neurons(factor, targets / scale, used, centre, gauge, lower_bound=lower / scale)
        best = found if best is None or found.size < best.size else best
        if scale * best.size - lower <= WIDTH * lower:
            break
    assert best is not None
    size = scale * best.size
    duals = operator.pseudo_solve(scale * (best.vectors @ factor.T) * units)
    lengths, cells = scale * best.lengths, best.cells
    return Smallest(cells.signs, cells.patterns, duals, lengths, size, min(lower, size), prices, rounds)


def _factor(operator: GramOperator) -> Array:
    """L with K = L Lᵀ."""
    if operator.factor is not None:
        return operator.factor
    units = operator.roots
    values, vectors = scipy.linalg.eigh(operator.gram / units / units[:, None])
    kept = values > operator.n_samples * EPS * values[-1]
    return np.asarray(units[:, None] * vectors[:, kept] * np.sqrt(values[kept]))


def _first(operator: GramOperator, labels: Array, gauge: Gauge) -> Cells:
    """One cell for each sign: active on the labels of this sign."""
    signs = np.array(gauge.signs, dtype=np.float64)
    sides = np.where(signs[:, None] * labels > 0, 1.0, -1.0)
    return Cells(signs, _inner(operator, np.ones(sides.shape, dtype=bool), sides) > 0)


def _inner(operator: GramOperator, at_zero: NDArray[np.bool_], side: Array | float) -> Array:
    """Pre-activations of some vector that has, where it can, the given sides where `at_zero`, and none at zero itself.

    A cell must have an interior. Where there are fewer dimensions than samples not all patterns do; that of any
    vector in general position does.
    """
    generic = 1e-3 * np.cos(np.arange(1.0, at_zero.shape[1] + 1) ** 2)
    aims: Array = np.where(at_zero, side, 0.0) + generic
    if operator.rank == operator.n_samples:
        return aims
    units = operator.roots
    return np.asarray(operator.matvec(operator.pseudo_solve(aims * units).T).T / units)


def _priced(
    operator: GramOperator, labels: Array, prices: Array, levels: Array, cells: Cells, gauge: Gauge
) -> tuple[float, Array, Cells]:
    """The lower bound from these prices, the prices scaled to G* = 1, and the cells with those that are worth it."""
    most = {1: 0.0, -1: 0.0}
    for sign, level in zip((1, -1), levels, strict=True):
        if sign not in gauge.signs:
            continue
        loads = exact_loads(operator, sign * prices)
        most[sign] = loads.bound
        worth = np.flatnonzero(loads.bounds > level * (1 + WORTH))
        best = loads.coefficients[worth[np.argsort(-loads.bounds[worth])]]
        images = operator.matvec(best.T).T / operator.roots
        at_zero = np.abs(images) <= SIDE * np.abs(images).max(axis=1, initial=0.0, keepdims=True)
        patterns = np.where(at_zero, _inner(operator, at_zero, -1.0), images) > 0
        cells = _extended(cells, float(sign), patterns)
    return *bound_from(labels, prices, (most[1], most[-1]), gauge), cells


def _extended(cells: Cells, sign: float, patterns: NDArray[np.bool_]) -> Cells:
    """Add the first few patterns that are new."""
    known = {(own, pattern.tobytes()) for own, pattern in zip(cells.signs, cells.patterns, strict=True)}
    new: list[NDArray[np.bool_]] = []
    for pattern in patterns:
        if len(new) < ADDED and (sign, pattern.tobytes()) not in known:
            known.add((sign, pattern.tobytes()))
            new.append(pattern)
    return cells.with_(np.full(len(new), sign), np.array(new)) if new else cells
