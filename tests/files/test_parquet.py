"""Parquet tables: columns as they are, cells that are no numbers found, and no second copy of the table."""

from __future__ import annotations

import datetime
import decimal
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from relubias import read
from relubias.errors import DataError, MissingDependency
from relubias.files import parquet as module
from relubias.files.parquet import read_parquet


def written(folder: Path, columns: dict[str, Any]) -> Path:
    pq.write_table(pa.table(columns), folder / "t.parquet")
    return folder / "t.parquet"


@pytest.mark.parametrize("target", ["y", 2, -2, "2"])
def test_features_and_labels_are_those_of_the_table(tmp_path: Path, target: Any) -> None:
    path = written(tmp_path, {"a": [1.5, 2.5], "y": [1, -1], "b": [3.0, 4.0]})
    problem = read(path, target=target)
    assert problem.features.tolist() == [[1.5, 3.0], [2.5, 4.0]]
    assert problem.labels.tolist() == [1.0, -1.0]
    assert problem.feature_names == ("a", "b")
    assert problem.sample_names is None
    assert problem.target_name == "y"
    assert read(path).target_name == "y"


@pytest.mark.parametrize(
    ("kinds", "dtype"),
    [
        (["int8", "int8"], "i1"),
        (["bool", "bool"], "?"),
        (["float16", "float16"], "f2"),
        (["float32", "int16"], "f4"),
        (["int8", "uint16"], "i4"),
        (["float32", "int64"], "f8"),
        (["decimal", "int8"], "f8"),
    ],
)
def test_the_dtype_is_the_smallest_that_holds_all_features(tmp_path: Path, kinds: list[str], dtype: str) -> None:
    columns: dict[str, Any] = {"y": [0.25, 0.5]}
    for position, kind in enumerate(kinds):
        if kind == "decimal":
            columns["decimal"] = pa.array([decimal.Decimal("1.5"), decimal.Decimal("2.5")])
        else:
            columns[f"{kind} {position}"] = pa.array(np.array([0, 1], dtype=kind))
    table = read_parquet(written(tmp_path, columns), "y")
    assert table.features.dtype == np.dtype(dtype)
    first = [1.5, 2.5] if kinds[0] == "decimal" else [0, 1]
    assert table.features.tolist() == [[first[0], 0], [first[1], 1]]
    assert table.labels.tolist() == [0.25, 0.5]


def test_what_pandas_writes_is_read_with_its_index(tmp_path: Path) -> None:
    frame = pd.DataFrame({"y": [1.0, 2.0], "a": [3, 4]}, index=pd.Index(["u", "v"], name="patient"))
    frame.to_parquet(tmp_path / "t.parquet")
    problem = read(tmp_path / "t.parquet", target=-1)
    assert problem.sample_names == ("u", "v")
    assert problem.target_name == "a"
    assert problem.feature_names == ("y",)
    frame.reset_index(drop=True).to_parquet(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet").sample_names is None
    frame.set_index(pd.MultiIndex.from_tuples([("A", 1), ("B", 2)])).to_parquet(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet").sample_names == ("A 1", "B 2")


@pytest.mark.parametrize("name", ["who", "id"])
def test_a_first_column_of_text_or_called_id_names_the_samples(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, {name: ["u", "v"] if name == "who" else [7, 8], "y": [1, 2], "a": [3, 4]})
    problem = read(path)
    assert problem.sample_names == (("u", "v") if name == "who" else ("7", "8"))
    assert problem.feature_names == ("a",)
    assert f"the column '{name}' was taken as names of the rows, not as numbers." in problem.notes
    if name == "id":
        assert read(path, target="id").feature_names == ("y", "a")


def test_a_transposed_table_is_recognised_by_its_target(tmp_path: Path) -> None:
    path = written(tmp_path, {"gene": ["TP53", "survival", "MYC"], "p1": [1, 5, 2], "p2": [3, 6, 4]})
    problem = read(path, target="survival")
    assert problem.features.tolist() == [[1, 2], [3, 4]]
    assert problem.labels.tolist() == [5, 6]
    assert problem.sample_names == ("p1", "p2")
    assert problem.feature_names == ("TP53", "MYC")
    assert "the file is transposed" in problem.notes[0]


NULL = pa.array([1.0, None, None])


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (NULL, "row 2, column 'b': the cell is empty; 1 more cell is not"),
        (pa.array([1, 2, None]), "row 3, column 'b': the cell is empty; remove"),
        (pa.array([1.0, np.inf, np.nan]), "row 2, column 'b': inf is not finite; 1 more cell is not"),
        (pa.array([1, 2, np.nan], pa.float16()), "row 3, column 'b': nan is not finite; remove"),
        (pa.array([None, "N/A", "1.5"]), r"row 2, column 'b': 'N/A' is text \(the column has type string\); 2 more"),
        (pa.array(["x", "y", "x"]).dictionary_encode(), "row 1, column 'b': 'x' is text .*dictionary"),
        (pa.array([datetime.date(2020, 1, 2)] * 3), r"row 1, column 'b': 2020-01-02 is not a number .*date32"),
        (pa.array([[1], [2], [3]]), "column 'b': .* is not a number .*list"),
        (pa.array([{"u": 1}] * 3), "column 'b': .* is not a number .*struct"),
        (pa.nulls(3), "column 'b': None is not a number .*null"),
    ],
)
def test_a_cell_that_is_no_number_is_located(tmp_path: Path, column: Any, sentence: str) -> None:
    path = written(tmp_path, {"a": [1, 2, 3], "b": column, "y": [1, 2, 3]})
    with pytest.raises(DataError, match=f"t.parquet: .*{sentence}"):
        read(path)


