"""How records are written in words.

A record is one word, its kind, and then its fields as ``name=value`` in any order, or values without a name in the
order of the fields::

    gaussian n=100 d=1e12          signs 0.5..2 fraction=0.3          teacher +,- noise=0.1
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from relubias.errors import ArgumentError
from relubias.sampling.records import unknown

#: Whole floats up to here are read as ints; beyond, a float is no longer the number that was written.
_LARGEST_WHOLE = 2**53


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
    is_count = value.is_integer() and abs(value) <= _LARGEST_WHOLE and "e" in word.lower()
    return int(value) if is_count else value


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
