"""Every row can be imported, says what it has to show, and is on the page of benchmarks."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import benchmarks.rows
from benchmarks.harness import Skipped
from benchmarks.rivals import package, training

ROOT = Path(__file__).parents[2]
ROWS = sorted(module.name for module in pkgutil.iter_modules(benchmarks.rows.__path__))
PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")


@pytest.fixture(params=ROWS)
def row(request: pytest.FixtureRequest) -> ModuleType:
    return importlib.import_module(f"benchmarks.rows.{request.param}")


def test_every_row_measures_something_and_declares_its_goal(row: ModuleType) -> None:
    assert callable(row.measure)
    assert row.__doc__
    assert any(digit in row.GOAL for digit in "0123456789")


def test_every_row_is_on_the_page_with_its_goal(row: ModuleType) -> None:
    assert f"| `{row.__name__.rpartition('.')[2]}` | {row.GOAL} |" in PAGE


def test_no_row_leans_on_another(row: ModuleType) -> None:
    assert row.__file__ is not None
    tree = ast.parse(Path(row.__file__).read_text(encoding="utf-8"))
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [node.module for node in imported if "benchmarks.rows" in str(node.module)]
    assert not [name.name for node in imported for name in node.names if name.name.startswith("_")]


def test_every_profile_says_what_the_distance_consists_of() -> None:
    dimension = importlib.import_module("benchmarks.rows.dimension")
    (job,) = dimension.jobs()
    assert job.remark
    for name in ROWS:
        path = ROOT / "benchmarks" / "rows" / f"{name}.py"
        calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
        jobs = [node for node in calls if isinstance(node.func, ast.Name) and node.func.id == "Job"]
        assert jobs or name == "start_up"
        assert all(len(job.args) == 5 for job in jobs), name


def test_rivals_are_pinned_to_a_series() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert any(line.startswith("torch>=") for line in extras["bench-torch"])
    for line in [*extras["bench"], *extras["bench-torch"]]:
        name, _, bounds = line.partition(">=")
        low, _, high = bounds.partition(",<")
        if name not in ("pandas", "threadpoolctl"):
            assert low.split(".")[0] == high.split(".")[0], line


def test_a_missing_package_is_a_sentence() -> None:
    with pytest.raises(Skipped, match=r"^no_such_package is not installed; the extra bench has it\.$"):
        package("no_such_package")


def test_the_loops_of_the_rivals_take_the_same_steps() -> None:
    rng = np.random.default_rng(0)
    features, labels, start = rng.standard_normal((8, 30)), rng.standard_normal(8), 0.1 * rng.standard_normal(30)
    gram = features @ features.T
    step = 1.0 / np.linalg.eigvalsh(gram)[-1]
    weights = training.in_weights(features, labels, start, step, 50)
    primal = training.given_gram(gram, labels, features @ start, step, 50)
    assert np.allclose(features @ weights, primal, rtol=0, atol=1e-12)
    assert not np.allclose(primal, features @ start)


def test_a_loop_to_a_small_loss_stops_there() -> None:
    rng = np.random.default_rng(0)
    features, labels = rng.standard_normal((8, 200)), np.where(np.arange(8) % 2, 1.0, -1.0)
    step = 1.0 / np.linalg.eigvalsh(features @ features.T)[-1]
    weights = training.in_weights_to(features, labels, features.T @ np.full(8, 1e-3), step, 1e-6)
    left = np.sum(np.square(np.maximum(features @ weights, 0.0) - labels)[labels > 0])
    assert 1e-8 < left < 1e-6


@pytest.mark.parametrize("to_small_loss", [False, True])
def test_autograd_takes_the_same_steps_as_the_loop_in_numpy(to_small_loss: bool) -> None:
    pytest.importorskip("torch", reason="PyTorch comes with the extra bench-torch")
    rng = np.random.default_rng(0)
    features, labels, start = rng.standard_normal((8, 200)), np.where(np.arange(8) % 2, 1.0, -1.0), np.zeros(200)
    start += features.T @ np.full(8, 1e-3)
    step = 1.0 / np.linalg.eigvalsh(features @ features.T)[-1]
    if to_small_loss:
        ours, theirs = training.in_weights_to, training.by_autograd_to
        one, two = (train(features, labels, start, step, 1e-12) for train in (ours, theirs))
    else:
        one, two = (train(features, labels, start, step, 30) for train in (training.in_weights, training.by_autograd))
    assert np.allclose(one, two, rtol=0, atol=1e-12 * np.abs(one).max())
    assert not np.allclose(one, start)
