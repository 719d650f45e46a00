"""Files that were damaged or changed after they were saved are bad data, said in one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relubias import Analysis, Problem, Run, analyze, sampling
from relubias.errors import DataError
from relubias.held_out import HeldOut
from relubias.population import Population

META = "relubias.json"
DRAWN = sampling.gaussian(n_samples=6, n_features=300, labels="teacher", n_test=3, rng=0)


def tampered(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], Any]) -> Path:
    """The file with its arrays and JSON values changed in place."""
    with np.load(path) as data:
        arrays = {name: data[name] for name in data.files}
    meta = json.loads(str(arrays.pop(META)))
    change(arrays, meta)
    np.savez(path, allow_pickle=False, **arrays, **{META: np.array(json.dumps(meta))})
    return path


def with_population(values: Any) -> Callable[[Any, Any], Any]:
    return lambda arrays, meta: meta["problem"].update(population=values)


def with_array(name: str, change: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda arrays, meta: arrays.update({name: change(arrays[name])})


def without(name: str) -> Callable[[Any, Any], Any]:
    return lambda arrays, meta: arrays.pop(name)


GOOD = {"trace": 300.0, "d2": 300.0, "dinf": 300.0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("gram"), "no 'gram'; the file is damaged"),
        (without("labels"), "no 'labels'; the file is damaged"),
        (without("test/labels"), "test points have no labels"),
        (without("test/cross_gram"), "test points have no cross_gram"),
        (lambda arrays, meta: meta.pop("problem"), "no 'problem'; the file is damaged"),
        (lambda arrays, meta: meta["problem"].pop("notes"), "damaged or was changed: 'notes'"),
        (lambda arrays, meta: meta["problem"].update(colour=1), "damaged or was changed: .*'colour'"),
        (lambda arrays, meta: meta["problem"].update(n_features="x"), "number of features is 'x'"),
        (lambda arrays, meta: meta["problem"].update(sample_names=["a"]), "sample_names has 1 entries"),
        (lambda arrays, meta: meta["problem"].update(notes=3), "damaged or was changed"),
        (lambda arrays, meta: meta["problem"].update(notes="text"), "the saved notes is 'text'"),
        (lambda arrays, meta: meta["problem"].update(sample_names="abcdef"), "the saved sample_names is 'abcdef'"),
        (lambda arrays, meta: meta["problem"].update(source=3), "the saved source is 3"),
        (lambda arrays, meta: meta["problem"].update(label_mean="x"), "the saved label_mean is 'x'"),
        (lambda arrays, meta: meta["problem"].update(label_mean=float("nan")), "the saved label_mean is nan"),
        (lambda arrays, meta: meta.update(problem="text"), "the saved problem is damaged or was changed"),
        (with_array("gram", lambda gram: gram[:, :4]), "a Gram matrix is square"),
        (with_array("gram", lambda gram: gram[:4, :4]), "there are 4 samples, but the labels have shape"),
        (with_array("gram", lambda gram: np.where(gram > 1, np.nan, gram)), "is nan, not a finite number"),
        (with_array("gram", lambda gram: gram.astype(complex)), "must be real numbers"),
        (with_array("gram", lambda gram: gram + np.triu(gram)), "not symmetric"),
        (with_array("gram", lambda gram: -gram), "negative entry on its diagonal"),
        (with_array("labels", lambda labels: np.full_like(labels, np.inf)), "not a finite number"),
        (with_array("labels", lambda labels: labels.astype(str)), "labels must be real numbers"),
        (with_array("test/labels", lambda labels: labels.astype(complex)), "labels of the test points must be real"),
        (with_array("test/labels", lambda labels: labels[:1]), "the shapes are"),
        (with_array("test/cross_gram", lambda cross: cross[:, :2]), "beside 2 samples, the problem has 6"),
        (lambda arrays, meta: arrays.update(factor=np.eye(3)), "the factor of K has shape"),
        (lambda arrays, meta: arrays.update(factor=np.full((6, 6), np.nan)), "the factor of K: entry"),
        (with_population({"trace": 1}), "a population has trace, d2 and dinf"),
        (with_population("x"), "a population has trace, d2 and dinf"),
        (with_population([1, 2]), "a population has trace, d2 and dinf"),
        (with_population(GOOD | {"d2": 0}), "d2 of a population must be a positive number; it is 0"),
        (with_population(GOOD | {"dinf": float("nan")}), "dinf of a population must be a positive number; it is nan"),
        (with_population(GOOD | {"trace": "a"}), "trace of a population must be a positive number; it is 'a'"),
        (with_population(GOOD | {"d2": 0.5, "dinf": 0.5}), "no spectrum has d₂ = 0.5"),
        (with_population(GOOD | {"dinf": 301.0}), "no spectrum has d₂ = 300 and d_∞ = 301"),
        (with_population(GOOD | {"dinf": 17.0}), "no spectrum has d₂ = 300 and d_∞ = 17"),
        (with_population(GOOD | {"independent": "no"}), "independent of a population must be true, false or null"),
    ],
)
def test_a_changed_problem_is_refused_in_a_sentence(
    change: Callable[[Any, Any], Any], message: str, tmp_path: Path
) -> None:
    path = tampered(DRAWN.save(tmp_path / "p.npz"), lambda arrays, meta: None)
    assert Problem.load(path).population == DRAWN.population
    with pytest.raises(DataError, match=message):
        Problem.load(tampered(path, change))


def test_what_is_no_table_of_values_is_no_record(tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", allow_pickle=False, **{META: np.array("[1, 2]")})
    with pytest.raises(DataError, match="holds no record of relubias"):
        Problem.load(tmp_path / "p.npz")


def test_older_files_do_not_say_which_assumptions_hold(tmp_path: Path) -> None:
    loaded = Problem.load(tampered(DRAWN.save(tmp_path / "p.npz"), with_population(GOOD)))
    assert loaded.population == Population(300.0, 300.0, 300.0, sub_gaussian=None, independent=None)


@pytest.mark.parametrize("kind", ["run", "analysis"])
@pytest.mark.parametrize("missing", ["state/dual", "start/primal", "run/events", "gram"])
def test_a_run_without_one_of_its_arrays_is_refused(kind: str, missing: str, tmp_path: Path) -> None:
    analysis = analyze(DRAWN)
    path = analysis.save(tmp_path / "x.npz") if kind == "analysis" else analysis.run.save(tmp_path / "x.npz")
    load: Any = Analysis.load if kind == "analysis" else Run.load
    assert load(path) is not None
    name = missing.partition("/")[2] or missing
    with pytest.raises(DataError, match=f"no '{name}'; the file is damaged"):
        load(tampered(path, without(missing)))
    path = analysis.save(tmp_path / "x.npz") if kind == "analysis" else analysis.run.save(tmp_path / "x.npz")
    with pytest.raises(DataError, match="no 'network'; the file is damaged"):
        load(tampered(path, lambda arrays, meta: meta.pop("network")))


def test_features_of_test_points_have_a_row_a_point() -> None:
    assert DRAWN.test is not None
    arrays = (DRAWN.test.cross_gram, DRAWN.test.squared_norms, DRAWN.test.labels)
    assert HeldOut(*arrays, np.ones((3, 300))).n_points == 3
    for features in (np.ones((2, 300)), np.ones(3)):
        with pytest.raises(DataError, match="the features of 3 test points have shape"):
            HeldOut(*arrays, features)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_array("state/dual", lambda dual: dual[:, :4]), "the saved analysis is damaged or was changed"),
        (lambda arrays, meta: meta["run"].update(status="splendid"), "changed: 'splendid' is not a valid Status"),
        (lambda arrays, meta: meta["run"].update(dead=3), "the saved analysis is damaged or was changed"),
        (lambda arrays, meta: meta["network"].update(signs=[0]), "the saved analysis is damaged or was changed"),
        (lambda arrays, meta: meta["reference"]["minimum_norm"].pop("status"), "'status'"),
        (lambda arrays, meta: meta.update(analysis=[]), "the saved analysis is damaged or was changed"),
    ],
)
def test_a_changed_analysis_is_refused_in_a_sentence(
    change: Callable[[Any, Any], Any], message: str, tmp_path: Path
) -> None:
    path = analyze(DRAWN).save(tmp_path / "a.npz")
    with pytest.raises(DataError, match=message):
        Analysis.load(tampered(path, change))
