"""What a trillion features cost over a thousand, from the draw to the gap: n = 100, labels ±1, one neuron."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.harness import Row, race
from benchmarks.profiling import Job
from benchmarks.tasks.cells import FLOOR, cell, floor

AT_MOST, N_SAMPLES, LARGE, SMALL = 1.2, 100, 10**12, 10**3
GOAL = f"d = 1e12 takes at most {AT_MOST:g} times as long as d = 1e3"


def measure() -> Iterator[Row]:
    """Yield the race."""
    ours, small = partial(cell, N_SAMPLES, LARGE), partial(cell, N_SAMPLES, SMALL)
    name = f"draw, limit, w* and gap, {N_SAMPLES} x {LARGE:.0e}"
    yield race(name, ours, f"{N_SAMPLES} x {SMALL}", small, at_most=AT_MOST, repeats=25)


def jobs() -> Iterator[Job]:
    """The whole cell against what it cannot do without."""
    yield Job(
        f"draw, limit, w* and gap, n = {N_SAMPLES}",
        partial(cell, N_SAMPLES, LARGE),
        FLOOR,
        partial(floor, N_SAMPLES),
        "The distance is the spectrum, the proofs of the limit and of w*, and, at so small an n, calls of NumPy.",
    )
