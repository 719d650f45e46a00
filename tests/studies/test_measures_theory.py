"""Measures of the theory are what the theory, asked directly, says of the same run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relubias
from relubias.studies.measured import Measured
from relubias.studies.measures import MEASURES, measure
from relubias.studies.measures_theory import THEORY
from relubias.studies.settings import Settings
from relubias.theory.lemmas import audit

NAMES = (*THEORY, *(name for name in MEASURES if name.startswith("law.") and name not in THEORY))


def settings(d: float, *, signs: str = "single", **changes: Any) -> Settings:
    """Twenty samples of the regime where d is large."""
    tables: dict[str, Any] = {
        "problem": {
            "kind": "random",
            "n_samples": 20,
            "labels": "signs 0.5..2",
            "features": {"kind": "gaussian", "n_features": d},
        },
        "network": {"signs": signs},
        "start": {"scale": 1e-4},
        "dynamics": {"step_size": "0.5/trace"},
    }
    return Settings.of(tables | changes)


def measured(chosen: Settings, seed: int = 3) -> tuple[dict[str, Any], dict[str, str], relubias.Analysis]:
    """All measures, why some are missing, and the analysis of the same cell."""
    values, notes = measure(Measured(chosen, seed), NAMES)
    cell = Measured(chosen, seed)
    report = relubias.analyze(
        cell.problem,
        cell.network,
        cell.start,
        dynamics=chosen.dynamics.build(cell.problem, cell.network, cell.start),
        of=chosen.reference.of,
    )
    return values, notes, report


def test_in_the_regime_every_share_is_one_and_the_laws_are_those_of_the_analysis() -> None:
    values, _, report = measured(settings(1e6))
    law = report.law
    assert law is not None
    assert report.gap is not None
    for name in ("positive_kept", "negative_off", "positive_fitted", "negative_silent"):
        assert values[f"run.{name}"] == 1.0, name
    assert values["run.negative_fitted"] == 0.0
    assert values["run.first_step_pattern"] is True
    assert values["lemmas.activity_violations"] == values["lemmas.inactivity_violations"] == 0
    assert values["lemmas.activity_tested"] == values["lemmas.inactivity_tested"] == 10
    assert values["closed_form.distance"] < 1e-12
    assert values["run.natural_step"] == pytest.approx(0.5, rel=1e-12)
    assert values["law.gap"] == law.gap
    assert values["law.corrected"] == law.corrected
    assert values["law.kappa"] == law.kappa
    assert values["law.applies"] is True
    assert values["law.ratio"] == pytest.approx(report.gap.absolute / law.corrected, rel=1e-12)
    assert values["law.worst_ratio"] == pytest.approx(values["law.ratio"], rel=1e-9)


def test_outside_the_regime_shares_count_the_samples_of_the_run() -> None:
    values, _, report = measured(settings(22), seed=1)
    run, positive = report.run, report.problem.labels > 0
    kept = run.last_change[0, positive] == 0
    assert 0 < values["run.positive_kept"] == kept.mean() < 1
    once = (run.last_change[0, ~positive] == 1) & ~run.state.pattern[0, ~positive]
    assert values["run.negative_off"] == once.mean() < 1
    assert values["run.positive_fitted"] == run.interpolated[positive].mean()
    assert values["run.first_step_pattern"] is False
    assert values["closed_form.distance"] > 1e-3
    found = audit(run)
    assert values["lemmas.activity_violations"] == np.sum(found.activity_lost > 0) > 0
    assert values["lemmas.inactivity_violations"] == np.sum(found.inactivity_lost > 0) > 0
    assert values["lemmas.deep_enough"] == found.deep_enough
    assert values["lemmas.guaranteed"] is False


def test_the_distance_from_the_linear_interpolant_is_that_of_the_weights() -> None:
    chosen = settings(40)
    values, _, report = measured(chosen)
    features = np.linalg.cholesky(report.problem.gram)  # weights in an orthonormal basis of the span
    assert report.linear is not None
    w, linear = (features.T @ dual for dual in (report.run.state.dual[0], report.linear.state.dual[0]))
    assert values["linear.distance"] == pytest.approx(np.linalg.norm(w - linear) / np.linalg.norm(linear), rel=1e-9)


def test_a_pair_decouples_in_many_dimensions_and_not_in_few() -> None:
    assert measured(settings(1e6, signs="pair"))[0]["run.decoupled"] is True
    assert measured(settings(21, signs="pair"))[0]["run.decoupled"] is False
    values, notes, _ = measured(settings(1e6))
    assert values["run.decoupled"] is None
    assert "only a pair" in notes["run.decoupled"]


@pytest.mark.parametrize(("depth", "kept"), [(1.0, True), (0.02, False)])
def test_a_partition_is_kept_from_deep_starts_and_invaded_in_shallow_ones(depth: float, kept: bool) -> None:
    start = {"kind": "disjoint", "depth": depth}
    values, _, report = measured(settings(2000, signs="+,+,-,-", start=start))
    assert values["run.partition_kept"] is kept
    assert (values["run.invaders"] == 0) is kept
    assert values["start.depth"] == pytest.approx(depth)
    assert values["problem.interference"] == pytest.approx(np.sqrt(20 / 2000) * np.abs(report.problem.labels).max())


def test_what_is_not_about_a_flow_is_missing_with_a_reason() -> None:
    values, notes, _ = measured(settings(1e4, dynamics={"kind": "flow"}))
    for name in ("law.gap", "closed_form.distance", "lemmas.activity_tested", "run.natural_step", "run.partition_kept"):
        assert values[name] is None
        assert notes[name]
    assert values["run.positive_fitted"] == 1.0


def test_what_is_said_of_steps_is_not_said_of_a_flow() -> None:
    values, notes, _ = measured(settings(1e6, dynamics={"kind": "flow"}))
    for name in ("run.negative_off", "run.first_step_pattern", "run.natural_step"):
        assert values[name] is None
        assert "a flow has no step" in notes[name]
    assert values["run.positive_kept"] == 1.0


def test_a_pattern_that_may_still_change_has_not_settled_nor_failed_to() -> None:
    chosen = settings(1e6, dynamics={"step_size": "0.5/trace", "until": 1})
    values, notes = measure(Measured(chosen, 3), ("run.status", "run.first_step_pattern"))
    assert values == {"run.status": "reached", "run.first_step_pattern": None}
    assert "may do so" in notes["run.first_step_pattern"]
    later = settings(22, dynamics={"step_size": "0.5/trace", "until": 200})
    values, notes = measure(Measured(later, 1), ("run.status", "run.first_step_pattern"))
    assert values == {"run.status": "reached", "run.first_step_pattern": False}
