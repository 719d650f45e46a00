"""Two workers have to do all that one does, or they have won by doing less."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from race_recorder import Recorder, measured, resize

from benchmarks import __main__ as command
from benchmarks.harness import Skipped
from benchmarks.rows import parallel
from benchmarks.tasks.whole_studies import whole
from relubias import studies


def test_parallel(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(monkeypatch, parallel)
    assert (parallel.N_SAMPLES, parallel.N_FEATURES, parallel.CELLS) == (200, 10**6, 6000)
    asked: list[int] = []
    table = parallel_table()

    def run(workers: int) -> pd.DataFrame:
        asked.append(workers)
        return table

    resize(monkeypatch, parallel, run=run)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    measured(parallel)
    assert recorder.goals == {("a study of 6000 cells, two workers", "one worker", 1 / 1.8)}
    assert asked == [1, 2, 2, 1]  # the tables are compared, then ours has two workers and the rival one
    assert recorder.asked[0].options["check"].at_most == 0.0
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    with pytest.raises(Skipped, match="one core only"):
        measured(parallel)


def parallel_table() -> pd.DataFrame:
    cells = {"id": list("abcde"), "status": ["done"] * 5, "run.status": ["certified"] * 5}
    return pd.DataFrame(cells | {"gap.absolute": np.arange(1.0, 6.0), "reference.norm": np.arange(2.0, 7.0)})


def lost(table: pd.DataFrame) -> pd.DataFrame:
    return table.iloc[:-1]


def failed(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(status=["done"] * 4 + ["failed"])


def without_a_value(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(**{"gap.absolute": [1.0, 2.0, 3.0, 4.0, np.nan]})


def twice(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(id=list("abcdd"))


@pytest.mark.parametrize("spoilt", [lost, failed, without_a_value, twice])
def test_a_table_with_a_lost_or_empty_cell_is_not_complete(spoilt: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    parallel.complete(parallel_table(), 5)
    with pytest.raises(RuntimeError, match="1 of 5 cells are lost, or have no value"):
        parallel.complete(spoilt(parallel_table()), 5)


@pytest.mark.parametrize("spoilt", [lost, without_a_value, twice])
def test_tables_that_differ_in_a_cell_are_not_equal(spoilt: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    table = parallel_table()
    assert parallel.difference(table, table.iloc[::-1]) == 0.0  # in whatever order the cells were done
    assert parallel.difference(table, spoilt(table)) == np.inf
    assert parallel.difference(spoilt(table), table) == np.inf


@pytest.mark.parametrize("column", parallel.MEASURED)
def test_tables_that_differ_in_the_last_bit_are_not_equal(column: str) -> None:
    table = parallel_table()
    other = table.copy()
    value: object = table.loc[2, column]
    other.loc[2, column] = np.nextafter(value, 9.0) if isinstance(value, float) else "dead"
    assert parallel.difference(table, other) == np.inf


def test_a_study_of_the_row_is_run_and_has_to_be_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[pd.DataFrame, int]] = []
    resize(monkeypatch, parallel, N_SAMPLES=4, CELLS=3, complete=lambda *arguments: asked.append(arguments))
    table = parallel.run(1)
    assert asked == [(table, 3)]
    monkeypatch.undo()
    parallel.complete(table, 3)
    with pytest.raises(RuntimeError, match="1 of 4 cells are lost"):
        parallel.complete(table, 4)


@pytest.mark.parametrize("interrupted", [True, False])
def test_a_study_that_did_not_come_to_its_end_is_no_row(
    interrupted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = parallel.study()

    def run(study: studies.Study, path: Path, **options: int) -> SimpleNamespace:
        assert (study, options) == (asked, {"workers": 2})
        status = SimpleNamespace(done=study.n_cells - 3, failures=(("it broke", 3),))
        return SimpleNamespace(interrupted=interrupted, status=status)

    monkeypatch.setattr(studies, "run", run)
    with pytest.raises(KeyboardInterrupt if interrupted else RuntimeError, match=None if interrupted else "3 cells"):
        whole(asked, tmp_path / "s.db", 2)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="the row wants two cores")
def test_ctrl_c_during_a_study_ends_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    resize(monkeypatch, parallel, CELLS=40)
    plain = studies.run

    def run(study: studies.Study, path: Path, *, workers: int) -> studies.RunReport:
        def stop(snapshot: studies.Snapshot) -> None:
            if snapshot.finished:
                signal.raise_signal(signal.SIGINT)

        return plain(study, path, workers=workers, progress=stop)

    monkeypatch.setattr(studies, "run", run)
    assert command.main(["parallel"]) == 130
    assert "two workers |" not in capsys.readouterr().out
