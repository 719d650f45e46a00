"""What counts as a number, and as a source of random numbers, among arguments."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from relubias.errors import ArgumentError, DataError


def is_number(value: object) -> bool:
    """True for a real number, of Python or NumPy, that is not NaN and not a truth value."""
    number: Any = value
    return isinstance(number, numbers.Real) and not isinstance(value, bool) and number == number


def is_whole(value: object) -> bool:
    """True for a finite whole number, of whatever type."""
    if isinstance(value, numbers.Integral):
        return not isinstance(value, bool)
    if not is_number(value):
        return False
    number: float = value  # type: ignore[assignment]
    return math.isfinite(number) and int(number) == number


def as_count(value: Any, what: str) -> int | None:
    """Return a whole number from 1, or None as it is, or raise DataError."""
    if value is None or (is_whole(value) and value >= 1):
        return value if value is None else int(value)
    raise DataError(f"{what} is {value!r:.80}, not a whole number from 1.")


def generator_of(rng: int | np.integer[Any] | np.random.Generator) -> np.random.Generator:
    """Return the generator itself, or a fresh one with this seed; there is no global state.

    Raises
    ------
    ArgumentError
        If `rng` is neither a non-negative int nor a Generator.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return np.random.default_rng(int(rng))
    raise ArgumentError(f"rng must be a non-negative int or a numpy Generator; it is {rng!r}.")
