"""Whether the first line holds names."""

from __future__ import annotations

import pytest

from relubias.files.dialect import Dialect
from relubias.files.header import Header, header_of


def header(*lines: str) -> tuple[Header, list[list[str]]]:
    records = [(number, line.split(",")) for number, line in enumerate(lines, 1)]
    found, body = header_of(iter(records), Dialect(","))
    return found, [cells for _, cells in body]


def test_a_first_line_of_numbers_stays_in_the_body() -> None:
    found, body = header("1,2.5,3", "4,5,6")
    assert not found.present
    assert body == [["1", "2.5", "3"], ["4", "5", "6"]]


def test_a_first_line_that_counts_from_zero_is_a_header() -> None:
    found, body = header("0,1,2,3", "4,5,6,7")
    assert found.present
    assert body == [["4", "5", "6", "7"]]
    assert "counts 0, 1, 2" in found.notes[0]


@pytest.mark.parametrize("line", ["0,1,2", "1,2,3,4", "0,1,2,2"])
def test_a_first_line_that_could_be_a_sample_is_not_a_header(line: str) -> None:
    assert not header(line, line)[0].present


def test_names_that_are_numbers_are_said_unless_the_first_shows_a_header() -> None:
    assert "all its cells but the first are numbers" in header("s1,900,902", "s2,1,2")[0].notes[0]
    assert header("y,900,902", "1,1,2")[0].notes == ()


def test_repeated_names_are_kept_and_said() -> None:
    found, _ = header("y,a,a,b", "1,2,3,4")
    assert found.names == ("y", "a", "a", "b")
    assert "more than once in the header were kept as they are ('a')" in found.notes[0]


def test_a_delimiter_at_the_end_of_each_line_does_not_shift_the_names() -> None:
    found, _ = header("y,a", "1,2,")
    assert found.names == ("y", "a")
