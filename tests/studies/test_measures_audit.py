"""Measures of single lemmas and of K are what the theory, asked directly, says of the same cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relubias import theory
from relubias.studies.measured import Measured
from relubias.studies.measures import measure
from relubias.studies.measures_audit import AUDIT
from relubias.studies.settings import Settings
from relubias.theory.lemmas import audit


def settings(**changes: Any) -> Settings:
    """Six neurons, a shallow disjoint start: much comes back."""
    tables: dict[str, Any] = {
        "problem": {
            "kind": "random",
            "n_samples": 20,
            "labels": "signs 0.5..2",
            "features": {"kind": "gaussian", "n_features": 2000},
        },
        "network": {"signs": "+,-,+,-"},
        "start": {"kind": "disjoint", "scale": 1e-3, "depth": 0.01},
        "dynamics": {"step_size": "0.5/trace"},
    }
    return Settings.of(tables | changes)


def test_samples_that_came_back_are_counted_by_the_sign_of_the_neuron() -> None:
    cell = Measured(settings(), 5)
    values, notes = measure(cell, tuple(AUDIT))
    found = audit(cell.run)
    own, others = 0, 0
    for k, sign in enumerate(cell.run.signs):
        for i, label in enumerate(cell.problem.labels):
            if found.inactivity_lost[k, i] > 0:
                own, others = (own + 1, others) if sign * label > 0 else (own, others + 1)
    assert (values["lemmas.own_back"], values["lemmas.others_back"]) == (own, others)
    assert own > 0
    assert others > 0
    assert notes == {}


def test_concentration_is_that_of_the_problem() -> None:
    cell = Measured(settings(), 5)
    values, _ = measure(cell, ("concentration.deviation", "concentration.predicted", "concentration.interference"))
    found = theory.concentration(cell.problem)
    assert list(values.values()) == [found.deviation, found.predicted, found.interference]
    deviation = np.abs(np.linalg.eigvalsh(cell.problem.gram / 2000 - np.eye(20))).max()
    assert values["concentration.deviation"] == pytest.approx(deviation)
    assert values["concentration.predicted"] == pytest.approx(2 * np.sqrt(20 / 2000) + 20 / 2000)


def test_what_is_not_defined_says_why() -> None:
    lone = settings(
        problem={"kind": "two-samples", "angle": 90.0}, network={"signs": "single"}, start={}, dynamics={"kind": "flow"}
    )
    values, notes = measure(Measured(lone, 1), tuple(AUDIT))
    assert values["lemmas.own_back"] is None
    assert "gradient descent" in notes["lemmas.own_back"]
