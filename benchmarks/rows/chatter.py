"""Real data whose pattern changes hundreds of thousands of times before it settles, so that plain steps must be fast.

The riboflavin data with centred labels, up to the certified limit, against a NumPy loop given K, which runs the whole
way to the last change of pattern. There its β is compared with that of an exact run, and our limit with the closed
form. Ours starts from a new problem in every repeat.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.harness import Check, Row, race
from benchmarks.profiling import Job
from benchmarks.tasks.products import products
from benchmarks.tasks.real_data import RIBOFLAVIN, real
from benchmarks.tasks.training import as_new, limit, limit_of_new, off_closed_form, off_stepping, rival_after

FASTER = 8
GOAL = f"{FASTER} times as fast as NumPy given K"
REPEATS = 3


def measure() -> Iterator[Row]:
    """Yield the race."""
    problem = real(RIBOFLAVIN, centre_labels=True)
    run = limit(as_new(problem))
    steps = int(run.stabilised_at or 0)
    yield race(
        f"certified limit, riboflavin centred, given K, {run.pattern_changes} changes of pattern",
        partial(limit_of_new, problem),
        f"NumPy given K, {steps} steps to the last change",
        partial(rival_after, run, steps),
        at_most=1 / FASTER,
        check=Check(lambda: max(off_stepping(run, steps), off_closed_form(run)), 1e-8),
        repeats=REPEATS,
        patience=120.0,
    )


def jobs() -> Iterator[Job]:
    """The whole way against as many products with the columns that are active at the end."""
    problem = real(RIBOFLAVIN, centre_labels=True)
    run = limit(as_new(problem))
    yield Job(
        "certified limit, riboflavin centred",
        partial(limit_of_new, problem),
        f"{run.steps} products with the active columns of K, compiled",
        products(np.array(problem.gram), run.state.pattern[0], run.steps),
        "This is no bound, since where the pattern stays we leap; the rest is the search for changes.",
    )
