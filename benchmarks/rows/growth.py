"""How the time of a whole cell grows with the number of samples: draw, certified limit, w* and gap, n = 100 … 1600.

All sizes are timed in turn, and each repeat gives one exponent: the slope of a line through the logarithms of its
times. A line hides what happens at its end, where small sizes pay for calls and large ones for arithmetic, so that the
exponent of each doubling is told too, and the last has the same goal. Each time is also held against one
eigendecomposition of K, the dearest thing that a cell may need.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import scipy.linalg

import relubias
from benchmarks.harness import Row, Sample, elapsed, race
from benchmarks.profiling import Job
from benchmarks.tasks.cells import FLOOR, cell, floor
from relubias.linalg.gram import Array

AT_MOST = 3.0
GOAL = f"fitted exponent in n at most {AT_MOST:.1f}, and that of the last doubling too"
SIZES, RATIO, REPEATS = (100, 200, 400, 800, 1600), 100, 7


def measure() -> Iterator[Row]:
    """Yield one row for each size, and the exponents."""
    yield from (against_eigenvalues(n_samples) for n_samples in SIZES)
    yield from exponents(SIZES, times())


def against_eigenvalues(n_samples: int) -> Row:
    """Race one cell against one eigendecomposition."""
    return race(
        f"draw, limit, w* and gap, n = {n_samples}, d = {RATIO} n",
        partial(cell, n_samples, RATIO * n_samples),
        "one eigendecomposition of K",
        partial(scipy.linalg.eigh, gram(n_samples)),
        repeats=9 if n_samples < 800 else 3,
    )


def gram(n_samples: int) -> Array:
    """The Gram matrix of a cell."""
    return np.array(relubias.sampling.gaussian(n_samples=n_samples, n_features=RATIO * n_samples, rng=0).gram)


def times() -> Array:
    """Seconds of a cell, one row a repeat and one column a size; what has been called before is warm."""
    tasks = [partial(cell, n_samples, RATIO * n_samples) for n_samples in SIZES]
    return np.array([[elapsed(task, time.process_time) for task in tasks] for _ in range(REPEATS)])


def exponents(sizes: Sequence[int], seconds: Array) -> Iterator[Row]:
    """Yield the exponents of all doublings, one row each, and the fitted one; each repeat gives one of each."""
    logarithms = np.log(seconds)
    slopes = np.diff(logarithms, axis=1) / np.diff(np.log(sizes))
    for k, (low, high) in enumerate(pairwise(sizes)):
        goal = AT_MOST if high == sizes[-1] else None
        yield _row(f"exponent from n = {low} to {high}", seconds[:, k + 1], slopes[:, k], goal)
    fitted = np.polyfit(np.log(sizes), logarithms.T, 1)[0]
    yield _row(f"fitted exponent, n = {sizes[0]} … {sizes[-1]}", seconds[:, -1], fitted, AT_MOST)


def _row(name: str, seconds: Array, exponent: Array, at_most: float | None) -> Row:
    return Row(
        f"{name}, whole cell",
        Sample.of(seconds.tolist()),
        rival="n to the power of",
        ratio=Sample.of(exponent.tolist()),
        at_most=at_most,
    )


def jobs() -> Iterator[Job]:
    """The largest cell."""
    largest = SIZES[-1]
    yield Job(
        f"draw, limit, w* and gap, n = {largest}",
        partial(cell, largest, RATIO * largest),
        FLOOR,
        partial(floor, largest),
        "The distance is the spectrum, and the factorisations and products of the two proofs.",
    )
