"""Tables of text: what is written comes back to the bit, whatever the delimiter, quotes and line ends."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from relubias.errors import DataError
from relubias.files import read
from relubias.files.csv import read_csv
from relubias.files.table import Table

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)
STYLES = [
    (delimiter, quoting, end, packed)
    for delimiter, quoting, end, packed in itertools.product(
        ",;\t|", (csv.QUOTE_MINIMAL, csv.QUOTE_ALL), ("\n", "\r\n"), (False, True)
    )
]


def written(
    path: Path,
    rows: list[list[str]],
    *,
    delimiter: str = ",",
    quoting: Any = csv.QUOTE_MINIMAL,
    end: str = "\n",
    packed: bool = False,
    bom: bool = False,
) -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(rows)
    data = text.getvalue().encode("utf-8-sig" if bom else "utf-8")
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


def table_of(path: Path, text: str, target: Any = None) -> Table:
    path.write_bytes(text.encode())
    return read_csv(path, target)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


@pytest.mark.parametrize(("delimiter", "quoting", "end", "packed"), STYLES)
@settings(max_examples=15)
@given(data=st.data())
def test_numbers_come_back_to_the_bit(
    tmp_path_factory: pytest.TempPathFactory, delimiter: str, quoting: Any, end: str, packed: bool, data: st.DataObject
) -> None:
    shape = data.draw(st.tuples(st.integers(1, 5), st.integers(2, 6)))
    values = data.draw(arrays(np.float64, shape, elements=FINITE))
    column = data.draw(st.integers(0, shape[1] - 1))
    names = [f"a{delimiter}b {j}" if quoting == csv.QUOTE_ALL else f"g{j}" for j in range(shape[1])]
    names[column] = "y"
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    rows = [names, *([repr(float(v)) for v in row] for row in values)]
    written(path, rows, delimiter=delimiter, quoting=quoting, end=end, packed=packed, bom=data.draw(st.booleans()))
    table = read_csv(path, data.draw(st.sampled_from([None, "y", column + 1, column - shape[1], str(column + 1)])))
    others = np.delete(values, column, axis=1)
    assert table.features.tobytes() == others.tobytes()  # the bytes tell 0.0 from -0.0
    assert table.labels.tobytes() == values[:, column].tobytes()
    assert table.feature_names == tuple(np.delete(names, column).tolist())
    assert table.target_name == "y"


def test_a_line_may_go_on_inside_quotation_marks(file: Path) -> None:
    table = table_of(file, 'y,"two\nlines",b\n1,"2",3\n\n4,5,6\n')
    assert table.feature_names == ("two\nlines", "b")
    assert table.features.tolist() == [[2.0, 3.0], [5.0, 6.0]]


def test_lines_after_a_quoted_line_end_keep_their_numbers(file: Path) -> None:
    with pytest.raises(DataError, match=r"row 2 \(line 5\), column 'b': 'x'"):
        table_of(file, 'y,"two\nlines",b\n1,"2",3\n\n4,5,x\n')


@pytest.mark.parametrize("blank", ["\n", "\n\n\n", "\r\n\r\n", "   \n", ""])
def test_blank_lines_at_the_end_are_no_samples(file: Path, blank: str) -> None:
    assert table_of(file, "y,a\n1,2\n3,4\n" + blank).labels.tolist() == [1.0, 3.0]


def test_a_quotation_mark_that_is_not_closed_is_a_fault_of_its_line(file: Path) -> None:
    with pytest.raises(DataError, match=r"line 3 cannot be split into cells .*check its quotation marks"):
        table_of(file, 'y,a\n1,2\n"3,4\n5,6\n')


@pytest.mark.parametrize("name", ["", "id", "Sample", "names", "row.names"])
def test_a_first_column_called_so_names_the_samples(file: Path, name: str) -> None:
    table = table_of(file, f"{name},y,a\n7,1,2\n8,3,4\n")
    assert table.sample_names == ("7", "8")
    assert table.feature_names == ("a",)
    assert any("was taken as names of the rows" in note for note in table.notes)


def test_a_first_column_with_text_in_every_row_names_the_samples(file: Path) -> None:
    table = table_of(file, "tissue,a,y\nliver,1,2\nlung,3,4\n")
    assert table.sample_names == ("liver", "lung")
    assert table.features.tolist() == [[1.0], [3.0]]
    assert any("'tissue'" in note for note in table.notes)


def test_a_first_column_with_text_in_some_rows_is_faulty(file: Path) -> None:
    with pytest.raises(DataError, match=r"row 2 \(line 3\), column 'a': 'NA' is not a number; remove"):
        table_of(file, "a,b,y\n1,1,2\nNA,3,4\n")


def test_an_empty_first_column_with_a_name_is_faulty_and_names_nothing(file: Path) -> None:
    with pytest.raises(DataError, match=r"row 1 \(line 2\), column 'a': '' is empty; 1 more cell"):
        table_of(file, "a,b,y\n,1,2\n,3,4\n")


def test_a_first_column_that_is_the_target_is_never_taken_as_names(file: Path) -> None:
    assert table_of(file, "id,y,a\n7,1,2\n8,3,4\n", "id").labels.tolist() == [7.0, 8.0]
    assert table_of(file, "id,y,a\n7,1,2\n8,3,4\n", 1).labels.tolist() == [7.0, 8.0]


def test_positions_count_the_column_of_names(file: Path) -> None:
    assert table_of(file, "id,a,b\ns,1,2\nt,3,4\n", 2).target_name == "a"


def test_a_header_one_name_short_is_understood_as_r_writes_it(file: Path) -> None:
    table = table_of(file, '"y" "a"\n'.replace(" ", "\t") + '"s1"\t1\t2\n"s2"\t3\t4\n')
    assert table.sample_names == ("s1", "s2")
    assert table.labels.tolist() == [1.0, 3.0]


def test_what_pandas_writes_without_names_is_read(file: Path) -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(4, 5)))
    frame.to_csv(file)
    with_index = read_csv(file, "4")
    frame.to_csv(file, index=False)
    without_index = read_csv(file, "4")
    for table in (with_index, without_index):
        np.testing.assert_array_equal(table.features, frame.to_numpy()[:, :4])
        np.testing.assert_array_equal(table.labels, frame.to_numpy()[:, 4])


def test_columns_have_positions_for_names_where_there_is_no_header(file: Path) -> None:
    table = table_of(file, "1.5,2,3\n4,5,6\n", -1)
    assert table.feature_names == ("1", "2")
    assert table.labels.tolist() == [3.0, 6.0]
    assert any("there is no header" in note for note in table.notes)
    for target in (None, "y"):
        with pytest.raises(DataError, match=r"the first line holds numbers only.*by its position, counted from 1"):
            table_of(file, "1.5,2,3\n4,5,6\n", target)


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_an_empty_file_is_refused(file: Path, text: str) -> None:
    with pytest.raises(DataError, match="the file is empty"):
        table_of(file, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y,a\n", "there is a header but no sample below it"),
        ("y\n1\n2\n", "one column only"),
        ("id,y\ns,1\n", "no feature beside the labels"),
        ("gene,s1\ny,1\n", "no feature beside the labels"),
    ],
)
def test_a_file_without_samples_or_features_is_refused(file: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        table_of(file, text)


@settings(max_examples=25)
@given(data=st.data())
def test_permuting_columns_changes_k_by_rounding_only(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(6, 9)), columns=["y", *(f"g{j}" for j in range(8))])
    shuffled = frame.iloc[:, rng.permutation(9)]
    folder = tmp_path_factory.mktemp("csv")
    frame.to_csv(folder / "a.csv", index=False)
    shuffled.to_csv(folder / "b.csv", index=False)
    for how in ("none", "centre", "standardise", "unit-rows"):
        one, two = (read(folder / name, preprocess=how) for name in ("a.csv", "b.csv"))
        np.testing.assert_allclose(two.gram, one.gram, atol=1e-14 * np.abs(one.gram).max())
        np.testing.assert_array_equal(two.labels, one.labels)
