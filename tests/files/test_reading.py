"""From a file to a problem: what was done is recorded, what cannot be done is said, and wide files are cheap."""

from __future__ import annotations

import os
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from relubias.errors import ArgumentError, DataError
from relubias.files import preprocess_features, read
from relubias.linalg.gram import Array

REAL = {
    "riboflavin": (71, 4088),
    "gasoline": (60, 401),
    "yarn": (28, 268),
    "golub_leukemia": (72, 7129),
    "srbct_ews": (83, 2308),
    "tecator": (215, 100),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text("sample,y,a,b,c\nu,3,1,7,2\nv,-1,2,7,4\nw,1,6,7,9\n")
    return path


def test_what_was_done_is_recorded(file: Path) -> None:
    problem = read(file, preprocess="standardize", centre_labels=True)
    assert problem.preprocess == "standardise"
    assert problem.label_mean == 1.0
    assert problem.labels.tolist() == [2.0, -2.0, 0.0]
    assert problem.target_name == "y"
    assert problem.source == os.fspath(file)
    assert problem.feature_names == ("a", "b", "c")
    assert problem.sample_names == ("u", "v", "w")
    assert "1 of 3 features is constant and became 0 ('b')." in problem.notes
    expected = np.asarray(preprocess_features([[1, 7, 2], [2, 7, 4], [6, 7, 9]], "standardise"))
    np.testing.assert_array_equal(np.asarray(problem.features), expected)
    np.testing.assert_allclose(problem.gram, expected @ expected.T, atol=1e-14)


def test_nothing_is_done_unasked(file: Path) -> None:
    problem = read(str(file))
    assert (problem.preprocess, problem.label_mean) == ("none", 0.0)
    assert problem.labels.tolist() == [3.0, -1.0, 1.0]
    assert problem.features.tolist() == [[1.0, 7.0, 2.0], [2.0, 7.0, 4.0], [6.0, 7.0, 9.0]]
    assert "1 of 3 features is constant ('b')." in problem.notes


def test_constant_columns_are_counted_and_the_first_named(tmp_path: Path) -> None:
    frame = pd.DataFrame(np.ones((3, 8)), columns=["y", *"abcdefg"])
    frame["g"] = [1, 2, 3]
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "6 of 7 features are constant ('a', 'b', 'c', …)." in read(tmp_path / "t.csv").notes


def test_constant_columns_are_said_whatever_the_format(tmp_path: Path) -> None:
    values = np.array([[1.0, 7, 2], [2, 7, 4], [6, 7, 9]])
    np.save(tmp_path / "x.npy", values)
    (tmp_path / "x.svm").write_text("".join(f"{i} 1:{a} 2:{b} 3:{c}\n" for i, (a, b, c) in enumerate(values)))
    np.savez(tmp_path / "x.npz", X=values.astype(np.int8), y=values[:, 0])
    for name, target in (("x.npy", 1), ("x.svm", None), ("x.npz", "y")):
        count = 2 if name == "x.npy" else 3
        column = 1 if name == "x.npy" else 2
        notes = read(tmp_path / name, target=target).notes
        assert f"1 of {count} features is constant ('column {column}')." in notes
        notes = read(tmp_path / name, target=target, preprocess="centre").notes
        assert f"1 of {count} features is constant and became 0 ('column {column}')." in notes


def test_zero_samples_are_said_where_they_cannot_be_normalised(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y,a,b\n1,0,0\n2,3,4\n3,0,0\n")
    assert "2 samples are zero and cannot have norm 1 (row 1, 3)." in read(path, preprocess="unit-rows").notes
    assert not any("norm 1" in note for note in read(path).notes)


def test_faults_are_said_with_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "expression.csv"
    path.write_text("y,GAPDH\n" + "1,2\n" * 16 + "1,N/A\n")
    with pytest.raises(DataError, match=r"expression.csv: row 17 \(line 18\), column 'GAPDH': 'N/A' is not a number"):
        read(path)


def test_numbers_whose_products_overflow_are_refused_unless_standardised(tmp_path: Path) -> None:
    path = tmp_path / "huge.csv"
    path.write_text("y,a\n1,1e300\n2,-1e300\n")
    with pytest.raises(DataError, match=r"huge.csv: the features are so large"):
        read(path)
    assert np.asarray(read(path, preprocess="standardise").features).tolist() == [[1.0], [-1.0]]


@pytest.mark.parametrize("name", ["data.xlsx", "data", "data.gz", "data.npy.gz", "data.parquet.gz"])
def test_a_suffix_without_reader_lists_those_that_have_one(tmp_path: Path, name: str) -> None:
    listed = ".csv, .tsv, .txt, .svmlight, .libsvm, .svm, .npy, .npz, .parquet"
    compressible = ".csv, .tsv, .txt, .svmlight, .libsvm, .svm also with .gz"
    with pytest.raises(DataError, match=rf"is not one of {listed} \({compressible}\)"):
        read(tmp_path / name)


def test_suffixes_are_read_in_any_case(tmp_path: Path, file: Path) -> None:
    other = tmp_path / "TABLE.TSV"
    other.write_bytes(file.read_bytes())
    assert read(other).n_features == 3


def test_a_missing_file_offers_a_close_name(file: Path) -> None:
    with pytest.raises(DataError, match=r"there is no file .*tabel.csv; did you mean .*table.csv\?"):
        read(file.with_name("tabel.csv"))
    with pytest.raises(DataError, match=r"there is no file .*check the name"):
        read(file.parent / "nowhere" / "table.csv")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "x.csv").mkdir()
    for path in (tmp_path, tmp_path / "x.csv"):
        with pytest.raises(DataError, match="is a folder"):
            read(path)


def test_options_are_checked_before_the_file_is_opened(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="preprocess is 'scale'"):
        read(tmp_path / "absent.csv", preprocess="scale")


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Array]:
    path = tmp_path_factory.mktemp("wide") / "wide.csv"
    values = np.random.default_rng(0).normal(size=(100, 20_000))
    with open(path, "w") as stream:
        stream.write("y," + ",".join(f"g{j}" for j in range(values.shape[1] - 1)) + "\n")
        stream.writelines(",".join(map(repr, row.tolist())) + "\n" for row in values)
    return path, values


