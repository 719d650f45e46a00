"""Every row can be imported, says what it has to show, and is on the page of benchmarks."""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import benchmarks.rows
from benchmarks.harness import Skipped, WrongAnswer
from benchmarks.rivals import package, training
from benchmarks.rivals.quadratic import clarabel, nnls, nnls_in_weights, quadprog
from benchmarks.rows import minimum_norm
from relubias.linalg.gram import Array

ROOT = Path(__file__).parents[2]
ROWS = sorted(module.name for module in pkgutil.iter_modules(benchmarks.rows.__path__))
PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")


@pytest.fixture(params=ROWS)
def row(request: pytest.FixtureRequest) -> ModuleType:
    return importlib.import_module(f"benchmarks.rows.{request.param}")


def test_every_row_measures_something_and_declares_its_goal(row: ModuleType) -> None:
    assert callable(row.measure)
    assert row.__doc__
    assert any(digit in row.GOAL for digit in "0123456789") or "twice" in row.GOAL


def test_every_row_is_on_the_page_with_its_goal(row: ModuleType) -> None:
    assert f"| `{row.__name__.rpartition('.')[2]}` | {row.GOAL} |" in PAGE


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


@pytest.mark.parametrize("ratio", minimum_norm.RATIOS)
def test_rivals_that_are_installed_here_find_the_same_minimum(ratio: int) -> None:
    one = minimum_norm.Program(20, 20 * ratio, features=True)
    for solve, tolerance in ((quadprog, 1e-9), (clarabel, 1e-3), (nnls, 1e-9)):
        assert one.off_by(solve(one.gram, one.labels)) < tolerance
    features = np.asarray(one.drawn.features)
    weights = nnls_in_weights(features, one.labels)
    assert np.allclose(weights, features.T @ (one.solution() / one.scale), rtol=0, atol=1e-9 * np.abs(weights).max())


def test_a_solution_of_another_program_is_refused() -> None:
    one = minimum_norm.Program(20, 400)

    def linear(gram: Array, labels: Array) -> Array:
        return np.asarray(np.linalg.solve(gram, labels))

    assert one.off_by(linear(one.gram, one.labels)) > 0.1
    with pytest.raises(WrongAnswer, match="relubias and the linear interpolator differ"):
        one.race("the linear interpolator", linear, 1e-3)


def test_the_loops_of_the_rivals_take_the_same_steps() -> None:
    rng = np.random.default_rng(0)
    features, labels, start = rng.standard_normal((8, 30)), rng.standard_normal(8), 0.1 * rng.standard_normal(30)
    gram = features @ features.T
    step = 1.0 / np.linalg.eigvalsh(gram)[-1]
    weights = training.in_weights(features, labels, start, step, 50)
    primal = training.given_gram(gram, labels, features @ start, step, 50)
    assert np.allclose(features @ weights, primal, rtol=0, atol=1e-12)
    assert not np.allclose(primal, features @ start)
