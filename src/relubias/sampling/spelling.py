"""How records are written in words, and what is said of words that no record knows.

A record is one word, its kind, and then its fields as ``name=value`` in any order, or values without a name in the
order of the fields::

    gaussian n=100 d=1e12          signs 0.5..2 fraction=0.3          teacher +,- noise=0.1

As plain values (TOML, JSON) it is a table with its kind and its fields. In both, what is unknown is named with the key
where it stands and with the nearest word that is known.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from relubias.errors import ArgumentError

T = TypeVar("T")


def unknown(what: str, word: object, known: Collection[str]) -> ArgumentError:
    """Return the error for a word that is none of the known ones, with the nearest of those."""
    close = difflib.get_close_matches(str(word), known, n=1, cutoff=0.5)
    meant = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}."
    return ArgumentError(f"{what} {word!r} is not known; {meant}")


def kind_of(values: Any, known: Collection[str], where: str) -> str:
    """Return the kind that a table of plain values names.

    Raises
    ------
    ArgumentError
        If `values` is no table, or names no kind or an unknown one.
    """
    if not isinstance(values, Mapping):
        raise ArgumentError(f"{where} must be a table with a kind; it is {values!r}.")
    if "kind" not in values:
        raise ArgumentError(f"{where}.kind is missing; known are {', '.join(known)}.")
    if values["kind"] not in known:
        raise unknown(f"{where}.kind", values["kind"], known)
    return str(values["kind"])


def built(make: type[T], values: Mapping[str, Any], where: str) -> T:
    """Build a record from its fields; whatever is wrong is said with the key.

    Raises
    ------
    ArgumentError
        If a field is unknown or missing, or the record refuses a value.
    """
    fields = {field.name: field for field in dataclasses.fields(make)}  # type: ignore[arg-type]
    for key in values:
        if key not in fields:
            raise unknown(f"{where}.{key}: the field", key, list(fields))
    for name, parameter in inspect.signature(make).parameters.items():
        if parameter.default is inspect.Parameter.empty and name not in values:
            raise ArgumentError(f"{where}.{name} is missing.")
    record: T = said_of(where, make, **values)
    return record


def said_of(where: str, make: Any, **values: Any) -> Any:
    """Build something; what is refused is said with the place where it stands.

    Raises
    ------
    ArgumentError
        If it is refused.
    """
    try:
        return make(**values)
    except ArgumentError as error:
        raise ArgumentError(f"{where}: {error}") from error


def plain(record: Any) -> dict[str, Any]:
    """Return a record of numbers and words as plain values: its kind and its fields, tuples as lists."""
    fields = {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    return {"kind": record.kind} | {
        name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()
    }


def number(word: str) -> Any:
    """Read a number as TOML would; a whole one such as ``1e12`` becomes an int. Other words stay as they are."""
    if word in ("true", "false"):
        return word == "true"
    try:
        return int(word)
    except ValueError:
        pass
    try:
        value = float(word)
    except ValueError:
        return word
    return int(value) if value.is_integer() and ("e" in word.lower()) else value


def pairs(words: list[str], known: Collection[str], short: Mapping[str, str], where: str) -> dict[str, str]:
    """Split ``name=value`` words; `short` maps short names to fields.

    Raises
    ------
    ArgumentError
        If a word is no pair, its name is unknown, or it is given twice.
    """
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        key = short.get(name, name.replace("-", "_"))
        if key not in known:
            names = [*short, *(name for name in known if name not in short.values())]
            raise unknown(f"{where}: the word", name if equals else word, names)
        if not equals or not value:
            raise ArgumentError(f"{where}: {name!r} needs a value, as in {name}=1.")
        if key in found:
            raise ArgumentError(f"{where}: {name!r} is given twice.")
        found[key] = value
    return found
