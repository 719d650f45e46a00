"""Samplers are named by small frozen records of plain values, so that a study can write them to TOML and read them.

A record becomes ``{"kind": …, field: value, …}`` with numbers, lists and nested records of the same form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from relubias.arguments import is_number, is_whole
from relubias.errors import ArgumentError

Record = TypeVar("Record")

#: Features are counted exactly up to here, and χ² of so many degrees of freedom is resolved to eight digits.
MOST_FEATURES = 10**15


def as_plain(record: Any) -> dict[str, Any]:
    """The kind and the fields of a record as plain values."""
    return {"kind": record.kind} | {field.name: _plain(getattr(record, field.name)) for field in fields(record)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return as_plain(value) if hasattr(value, "kind") else value


def rebuilt(kinds: Mapping[str, type[Record]], values: Mapping[str, Any], what: str) -> Record:
    """Make the record that :func:`as_plain` wrote.

    Parameters
    ----------
    kinds : dict of type
        The classes by their kind.
    values : dict
        With the kind, and the fields that have no default.
    what : str
        What the record is, in words, for messages.

    Raises
    ------
    ArgumentError
        If the kind is unknown, or a field is unknown or missing.
    """
    if not isinstance(values, Mapping) or values.get("kind") not in kinds:
        kind = values.get("kind") if isinstance(values, Mapping) else values
        raise ArgumentError(f"there are no {what} of kind {kind!r}; the kinds are {', '.join(kinds)}.")
    maker: Any = kinds[values["kind"]]
    known = {field.name: field for field in fields(maker)}
    given = {name: value for name, value in values.items() if name != "kind"}
    if unknown := sorted(set(given) - set(known)):
        raise ArgumentError(f"{what} of kind {maker.kind!r} have no {unknown[0]!r}; they have {', '.join(known)}.")
    needed = {name for name, field in known.items() if field.default is MISSING and field.default_factory is MISSING}
    if missing := sorted(needed - set(given)):
        raise ArgumentError(f"{what} of kind {maker.kind!r} need {missing[0]!r}.")
    record: Record = maker(**given)
    return record


def settle(record: Any, **values: Any) -> None:
    """Give fields of a frozen record the checked values, while it is being made."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def real(value: Any, what: str, wanted: str, holds: Callable[[float], bool]) -> float:
    """Return a finite number that satisfies a condition, or raise ArgumentError with what is `wanted`."""
    if is_number(value) and math.isfinite(value) and holds(float(value)):
        return float(value)
    raise ArgumentError(f"{what} must be {wanted}; it is {value!r}.")


def whole(value: Any, what: str, least: int = 1, most: int = MOST_FEATURES) -> int:
    """Return a whole number from `least` to `most`, or raise ArgumentError."""
    if is_whole(value) and least <= value <= most:
        return int(value)
    raise ArgumentError(f"{what} must be a whole number from {least:,} to {most:,}; it is {value!r}.")
