"""Which column holds the labels.

A target is given by name or by position. Positions count the columns of the file from 1, as rows, lines and
columns are counted in every message; −1 is the last column. A string is a name if some column is called so, and
otherwise, where it is a whole number, a position. Without a target, a column whose name is one of
:data:`CUSTOMARY` is taken.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Sequence

from relubias.errors import ArgumentError, DataError

CUSTOMARY = ("y", "target", "label", "labels", "class", "response")


def find_target(target: str | int | None, names: Sequence[str], *, of: str = "columns") -> int | None:
    """Return the index (from 0) of the target among `names`, or None where none is it.

    Parameters
    ----------
    target : str, int or None
    names : sequence of str
    of : {"columns", "rows"}
        What the names belong to; only columns can be given by position.

    Raises
    ------
    DataError
        If several names fit, or there is no such position.
    ArgumentError
        If `target` is neither a name nor a whole number.
    """
    if target is None:
        return _customary(names, of)
    if isinstance(target, str):
        if target in names:
            return _only(target, names, of)
        if of == "rows" or not re.fullmatch(r"\s*[-+]?\d+\s*", target):
            return None
        return column_at(int(target), len(names))
    try:
        position = operator.index(target)
    except TypeError:
        raise ArgumentError(f"target is {target!r}; give the name of a column or its position from 1.") from None
    return None if of == "rows" else column_at(position, len(names))


def missing_target(target: str | int | None, columns: Sequence[str], rows: Sequence[str] | None) -> DataError:
    """Say that nothing among the names of columns (and of rows, where they have names) is the target."""
    first = f"the first columns are {quoted(columns)}"
    what = "column" if rows is None else "column or row"
    if target is None:
        return DataError(
            f"no {what} is called {', '.join(CUSTOMARY[:-1])} or {CUSTOMARY[-1]}; give the target by its name or by "
            f"its position, counted from 1 ({first})."
        )
    folded: dict[str, str] = {}
    for name in (*columns, *(rows or ())):
        folded.setdefault(name.casefold(), name)
    close = difflib.get_close_matches(str(target).casefold(), folded, n=3)
    meant = f"did you mean {' or '.join(repr(folded[name]) for name in close)}? " if close else ""
    return DataError(f"there is no {what} {target!r}; {meant}{'T' if meant else 't'}{first[1:]}.")


def target_without_header(target: str | int | None) -> DataError:
    """Say that a file without a header needs a position."""
    wanted = "no target was given" if target is None else f"there is no column {target!r}"
    return DataError(
        f"{wanted}: the first line holds numbers only, so columns have no names; "
        "give the target by its position, counted from 1 (-1 is the last column)."
    )


def quoted(names: Sequence[str], limit: int = 5) -> str:
    """Join the first `limit` names in quotation marks, with dots where there are more."""
    shown = ", ".join(repr(name if len(name) <= 40 else name[:37] + "...") for name in names[:limit])
    return shown + (", …" if len(names) > limit else "")


def _customary(names: Sequence[str], of: str) -> int | None:
    found = [index for index, name in enumerate(names) if name.strip().casefold() in CUSTOMARY]
    if len(found) > 1:
        raise DataError(
            f"{len(found)} {of} could be the target ({quoted([names[index] for index in found])}); "
            "give its name or position."
        )
    return found[0] if found else None


def _only(target: str, names: Sequence[str], of: str) -> int:
    found = [index for index, name in enumerate(names) if name == target]
    if len(found) > 1:
        places = " and ".join(str(index + 1) for index in found[:5])
        remedy = f"give the position of one ({places})" if of == "columns" else "rename all but one"
        raise DataError(f"{target!r} is the name of {len(found)} {of}; {remedy}.")
    return found[0]


def column_at(position: int, width: int) -> int:
    """Return the index (from 0) of the column at this position (from 1, or from −1 backwards), or raise DataError."""
    if position == 0 or abs(position) > width:
        raise DataError(
            f"there is no column at position {position}; the {width} columns are counted from 1, and -1 is the last."
        )
    return position - 1 if position > 0 else width + position
