"""The smallest network of any number of neurons: in closed form, by a search, or an interval. (Ours.)

* Orthogonal rows: in closed form (:mod:`relubias.references.orthogonal`).
* Up to 16 samples: by a search with a proof (:mod:`relubias.references.search`).
* Else the two neurons that have the least norm among those that each fit the labels of their sign and predict 0
  elsewhere are a network that fits, and their coefficients are prices, which bound all networks without enumeration
  (:mod:`relubias.references.load`). The interval between the two closes as the rows become orthogonal. Where rows
  are dependent there may be no two such neurons; then one sample alone gives the bound.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.factor import GramOperator
from relubias.linalg.gram import Array
from relubias.problem import Problem
from relubias.references.conditions import LARGEST_FLOOR, Constraints
from relubias.references.constrained import best_multipliers
from relubias.references.gauge import Gauge
from relubias.references.load import rough_load
from relubias.references.orthogonal import is_orthogonal, orthogonal_network, two_neurons
from relubias.references.reach import restricted, sufficient
from relubias.references.search import MOST, smallest_network
from relubias.references.smallest import Smallest, bound_from


def smallest_of_any_number(problem: Problem, labels: Array, kept: NDArray[np.bool_], gauge: Gauge) -> Smallest:
    """The smallest network that fits labels in the reach of the rows, of which `kept` suffice."""
    n, rows = problem.n_samples, np.flatnonzero(kept)
    if not np.any(labels[rows]):
        return Smallest(
            np.zeros(0), np.zeros((0, n), dtype=bool), np.zeros((0, n)), np.zeros(0), 0.0, 0.0, 0 * labels, 0
        )
    operator = restricted(problem.operator, rows)
    if is_orthogonal(operator):
        found = orthogonal_network(operator, labels[rows], gauge)
    elif len(rows) <= MOST:
        found = smallest_network(operator, labels[rows], gauge)
    else:
        found = _estimated(operator, labels[rows], gauge)
    duals, patterns, prices = np.zeros((len(found.signs), n)), np.zeros((len(found.signs), n), dtype=bool), 0 * labels
    duals[:, rows], patterns[:, rows], prices[rows] = found.duals, found.patterns, found.prices
    for group in problem.facts.duplicates:
        patterns[:, list(group)] = patterns[:, [group[0]]]
    return replace(found, duals=duals, patterns=patterns, prices=prices)


def is_orthogonal_problem(problem: Problem) -> bool:
    """Whether the rows are orthogonal up to rounding, zero rows and copies left aside."""
    return is_orthogonal(restricted(problem.operator, np.flatnonzero(sufficient(problem))))


def _estimated(operator: GramOperator, labels: Array, gauge: Gauge) -> Smallest:
    """The two neurons of least norm that fit the labels of their sign, and the bound from their prices."""
    signs = np.array([sign for sign in (1, -1) if np.any(sign * labels > 0)], dtype=np.float64)
    duals, misfit = np.zeros((len(signs), len(labels))), 0.0
    for own, sign in zip(duals, signs, strict=True):
        targets = np.maximum(sign * labels, 0.0)
        own[:], proof = best_multipliers(operator, Constraints(targets, targets > 0))
        misfit = max(misfit, proof.kkt.primal)
    if misfit > LARGEST_FLOOR:
        bound, prices = _of_one_sample(operator, labels, gauge)
        zeros = np.zeros(len(signs))
        return Smallest(signs, signs[:, None] * labels > 0, 0 * duals, zeros, np.inf, bound, prices, 1)
    return two_neurons(operator, labels, signs, duals, gauge)


def _of_one_sample(operator: GramOperator, labels: Array, gauge: Gauge) -> tuple[float, Array]:
    """The bound that one sample alone proves, and its prices: it needs neurons of total length |y_i|/‖x_i‖."""
    units = operator.roots
    worst = int(np.argmax(np.abs(labels) / units))
    prices = np.zeros(len(labels))
    prices[worst] = np.sign(labels[worst]) / units[worst]
    loads = [rough_load(operator, sign * prices) if sign in gauge.signs else 0.0 for sign in (1, -1)]
    return bound_from(labels, prices, loads, gauge)
