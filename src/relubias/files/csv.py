"""Tables in text files: comma- or tab-separated values, plain or .gz.

The first column is not a feature but the *names of the samples* where the header says so, or where it holds text
in every row and is not the target.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
import os
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from relubias.errors import DataError
from relubias.files.body import Body, body_of
from relubias.files.dialect import Dialect, dialect_of
from relubias.files.faults import bad_cell_error, ragged_error
from relubias.files.header import Header, Record, header_of
from relubias.files.orientation import sorted_table
from relubias.files.table import Table
from relubias.files.target import find_target, missing_target, quoted, target_without_header
from relubias.files.text import text_lines
from relubias.linalg.gram import Array

_PEEKED = 6  # lines from which the dialect is recognised


def read_csv(path: str | os.PathLike[str], target: str | int | None) -> Table:
    """Read a table of numbers from a text file.

    Parameters
    ----------
    path : path
    target : str, int or None
        Column (or, in a transposed file, row) of the labels, as :mod:`relubias.files.target` explains.

    Raises
    ------
    DataError
        If the file is not a table of finite numbers, or the target is not in it.
    """
    header, body, dialect = _parsed(path)
    column, names_rows = _recognised(header, body, dialect, target)
    names = header.names
    notes = dialect.notes + header.notes
    if names_rows:
        notes += (f"the first column ({quoted(names[:1])}) was taken as names of the rows, not as numbers.",)
    table = sorted_table(
        body.values[:, int(names_rows) :],
        names[int(names_rows) :],
        tuple(body.first_column) if names_rows else None,
        target=target,
        column=None if column is None else column - int(names_rows),
    )
    return replace(table, notes=notes + table.notes)


def read_column(path: str | os.PathLike[str], target: str | int | None) -> tuple[Array, str]:
    """Read one column of a table of numbers, and its name; the only one beside names of the rows needs no `target`.

    Raises
    ------
    DataError
        If the file is not a table of finite numbers, or the target is not in it.
    """
    header, body, dialect = _parsed(path)
    column, names_rows = _recognised(header, body, dialect, target)
    names = header.names
    if column is None and target is None and len(names) == 1 + int(names_rows):
        column = int(names_rows)
    if column is None:
        raise missing_target(target, names[int(names_rows) :], None)
    return np.ascontiguousarray(body.values[:, column]), names[column]


def _parsed(path: str | os.PathLike[str]) -> tuple[Header, Body, Dialect]:
    with contextlib.closing(text_lines(path)) as lines:
        peeked = list(itertools.islice(lines, _PEEKED))
        if not any(line.strip() for line in peeked):
            raise DataError("the file is empty; a header and at least one line of numbers are needed.")
        dialect = dialect_of(peeked)
        records = _records(itertools.chain(peeked, lines), dialect)
        header, records = header_of(records, dialect)
        return header, body_of(records, len(header.names), dialect), dialect


def _records(lines: Iterator[str], dialect: Dialect) -> Iterator[Record]:
    """Split lines into cells, skipping blank ones."""
    number = 1
    for line in lines:
        first, number = number, number + 1
        if '"' not in line:  # twice as fast as the general way
            cells = line.rstrip("\r\n").split(dialect.delimiter)
        else:
            reader = csv.reader(itertools.chain([line], lines), delimiter=dialect.delimiter, strict=True)
            try:
                cells = next(reader)
            except csv.Error as error:
                raise DataError(
                    f"line {first} cannot be split into cells ({error}); check its quotation marks."
                ) from None
            number = first + reader.line_num
        if len(cells) > 1 or cells[0].strip():
            yield first, cells


def _recognised(header: Header, body: Body, dialect: Dialect, target: str | int | None) -> tuple[int | None, bool]:
    """Find the target among the columns, and whether the first one names the rows; refuse what is no table."""
    names = header.names
    if body.ragged:
        raise ragged_error(body.ragged[0], len(body.ragged), len(names))
    if not body.n_rows:
        raise DataError("there is a header but no sample below it; at least one line of numbers is needed.")
    column = find_target(target, names)
    if not header.present and column is None:
        raise target_without_header(target)
    all_text = all(cell.strip() and dialect.number(cell) is None for cell in body.first_column)
    names_rows = column != 0 and (header.names_rows or all_text)
    if not names_rows:
        body.convert_first_column(dialect)
    if body.bad_cells:
        raise bad_cell_error(min(body.bad_cells), body.n_bad_cells, names, column)
    return column, names_rows
