"""Real data whose pattern changes hundreds of thousands of times before it settles, so that plain steps must be fast.

The riboflavin data with centred labels, up to the certified limit, against a NumPy loop given K: its time for one step
times the steps up to the last change of pattern. In its first 2000 steps it has to agree; later the two
may take a change a step apart, where β is within rounding of the kink.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.harness import Check, Row, race
from benchmarks.profiling import Job
from benchmarks.rows import limit
from benchmarks.rows.real_data import real

GOAL = "8 times as fast as NumPy given K"
TIMED, COMPARED = 100_000, 2000


def measure() -> Iterator[Row]:
    """Yield the race."""
    problem = real("riboflavin.csv.gz", centre_labels=True)
    run = limit.limit(problem)
    steps = int(run.stabilised_at or 0)
    yield race(
        "certified limit, riboflavin centred, given K",
        partial(limit.limit, problem),
        f"NumPy given K, {steps} steps to the last change",
        partial(limit.rival_after, run, TIMED),
        at_most=1 / 8,
        check=Check(partial(limit.deviation, run, COMPARED), 1e-8),
        factors=(1.0, steps / TIMED),
        repeats=5,
        patience=40.0,
    )


def jobs() -> Iterator[Job]:
    """The whole way against as many products with K."""
    problem = real("riboflavin.csv.gz", centre_labels=True)
    steps = limit.limit(problem).steps
    gram, vector = np.array(problem.gram), problem.labels.copy()
    result = np.empty_like(vector)

    def products() -> None:
        for _ in range(steps):
            np.dot(gram, vector, out=result)

    yield Job("certified limit, riboflavin centred", partial(limit.limit, problem), f"{steps} products K a", products)
