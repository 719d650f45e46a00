"""``relubias study``: new, check, run, status, export, cell."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from relubias.cli.main import main
from relubias.studies import Store, Study

FEW = """
name = "few"
repeats = 2
problem = "gaussian n=8 d=1e4"
[grid]
dynamics.step_size = ["1/trace", "0.1/trace"]
[measure]
columns = ["run.status", "gap.absolute", "gap.relative"]
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths are those of a folder of the test; no stage lasts so long that it is told."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("relubias.cli.progress.QUIET", 1e3)


@pytest.fixture
def few() -> str:
    """A study of four cells."""
    Path("few.toml").write_text(FEW, encoding="utf-8")
    return "few.toml"


def ok(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> str:
    assert main([*map(str, words)]) == code
    return capsys.readouterr().out


def refusal(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main([*map(str, words)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()[-1]


def test_the_example_is_written_checked_run_and_exported(capsys: pytest.CaptureFixture[str]) -> None:
    assert ok(capsys, "study", "new", "demo") == "Written: demo.toml\n"
    assert "demo.toml exists; choose another name" in refusal(capsys, "study", "new", "demo")
    assert "a study needs a name" in refusal(capsys, "study", "new", "")
    forecast = json.loads(ok(capsys, "study", "check", "demo.toml", "--json"))
    assert (forecast["cells"], len(forecast["tried"])) == (90, 4)
    assert not Path("demo.db").exists()
    told = ok(capsys, "study", "run", "demo.toml", "--store", "demo.db")
    assert "cells     90: 90 done, 0 failed, 0 pending" in told
    assert "Written: demo.csv (90 done, 0 failed, 0 pending)" in ok(capsys, "study", "export", "demo.db", "demo.csv")
    table = pd.read_csv("demo.csv")
    assert table["reference.kkt"].max() < 1e-9
    assert (table["run.status"] == "certified").mean() > 0.9


def test_a_study_is_run_watched_and_one_cell_computed_again(few: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "run", few, "--store", "few.db", "--workers", "1", "--watch", "gap.relative"]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("relubias: 1 process of one BLAS thread each, on ")
    assert "median gap.relative" in captured.err
    status: dict[str, Any] = json.loads(ok(capsys, "study", "status", "few.db", "--json"))
    assert {key: status[key] for key in ("name", "cells", "done", "failed", "pending", "holder")} == {
        "name": "few",
        "cells": 4,
        "done": 4,
        "failed": 0,
        "pending": 0,
        "holder": None,
    }
    id = next(Study.read(few).cells()).id
    assert "the row in the store is the same, to the bit." in ok(capsys, "study", "cell", "few.db", id)
    with sqlite3.connect("few.db") as connection:
        connection.execute('UPDATE cells SET "gap.absolute" = 0.0')
        connection.execute("UPDATE cells SET status = 'failed', message = 'it broke' WHERE trial = 2")
    connection.close()
    values = json.loads(ok(capsys, "study", "cell", "few.db", id, "--json", code=3))
    assert values["equal"] is False
    assert (values["stored"]["values"]["gap.absolute"], values["now"]["values"]["gap.absolute"] > 0) == (0.0, True)
    assert main(["study", "export", "few.db", "few.parquet"]) == 0
    assert capsys.readouterr().err.count("relubias: failed: ") == 2
    assert "failed    2 × it broke" in ok(capsys, "study", "status", "few.db")
    assert "4 done" in ok(capsys, "study", "run", few, "--store", "few.db", "--workers", "1", "--retry-failed")


def test_a_changed_study_is_refused_with_the_difference(few: str, capsys: pytest.CaptureFixture[str]) -> None:
    Store.create("few.db", Study.read(few)).close()
    Path(few).write_text(FEW.replace("repeats = 2", "repeats = 3"), encoding="utf-8")
    told = refusal(capsys, "study", "run", few, "--store", "few.db")
    assert "repeats: 2 → 3; add its cells with --extend (extend=True), or choose another store." in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "few.toml", "--store", "few.toml/few.db"), "few.toml is a file, not a folder"),
        (("run", "few.toml", "--store", "few.toml"), "is no store, or its beginning is destroyed"),
        (("run", "few.toml", "--store", "few.db", "--workers", "0"), "workers must be a whole number from 1"),
        (("run", "few.toml", "--store", "few.db", "--watch", "run.status"), "--watch 'run.status' is none of"),
        (("run", "none.toml", "--store", "few.db"), "cannot read none.toml"),
        (("check", "none.toml"), "cannot read none.toml"),
        (("status", "none.db"), "none.db cannot be opened as a store"),
        (("export", "none.db", "x.csv"), "none.db cannot be opened as a store"),
        (("cell", "none.db", "ab"), "none.db cannot be opened as a store"),
        (("new", "folder/study"), "folder/study.toml cannot be written"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(
    few: str, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    told = refusal(capsys, "study", *words)
    assert message in told
    assert not Path("few.db").exists()
