"""svmlight files: what is written is read, sparse, and every fault is found at its line and token."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from helpers import real_data
from hypothesis import given
from hypothesis import strategies as st

from relubias import read
from relubias.errors import DataError
from relubias.files.svmlight import read_svmlight


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data.svmlight"


def test_labels_indices_and_values_are_read(path: Path) -> None:
    path.write_text("# made up\n+1 1:0.5 3:-2e3 # first\n\n-1.5\t2:7\t 3:1\r\n0\n")
    table = read_svmlight(path, None)
    assert table.features.format == "csr"
    assert table.features.toarray().tolist() == [[0.5, 0, -2000], [0, 7, 1], [0, 0, 0]]
    assert np.asarray(table.labels).tolist() == [1.0, -1.5, 0.0]
    assert table.notes == ("no index is 0, so indices are counted from 1: there are 3 features.",)


def test_an_index_of_zero_says_that_counting_starts_there(path: Path) -> None:
    path.write_text("1 1:5\n2 0:3 2:4\n")
    table = read_svmlight(path, None)
    assert table.features.toarray().tolist() == [[0, 5, 0], [3, 0, 4]]
    assert "one index is 0, so indices are counted from 0: there are 3 features" in table.notes[0]


@given(
    n=st.integers(1, 6),
    d=st.integers(1, 9),
    seed=st.integers(0, 2**32 - 1),
    zero_based=st.booleans(),
    packed=st.booleans(),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, n: int, d: int, seed: int, zero_based: bool, packed: bool
) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5) * 10.0 ** rng.integers(-300, 300)
    values[0, [0, -1]] = 1.0
    labels = rng.normal(size=n)
    first = 0 if zero_based else 1
    lines = [
        " ".join([repr(float(label)), *(f"{j + first}:{float(row[j])!r}" for j in np.flatnonzero(row))])
        for label, row in zip(labels, values, strict=True)
    ]
    text = "\n".join(lines).encode()
    path = tmp_path_factory.mktemp("svm") / "data.svmlight"
    path.write_bytes(gzip.compress(text) if packed else text)
    table = read_svmlight(path, None)
    np.testing.assert_array_equal(table.features.toarray(), values)
    np.testing.assert_array_equal(table.labels, labels)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("1:2 3:4", "line 2 begins with '1:2', not with a label"),
        ("1,2 1:3", "line 2 has several labels"),
        ("spam 1:3", "line 2: the label 'spam' is not a finite number; .* -1 and"),
        ("nan 1:3", "line 2: the label 'nan' is not a finite number"),
        ("1_0 1:3", "line 2: the label '1_0'"),
        ("1 qid:3 1:2", "line 2: 'qid:3' marks a ranking"),
        ("1 1:2:3 4", "line 2: '1:2:3' is not an index:value pair"),
        ("1 1:2 3", "line 2: '3' is not an index:value pair"),
        ("1 1 :2", "line 2: '1' is not an index:value pair"),
        ("1 :2", "line 2: ':2' is not an index:value pair"),
        ("1 -1:2", "line 2: '-1:2' is not an index:value pair"),
        ("1 1e0:2", "line 2: '1e0:2' is not an index:value pair"),
        ("1 ٣:2", "line 2: '٣:2' is not an index:value pair"),
        ("1 1: 2:3", "line 2: '1:' is not an index:value pair"),
        ("1 1:2 2:x", "line 2, index 2: 'x' is not a finite number"),
        ("1 1:2 2:inf", "line 2, index 2: 'inf' is not a finite number"),
        ("1 1:1_0", "line 2, index 1: '1_0' is not a finite number"),
        ("1 3:1 2:1", "line 2: index 2 comes after index 3"),
        ("1 3:1 3:1", "line 2: index 3 comes after index 3"),
        ("1 2147483648:1", "line 2: index 2147483648 is larger than 2147483647"),
        ("1 99999999999999999999:1", "line 2: index 99999999999999999999 is larger"),
    ],
)
def test_a_fault_is_named_by_line_and_token(path: Path, line: str, sentence: str) -> None:
    path.write_text(f"1 1:1\n{line}\n", encoding="utf-8")
    with pytest.raises(DataError, match=f"data.svmlight: {sentence}"):
        read(path)


@pytest.mark.parametrize(("text", "sentence"), [("", "no sample"), ("# a\n\n", "no sample"), ("1\n2\n", "no feature")])
def test_a_file_without_samples_or_features_is_refused(path: Path, text: str, sentence: str) -> None:
    path.write_text(text)
    with pytest.raises(DataError, match=sentence):
        read(path)


def test_there_is_no_target_to_choose(path: Path) -> None:
    path.write_text("1 1:1\n")
    with pytest.raises(DataError, match="labels stand first on every line; leave the target out"):
        read(path, target="y")


@pytest.mark.parametrize("suffix", [".libsvm", ".svm", ".svmlight.gz"])
def test_the_format_has_several_suffixes(path: Path, suffix: str) -> None:
    other = path.with_suffix(suffix)
    other.write_bytes(gzip.compress(b"1 1:3\n") if suffix.endswith(".gz") else b"1 1:3\n")
    assert read(other).gram.tolist() == [[9.0]]


@pytest.mark.parametrize("how", ["none", "standardise", "unit-rows"])
def test_speeches_are_read_without_a_dense_copy(how: str) -> None:
    path = real_data("inaugural_year.svmlight.gz")
    read(path, preprocess=how)  # whatever is imported late is not counted
    tracemalloc.start()
    try:
        problem = read(path, centre_labels=True, preprocess=how)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (problem.n_samples, problem.n_features) == (60, 9348)
    raw = problem.features if how == "none" else problem.features.features
    assert raw.nnz == 45_933
    assert held < 60 * 9348 * 8 / 2
    assert peak < (0.6 if how == "none" else 1.8) * 60 * 9348 * 8  # a preprocessed block is half of the matrix
    assert problem.label_mean == pytest.approx(1907.0, abs=0.5)
