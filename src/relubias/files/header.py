"""The first line of a table of text: names of the columns, or already numbers.

A first line of numbers only is no header, unless it counts 0, 1, 2, 3, …, which is what pandas writes above
columns that have no names. A header one name shorter than the line below it has none above the names of the
samples, the custom of R.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from relubias.files.dialect import Dialect
from relubias.files.target import CUSTOMARY, quoted

#: What a first column that names the samples may be called, in lower case.
NAMING = ("", "id", "index", "name", "names", "row.names", "rownames", "sample", "sample_id", "sample_name", "samples")

Record = tuple[int, list[str]]  # number of the line in the file at which it begins, cells


@dataclass(frozen=True)
class Header:
    """Names of the columns.

    Attributes
    ----------
    names : tuple of str
        Where the file has no header, the positions from 1.
    present : bool
        Whether the file has a header.
    names_rows : bool
        Whether it calls the first column one that names the samples.
    notes : tuple of str
    """

    names: tuple[str, ...]
    present: bool
    names_rows: bool
    notes: tuple[str, ...]


def header_of(records: Iterator[Record], dialect: Dialect) -> tuple[Header, Iterator[Record]]:
    """Take the header off; return it and the records of the body."""
    line, first = next(records)
    numbers = [dialect.number(cell) for cell in first]
    only_numbers = None not in numbers
    if only_numbers and not _counts(numbers):
        names = tuple(str(position) for position in range(1, len(first) + 1))
        note = "the first line holds numbers only, so there is no header and columns are named by position, from 1."
        return Header(names, False, False, (note,)), itertools.chain([(line, first)], records)
    notes: tuple[str, ...] = ()
    if only_numbers:
        notes = (f"the first line counts {', '.join(first[:3])}, … and was taken as the header.",)
    elif len(numbers) > 2 and None not in numbers[1:] and first[0].strip().casefold() not in (*CUSTOMARY, *NAMING):
        notes = ("the first line was taken as the header, although all its cells but the first are numbers.",)
    second = next(records, None)
    names = tuple(name.strip() for name in first)
    if second is not None and len(second[1]) == len(names) + 1 and second[1][-1].strip():
        names = ("", *names)
    repeated = [name for name, count in Counter(names).items() if count > 1 and name]
    if repeated:
        notes += (f"names that occur more than once in the header were kept as they are ({quoted(repeated, 3)}).",)
    filled = tuple(name or f"column {position}, unnamed" for position, name in enumerate(names, 1))
    below = records if second is None else itertools.chain([second], records)
    return Header(filled, True, names[0].casefold() in NAMING, notes), below


def _counts(numbers: list[float | None]) -> bool:
    return len(numbers) > 3 and numbers == list(range(len(numbers)))
