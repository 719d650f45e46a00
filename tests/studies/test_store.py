"""A store keeps each cell exactly once; whatever is wrong with its file is one sentence, and nothing is destroyed."""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from study_cases import SMALL, computed, filled, small

from relubias.errors import ArgumentError, DataError
from relubias.studies import database, locks
from relubias.studies.locks import Holder
from relubias.studies.spec import Study
from relubias.studies.store import Store
from relubias.studies.work import Outcome


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A store of which all cells are done but the last, which failed."""
    return filled(tmp_path / "full.db")


def test_a_new_store_has_every_cell_pending(tmp_path: Path) -> None:
    study = small()
    with Store.create(tmp_path / "folder" / "new.db", study) as store:
        assert store.pending() == list(study.cells())
        assert store.study == study
        status = store.status()
    assert (status.n_cells, status.pending, status.done, status.failed, status.holder) == (12, 12, 0, 0, None)
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["new.db"]


def test_what_is_committed_is_read_back_to_the_bit(full: Path) -> None:
    with Store.open(full) as store:
        *outcomes, last = computed(store.study)
        for outcome in outcomes:
            stored = store.cell(outcome.id)
            assert (stored.status, stored.values, stored.notes) == ("done", outcome.values, outcome.notes)
            assert stored.environment["versions"]["numpy"] == np.__version__
        failed = store.cell(last.id[:9])
    assert (failed.status, failed.message, failed.traceback, failed.values) == ("failed", "it broke", "here", {})
    assert last.notes == {"run.test_error": "the problem has no test points"}


def test_the_database_is_as_durable_as_it_can_be(full: Path) -> None:
    with Store.open(full) as store:
        ask = store._connection.execute
        assert ask("PRAGMA journal_mode").fetchone() == ("wal",)
        assert ask("PRAGMA synchronous").fetchone() == (2,)


def test_no_cell_is_written_twice_and_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    with Store.create(tmp_path / "s.db", small()) as store:
        first, second, *_ = computed(store.study)
        store.commit([first])
        with pytest.raises(DataError, match=f"cell {first.id} is not pending; nothing is written twice"):
            store.commit([second, first])
        assert store.cell(second.id).status == "pending"
        store.commit([second])
        assert store.cell(second.id).values == second.values


def test_readers_see_what_is_committed_while_a_writer_is_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store.create(path, small()) as store, store._transaction():
        store._connection.execute("UPDATE cells SET status = 'failed'")
        with Store.open(path) as reader:
            assert reader.status().pending == 12


def test_the_table_has_coordinates_trials_and_named_failures(full: Path) -> None:
    with Store.open(full) as store:
        table = store.to_pandas()
    assert list(table.columns) == [
        *("problem.features.n_features", "dynamics.step_size", "trial", "id", "status"),
        *("run.status", "run.at_limit", "run.stabilised_at", "gap.absolute", "gap.relative", "run.test_error"),
        *("message", "notes"),
    ]
    assert table["problem.features.n_features"].tolist() == [100] * 6 + [10**6] * 6
    assert table["trial"].tolist() == [1, 2, 3] * 4
    assert table["status"].tolist() == ["done"] * 11 + ["failed"]
    assert table["message"].iloc[-1] == "it broke"
    assert table["gap.absolute"].isna().tolist() == [False] * 11 + [True]
    assert table["run.at_limit"].dtype == "boolean"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_an_export_has_all_digits_and_the_provenance(full: Path, suffix: str) -> None:
    path = full.with_suffix(suffix)
    with Store.open(full) as store:
        store.export(path)
        table = store.to_pandas(provenance=True)
    again = pd.read_csv(path, dtype={"gap.absolute": str}) if suffix == ".csv" else pd.read_parquet(path)
    assert list(again.columns) == list(table.columns)
    assert list(map(float, again["gap.absolute"].iloc[:-1])) == table["gap.absolute"].iloc[:-1].tolist()
    assert {"seconds", "cpu_seconds", "finished", "peak_megabytes", "attempts", "environment"} <= set(again.columns)


def test_an_export_is_refused_where_it_makes_no_sense(full: Path) -> None:
    with Store.open(full) as store:
        with pytest.raises(ArgumentError, match=r"ends in \.csv or \.parquet"):
            store.export(full.with_suffix(".xlsx"))
        with pytest.raises(ArgumentError, match="nowhere"):
            store.export(full.parent / "nowhere" / "x.csv")


def test_another_study_is_refused_with_the_difference(full: Path) -> None:
    changed = small(SMALL.replace("n=8", "n=9"), seed=6)
    with Store.open(full) as store:
        with pytest.raises(
            ArgumentError, match=r"seed: 5 → 6; problem.n_samples: 8 → 9; choose another store"
        ) as refused:
            store.adopt(changed)
        assert "--extend" not in str(refused.value)
        with pytest.raises(ArgumentError, match="cannot be extended"):
            store.adopt(changed, extend=True)
        assert store.study == small()


def test_more_cells_are_added_only_on_request_and_stay_in_the_order_of_the_grid(full: Path) -> None:
    more = small(SMALL.replace("[1e2, 1e6]", "[1e4, 1e6, 1e2]").replace("repeats = 3", "repeats = 4"))
    with Store.open(full) as store:
        with pytest.raises(ArgumentError, match="add its cells with --extend"):
            store.adopt(more)
        before = store.to_pandas().set_index("id")
        assert store.adopt(more, extend=True) == 12
        after = store.to_pandas().set_index("id")
        assert after.index.tolist() == [cell.id for cell in more.cells()]
        pd.testing.assert_frame_equal(after.loc[before.index], before)
        assert store.status().pending == 12
        fewer = "cannot be extended to this study: only values and repeats can be added, and none left out"
        with pytest.raises(ArgumentError, match=fewer):
            store.adopt(small(), extend=True)
    with Store.open(full) as store:
        assert store.study == more


def test_data_that_changed_under_a_study_are_noticed(tmp_path: Path) -> None:
    data = tmp_path / "few.csv"
    data.write_text("y,a,b\n1,2,3\n-1,0,1\n", encoding="utf-8")
    study = Study.from_dict({"name": "file", "problem": {"file": str(data), "target": "y"}})
    with Store.create(tmp_path / "s.db", study) as store:
        assert store.adopt(study) == 0
        data.write_text("y,a,b\n1,2,3\n-1,0,2\n", encoding="utf-8")
        with pytest.raises(DataError, match=r"few.csv is not the file that it was when .*s\.db was made"):
            store.adopt(study)
        data.unlink()
        with pytest.raises(DataError, match=r"cannot read .*few\.csv"):
            store.adopt(study)
    with pytest.raises(DataError, match=r"cannot read .*few\.csv"):
        Store.create(tmp_path / "t.db", study)


def test_limits_may_change(full: Path) -> None:
    with Store.open(full) as store:
        study = Study.from_toml(SMALL + "[limits]\nseconds = 9")
        assert store.adopt(study) == 0
        assert store.study.limits.seconds == 9


def test_failed_cells_are_computed_again_on_request(full: Path) -> None:
    with Store.open(full) as store:
        assert store.retry_failed() == 1
        assert store.status().pending == 1
        assert store.pending()[0].trial == 3


def test_an_id_that_is_none_or_several_is_refused(full: Path) -> None:
    with Store.open(full) as store:
        for id, message in (("xyz", "has no cell whose id begins with 'xyz'"), ("", "several cells")):
            with pytest.raises(ArgumentError, match=message):
                store.cell(id)


def test_a_store_is_not_made_over_a_file_or_below_one(full: Path) -> None:
    with pytest.raises(DataError, match="exists; a store is not written over"):
        Store.create(full, small())
    with pytest.raises(DataError, match=r"full\.db is a file, not a folder"):
        Store.create(full / "inside.db", small())
    with pytest.raises(DataError, match="cannot be opened as a store"):
        Store.open(full.parent / "nowhere.db")


def test_a_full_disk_is_one_sentence_and_what_is_done_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store.create(path, small(repeats=50)) as store:
        ((pages,),) = store._rows("PRAGMA page_count")
        store._connection.execute(f"PRAGMA max_page_count = {pages + 4}")
        outcomes = computed(store.study, store.pending()[:1])
        store.commit(outcomes)
        heavy = [Outcome(cell.id, "failed", traceback="x" * 5000) for cell in store.pending()]
        with pytest.raises(DataError, match="no room left; what was reported as done is kept"):
            store.commit(heavy)
        assert store.status().done == 1
    with Store.open(path) as store:
        assert store.status().done == 1
        store.commit(heavy)
        assert store.status().pending == 0


def test_a_disk_that_is_full_from_the_start_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA max_page_count = 2")
        connection.execute("CREATE TABLE t (x)")
        connection.execute("INSERT INTO t VALUES (zeroblob(100000))")

    with pytest.raises(DataError, match="no room left"):
        database.build(tmp_path / "s.db", fill)
    assert list(tmp_path.iterdir()) == []


def test_one_process_writes_and_the_second_is_told_who(full: Path) -> None:
    with Store.open(full) as store, store.held():
        holder = store.status().holder
        assert holder is not None
        assert (holder.host, holder.pid, holder.began) == (Holder.me().host, os.getpid(), Holder.me().began)
        with (
            Store.open(full) as other,
            pytest.raises(DataError, match=f"written by process {os.getpid()} on {socket.gethostname()}, since"),
            other.held(),
        ):
            pytest.fail("two have it")
    with Store.open(full) as store, store.held():
        pass


def put_holder(path: Path, holder: Holder) -> None:
    with Store.open(path) as store:
        store._connection.execute("DELETE FROM holder")
        row = (holder.host, holder.pid, holder.began, holder.since)
        store._connection.execute("INSERT INTO holder VALUES (1, ?, ?, ?, ?)", row)


def test_a_store_of_a_process_that_ended_is_taken(full: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    holder = Holder(socket.gethostname(), ended.pid, locks.began(ended.pid), time.time())
    put_holder(full, holder)
    with Store.open(full) as store:
        with pytest.raises(DataError, match=f"process {ended.pid}"), store.held():
            pytest.fail("it is still there")
        ended.communicate(b"\n")
        assert store.status().holder is None
        with store.held():
            pass


def test_a_number_that_another_process_has_now_is_no_holder(full: Path) -> None:
    put_holder(full, Holder(socket.gethostname(), os.getpid(), "another boot 17", 0.0))
    with Store.open(full) as store, store.held():
        pass


def test_what_another_machine_holds_is_taken_on_request_only(full: Path) -> None:
    put_holder(full, Holder("another-machine", 1, "boot 1", 0.0))
    with Store.open(full) as store:
        with pytest.raises(DataError, match=r"process 1 on another-machine.*--take-over"), store.held():
            pytest.fail("it may still run")
        with store.held(take_over=True):
            pass


def test_fifty_thousand_cells_open_and_are_counted_in_no_time(tmp_path: Path) -> None:
    study = small(repeats=12_500)
    values: dict[str, Any] = {"run.status": "certified", "run.at_limit": True, "gap.absolute": 0.1, "gap.relative": 0.2}
    path = tmp_path / "large.db"
    with Store.create(path, study) as store:
        store.commit([Outcome(cell.id, "done", values=values, environment="{}") for cell in study.cells()])
    begun = time.process_time()
    with Store.open(path) as store:
        assert store.status().done == 50_000
        assert len(store.column("gap.absolute")) == 50_000
        assert len(store.to_pandas()) == 50_000
    assert time.process_time() - begun < 2.0


def test_a_lock_that_could_not_be_released_does_not_lock_its_own_process_out(
    full: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(connection: sqlite3.Connection, path: Path) -> None:
        locks._HELD.discard(path.resolve())
        raise DataError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(locks, "release", no_room)
        with Store.open(full) as store, pytest.raises(DataError, match="no room"), store.held():
            pass
    with Store.open(full) as store:
        assert store.status().holder is not None
        with store.held():
            pass
        assert store.status().holder is None


def test_cells_are_of_the_very_file_that_the_study_began_with(tmp_path: Path) -> None:
    """Also in a worker that has read another one at the same place."""
    data = tmp_path / "few.csv"
    data.write_text("y,a,b\n1,2,3\n-1,0,1\n", encoding="utf-8")
    study = Study.from_dict(
        {"name": "file", "problem": {"file": str(data), "target": "y"}, "measure": {"columns": ["problem.label_norm"]}}
    )
    norms = []
    for label in ("1", "7"):
        data.write_text(f"y,a,b\n{label},2,3\n-1,0,1\n", encoding="utf-8")
        with Store.create(tmp_path / f"{label}.db", study) as store:
            (outcome,) = computed(store.study.core, list(study.cells()))
            norms.append(outcome.values["problem.label_norm"])
            last = store.study
    assert norms == pytest.approx([2**0.5, 50**0.5])
    data.write_text("y,a,b\n3,2,3\n-1,0,1\n", encoding="utf-8")
    (outcome,) = computed(last.core, list(study.cells()))
    assert outcome.status == "failed"
    assert "few.csv is not the file that it was when the study began" in outcome.message
