"""Ten thousand cells from the draw to the gap: how long a study takes, and how much of it is no computing.

A hundred samples, from a thousand to a trillion features, three steps; the exact limit, w* and the gap of each. The
rival is the time of processors that the cells themselves took, spread evenly over the workers: the ratio is what the
start of the workers, the way of cells and rows between processes and the store with its flushes add.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import Row, Sample
from relubias import studies

STUDY = """
name = "ten thousand cells"
seed = 1
repeats = 334
problem = "gaussian n=100 d=1e3"
[grid]
problem.features.n_features = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12]
dynamics.step_size = ["1/trace", "0.5/trace", "0.1/trace"]
[measure]
columns = ["run.status", "run.stabilised_at", "gap.absolute", "gap.relative", "reference.norm", "reference.kkt"]
"""
GOAL = "10 020 cells in less than 120 s on two cores; workers busy for at least 85 % of it"
#: Seconds on two cores, and the least part of the time in which workers are to be busy with cells.
SECONDS, BUSY = 120.0, 0.85


def measure() -> Iterator[Row]:
    """Yield the time of a study against a ceiling, and against its cells."""
    study = studies.Study.from_toml(STUDY)
    with tempfile.TemporaryDirectory() as folder:
        report = studies.run(study, Path(folder) / "study.db")
    if report.status.done < study.n_cells:
        raise RuntimeError(f"{study.n_cells - report.status.done} cells are not done: {report.status.failures}")
    seconds, cells = Sample.of([report.seconds]), Sample.of([report.seconds * report.busy])
    name = f"study of {study.n_cells:,} cells, n = 100, {report.layout}"
    yield Row(name, seconds, at_most=SECONDS, is_ceiling=True)
    ratio = Sample.of([1.0 / report.busy])
    yield Row("the same, against its cells", seconds, "cells alone", cells, ratio, at_most=1.0 / BUSY)
