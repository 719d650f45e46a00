"""Tables in Parquet files: a feature a column, read a few columns at a time into the array that becomes the features.

The dtype is the smallest that holds all columns. *Names of the samples* are the index that pandas stored; without
one, the column that is called so, or the first column if it is text and not the target.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relubias.errors import DataError, MissingDependency
from relubias.files.header import NAMING
from relubias.files.orientation import sorted_table, suspicion
from relubias.files.table import Table
from relubias.files.target import find_target, missing_target, quoted
from relubias.linalg.validation import require_tractable

#: Numbers that are read at once.
READ_ENTRIES = 2**18


class _Fault(NamedTuple):
    """The first cell of a column that is not a finite number, and how many there are."""

    row: int
    value: str
    what: str
    n_cells: int


def read_parquet(path: str | os.PathLike[str], target: str | int | None) -> Table:
    """Read a table of numbers.

    Parameters
    ----------
    path : path
    target : str, int or None
        Column of the labels by name, or by position counted from 1 among the columns that are not the index of
        pandas; or the name of a row, where the table is transposed.

    Raises
    ------
    DataError
        If the file is damaged, a cell is missing or no finite number, or the target is not in it.
    MissingDependency
        If pyarrow is not installed.
    """
    file, arrow = _opened(path)
    try:
        with file:
            return _table(file, arrow, target)
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"the Parquet file is damaged ({_brief(error)}); write it again.") from error


def _opened(path: str | os.PathLike[str]) -> tuple[Any, Any]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingDependency("reading Parquet files needs pyarrow: pip install pyarrow") from error
    try:
        return parquet.ParquetFile(path, memory_map=True), arrow
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"the file cannot be read as Parquet ({_brief(error)}).") from error


def _brief(error: BaseException) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__


def _table(file: Any, arrow: Any, target: str | int | None) -> Table:
    schema = file.schema_arrow
    _require_single_names(schema.names)
    index = [name for name in (schema.pandas_metadata or {}).get("index_columns", ()) if isinstance(name, str)]
    columns = [name for name in schema.names if name not in index]
    column = find_target(target, columns)
    if not index:
        index = _naming_column(schema, arrow, columns, column)
    rows = _row_names(file, index) if index else None
    if column is None:
        return _transposed(file, arrow, [name for name in columns if name not in index], rows, target)
    require_tractable(file.metadata.num_rows)
    features = [name for name in columns if name != columns[column] and name not in index]
    if not features or not file.metadata.num_rows:
        raise DataError("the table has no feature or no row; at least one feature beside the labels and one sample.")
    labels = _values(file, arrow, [columns[column]], is_target=True)[:, 0]
    notes: tuple[str, ...] = ()
    if index and index[0] in columns:
        notes = (f"the column {quoted(index)} was taken as names of the rows, not as numbers.",)
    return Table(
        features=_values(file, arrow, features),
        labels=labels,
        feature_names=tuple(features),
        sample_names=rows,
        target_name=columns[column],
        notes=notes + suspicion((file.metadata.num_rows, len(features) + 1)),
    )


def _transposed(
    file: Any, arrow: Any, columns: list[str], rows: tuple[str, ...] | None, target: str | int | None
) -> Table:
    """Sort a table in which the target is the name of a row."""
    if rows is None or find_target(target, rows, of="rows") is None:
        raise missing_target(target, columns, rows)
    return sorted_table(_values(file, arrow, columns), tuple(columns), rows, target=target, column=None)


def _require_single_names(names: Sequence[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"names of columns occur more than once ({quoted(repeated, 3)}); rename them.")


def _naming_column(schema: Any, arrow: Any, columns: list[str], target: int | None) -> list[str]:
    """The first column, if it is not the target and is called, or looks like, one of names."""
    if not columns or target == 0:
        return []
    is_text = _is_text(arrow, schema.field(columns[0]).type)
    return columns[:1] if is_text or columns[0].strip().casefold() in NAMING else []


def _row_names(file: Any, index: list[str]) -> tuple[str, ...]:
    """Names of the rows; levels of an index are joined."""
    levels = [file.read(columns=[name]).column(0).to_pylist() for name in index]
    return tuple(" ".join(map(str, parts)) for parts in zip(*levels, strict=True))


def _values(file: Any, arrow: Any, names: list[str], *, is_target: bool = False) -> NDArray[Any]:
    """Read columns into one array of shape (n_rows, len(names)), in Fortran order.

    Raises
    ------
    DataError
        If a cell is not a finite number; the first column that has one is named, and all such cells are counted.
    """
    schema = file.schema_arrow  # made anew whenever it is asked for
    types = [schema.field(name).type for name in names]
    dtype = np.result_type(*{_dtype(arrow, kind) for kind in types})
    values = np.empty((file.metadata.num_rows, len(names)), dtype=dtype, order="F")
    faults: dict[int, _Fault] = {}
    for position, column in _columns(file, names):
        if _is_number(arrow, column.type) and not column.null_count:
            plain = column if _is_plain(arrow, column.type) else column.cast(arrow.float64())
            values[:, position] = plain.to_numpy()
            if np.isfinite(values[:, position]).all():
                continue
        faults[position] = _fault(arrow, column)
    if faults:
        raise _fault_error(faults, names, is_target=is_target)
    return values


def _columns(file: Any, names: list[str]) -> Iterator[tuple[int, Any]]:
    """Yield positions and columns, reading a few columns at a time."""
    width = max(1, READ_ENTRIES // max(1, file.metadata.num_rows))
    for first in range(0, len(names), width):
        part = names[first : first + width]
        table = file.read(columns=part)
        for offset, name in enumerate(part):
            yield first + offset, table.column(name)


def _fault(arrow: Any, column: Any) -> _Fault:
    """Find the first cell that is not a finite number in a column that has one."""
    import pyarrow.compute as compute

    kind = column.type
    if _is_text(arrow, kind):
        cells = enumerate(column.to_pylist())
        row, value = next(((row, cell) for row, cell in cells if cell is not None), (0, None))
        return _Fault(row, repr(value), f"is text (the column has type {kind})", len(column))
    if not _is_number(arrow, kind):
        return _Fault(0, str(column[0]), f"is not a number (the column has type {kind})", len(column))
    bad = compute.is_null(column)
    if arrow.types.is_floating(kind):
        bad = compute.or_(bad, compute.invert(compute.fill_null(compute.is_finite(column), True)))
    row = compute.index(bad, True).as_py()
    value = column[row].as_py()
    return _Fault(
        row,
        "" if value is None else str(value),
        "is empty" if value is None else "is not finite",
        compute.sum(bad).as_py(),
    )


def _fault_error(faults: dict[int, _Fault], names: list[str], *, is_target: bool) -> DataError:
    position, first = next(iter(faults.items()))
    count = sum(fault.n_cells for fault in faults.values()) - 1
    others = f"; {count} more cell{'s are' if count > 1 else ' is'} not finite numbers either" if count else ""
    remedy = "remove these rows or columns, or store numbers"
    if is_target:
        remedy = "labels must be numbers, for two classes -1 and +1"
    value = f"{first.value} " if first.value else "the cell "
    return DataError(f"row {first.row + 1}, column {quoted([names[position]])}: {value}{first.what}{others}; {remedy}.")


def _is_text(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    if types.is_dictionary(kind):
        return _is_text(arrow, kind.value_type)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_plain(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _is_number(arrow: Any, kind: Any) -> bool:
    return _is_plain(arrow, kind) or bool(arrow.types.is_decimal(kind))


def _dtype(arrow: Any, kind: Any) -> np.dtype[Any]:
    return np.dtype(kind.to_pandas_dtype() if _is_plain(arrow, kind) else np.float64)
