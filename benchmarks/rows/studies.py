"""Ten thousand cells from the draw to the gap: how long a study takes, and how much of it is no computing.

A hundred samples, from a thousand to a trillion features, three steps; the exact limit, w* and the gap of each. Workers
tell how long they were busy with cells, by our own accounting; the second row compares the whole with that. The third
checks it: a plain loop in this process does cells of the same laws, without a study, and its time is spread evenly over
the workers. What is left is the start of the workers, the way of cells and rows between processes and the store.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.harness import Row, Sample, elapsed
from benchmarks.profiling import Job
from benchmarks.tasks.cells import FLOOR, cell, floor
from benchmarks.tasks.whole_studies import whole
from relubias import studies

SECONDS, BUSY, WORKERS = 120.0, 0.85, 2
GOAL = (
    f"10 020 cells in less than {SECONDS:g} s on two cores; workers busy for at least {BUSY * 100:.0f} % of it, "
    "by our own accounting"
)
REPEATS, N_SAMPLES = 334, 100
FEATURES, FRACTIONS = tuple(10**k for k in range(3, 13)), (1.0, 0.5, 0.1)


def study() -> studies.Study:
    """The study."""
    features, steps = [float(d) for d in FEATURES], [f"{fraction:g}/trace" for fraction in FRACTIONS]
    return studies.Study.from_toml(f"""
name = "ten thousand cells"
seed = 1
repeats = {REPEATS}
problem = "gaussian n={N_SAMPLES} d=1e3"
[grid]
problem.features.n_features = {features}
dynamics.step_size = {steps}
[measure]
columns = ["run.status", "run.stabilised_at", "gap.absolute", "gap.relative", "reference.norm", "reference.kkt"]
""")


def loop() -> None:
    """As many cells of the same laws, one after the other, in this process."""
    for seed in range(REPEATS):
        for n_features in FEATURES:
            for fraction in FRACTIONS:
                cell(N_SAMPLES, n_features, rng=seed, fraction=fraction)


def measure() -> Iterator[Row]:
    """Yield the time of a study against a ceiling, and against its cells, as told and as timed."""
    asked = study()
    with tempfile.TemporaryDirectory() as folder:
        report = whole(asked, Path(folder) / "study.db", WORKERS)
    seconds, told = Sample.of([report.seconds]), report.seconds * report.busy
    name = f"study of {asked.n_cells:,} cells, n = {N_SAMPLES}, {report.layout}"
    yield Row(name, seconds, at_most=SECONDS, is_ceiling=True)
    yield against("the same, against its cells as told", report.seconds, "cells, by our own accounting", told, 1 / BUSY)
    cell(N_SAMPLES, FEATURES[0])  # compiled and warm
    alone = elapsed(loop, time.perf_counter) / WORKERS
    rival = f"such cells in a plain loop, over {WORKERS} workers"
    yield against("the same, against cells as timed", report.seconds, rival, alone, None)


def against(name: str, seconds: float, rival: str, cells: float, at_most: float | None) -> Row:
    """The whole against its cells."""
    ratio = Sample.of([seconds / cells])
    return Row(name, Sample.of([seconds]), rival, Sample.of([cells]), ratio, at_most=at_most)


def jobs() -> Iterator[Job]:
    """One of its cells, in this process."""
    yield Job(
        f"a cell of the study, {N_SAMPLES} x {FEATURES[-1]:.0e}",
        partial(cell, N_SAMPLES, FEATURES[-1]),
        FLOOR,
        partial(floor, N_SAMPLES),
        "The distance is the spectrum, the proofs of the limit and of w*, and, at so small an n, calls of NumPy.",
    )
