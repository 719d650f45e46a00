"""The target by name, by position counted from 1, or by custom."""

from __future__ import annotations

from typing import Any

import pytest

from relubias.errors import ArgumentError, DataError
from relubias.files.target import CUSTOMARY, find_target, missing_target

NAMES = ("age", "7", "GAPDH", "Response")


@pytest.mark.parametrize(
    ("target", "index"),
    [("age", 0), ("GAPDH", 2), (1, 0), (4, 3), (-1, 3), (-4, 0), ("1", 0), ("-1", 3), ("7", 1), (None, 3)],
)
def test_names_come_before_positions(target: Any, index: int) -> None:
    assert find_target(target, NAMES) == index


@pytest.mark.parametrize("position", [0, 5, -5, "0", "5"])
def test_a_position_outside_the_table_is_refused(position: Any) -> None:
    with pytest.raises(DataError, match=r"no column at position .*counted from 1, and -1 is the last"):
        find_target(position, NAMES)


def test_an_unknown_name_finds_nothing() -> None:
    assert find_target("gapdh", NAMES) is None


@pytest.mark.parametrize("target", [1, "1", -1])
def test_rows_have_no_positions(target: Any) -> None:
    assert find_target(target, ("a", "b"), of="rows") is None


@pytest.mark.parametrize("name", CUSTOMARY)
def test_customary_names_are_found_in_any_case(name: str) -> None:
    assert find_target(None, ("a", name.upper(), "b")) == 1


def test_two_customary_names_are_too_many() -> None:
    with pytest.raises(DataError, match=r"2 columns could be the target \('y', 'Label'\)"):
        find_target(None, ("y", "a", "Label"))


def test_a_name_that_occurs_twice_needs_a_position() -> None:
    with pytest.raises(DataError, match=r"'y' is the name of 2 columns; give the position of one \(1 and 3\)"):
        find_target("y", ("y", "a", "y"))


@pytest.mark.parametrize("target", [1.0, ["y"]])
def test_a_target_is_a_name_or_a_whole_number(target: Any) -> None:
    with pytest.raises(ArgumentError, match="give the name of a column or its position"):
        find_target(target, NAMES)


def test_close_names_and_the_first_columns_are_offered() -> None:
    names = ("GAPDH", *(f"g{j}" for j in range(20_000)))
    message = str(missing_target("gapd", names, None))
    assert message == (
        "there is no column 'gapd'; did you mean 'GAPDH'? The first columns are 'GAPDH', 'g0', 'g1', 'g2', 'g3', …."
    )


def test_what_to_give_is_said_where_nothing_was() -> None:
    message = str(missing_target(None, ("a", "b"), ("r", "s")))
    assert "no column or row is called y, target" in message
    assert "'a', 'b'" in message
