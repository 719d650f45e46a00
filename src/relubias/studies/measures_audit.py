"""What claims about single lemmas and about K read off a cell, beside the measures of the theory.

Samples that come on again are counted apart in neurons of the sign of their label and in the others, since Lemma 6 is
about both.
"""

from __future__ import annotations

import numpy as np

from relubias.errors import ArgumentError
from relubias.studies.measured import Measure, Measured, Undefined
from relubias.studies.measures_theory import audit_of
from relubias.theory.concentration import Concentration, concentration


def _back(cell: Measured, own: bool) -> int:
    """Pairs that were inactive and came on again, in neurons of the sign of the label or in the others."""
    run = cell.run
    sided = (np.array(run.signs)[:, None] * run.problem.labels > 0) == own
    return int(np.sum(sided & (audit_of(run).inactivity_lost > 0)))


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
    "concentration.deviation": Measure("real", "‖K/‖λ‖₁ − I‖", lambda c: _concentration(c).deviation),
    "concentration.predicted": Measure("real", "2√(n/d₂) + n/d_∞", _predicted),
    "concentration.interference": Measure(
        "real", "√n times the root mean square of K_ij/‖λ‖₁, i ≠ j", lambda c: _concentration(c).interference
    ),
}
