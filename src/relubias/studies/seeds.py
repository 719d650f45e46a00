"""The seed of a cell: a hash of the study's seed and of the cell's named coordinates.

    text  = the coordinates and the trial as JSON, names sorted, numbers in one spelling
    seed  = the first 128 bits of BLAKE2b("study seed, line feed, text")
    id    = the first 64 bits of BLAKE2b(text), in hexadecimal digits

so that neither depends on the order of the grid, on what else is in it, or on when a cell is computed. 1e4, 10000 and
10000.0 are one value. Of 100 000 cells two share an id with probability 3e-10; a study with such a pair is refused.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from relubias.errors import ArgumentError


def canonical(value: Any, where: str) -> Any:
    """Return plain values in one spelling: whole numbers as int, lists and tables likewise within.

    Raises
    ------
    ArgumentError
        With the key, if a number is not finite, or a value is nothing that can be written down (a date, say).
    """
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ArgumentError(f"{where} must be finite; it is {value!r}.")
        return int(value) if value.is_integer() else value
    if isinstance(value, list | tuple):
        return [canonical(item, where) for item in value]
    if isinstance(value, Mapping):
        return {str(key): canonical(item, f"{where}.{key}") for key, item in value.items()}
    raise ArgumentError(f"{where} must be a number, a word, a list or a table; it is {value!r:.80}.")


def json_of(value: Any) -> str:
    """Return canonical values as JSON in one spelling, the keys of tables sorted."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def text_of(coordinates: Mapping[str, Any], trial: int) -> str:
    """Return the text that names a cell."""
    return json_of({"coordinates": dict(coordinates), "trial": trial})


def id_of(coordinates: Mapping[str, Any], trial: int) -> str:
    """Return the id of a cell, 16 hexadecimal digits."""
    return _hash(text_of(coordinates, trial), 8).hex()


def seed_of(study_seed: int, coordinates: Mapping[str, Any], trial: int) -> int:
    """Return the seed of a cell, a whole number below 2¹²⁸."""
    return int.from_bytes(_hash(f"{study_seed}\n{text_of(coordinates, trial)}", 16), "big")


def _hash(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=size).digest()