def test_a_wide_table_is_read_in_seconds(wide: tuple[Path, Array]) -> None:
    path, values = wide
    start = time.process_time()
    problem = read(path)
    assert time.process_time() - start < 6.0  # takes 1.2 s; the margin is for a busy machine
    np.testing.assert_array_equal(problem.features, values[:, 1:])


@pytest.mark.parametrize("how", ["none", "standardise", "unit-rows"])
@pytest.mark.parametrize("target", ["y", "g0", "g3998"])
def test_reading_holds_less_than_three_times_the_numbers(tmp_path: Path, how: str, target: Any) -> None:
    values = np.random.default_rng(0).normal(size=(100, 4000))
    path = tmp_path / "wide.csv"
    pd.DataFrame(values, columns=["y", *(f"g{j}" for j in range(3999))]).to_csv(path, index=False)
    tracemalloc.start()
    try:
        read(path, target=target, preprocess=how)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert values.nbytes < peak < 3 * values.nbytes


@pytest.mark.parametrize("name", REAL)
def test_real_tables_have_their_shapes(name: str) -> None:
    folder = os.environ.get("RELUBIAS_DATA")
    path = Path(folder or "") / f"{name}.csv.gz"
    if folder is None or not path.exists():
        pytest.skip("RELUBIAS_DATA does not name a folder with the real data")
    problem = read(path, target="y", preprocess="standardise", centre_labels=True)
    assert (problem.n_samples, problem.n_features) == REAL[name]
    assert problem.target_name == "y"
    assert abs(problem.labels.sum()) < 1e-10 * np.abs(problem.labels).sum()
    raw = pd.read_csv(path)
    np.testing.assert_allclose(problem.label_mean, raw["y"].mean(), rtol=1e-12)
    assert problem.feature_names == tuple(raw.columns[1:])
