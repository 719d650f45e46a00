"""A store that is damaged, foreign, of two names or on a medium that is read-only: one sentence, nothing destroyed."""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from study_cases import SMALL, filled, small

from relubias.errors import ArgumentError, DataError
from relubias.studies import database
from relubias.studies.spec import Study
from relubias.studies.store import Store


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A store of which all cells are done but the last, which failed."""
    return filled(tmp_path / "full.db")


def damaged_truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 // 4096 * 4096])


def damaged_by_a_few_bytes(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def damaged_to_a_stub(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:50])


def damaged_emptied(path: Path) -> None:
    path.write_bytes(b"")


def damaged_in_the_head(path: Path) -> None:
    path.write_bytes(b"garbled, garbled" + path.read_bytes()[16:])


def damaged_in_the_body(path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, path.stat().st_size - 4096, dtype=np.uint8).tobytes()
    path.write_bytes(path.read_bytes()[:4096] + noise)


def damaged_newer(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {database.SCHEMA + 1}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def damaged_foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE cells (id)")
    connection.close()


def damaged_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES = [
    (damaged_truncated, "is truncated; nothing was written to it"),
    (damaged_by_a_few_bytes, "is truncated; nothing was written to it"),
    (damaged_to_a_stub, "is no store, or its beginning is destroyed"),
    (damaged_emptied, "is empty and no store"),
    (damaged_in_the_head, "is no store, or its beginning is destroyed"),
    (damaged_in_the_body, "damaged"),
    (damaged_newer, "was written by a newer version of relubias (tables 2, this one knows 1)"),
    (damaged_foreign, "is a database of another program"),
    (damaged_a_folder, "is no file, and so no store"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGES)
def test_a_file_that_is_no_whole_store_is_one_sentence_and_left_alone(full: Path, damage: object, message: str) -> None:
    damage(full)  # type: ignore[operator]
    before = None if full.is_dir() else full.read_bytes()
    with pytest.raises(DataError, match=re.escape(message)) as refused, Store.open(full) as store, store.held():
        pytest.fail("it was opened")
    assert str(full) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert before is None or full.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "UPDATE study SET value = replace(value, 'gap.absolute', 'gap.old')",
            "cannot read .*gap.old.*version that",
        ),
        ("DELETE FROM study", "the study in it is damaged or not there"),
        ("UPDATE study SET value = 'x'", "the study in it is damaged or not there"),
    ],
)
def test_a_study_that_cannot_be_read_is_one_sentence_with_the_path(full: Path, change: str, message: str) -> None:
    with Store.open(full) as store:
        store._connection.execute(change)
    with pytest.raises(DataError, match=f"full.db.*{message}"):
        Store.open(full)


def test_a_store_of_two_names_is_not_written_to(full: Path) -> None:
    other = full.with_name("other.db")
    os.link(full, other)
    for path in (full, other):
        with (
            Store.open(path) as store,
            pytest.raises(DataError, match=f"{path.name} has several names"),
            store.held(),
        ):
            pytest.fail("it is held")
    other.unlink()
    with Store.open(full) as store, store.held():
        pass


def test_a_draft_that_was_left_behind_is_no_other_name(full: Path) -> None:
    draft = full.with_name(f".{full.name}.12345")
    os.link(full, draft)
    with Store.open(full) as store, store.held():
        pass
    assert not draft.exists()


@pytest.mark.parametrize("damage", ["DELETE FROM cells WHERE place = 7", "UPDATE cells SET id = 'zz' WHERE place = 3"])
def test_a_cell_that_is_lost_is_noticed_by_the_next_run(full: Path, damage: str) -> None:
    with Store.open(full) as store:
        store._connection.execute(damage)
        with pytest.raises(DataError, match=r"full.db is damaged \(its cell .* is not there\)"):
            store.adopt(small())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_is_no_store_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="pipe is no file, and so no store"):
        Store.open(tmp_path / "pipe")


def test_a_folder_of_which_nothing_can_be_removed_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(DataError, match=r"s\.db cannot be made: Read-only file system; choose another path"):
        Store.create(tmp_path / "s.db", small())


@pytest.mark.parametrize(
    ("damage", "column"),
    [
        ("UPDATE cells SET \"gap.absolute\" = 'x.1234' WHERE place = 3", "gap.absolute"),
        ('UPDATE cells SET "run.at_limit" = 1.5 WHERE place = 3', "run.at_limit"),
        ('UPDATE cells SET "run.status" = 7 WHERE place = 3', "run.status"),
        ("UPDATE cells SET coordinates = '{' WHERE place = 3", "coordinates"),
        ("UPDATE cells SET coordinates = '{}' WHERE place = 3", "coordinates"),
    ],
)
def test_a_value_of_another_kind_is_one_sentence_in_an_export(full: Path, damage: str, column: str) -> None:
    with Store.open(full) as store:
        store._connection.execute(damage)
        with pytest.raises(DataError, match=f"full.db is damaged: its column '{column}' has a value that is none"):
            store.export(full.with_suffix(".csv"))
    assert not full.with_suffix(".csv").exists()


def test_a_store_on_a_medium_that_is_read_only_can_be_read(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = full.parent / "medium" / full.name
    copy.parent.mkdir()
    copy.write_bytes(full.read_bytes())
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with Store.open(copy) as store:
        assert store.status().done == 11
        table = store.to_pandas()
        with pytest.raises(DataError, match="it cannot be written"), store.held():
            pytest.fail("it is held")
    assert [path.name for path in copy.parent.iterdir()] == [copy.name]  # no log was made beside it
    monkeypatch.undo()
    with Store.open(full) as store:
        pd.testing.assert_frame_equal(store.to_pandas(), table)


def test_another_study_is_told_what_can_be_done(full: Path) -> None:
    with Store.open(full) as store:
        with pytest.raises(
            ArgumentError, match=r"; add its cells with --extend \(extend=True\), or choose another store"
        ):
            store.adopt(small(repeats=4))
        with pytest.raises(ArgumentError, match=r"[^.]; choose another store\.$"):
            store.adopt(Study.from_toml(SMALL.replace("seed = 5", "seed = 6")))
