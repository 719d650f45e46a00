"""Which way a table lies: a sample a row, or, as gene tables often come, a sample a column.

A table is transposed where its target is the name of a row and not of a column. Its shape alone proves nothing,
so a table that merely has many more rows than columns is read as it stands, with a note.
"""

from __future__ import annotations

from relubias.errors import DataError
from relubias.files.table import Table
from relubias.files.target import find_target, missing_target
from relubias.linalg.gram import Array

#: Rows a column from which a table is suspected of being transposed.
SUSPICIOUS = 10


def sorted_table(
    values: Array,
    columns: tuple[str, ...],
    rows: tuple[str, ...] | None,
    *,
    target: str | int | None,
    column: int | None,
) -> Table:
    """Tell samples, features and labels apart, whichever way the table lies.

    Parameters
    ----------
    values : ndarray, shape (n_rows, n_columns)
        Consumed: the features are made from its memory.
    columns, rows : tuple of str
        Names; of rows only where the file has them.
    target : str, int or None
        As it was given.
    column : int or None
        The column it was found to be.

    Raises
    ------
    DataError
        If neither a column nor a row is the target, or there is nothing beside it.
    """
    if column is not None:
        _require_features(len(columns) - 1)
        return _samples_in_rows(values, column, columns, rows)
    row = None if rows is None else find_target(target, rows, of="rows")
    if rows is None or row is None:
        raise missing_target(target, columns, rows)
    _require_features(len(rows) - 1)
    return _samples_in_columns(values, row, columns, rows)


def _require_features(count: int) -> None:
    if count < 1:
        raise DataError("there is no feature beside the labels; at least one is needed.")


def _samples_in_rows(values: Array, target: int, columns: tuple[str, ...], rows: tuple[str, ...] | None) -> Table:
    """Sort a table with a sample a row; column `target` holds the labels."""
    labels = values[:, target].copy()
    return Table(
        features=_without_column(values, target),
        labels=labels,
        feature_names=columns[:target] + columns[target + 1 :],
        sample_names=rows,
        target_name=columns[target],
        notes=suspicion(values.shape),
    )


def _samples_in_columns(values: Array, target: int, columns: tuple[str, ...], rows: tuple[str, ...]) -> Table:
    """Sort a table with a sample a column; row `target` holds the labels."""
    labels = values[target].copy()
    note = (
        f"the file is transposed: {rows[target]!r} is the name of a row, so its {len(columns)} columns were read "
        f"as samples and its {len(rows) - 1} other rows as features."
    )
    return Table(
        features=_without_row(values, target).T,
        labels=labels,
        feature_names=rows[:target] + rows[target + 1 :],
        sample_names=columns,
        target_name=rows[target],
        notes=(note,),
    )


def _without_column(values: Array, column: int) -> Array:
    """Close the gap in place, row by row: numpy would copy the whole of two overlapping blocks."""
    if column == 0:
        return values[:, 1:]
    for row in values:
        row[column:-1] = row[column + 1 :]
    return values[:, :-1]


def _without_row(values: Array, row: int) -> Array:
    if row == 0:
        return values[1:]
    for index in range(row, len(values) - 1):
        values[index] = values[index + 1]
    return values[:-1]


def suspicion(shape: tuple[int, ...]) -> tuple[str, ...]:
    """A note where a table has so many more rows than columns that its rows may be features."""
    n_rows, n_columns = shape
    if n_rows < SUSPICIOUS * n_columns:
        return ()
    note = (
        f"the file has {n_rows} rows and {n_columns} columns of numbers and each row was read as a sample; "
        "transpose it if its rows are features."
    )
    return (note,)
