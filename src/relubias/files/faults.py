"""What can be wrong inside a table of text, and how it is said: the first place, and how many more there are.

Rows are samples and are counted from 1, as the rest of the package does; the line is that of the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from relubias.errors import DataError
from relubias.files.target import quoted

_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")


class BadCell(NamedTuple):
    """A cell that is not a finite number: row (from 0), line of the file, column (from 0), text, its value if any."""

    row: int
    line: int
    column: int
    text: str
    number: float | None


class RaggedLine(NamedTuple):
    """A line with another number of cells than the header: row (from 0), line of the file, cells."""

    row: int
    line: int
    n_cells: int


def bad_cell_error(first: BadCell, count: int, columns: Sequence[str], target: int | None) -> DataError:
    """Name the first of `count` cells that are not finite numbers; `target` is the column of the labels."""
    what = "is not a finite number" if first.number is not None else "is not a number" if first.text else "is empty"
    others = ""
    if count > 1:
        others = f"; {count - 1} more {'cells are not numbers' if count > 2 else 'cell is not a number'} either"
    remedy = "remove these rows or columns or replace the cells first"
    if first.column == target:
        remedy = "labels must be numbers, for two classes -1 and +1"
    elif _DECIMAL_COMMA.fullmatch(first.text):
        remedy = "write numbers with a decimal point"
    return DataError(
        f"row {first.row + 1} (line {first.line}), column {quoted([columns[first.column]])}: "
        f"{quoted([first.text])} {what}{others}; {remedy}."
    )


def ragged_error(first: RaggedLine, count: int, width: int) -> DataError:
    """Name the first of `count` lines that do not have `width` cells."""
    cells = f"{first.n_cells} cell{'s' if first.n_cells != 1 else ''}"
    others = ""
    if count > 1:
        others = f"; {count - 1} more line{'s do' if count > 2 else ' does'} not fit either"
    return DataError(
        f"row {first.row + 1} (line {first.line}) has {cells}, but the first line has {width}{others}; "
        "give every line the same number of cells."
    )
