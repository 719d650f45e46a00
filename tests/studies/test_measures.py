"""Columns are the fields of an analysis; what is not defined is None, with its reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from study_cases import SMALL, computed, small

import relubias
from relubias import sampling
from relubias.studies.grid import Cell
from relubias.studies.measured import Measured
from relubias.studies.measures import MEASURES, measure
from relubias.studies.measures_analysis import ANALYSIS
from relubias.studies.settings import Settings
from relubias.studies.spec import Study

TABLES = {
    "problem": {
        "kind": "random",
        "n_samples": 12,
        "n_test": 5,
        "labels": "teacher relu",
        "features": {"kind": "gaussian", "n_features": 40},
    },
    "network": {"signs": "pair"},
    "start": {"kind": "gaussian", "scale": 0.1},
    "dynamics": {"step_size": "0.5/lmax"},
}


def test_columns_are_the_fields_of_the_analysis() -> None:
    values, notes = measure(Measured(Settings.of(TABLES), 7), tuple(ANALYSIS))
    problem = sampling.draw("gaussian n=12 d=40 test=5", labels="teacher relu", rng=7)
    network = relubias.Network.pair()
    start = relubias.starts.gaussian(problem, network, scale=0.1, rng=7)
    eta = relubias.step_sizes.stable(problem, network, 0.25)
    report = relubias.analyze(problem, network, start, dynamics=relubias.Descent(step_size=eta))
    reference, gap, linear = report.reference, report.gap, report.linear
    assert reference is not None
    assert gap is not None
    assert linear is not None
    expected: dict[str, Any] = {
        "gap.absolute": gap.absolute,
        "gap.relative": gap.relative,
        "gap.prediction": gap.prediction,
        "run.status": str(report.run.status),
        "run.at_limit": report.run.at_limit,
        "run.stabilised_at": report.run.stabilised_at,
        "run.pattern_changes": report.run.pattern_changes,
        "run.dead": len(report.run.dead),
        "run.norm": report.run.state.norm,
        "run.loss": report.run.state.loss,
        "run.test_error": report.run.state.test_error,
        "run.step_size": eta,
        "reference.of": "global",
        "reference.norm": reference.norm,
        "reference.kkt": reference.kkt.worst,
        "reference.nodes": reference.nodes,
        "reference.test_error": reference.test_error,
        "linear.norm": linear.norm,
        "linear.test_error": linear.test_error,
        "start.norm": start.norm,
        "regime.verdict": str(report.regime.verdict),
        "problem.d2": 40.0,
        "problem.lambda_norm": 40.0,
        "problem.trace": np.trace(problem.gram) / 12,
        "problem.positive": int((problem.labels > 0).sum()),
    }
    assert {name: values[name] for name in expected} == expected
    assert {name for name in notes if not name.startswith("law.")} == {"run.time", "run.period"}


@pytest.mark.parametrize("name", MEASURES)
def test_every_column_has_its_kind_or_a_reason(name: str) -> None:
    values, notes = measure(Measured(Settings.of(TABLES), 1), (name,))
    kinds = {"real": float, "whole": int, "word": str, "truth": bool}
    value = values[name]
    assert (value is None and notes[name]) or type(value) is kinds[MEASURES[name].kind]
    assert MEASURES[name].meaning


def test_the_gap_law_stands_beside_the_gap() -> None:
    study = small(columns=("gap.absolute", "law.gap", "law.corrected", "law.ratio", "law.applies"))
    cell = list(study.cells())[-1]
    (outcome,) = computed(study, [cell])
    problem = sampling.draw("gaussian n=8 d=1000000", rng=study.settings_and_seed(cell)[1])
    report = relubias.analyze(problem, dynamics=relubias.Descent(step_size=relubias.step_sizes.relative(problem, 0.1)))
    assert report.law is not None
    assert report.gap is not None
    assert outcome.values == {
        "gap.absolute": report.gap.absolute,
        "law.gap": report.law.gap,
        "law.corrected": report.law.corrected,
        "law.ratio": report.gap.absolute / report.law.corrected,
        "law.applies": report.law.applies,
    }
    assert abs(report.gap.absolute / report.law.corrected - 1.0) < 0.1


def test_weights_are_not_compared_with_the_least_variation_norm() -> None:
    tables = TABLES | {"network": {"signs": "+,-", "train_output": True}, "start": {"kind": "balanced"}}
    tables |= {"dynamics": {"budget": 1e3}}
    values, notes = measure(Measured(Settings.of(tables), 0), ("gap.absolute", "law.ratio", "reference.of"))
    assert values == {"gap.absolute": None, "law.ratio": None, "reference.of": "variation"}
    assert "norms are compared" in notes["gap.absolute"]


def test_a_gap_relative_to_nothing_is_not_defined() -> None:
    tables = {"problem": {"kind": "random", "n_samples": 6, "features": {"kind": "gaussian", "n_features": 50}}}
    tables["problem"]["labels"] = "signs fraction=0"
    values, notes = measure(Measured(Settings.of(tables), 0), ("gap.absolute", "gap.relative"))
    assert values["gap.absolute"] is not None
    assert (values["gap.relative"], notes["gap.relative"]) == (None, "w* = 0, so that no gap is relative to it")


def test_no_reference_is_a_reason_and_no_failure() -> None:
    tables = TABLES | {"network": {"signs": "single", "activation": "leaky-relu"}}
    values, notes = measure(Measured(Settings.of(tables), 0), ("gap.absolute", "run.norm"))
    assert values["gap.absolute"] is None
    assert "computed for the ReLU by this version" in notes["gap.absolute"]
    assert values["run.norm"] is not None


def test_only_what_is_asked_for_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object, **options: object) -> None:
        pytest.fail("nobody asked for it")

    monkeypatch.setattr("relubias.studies.measured.reference_of", never)
    monkeypatch.setattr("relubias.studies.measured.minimum_norm", never)
    monkeypatch.setattr("relubias.studies.measured.regime_of", never)
    values, _ = measure(Measured(Settings.of(TABLES), 0), ("run.status", "run.norm"))
    assert len(values) == 2


def test_a_file_is_a_problem_too(tmp_path: Any) -> None:
    np.savez(tmp_path / "few.npz", X=np.random.default_rng(0).normal(size=(6, 30)), y=[1.0, -1, 2, -2, 1, -1])
    text = SMALL.replace('problem = "gaussian n=8 d=100"', f"problem = {{file = '{tmp_path}/few.npz'}}")
    study = Study.from_toml(text.replace("problem.features.n_features = [1e2, 1e6]", 'problem.preprocess = ["none"]'))
    problem = relubias.read(tmp_path / "few.npz")
    eta = relubias.step_sizes.relative(problem, 1.0)
    report = relubias.analyze(problem, dynamics=relubias.Descent(step_size=eta))
    assert report.gap is not None
    assert computed(study)[0].values["gap.absolute"] == report.gap.absolute


def test_what_cannot_be_computed_fails_with_message_and_traceback() -> None:
    study = small()
    (outcome,) = computed(study, [Cell.at({"problem.features.n_features": 2}, 1)])
    assert outcome.status == "failed"
    assert outcome.values == {}
    assert outcome.message
    assert "Traceback" in outcome.traceback


def test_starts_have_streams_of_their_own_in_every_cell() -> None:
    study = small(tables=small().tables | {"start": {"kind": "gaussian"}}, columns=("start.norm",))
    norms = {outcome.values["start.norm"] for outcome in computed(study)}
    assert len(norms) == study.n_cells


def test_a_start_of_given_weights_is_taken_as_it_is() -> None:
    tables = {"problem": {"kind": "vardi-shamir"}, "start": {"kind": "weights", "weights": [1, 2, -3]}}
    start = Measured(Settings.of(tables), 0).start
    np.testing.assert_allclose(start.primal, [[1.0, 8.0, -1.0]])
    for wrong in ({"kind": "weights"}, {"kind": "weights", "weights": [1, 2, 3], "scale": 1.0}, {"weights": [1, 2, 3]}):
        with pytest.raises(relubias.ArgumentError):
            Settings.of(tables | {"start": wrong})


def test_the_excess_of_variation_is_that_of_orthogonal_samples_only() -> None:
    values, _ = measure(
        Measured(Settings.of({"problem": {"kind": "orthogonal", "n_samples": 4}}), 0), ("variation.excess",)
    )
    assert values["variation.excess"] is not None
    _, notes = measure(Measured(Settings.of(TABLES), 7), ("variation.excess", "flow.distance"))
    assert "orthogonal" in notes["variation.excess"]
