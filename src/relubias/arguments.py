"""What counts as a number among arguments."""

from __future__ import annotations

import math
import numbers
from typing import Any


def is_number(value: object) -> bool:
    """True for a real number, of Python or NumPy, that is not NaN and not a truth value."""
    number: Any = value
    return isinstance(number, numbers.Real) and not isinstance(value, bool) and number == number


def is_whole(value: object) -> bool:
    """True for a finite whole number, of whatever type."""
    if not is_number(value):
        return False
    number: float = value  # type: ignore[assignment]
    return math.isfinite(number) and int(number) == number