def test_faults_of_all_columns_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READ_ENTRIES", 3)
    path = written(tmp_path, {"a": [1.0, 2.0, 3.0], "b": NULL, "c": ["x", "y", "z"], "d": NULL, "y": [1, 2, 3]})
    with pytest.raises(DataError, match="row 2, column 'b': the cell is empty; 6 more cells are not finite numbers"):
        read(path)


def test_labels_of_classes_get_their_own_remedy(tmp_path: Path) -> None:
    path = written(tmp_path, {"a": [1, 2], "class": ["ALL", "AML"]})
    with pytest.raises(DataError, match=r"row 1, column 'class': 'ALL' is text .* for two classes -1 and"):
        read(path)


@pytest.mark.parametrize(
    ("columns", "target", "sentence"),
    [
        ({"a": [1], "b": [2]}, None, "no column is called y, target"),
        ({"a": [1], "GAPDH": [2]}, "gapdh", "there is no column 'gapdh'; did you mean 'GAPDH'"),
        ({"a": [1], "b": [2]}, 3, "no column at position 3; the 2 columns"),
        ({"y": [1]}, None, "no feature or no row"),
        ({"who": ["u"], "y": [1]}, None, "no feature or no row"),
        ({"a": pa.array([], pa.float64()), "y": pa.array([], pa.float64())}, "y", "no feature or no row"),
    ],
)
def test_a_table_without_target_feature_or_row_is_refused(
    tmp_path: Path, columns: dict[str, Any], target: Any, sentence: str
) -> None:
    with pytest.raises(DataError, match=sentence):
        read(written(tmp_path, columns), target=target)


def test_names_that_occur_twice_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"names of columns occur more than once \('a'\); rename them"):
        read(tmp_path / "t.parquet")


def test_a_name_with_a_dot_is_one_name(tmp_path: Path) -> None:
    path = written(tmp_path, {"a": [1, 2], "a.b": [3, 4], "y": [5, 6], "y.z": [7, 8]})
    problem = read(path)
    assert problem.features.tolist() == [[1, 3, 7], [2, 4, 8]]
    assert problem.labels.tolist() == [5, 6]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"y,a\n1,2\n"])
def test_a_file_that_is_not_parquet_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(DataError, match=r"t.parquet: the file cannot be read as Parquet"):
        read(tmp_path / "t.parquet")


def test_a_damaged_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    values = np.random.default_rng(0).normal(size=(1000, 2))
    table = pa.table({"a": values[:, 0], "y": values[:, 1]})
    pq.write_table(table, path, compression="zstd", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[30:60] = bytes(30)
    path.write_bytes(content)
    with pytest.raises(DataError, match="the Parquet file is damaged"):
        read(path)


def test_too_many_rows_are_refused_before_they_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, {"a": np.zeros(20_001), "y": np.zeros(20_001)})
    with pytest.raises(DataError, match=r"20001 samples, so that K would take 3.2 GB"):
        read(path)


def test_without_pyarrow_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, {"a": [1], "y": [2]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match="pip install pyarrow"):
        read(path)


def test_a_wide_table_is_read_in_seconds_without_a_second_copy(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(100, 20_000))
    read(written(tmp_path, {"y": [1.0], "a": [2.0]}))  # whatever is imported late is not counted
    path = written(tmp_path, {"y": values[:, 0], **{f"g{j}": values[:, j] for j in range(1, 20_000)}})
    pool = pa.proxy_memory_pool(pa.default_memory_pool())
    before = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    tracemalloc.start()
    start = time.process_time()
    try:
        table = read_parquet(path, None)
        seconds = time.process_time() - start
        peak = tracemalloc.get_traced_memory()[1] + (pool.max_memory() or 0)
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)
    np.testing.assert_array_equal(table.features, values[:, 1:])
    assert seconds < 10  # takes 1 to 2 s; the margin is for a busy machine
    assert values.nbytes < peak < 2 * values.nbytes
