"""Labels in a file of their own, for arrays that have none."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from relubias import read
from relubias.errors import DataError
from relubias.files.labels import read_labels

X = np.random.default_rng(0).normal(size=(3, 5))


@pytest.fixture
def features(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


@pytest.mark.parametrize(
    ("name", "text", "column"),
    [
        ("y.txt", "1\n-2\n\n3.5\n", None),
        ("y.csv", '"age"\n1\n-2\n3.5\n', "age"),
        ("y.tsv", "y\tz\n1\t0\n-2\t0\n3.5\t1\n", "y"),
    ],
)
def test_labels_are_one_number_a_line_or_a_column(features: Path, name: str, text: str, column: str | None) -> None:
    plain, packed = features.with_name(name), features.with_name(name + ".gz")
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    for path in (plain, packed):
        problem = read(features, labels=path)
        assert problem.labels.tolist() == [1.0, -2.0, 3.5]
        assert problem.target_name == column


def test_the_target_is_a_column_of_the_file_of_labels(features: Path) -> None:
    path = features.with_name("y.csv")
    path.write_text("sample,age,y\na,7,1\nb,8,2\nc,9,4\n")
    problem = read(features, labels=path, target="age", centre_labels=True)
    assert problem.labels.tolist() == [-1.0, 0.0, 1.0]
    assert problem.label_mean == 8.0
    assert problem.target_name == "age"


@pytest.mark.parametrize("labels", [np.array([1, -2, 3]), np.array([[1.0], [-2], [3]])])
def test_labels_may_be_an_array(features: Path, labels: NDArray[Any]) -> None:
    path = features.with_name("y.npy")
    np.save(path, labels)
    assert read(features, labels=path).labels.tolist() == [1.0, -2.0, 3.0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "y.txt: the file is empty; one number a line"),
        ("1\nx\n", "y.txt: line 2: 'x' is not a finite number"),
        ("y\n1\nnan\n", "y.txt: line 3: 'nan' is not a finite number"),
        ("1\n1_0\n", "y.txt: line 2: '1_0' is not"),
        ("1\n2\n", r"x.npy: there are 3 samples, but the labels have shape \(2,\)"),
        ("a,b\n1,2\n", "y.txt: no column is called y"),
    ],
)
def test_faults_are_said_with_the_name_of_the_file(features: Path, text: str, sentence: str) -> None:
    path = features.with_name("y.txt")
    path.write_text(text)
    with pytest.raises(DataError, match=sentence):
        read(features, labels=path)


def test_an_array_with_two_axes_is_no_column(features: Path) -> None:
    with pytest.raises(DataError, match=r"labels have shape \(3, 5\)"):
        read(features, labels=features)


def test_a_missing_file_of_labels_is_said(features: Path) -> None:
    with pytest.raises(DataError, match=r"there is no file .*y.npy"):
        read(features, labels=features.with_name("y.npy"))
    with pytest.raises(DataError, match=r"the suffix '.parquet' is not one of .npy, .csv, .tsv, .txt"):
        read(features, labels=features.with_name("y.parquet"))


def test_features_without_labels_need_them(features: Path) -> None:
    with pytest.raises(DataError, match=r"features but no labels; give the target .* or a file with the labels"):
        read(features)


def test_two_kinds_of_labels_are_one_too_many(features: Path) -> None:
    np.savez(features.with_name("x.npz"), X=X, y=np.ones(3))
    np.save(features.with_name("y.npy"), np.ones(3))
    with pytest.raises(DataError, match=r"labels of its own \('y'\)"):
        read(features.with_name("x.npz"), labels=features.with_name("y.npy"))


def test_a_table_takes_no_labels_from_another_file(features: Path) -> None:
    pd.DataFrame(X).to_csv(features.with_name("x.csv"))
    with pytest.raises(DataError, match="nothing would tell whether the rows of two tables are in the same order"):
        read(features.with_name("x.csv"), labels=features)


@pytest.mark.parametrize("names", [["0", "1", "2"], ["ann", "bob", "cay"]])
@pytest.mark.parametrize("target", ["age", 2, None])
def test_names_of_rows_and_one_column_are_labels_enough(tmp_path: Path, names: list[str], target: str | None) -> None:
    path = tmp_path / "y.csv"
    path.write_text("id,age\n" + "".join(f"{name},{value}\n" for name, value in zip(names, (3, 4, -1), strict=True)))
    labels, name = read_labels(path, ".csv", target)
    assert name == "age"
    assert labels.tolist() == [3.0, 4.0, -1.0]
