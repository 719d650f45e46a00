"""What claims about single lemmas and about K read off a cell, beside the measures of the theory.

Samples that come on again are counted apart in neurons of the sign of their label and in the others, since Lemma 6 is
about both. Depths are measured in the unit u_k of their neuron, :func:`relubias.theory.depth_units`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.studies.measured import Measure, Measured, Undefined
from relubias.studies.measures_theory import audit_of
from relubias.theory.concentration import Concentration, concentration
from relubias.theory.depth import depth_units
from relubias.theory.lemmas import Audit


def _back(cell: Measured, own: bool) -> int:
    """Pairs that were inactive and came on again, in neurons of the sign of the label or in the others."""
    run = cell.run
    sided = (np.array(run.signs)[:, None] * run.problem.labels > 0) == own
    return int(np.sum(sided & (audit_of(run).inactivity_lost > 0)))


def _units(cell: Measured) -> Array:
    """u_k of each neuron, shape (n_neurons, 1)."""
    units = depth_units(cell.start)
    if units is None or not np.all(units > 0):
        raise Undefined("d₂ cannot be estimated, or is infinite, or some neuron has no sample of its own")
    return units[:, None]


def _largest(cell: Measured, depth: Array, where: NDArray[np.bool_]) -> float:
    """The largest depth in units among some pairs of neuron and sample; 0 for none."""
    if not np.any(where):
        return 0.0
    return max(0.0, float(np.max((depth / _units(cell))[where])))


def _dual(cell: Measured) -> Audit:
    found = audit_of(cell.run)
    if np.all(np.isnan(found.dual_depth)):
        raise Undefined("no sample was inactive, or K is singular, so that α is not unique")
    return found


def _moved_from(cell: Measured) -> float:
    found = _dual(cell)
    return _largest(cell, found.dual_depth, found.inactivity_tested & ~found.frozen)


def _concentration(cell: Measured) -> Concentration:
    try:
        return concentration(cell.problem)
    except ArgumentError as error:
        raise Undefined(str(error)) from error


def _predicted(cell: Measured) -> float:
    predicted = _concentration(cell).predicted
    if predicted is None:
        raise Undefined("d₂ cannot be estimated from these samples")
    return predicted


#: Measures of single lemmas and of the concentration of K, by their columns.
AUDIT: dict[str, Measure] = {
    "lemmas.own_back": Measure(
        "whole", "inactive pairs that came on again, neuron and label of one sign", lambda c: _back(c, True)
    ),
    "lemmas.others_back": Measure("whole", "the same, of different signs", lambda c: _back(c, False)),
    "lemmas.lasting": Measure("truth", "whether the audit covers all later steps", lambda c: audit_of(c.run).lasting),
    "lemmas.back_from": Measure(
        "real",
        "largest depth over u from which a sample came back, 0 for none",
        lambda c: _largest(c, audit_of(c.run).depth, audit_of(c.run).inactivity_lost > 0),
    ),
    "lemmas.dual_back_from": Measure(
        "real",
        "largest −‖λ‖₁α over u from which a sample came back, 0 for none",
        lambda c: _largest(c, _dual(c).dual_depth, _dual(c).inactivity_lost > 0),
    ),
    "lemmas.dual_moved_from": Measure(
        "real", "largest −‖λ‖₁α over u of an inactive sample whose α moved later, 0 for none", _moved_from
    ),
    "lemmas.dual_deepest": Measure(
        "real",
        "largest −‖λ‖₁α over u of an inactive sample",
        lambda c: _largest(c, _dual(c).dual_depth, _dual(c).inactivity_tested),
    ),
    "start.depth_unit": Measure(
        "real", "u = √(2 ln N) max_k ‖y_k‖/√d₂, the size of the depth that is enough", lambda c: _units(c).max()
    ),
    "concentration.deviation": Measure("real", "‖K/‖λ‖₁ − I‖", lambda c: _concentration(c).deviation),
    "concentration.predicted": Measure("real", "2√(n/d₂) + n/d_∞", _predicted),
    "concentration.interference": Measure(
        "real", "√n times the root mean square of K_ij/‖λ‖₁, i ≠ j", lambda c: _concentration(c).interference
    ),
}
