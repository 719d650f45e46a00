"""The table of a study: one row a cell.

Columns are the coordinates by their dotted names, ``trial``, ``id``, ``status``, the measured columns, ``message``
(why a cell failed) and ``notes`` (why a value is missing), and the provenance: ``seconds``, ``cpu_seconds``,
``finished``, ``peak_megabytes``, ``attempts``, ``environment``. Cells that failed or are pending are rows like the
others, without values.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from relubias.archive import write_atomically
from relubias.errors import ArgumentError, DataError
from relubias.studies.grid import shown
from relubias.studies.measures import MEASURES

if TYPE_CHECKING:
    import pandas as pd

    from relubias.studies.store import Store

#: Columns that differ between two runs of one study.
PROVENANCE = ("seconds", "cpu_seconds", "finished", "peak_megabytes", "attempts", "environment")
#: What a value of each kind is in the store, and in a data frame.
_STORED: dict[str, tuple[type, ...]] = {"real": (float, int), "whole": (int,), "word": (str,), "truth": (int,)}
_TYPES: dict[str, Any] = {"real": "float64", "whole": "Int64", "word": "object", "truth": "boolean"}
#: Whole numbers beyond this are not exact as floats.
_EXACT = 2**53


def to_pandas(store: Store, *, provenance: bool = False) -> pd.DataFrame:
    """Return the table of a store.

    Parameters
    ----------
    store : Store
    provenance : bool
        Whether to add where, when and how long each cell was computed: all in which two runs of one study can differ.

    Raises
    ------
    DataError
        If a value is of another kind than its column, as after damage.
    """
    import pandas as pd

    names, rows = store.table()
    columns: dict[str, Sequence[Any]] = dict(zip(names, zip(*rows, strict=True), strict=True))
    found: dict[str, Any] = {}
    with _damage_in(store, "coordinates"):
        coordinates = [json.loads(text) for text in columns.pop("coordinates")]
        for name in store.study.coordinates:
            found[name] = _typed([row[name] for row in coordinates])
    for name, values in columns.items():
        with _damage_in(store, name):
            if name in MEASURES:
                found[name] = _measured(values, MEASURES[name].kind)
            elif provenance or name not in PROVENANCE:
                found[name] = list(values)
    return pd.DataFrame(found)


@contextmanager
def _damage_in(store: Store, column: str) -> Iterator[None]:
    """Turn what a value of the wrong kind raises into one sentence."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"{store.path} is damaged: its column {column!r} has a value that is none; take a copy, then a backup."
        ) from error


def _measured(values: Sequence[Any], kind: str) -> pd.Series[Any]:
    """A measured column in the type of its kind; undefined values are missing."""
    import pandas as pd

    if any(value is not None and not isinstance(value, _STORED[kind]) for value in values):
        raise TypeError
    given = [None if value is None else bool(value) for value in values] if kind == "truth" else list(values)
    return pd.Series(given, dtype=_TYPES[kind])


def _typed(values: list[Any]) -> pd.Series[Any]:
    """A coordinate as whole numbers, real numbers or words, whichever all of its values are."""
    import pandas as pd

    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    if numbers and all(isinstance(value, int) and abs(value) <= _EXACT for value in values):
        return pd.Series(values, dtype="int64")
    if numbers:
        return pd.Series([float(value) for value in values], dtype="float64")
    return pd.Series([shown(value) for value in values], dtype="object")


def export(store: Store, path: str | os.PathLike[str]) -> Path:
    """Write the table with its provenance, whole or not at all.

    Parameters
    ----------
    store : Store
    path : path
        ``.csv`` or ``.parquet``.

    Raises
    ------
    ArgumentError
        If the suffix is another, or the file cannot be written.
    """
    place = Path(path)
    suffix = place.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise ArgumentError(f"{path}: a table is written to a file that ends in .csv or .parquet.")
    table = to_pandas(store, provenance=True)
    write: Callable[[BinaryIO], object]
    if suffix == ".csv":
        text = table.to_csv(index=False)

        def write(stream: BinaryIO) -> object:
            return stream.write(text.encode())
    else:

        def write(stream: BinaryIO) -> object:
            return table.to_parquet(stream, index=False)

    write_atomically(place, write)
    return place
