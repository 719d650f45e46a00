"""A message names the first faulty place and counts the others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from relubias.errors import DataError
from relubias.files.csv import read_csv

BAD = {
    "N/A": "is not a number",
    "text": "is not a number",
    "1_000": "is not a number",
    "12 cm": "is not a number",
    "": "is empty",
    "nan": "is not a finite number",
    "-inf": "is not a finite number",
    "1e400": "is not a finite number",
}


def message_of(path: Path, text: str, target: Any = "y") -> str:
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_csv(path, target)
    return str(caught.value)


@settings(max_examples=60)
@given(data=st.data())
def test_the_first_of_some_bad_cells_is_named_and_the_rest_counted(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    n, d = data.draw(st.integers(2, 12)), data.draw(st.integers(2, 6))
    cells = [[str(float(v)) for v in row] for row in np.random.default_rng(0).normal(size=(n, d))]
    places = data.draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, d - 1)), min_size=1, max_size=5))
    for row, column in places:
        cells[row][column] = data.draw(st.sampled_from(sorted(BAD)))
    names = [*(f"g{j}" for j in range(d)), "y"]
    lines = [",".join(names), *(",".join([*row, "1"]) for row in cells)]
    text_only = all(BAD.get(row[0]) == "is not a number" for row in cells)
    assume(not text_only)  # that column would be names of samples
    message = message_of(tmp_path_factory.mktemp("csv") / "bad.csv", "\n".join(lines))
    row, column = min(places)
    text = cells[row][column]
    assert message.startswith(f"row {row + 1} (line {row + 2}), column 'g{column}': {text!r} {BAD[text]};")
    others = re.search(r"(\d+) more cell", message)
    assert (int(others.group(1)) if others else 0) == len(places) - 1
    assert "remove these rows or columns or replace the cells first" in message


def test_a_target_of_text_asks_for_numbers(tmp_path: Path) -> None:
    message = message_of(tmp_path / "bad.csv", "class,a\nAML,1\nALL,2\n", "class")
    assert message == (
        "row 1 (line 2), column 'class': 'AML' is not a number; 1 more cell is not a number either; "
        "labels must be numbers, for two classes -1 and +1."
    )


def test_a_decimal_comma_between_tabs_asks_for_points(tmp_path: Path) -> None:
    assert "'2,5' is not a number; write numbers with a decimal point" in message_of(
        tmp_path / "bad.csv", "y\ta\n1\t2,5\n"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y,a,b\n1,2,3\n1,2\n", r"row 2 \(line 3\) has 2 cells, but the first line has 3; give every line"),
        ("y,a,b\n1,2,3\n\n1,2,3,4\n1\n", r"row 2 \(line 4\) has 4 cells.*; 1 more line does not fit either"),
        ("y,a,b\n1,2\n1,2\n1,2,3\n1\n", r"row 1 \(line 2\) has 2 cells.*; 2 more lines do not fit either"),
    ],
)
def test_lines_of_other_lengths_are_named_and_counted(tmp_path: Path, text: str, expected: str) -> None:
    assert re.search(expected, message_of(tmp_path / "bad.csv", text))


def test_a_long_cell_is_shortened_in_the_message(tmp_path: Path) -> None:
    assert len(message_of(tmp_path / "bad.csv", "y,a\n1," + "x" * 5000 + "\n")) < 250
