"""Delimiter and decimal mark are recognised from the first lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from relubias.errors import DataError
from relubias.files.csv import read_csv
from relubias.files.dialect import Dialect, dialect_of


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_each_delimiter_is_recognised(delimiter: str) -> None:
    assert dialect_of([delimiter.join("yab") + "\n", delimiter.join("123") + "\n"]).delimiter == delimiter


@pytest.mark.parametrize(
    ("lines", "delimiter"),
    [
        (["y\tGAPDH, human\tACTB, human\n", "1\t2\t3\n"], "\t"),
        (['y,"a;b;c;d",e\n', "1,2,3\n"], ","),
        (["y;a\n", "1,5;2,5\n", "3,0;4,0\n"], ";"),
        (["y,a;b\n", "1,2\n"], ","),
        (["y,a,b\n", "1,2\n", "1,2,3\n"], ","),  # ragged: no delimiter is steady, the frequent one is taken
    ],
)
def test_marks_inside_names_and_numbers_are_not_delimiters(lines: list[str], delimiter: str) -> None:
    assert dialect_of(lines).delimiter == delimiter


def test_decimal_commas_between_semicolons_are_read_and_said(tmp_path: Path) -> None:
    path = tmp_path / "de.csv"
    path.write_text("y;a\n1;2,5\n-1,5e-3;4\n")
    table = read_csv(path, None)
    assert table.features.tolist() == [[2.5], [4.0]]
    assert table.labels.tolist() == [1.0, -1.5e-3]
    assert any("decimal comma" in note for note in table.notes)


def test_a_point_in_a_file_of_decimal_commas_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "de.csv"
    path.write_text("y;a\n" + "1;2,5\n" * 10 + "1;1.500\n")
    with pytest.raises(DataError, match=r"row 11 \(line 12\), column 'a': '1.500' is not a number"):
        read_csv(path, None)


def test_commas_elsewhere_are_not_decimal_commas() -> None:
    assert not dialect_of(["y\ta\n", "1,234\t5\n"]).decimal_comma
    assert not dialect_of(["y;a\n", "1;2.5\n"]).decimal_comma
    assert not dialect_of(["y;a\n", "1,5;2.5\n"]).decimal_comma


def test_a_number_with_an_underscore_is_text() -> None:
    assert Dialect(",").number("1_0") is None
    assert Dialect(",").number(" 10 ") == 10.0


def test_no_delimiter_means_one_column() -> None:
    with pytest.raises(DataError, match="one column only"):
        dialect_of(["y\n", "1\n"])
