"""Arrays in .npy files are mapped, not loaded; labels are a column or come from a file of their own."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relubias import read
from relubias.errors import ArgumentError, DataError
from relubias.files.npy import read_npy
from relubias.linalg.gram import column_blocks

VALUES = np.random.default_rng(0).integers(-9, 9, (5, 7)).astype(np.int16)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", VALUES)
    return tmp_path / "x.npy"


@pytest.mark.parametrize("target", [1, 3, 7, -1, -3, "2", " -7 "])
def test_the_target_is_a_column_by_position(path: Path, target: Any) -> None:
    position = int(target)
    column = position - 1 if position > 0 else 7 + position
    table = read_npy(path, target)
    np.testing.assert_array_equal(table.labels, VALUES[:, column])
    blocks = np.concatenate(list(column_blocks(table.features)), axis=1)
    np.testing.assert_array_equal(blocks, np.delete(VALUES, column, axis=1))
    assert table.target_name == f"column {column + 1}"


def test_without_target_all_columns_are_features_still_on_disk(path: Path) -> None:
    table = read_npy(path, None)
    assert isinstance(table.features, np.memmap)
    assert not table.features.flags.writeable
    assert table.labels is None


@pytest.mark.parametrize("target", [1, 100, None])
@pytest.mark.parametrize("how", ["none", "standardise", "unit-rows"])
def test_reading_holds_far_less_than_the_file(tmp_path: Path, target: int | None, how: str) -> None:
    values = np.random.default_rng(0).standard_normal((40, 400_000), dtype=np.float32)
    np.save(tmp_path / "x.npy", values)
    np.save(tmp_path / "y.npy", np.ones(40))
    tracemalloc.start()
    try:
        labels = None if target else tmp_path / "y.npy"
        problem = read(tmp_path / "x.npy", target=target, labels=labels, preprocess=how)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert problem.n_features == (399_999 if target else 400_000)
    assert peak < values.nbytes


@pytest.mark.parametrize("target", ["y", "1.5", 2.5])
def test_columns_have_no_names(path: Path, target: Any) -> None:
    with pytest.raises(ArgumentError, match="columns of an array have no names; give a position, counted from 1"):
        read_npy(path, target)


@pytest.mark.parametrize("target", [0, 8, -8])
def test_a_position_outside_is_refused(path: Path, target: int) -> None:
    with pytest.raises(DataError, match=f"no column at position {target}; the 7 columns are counted from 1"):
        read_npy(path, target)


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.ones(3), r"the array has shape \(3,\); features have two axes"),
        (np.ones((3, 1)), "no feature beside the labels"),
        (np.ones((3, 2), dtype=complex), "dtype complex128"),
        (np.array([["a", "b"]]), "dtype <U1"),
    ],
)
def test_arrays_of_another_kind_are_refused(tmp_path: Path, array: Any, sentence: str) -> None:
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(DataError, match=sentence):
        read_npy(tmp_path / "x.npy", 1)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([[1, "a"]], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="without Python objects"):
        read_npy(tmp_path / "x.npy", 1)


@pytest.mark.parametrize("content", [b"", b"y,a\n1,2\n", b"\x93NUMPY\x01\x00"])
def test_a_file_that_is_no_array_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(DataError, match="cannot be mapped"):
        read_npy(tmp_path / "x.npy", 1)


def test_a_truncated_or_misnamed_file_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(DataError, match="cannot be mapped"):
        read_npy(path, 1)
    np.savez(path.with_suffix(".npz"), X=VALUES)
    path.with_suffix(".npz").rename(path)
    with pytest.raises(DataError, match=r"an \.npz archive"):
        read_npy(path, 1)


def test_an_entry_that_is_not_finite_is_named(tmp_path: Path) -> None:
    values = np.ones((3, 4), dtype=np.float32)
    values[1, 2] = np.nan
    np.save(tmp_path / "x.npy", values)
    for how in ("none", "centre", "unit-rows"):
        with pytest.raises(DataError, match=r"x.npy: features: row 2, column 2 is nan, not a finite number"):
            read(tmp_path / "x.npy", target=1, preprocess=how)


def test_a_tall_array_is_said_to_be_perhaps_transposed(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((30, 3)))
    assert "transpose it if its rows are features" in read_npy(tmp_path / "x.npy", 1).notes[0]
    np.save(tmp_path / "x.npy", np.ones((20_001, 3), dtype=np.int8))
    with pytest.raises(DataError, match=r"K would take 3.2 GB"):
        read(tmp_path / "x.npy", target=1)
