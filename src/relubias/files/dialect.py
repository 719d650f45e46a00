"""How a text file writes its table: what stands between the cells, and how a number is written.

The delimiter is the first of tab, semicolon, bar and comma that occurs, outside quotation marks, equally often
in every one of the first data lines; where none does, the one most frequent in the first line. The comma comes last
because it also occurs inside numbers and names.

A comma inside a number is a decimal comma only where cells are separated by semicolons, the custom of
spreadsheets in countries that write 1,5: elsewhere 1,234 may as well be one thousand two hundred thirty-four.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relubias.errors import DataError
from relubias.linalg.gram import Array

DELIMITERS = ("\t", ";", "|", ",")

_QUOTED = re.compile(r'"[^"]*"')
_POINT = re.compile(r"(?:^|;)\s*[-+]?\d*\.\d+(?:[eE][-+]?\d+)?\s*(?=;|$)")
_COMMA = re.compile(r"(?:^|;)\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*(?=;|$)")
# Exchanging the two marks, not only replacing the comma, keeps 1.500 from being read as one and a half.
_EXCHANGED = str.maketrans(",.", ".,")


@dataclass(frozen=True)
class Dialect:
    """Delimiter and decimal mark of one file."""

    delimiter: str
    decimal_comma: bool = False

    def numbers(self, cells: Sequence[str]) -> Array:
        """Convert the cells of one line to float64, correctly rounded.

        Raises
        ------
        ValueError
            If a cell is not a number; which one is not said (see :meth:`number`).
        """
        if "_" in "".join(cells):  # Python reads 1_000 as a number; files do not mean it so
            raise ValueError
        if self.decimal_comma:
            cells = [cell.translate(_EXCHANGED) for cell in cells]
        return np.fromiter(map(float, cells), np.float64, len(cells))

    def number(self, cell: str) -> float | None:
        """The value of one cell, or None where it is not a number."""
        try:
            return float(self.numbers([cell])[0])
        except ValueError:
            return None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found out, where it is not the ordinary comma or tab."""
        if self.decimal_comma:
            return ("cells are separated by semicolons and numbers are written with a decimal comma.",)
        named = {";": ("cells are separated by semicolons.",), "|": ("cells are separated by bars.",)}
        return named.get(self.delimiter, ())


def dialect_of(lines: Sequence[str]) -> Dialect:
    """Recognise the dialect from the first lines of a file.

    Raises
    ------
    DataError
        If no delimiter occurs: the file has one column only.
    """
    bare = [_QUOTED.sub("", line).rstrip("\r\n") for line in lines if line.strip()]
    # The first line does not vote where there are others: R writes no name above the column of row names.
    voters = bare[1:] or bare
    present = [mark for mark in DELIMITERS if mark in bare[0] and mark in voters[0]]
    steady = [mark for mark in present if len({line.count(mark) for line in voters}) == 1]
    delimiter = steady[0] if steady else max(DELIMITERS, key=bare[0].count)
    if delimiter not in bare[0]:
        raise DataError(
            "there is one column only; a target and at least one feature are needed, "
            "with cells separated by commas, tabs, semicolons or bars."
        )
    if delimiter != ";":
        return Dialect(delimiter)
    text = [line.replace('"', "").rstrip("\r\n") for line in lines]
    return Dialect(delimiter, any(map(_COMMA.search, text)) and not any(map(_POINT.search, text)))
