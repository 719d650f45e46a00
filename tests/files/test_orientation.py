"""Tables that lie on their side are recognised by the name of a row."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from relubias.errors import DataError
from relubias.files import read
from relubias.files.csv import read_csv


def genes_by_samples(
    n_samples: int = 5, n_genes: int = 40, name: str = "y", at: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(n_genes, n_samples)), [f"gene{j}" for j in range(n_genes)])
    frame.columns = [f"s{i}" for i in range(n_samples)]
    frame.index.name = "gene"
    labels = pd.DataFrame([rng.normal(size=n_samples)], [name], frame.columns)
    return frame, labels, pd.concat([frame.iloc[:at], labels, frame.iloc[at:]])


@pytest.mark.parametrize("at", [0, 17, 40])
@pytest.mark.parametrize(("name", "target"), [("y", None), ("y", "y"), ("Class", None), ("outcome", "outcome")])
def test_a_row_that_is_the_target_turns_the_table(tmp_path: Path, at: int, name: str, target: Any) -> None:
    genes, labels, whole = genes_by_samples(name=name, at=at)
    whole.to_csv(tmp_path / "genes.csv")
    problem = read(tmp_path / "genes.csv", target=target)
    np.testing.assert_array_equal(problem.features, genes.to_numpy().T)
    np.testing.assert_array_equal(problem.labels, labels.to_numpy()[0])
    assert problem.sample_names == tuple(genes.columns)
    assert problem.feature_names == tuple(genes.index)
    assert problem.target_name == name
    assert any(note.startswith(f"the file is transposed: {name!r}") for note in problem.notes)


def test_both_ways_to_lie_give_the_same_problem(tmp_path: Path) -> None:
    _, _, whole = genes_by_samples()
    whole.to_csv(tmp_path / "genes.csv")
    with gzip.open(tmp_path / "samples.tsv.gz", "wt") as stream:
        whole.T.to_csv(stream, sep="\t")
    for how in ("none", "centre", "standardise", "unit-rows"):
        lying, standing = (
            read(tmp_path / name, preprocess=how, centre_labels=True) for name in ("genes.csv", "samples.tsv.gz")
        )
        np.testing.assert_allclose(lying.gram, standing.gram, atol=1e-13 * np.abs(standing.gram).max())
        np.testing.assert_array_equal(lying.labels, standing.labels)
        assert lying.feature_names == standing.feature_names
        assert lying.sample_names == standing.sample_names
        assert not any("transposed" in note for note in standing.notes)


def test_a_column_that_is_the_target_comes_before_a_row(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    path.write_text("name,y,a\ny,1,2\nb,3,4\n")
    assert read_csv(path, None).labels.tolist() == [1.0, 3.0]


def test_a_table_with_many_more_rows_than_columns_is_remarked_on(tmp_path: Path) -> None:
    path = tmp_path / "tall.csv"
    for n, remarked in ((19, False), (20, True)):
        path.write_text("y,a\n" + "1,2\n" * n)
        assert any("transpose it if" in note for note in read_csv(path, None).notes) is remarked


def test_a_target_that_is_neither_column_nor_row_is_missing(tmp_path: Path) -> None:
    _, _, whole = genes_by_samples(name="outcome")
    whole.to_csv(tmp_path / "genes.csv")
    with pytest.raises(DataError, match=r"no column or row 'Outcome'; did you mean 'outcome'\?"):
        read(tmp_path / "genes.csv", target="Outcome")


def test_a_row_name_that_occurs_twice_cannot_be_the_target(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("gene,s1,s2\ny,1,2\nb,3,4\nz,5,6\nz,7,8\n")
    with pytest.raises(DataError, match="'z' is the name of 2 rows; rename all but one"):
        read_csv(path, "z")


@pytest.mark.parametrize("at", [1, 2, 6, -1])
def test_the_target_column_is_taken_out_without_a_second_table(tmp_path: Path, at: int) -> None:
    values = np.random.default_rng(1).normal(size=(4, 6))
    pd.DataFrame(values, columns=list("abcdef")).to_csv(tmp_path / "t.csv", index=False)
    features = read_csv(tmp_path / "t.csv", at).features
    np.testing.assert_array_equal(features, np.delete(values, at - 1 if at > 0 else at, axis=1))
    assert features.base is not None
