"""How the time of a whole cell grows with the number of samples: draw, certified limit, w* and gap, n = 100 … 1600.

The exponent is the slope of a line through the logarithms of the median times. Each time is also held against one
eigendecomposition of K, the dearest thing that a cell may need.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import scipy.linalg

import relubias
from benchmarks.harness import Row, Sample, race
from benchmarks.profiling import Job
from benchmarks.rows.dimension import cell

GOAL = "fitted exponent in n at most 3.0"
SIZES, RATIO = (100, 200, 400, 800, 1600), 100


def measure() -> Iterator[Row]:
    """Yield one row for each size, and the exponent with that of the quartiles."""
    rows = [against_eigenvalues(n_samples) for n_samples in SIZES]
    yield from rows
    times = [[row.seconds.median, row.seconds.low, row.seconds.high] for row in rows]
    median, low, high = np.polyfit(np.log(SIZES), np.log(times), 1)[0]
    exponent = Sample(float(median), float(min(low, high, median)), float(max(low, high, median)), len(SIZES))
    yield Row(
        f"exponent of the whole cell, n = {SIZES[0]} … {SIZES[-1]}",
        rows[-1].seconds,
        rival="n to the power of",
        ratio=exponent,
        at_most=3.0,
    )


def against_eigenvalues(n_samples: int) -> Row:
    """Race one cell against one eigendecomposition."""
    return race(
        f"draw, limit, w* and gap, n = {n_samples}, d = {RATIO} n",
        partial(cell, n_samples, RATIO * n_samples),
        "one eigendecomposition of K",
        partial(scipy.linalg.eigh, gram(n_samples)),
        repeats=9 if n_samples < 800 else 3,
    )


def gram(n_samples: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The Gram matrix of a cell."""
    return np.array(relubias.sampling.gaussian(n_samples=n_samples, n_features=RATIO * n_samples, rng=0).gram)


def jobs() -> Iterator[Job]:
    """The largest cell."""
    largest = SIZES[-1]
    yield Job(
        f"draw, limit, w* and gap, n = {largest}",
        partial(cell, largest, RATIO * largest),
        "one eigendecomposition of K",
        partial(scipy.linalg.eigh, gram(largest)),
    )
