"""How numbers, counts and samples are put into sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from relubias.problem import Problem

#: How many samples a sentence names before it says how many more there are.
NAMED = 5


def count(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 step``, ``2 steps``; thousands are set apart by commas."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def portion(mask: NDArray[np.bool_], whole: NDArray[np.bool_]) -> str:
    """Say how many of the samples in `whole` are in `mask`: ``all 25``, ``none of the 25``, ``23 of 25``."""
    part, total = int(np.count_nonzero(mask & whole)), int(np.count_nonzero(whole))
    if total > 1 and part in (0, total):
        return f"all {total:,}" if part else f"none of the {total:,}"
    return f"{part:,} of {total:,}"


def listed(names: Iterable[str]) -> str:
    """Join names by commas and "and"; beyond `NAMED` of them, say how many more."""
    items = list(names)
    if len(items) > NAMED:
        return f"{', '.join(items[:NAMED])} and {len(items) - NAMED:,} more"
    return " and ".join(filter(None, [", ".join(items[:-1]), items[-1]])) if items else ""


def samples(problem: Problem, mask: NDArray[np.bool_]) -> str:
    """Name the samples in `mask`."""
    return listed(problem.sample(int(i)) for i in np.flatnonzero(mask))


def number(value: float) -> str:
    """Return a number with four significant digits."""
    return f"{value:.4g}" if math.isfinite(value) else ("infinite" if value > 0 else str(value))


def sentence(text: str) -> str:
    """Make a remark a sentence: a capital first, unless it starts with a symbol (n/d₂, w*), and a full stop."""
    word = text[1:2].isalpha() or text[1:2] == " "
    return (text[:1].upper() if word else text[:1]) + text[1:] + ("" if text.endswith(".") else ".")
