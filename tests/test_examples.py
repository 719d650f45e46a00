"""The examples run, and what they print is what they say."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_asks_a_question_and_runs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = loaded(path)
    assert "?" in (module.__doc__ or "").splitlines()[0]
    module.main(["--quick"])
    assert capsys.readouterr().out


def test_a_smaller_start_brings_the_flow_nearer_to_the_minimum_norm(capsys: pytest.CaptureFixture[str]) -> None:
    loaded(EXAMPLES[0].with_name("flow_and_minimum_norm.py")).main(["--quick"])
    printed = capsys.readouterr().out
    gaps = [float(value) for value in re.findall(r"median gap (\S+)", printed)]
    assert len(gaps) == 6
    assert gaps[5] < 0.1 * gaps[2], "at the largest dimension the start is what is left of the gap"


def test_a_smaller_aligned_start_comes_nearer_to_the_least_variation_norm(capsys: pytest.CaptureFixture[str]) -> None:
    loaded(EXAMPLES[0].with_name("both_layers_on_orthogonal_samples.py")).main(["--quick"])
    first, second = (float(value) for value in re.findall(r"scale \S+\s+excess (\S+) %", capsys.readouterr().out))
    assert first > second > 0


def test_a_large_dimension_settles_at_once_and_a_small_one_does_not(tmp_path: Path) -> None:
    module = loaded(EXAMPLES[0].with_name("phase_diagram.py"))
    module.main(["--quick", "--output", str(tmp_path)])
    assert {path.name for path in tmp_path.glob("*.png")} == {"phase-gap.png", "phase-settled.png"}
    with module.Store.open(tmp_path / "phase.db") as store:
        rows = store.to_pandas()
    assert len(rows) == 4 * 4 * 2
    settled = rows.groupby(module.DIMENSION)["run.first_step_pattern"].apply(lambda part: part.astype(float).mean())
    assert settled.iloc[-1] > 0.5 > settled.iloc[0]
