"""A file is written whole or not at all, and what is read is what was written or an error."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest

from relubias import archive
from relubias.archive import load_record, nested, part, save_record, write_atomically
from relubias.errors import ArgumentError, DataError


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(failure: type[BaseException], tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def fails(stream: BinaryIO) -> None:
        stream.write(b"new, but only half")
        raise failure

    with pytest.raises(failure):
        write_atomically(path, fails)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_a_writer_that_succeeds_replaces_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    assert write_atomically(path, lambda stream: stream.write(b"new")) == path
    assert path.read_text() == "new"
    assert names(tmp_path) == ["file"]


def test_places_where_no_file_can_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="is a folder; give the name of a file"):
        write_atomically(tmp_path, lambda stream: None)
    with pytest.raises(ArgumentError, match="is not a folder; create it"):
        write_atomically(tmp_path / "none" / "file", lambda stream: None)
    assert names(tmp_path) == []


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    arrays = {"a": np.array([1.0, np.nan, -0.0]), "b/c": np.array([["x"]]), "empty": np.zeros((0, 3), dtype=bool)}
    meta = {"text": "d₂ ≥ 1", "list": [1, None, 2.5]}
    path = save_record(tmp_path / "no-suffix", "thing", arrays, meta)
    assert path == tmp_path / "no-suffix"
    read, values = load_record(path, "thing")
    assert read.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(read[name], array)
        assert read[name].dtype == array.dtype
    assert {key: values[key] for key in meta} == meta


def test_objects_are_never_pickled(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="allow_pickle"):
        save_record(tmp_path / "x.npz", "thing", {"a": np.array([{}])}, {})
    assert names(tmp_path) == []


def test_a_record_of_another_kind_or_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save_record(tmp_path / "x.npz", "run", {}, {})
    with pytest.raises(DataError, match="holds a run, not a problem"):
        load_record(path, "problem")
    monkeypatch.setattr(archive, "FORMAT", archive.FORMAT + 1)
    with pytest.raises(DataError, match="another version"):
        load_record(path, "run")


@pytest.mark.parametrize("kept", [0, 1, 10, 200, -1, -30])
def test_a_truncated_record_is_refused(kept: int, tmp_path: Path) -> None:
    path = save_record(tmp_path / "x.npz", "run", {"a": np.random.default_rng(0).normal(size=100)}, {})
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DataError, match=r"cannot read .*x\.npz as a saved run"):
        load_record(path, "run")


def test_other_files_and_no_file_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(DataError, match="not one that relubias saved"):
        load_record(tmp_path / "other.npz", "run")
    (tmp_path / "text.npz").write_text("not a zip file")
    for name in ("text.npz", "none.npz"):
        with pytest.raises(DataError, match=f"cannot read .*{name}"):
            load_record(tmp_path / name, "run")


def test_parts_come_out_of_what_they_were_nested_in() -> None:
    arrays = {"x": np.ones(1), "deep/y": np.zeros(2)}
    whole = nested("state", arrays) | nested("start", {"x": np.full(1, 2.0)}) | {"statement": np.ones(9)}
    assert part("state", whole) == arrays
    assert part("none", whole) == {}
