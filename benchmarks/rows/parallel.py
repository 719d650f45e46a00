"""Two workers against one, on one and the same study: 3000 cells of n = 200 and d = 1e6, from the draw to the gap.

Every cell is computed on one BLAS thread, so that two workers on two cores should take half the time of one. Timed by
the clock, from the call to the last cell on disk, the start of the processes included; the tables have to be equal.
"""

from __future__ import annotations

import importlib
import os
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import Check, Row, Skipped, race

GOAL = "two workers at least 1.8 times as fast as one"
STUDY = """
name = "two workers against one"
seed = 1
repeats = 3000
problem = "gaussian n=200 d=1e6"
[measure]
columns = ["run.status", "gap.absolute", "reference.norm"]
"""


def studies() -> Any:
    """The package that runs studies.

    Raises
    ------
    Skipped
        If this version has none, or the machine has one core.
    """
    if (os.cpu_count() or 1) < 2:
        raise Skipped("there is one core only")
    try:
        return importlib.import_module("relubias.studies")
    except ImportError:
        raise Skipped("this version of relubias has no studies, so that nothing runs on two workers") from None


def run(workers: int) -> Any:
    """Run the study; return its table."""
    package = studies()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        package.run(package.Study.from_toml(STUDY), path, workers=workers)
        return package.Store.open(path).to_pandas()


def deviation() -> float:
    """The largest difference between the gaps of the two tables."""
    one, two = run(1), run(2)
    return float((one["gap.absolute"] - two["gap.absolute"]).abs().max())


def measure() -> Iterator[Row]:
    """Yield the race."""
    studies()
    yield race(
        "a study of 3000 cells, two workers",
        partial(run, 2),
        "one worker",
        partial(run, 1),
        at_most=1 / 1.8,
        check=Check(deviation, 0.0),
        repeats=3,
        clock=time.perf_counter,
        patience=60.0,
    )
