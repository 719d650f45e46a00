"""Everything that a study can measure, and how a cell becomes a row of it."""

from __future__ import annotations

import math
from typing import Any

from relubias.studies.measured import Measure, Measured, Undefined, Value
from relubias.studies.measures_analysis import ANALYSIS
from relubias.studies.measures_audit import AUDIT
from relubias.studies.measures_limits import LIMITS
from relubias.studies.measures_theory import THEORY

#: Everything that a study can measure.
MEASURES: dict[str, Measure] = ANALYSIS | THEORY | AUDIT | LIMITS

#: What is measured where a study does not say.
USUAL = ("run.status", "run.stabilised_at", "gap.absolute", "gap.relative", "reference.norm", "reference.kkt")


def measure(cell: Measured, columns: tuple[str, ...]) -> tuple[dict[str, Value], dict[str, str]]:
    """Compute columns of a cell.

    Returns
    -------
    values : dict
        A plain value or None for each column.
    notes : dict
        Why a value is None, by the column.
    """
    values: dict[str, Value] = {}
    notes: dict[str, str] = {}
    cell.run  # noqa: B018 - so that a cell that cannot be trained fails, whatever is measured
    for name in columns:
        try:
            values[name] = _plain(MEASURES[name], MEASURES[name].of(cell))
        except Undefined as reason:
            values[name], notes[name] = None, str(reason)
    return values, notes


def _plain(kind: Measure, value: Any) -> Value:
    if kind.kind == "word":
        return str(value)
    if kind.kind == "truth":
        return bool(value)
    if kind.kind == "whole":
        return int(value)
    number = float(value)
    if not math.isfinite(number):
        raise Undefined("it is infinite" if not math.isnan(number) else "it is no number")
    return number
