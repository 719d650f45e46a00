"""The lines of a table below its header, converted to numbers in one pass.

Each line is converted by itself (`float` rounds correctly) and appended to one growing buffer, which becomes the
matrix without a copy. Only a line that fails is looked at cell by cell. Faults are collected to the end of the
file, so that the message can name the first and count the rest.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeGuard

import numpy as np

from relubias.files.dialect import Dialect
from relubias.files.faults import BadCell, RaggedLine
from relubias.files.header import Record
from relubias.linalg.gram import Array


@dataclass
class Body:
    """Numbers, the first column as text, and what was wrong."""

    width: int
    numbers: array[float] = field(default_factory=lambda: array("d"))
    first_column: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    bad_cells: list[BadCell] = field(default_factory=list)  # at most one, the first, of each line
    n_bad_cells: int = 0
    ragged: list[RaggedLine] = field(default_factory=list)

    @property
    def values(self) -> Array:
        """The numbers, shape (n_rows, width); the memory is that of the buffer."""
        return np.frombuffer(self.numbers, dtype=np.float64).reshape(self.n_rows, self.width)

    @property
    def n_rows(self) -> int:
        """Number of lines with the right number of cells."""
        return len(self.lines)

    def convert_first_column(self, dialect: Dialect) -> None:
        """Put the numbers of the first column, which was kept as text, into their place."""
        values = self.values
        for row, text in enumerate(self.first_column):
            number = dialect.number(text)
            if _is_finite(number):
                values[row, 0] = number
            else:
                self.n_bad_cells += 1
                self.bad_cells.append(BadCell(row, self.lines[row], 0, text, number))


def body_of(records: Iterator[Record], width: int, dialect: Dialect) -> Body:
    """Convert all lines; the first column is kept as text until it is known what it is, with 0 in its place."""
    body = Body(width)
    for line, cells in records:
        if len(cells) != width:
            body.ragged.append(RaggedLine(body.n_rows + len(body.ragged), line, len(cells)))
            continue
        body.first_column.append(cells[0])
        body.lines.append(line)
        cells[0] = "0"
        try:
            numbers = dialect.numbers(cells)
            faultless = bool(np.isfinite(numbers).all())
        except ValueError:
            faultless = False
        if not faultless:
            numbers = np.zeros(width)
            _note_bad_cells(body, cells, dialect)
        body.numbers.frombytes(numbers.view(np.uint8).data)
    return body


def _note_bad_cells(body: Body, cells: list[str], dialect: Dialect) -> None:
    numbers = [dialect.number(cell) for cell in cells]
    bad = [column for column, number in enumerate(numbers) if not _is_finite(number)]
    body.n_bad_cells += len(bad)
    body.bad_cells.append(BadCell(body.n_rows - 1, body.lines[-1], bad[0], cells[bad[0]], numbers[bad[0]]))


def _is_finite(number: float | None) -> TypeGuard[float]:
    return number is not None and math.isfinite(number)
