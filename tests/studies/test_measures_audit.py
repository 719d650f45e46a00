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


def test_depths_are_those_of_the_audit_in_the_unit_of_each_neuron() -> None:
    cell = Measured(settings(), 5)
    values, _ = measure(cell, tuple(AUDIT))
    found, labels = audit(cell.run), cell.problem.labels
    units = np.empty((4, 1))
    for k in range(4):
        own = labels[cell.start.pattern[k]]
        units[k] = np.sqrt(2 * np.log(3 * 20)) * np.linalg.norm(own) / np.sqrt(2000)
    back = found.inactivity_lost > 0
    assert values["start.depth_unit"] == pytest.approx(units.max())
    assert values["lemmas.back_from"] == pytest.approx((found.depth / units)[back].max())
    assert values["lemmas.dual_back_from"] == pytest.approx((found.dual_depth / units)[back].max())
    assert values["lemmas.dual_moved_from"] == values["lemmas.dual_back_from"]
    assert values["lemmas.dual_deepest"] == pytest.approx(np.nanmax(found.dual_depth / units))
    assert values["lemmas.lasting"] is True


def test_where_nothing_comes_back_the_depth_is_zero() -> None:
    values, _ = measure(Measured(settings(start={"kind": "disjoint", "scale": 1e-3, "depth": 1.0}), 5), tuple(AUDIT))
    assert values["lemmas.back_from"] == values["lemmas.dual_back_from"] == values["lemmas.dual_moved_from"] == 0
    assert isinstance(deepest := values["lemmas.dual_deepest"], float)
    assert deepest > 1


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
