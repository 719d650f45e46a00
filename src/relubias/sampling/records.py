"""Samplers are named by small frozen records of plain values, so that a study can write them to TOML and read them.

A record becomes ``{"kind": …, field: value, …}`` with numbers, words, lists and nested records of the same form. What
is wrong with a table that is read is said with the key where it stands (``features.spectrum.kind``), and a word that is
not known with the nearest one that is. Records settle their fields while they are made: a number of whatever type
becomes a float or an int, a sequence a tuple.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, TypeVar

import numpy as np

from relubias.arguments import is_number, is_whole
from relubias.errors import ArgumentError, DataError
from relubias.linalg.validation import MOST_SAMPLES

Record = TypeVar("Record")

#: Reads a nested record from its plain values; the second argument is the key where they stand.
Reader = Callable[[Any, str], Any]

#: Features are counted exactly up to here, and χ² of so many degrees of freedom is resolved to eight digits.
MOST_FEATURES = 10**15

#: Squared lengths and eigenvalues are from 1/LARGEST to LARGEST: beyond, sums and products leave the range of numbers.
LARGEST = 1e150


def as_plain(record: Any) -> dict[str, Any]:
    """The kind and the fields of a record as plain values."""
    return {"kind": record.kind} | {field.name: _plain(getattr(record, field.name)) for field in fields(record)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.as_dict() if hasattr(value, "as_dict") else value


def rebuilt(
    kinds: Mapping[str, type[Record]], values: Any, where: str, nested: Mapping[str, Reader] | None = None
) -> Record:
    """Make the record that :func:`as_plain` wrote.

    Parameters
    ----------
    kinds : dict of type
        The classes by their kind.
    values : dict
        With the kind, and the fields that have no default.
    where : str
        The key at which the values stand, for messages.
    nested : dict of callable, optional
        How the fields that are records themselves are read, by their names.

    Raises
    ------
    ArgumentError
        With the key, if the kind or a field is unknown or missing, or a value is refused.
    """
    make = kinds[kind_of(values, kinds, where)]
    given = {name: _frozen(value) for name, value in values.items() if name != "kind"}
    for name in (nested or {}).keys() & {field.name for field in fields(make)} & given.keys():  # type: ignore[arg-type]
        given[name] = (nested or {})[name](values[name], name if where == "problem" else f"{where}.{name}")
    return built(make, given, where)


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def kind_of(values: Any, known: Collection[str], where: str) -> str:
    """Return the kind that a table of plain values names.

    Raises
    ------
    ArgumentError
        If `values` is no table, or names no kind or an unknown one.
    """
    if not isinstance(values, Mapping):
        raise ArgumentError(f"{where} must be a table with a kind; it is {values!r:.80}.")
    if "kind" not in values:
        raise ArgumentError(f"{where}.kind is missing; known are {', '.join(known)}.")
    kind = values["kind"]
    if not isinstance(kind, str) or kind not in known:
        raise unknown(f"{where}.kind", kind, known)
    return kind


def built(make: type[Record], values: Mapping[str, Any], where: str) -> Record:
    """Build a record from its fields; whatever is wrong is said with the key.

    Raises
    ------
    ArgumentError
        If a field is unknown or missing, or the record refuses a value.
    """
    known = {field.name: field for field in fields(make)}  # type: ignore[arg-type]
    for key in values:
        if key not in known:
            raise unknown(f"{where}.{key}: the field", key, list(known))
    for name, field in known.items():
        if field.default is MISSING and field.default_factory is MISSING and name not in values:
            raise ArgumentError(f"{where}.{name} is missing.")
    record: Record = said_of(where, make, **values)
    return record


def said_of(where: str, make: Callable[..., Any], **values: Any) -> Any:
    """Build something; what is refused is said with the place where it stands.

    Raises
    ------
    ArgumentError, DataError
        If it is refused.
    """
    try:
        return make(**values)
    except (ArgumentError, DataError) as error:
        raise type(error)(f"{where}: {error}") from error


def unknown(what: str, word: object, known: Collection[str]) -> ArgumentError:
    """Return the error for a word that is none of the known ones, with the nearest of those."""
    close = difflib.get_close_matches(str(word), known, n=1, cutoff=0.5)
    meant = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}."
    return ArgumentError(f"{what} {word!r:.80} is not known; {meant}")


def settle(record: Any, **values: Any) -> None:
    """Give fields of a frozen record the checked values, while it is being made."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def real(value: Any, what: str, wanted: str, holds: Callable[[float], bool]) -> float:
    """Return a finite number that satisfies a condition, or raise ArgumentError with what is `wanted`."""
    try:
        number = float(value) if is_number(value) else math.nan
    except OverflowError:  # an int beyond all floats
        number = math.nan
    if math.isfinite(number) and holds(number):
        return number
    raise ArgumentError(f"{what} must be {wanted}; it is {_shown(value)}.")


def any_real(value: Any, what: str) -> float:
    """Return a finite number, or raise ArgumentError."""
    return real(value, what, "a finite number", lambda number: True)


def size(value: Any, what: str, largest: float = LARGEST) -> float:
    """Return a positive number whose square or product with another is still one, or raise ArgumentError."""
    wanted = f"a positive finite number from {1.0 / largest:.0e} to {largest:.0e}"
    return real(value, what, wanted, lambda number: 1.0 / largest <= number <= largest)


def size_or_zero(value: Any, what: str) -> float:
    """Return 0, or a number whose magnitude is that of a :func:`size`, or raise ArgumentError."""
    wanted = f"0, or of a magnitude from {1.0 / LARGEST:.0e} to {LARGEST:.0e}"
    return real(value, what, wanted, lambda number: number == 0.0 or 1.0 / LARGEST <= abs(number) <= LARGEST)


def share(value: Any, what: str) -> float:
    """Return a number from 0 to 1, or raise ArgumentError."""
    return real(value, what, "a number from 0 to 1", lambda number: 0.0 <= number <= 1.0)


def whole(value: Any, what: str, least: int = 1, most: int = MOST_FEATURES) -> int:
    """Return a whole number from `least` to `most`, or raise ArgumentError."""
    if is_whole(value) and least <= value <= most:
        return int(value)
    raise ArgumentError(f"{what} must be a whole number from {least:,} to {most:,}; it is {_shown(value)}.")


def _shown(value: Any) -> str:
    """The beginning of what a value looks like; Python does not write down whole numbers of thousands of digits."""
    try:
        return f"{value!r:.80}"
    except ValueError:
        return "a number of thousands of digits"


def require_drawable(n_rows: int) -> None:
    """Raise ArgumentError where so many rows have a K that would fill the memory, before anything is allocated."""
    if n_rows > MOST_SAMPLES:
        raise ArgumentError(
            f"samples, test points and teachers are {n_rows:,} rows, whose inner products would take "
            f"{8e-9 * n_rows**2:,.1f} GB; at most {MOST_SAMPLES:,} are drawn."
        )


def items(value: Any) -> tuple[Any, ...] | None:
    """Return the items of a sequence or an array; None where it is neither."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else None
