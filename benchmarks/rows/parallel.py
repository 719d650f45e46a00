"""Two workers against one, on one and the same study: 6000 cells of n = 200 and d = 1e6, from the draw to the gap.

Every cell is computed on one BLAS thread, so that two workers on two cores should take half the time of one. Timed by
the clock, from the call to the last cell on disk, the start of the processes included: it is about a second, so that
a study of a few seconds gains less. Every run has to do every cell, and the two tables have to be equal in all that was
measured, cell by cell and to the last bit.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd

from benchmarks.harness import Check, Row, race
from benchmarks.profiling import Job
from benchmarks.tasks.cells import FLOOR, cell, floor
from benchmarks.tasks.cores import require_two_cores
from benchmarks.tasks.whole_studies import whole
from relubias import studies

FASTER = 1.8
GOAL = f"two workers at least {FASTER:g} times as fast as one"
N_SAMPLES, N_FEATURES, CELLS = 200, 10**6, 6000
MEASURED = ["run.status", "gap.absolute", "reference.norm"]


def study() -> studies.Study:
    """The study."""
    return studies.Study.from_toml(f"""
name = "two workers against one"
seed = 1
repeats = {CELLS}
problem = "gaussian n={N_SAMPLES} d={N_FEATURES}"
[measure]
columns = {MEASURED}
""")


def run(workers: int) -> pd.DataFrame:
    """Run the study; return its table.

    Raises
    ------
    RuntimeError
        If a cell is not done, or has no value: whoever does less is faster.
    """
    asked = study()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        whole(asked, path, workers)
        table = studies.Store.open(path).to_pandas()
    complete(table, asked.n_cells)
    return table


def complete(table: pd.DataFrame, n_cells: int) -> None:
    """Raise a RuntimeError unless the table has so many cells, all done and with all values."""
    done = table[(table["status"] == "done") & table[MEASURED].notna().all(axis=1)]
    if done["id"].nunique() != n_cells or len(table) != n_cells:
        raise RuntimeError(f"{n_cells - done['id'].nunique()} of {n_cells} cells are lost, or have no value.")


def difference(one: pd.DataFrame, two: pd.DataFrame) -> float:
    """Return 0 where two tables have the same cells with the same values, to the last bit, and infinity otherwise."""
    first, second = (table.set_index("id")[MEASURED].sort_index() for table in (one, two))
    return 0.0 if first.equals(second) else math.inf


def measure() -> Iterator[Row]:
    """Yield the race.

    Raises
    ------
    Skipped
        If the machine has one core.
    """
    require_two_cores()
    yield race(
        f"a study of {CELLS} cells, two workers",
        partial(run, 2),
        "one worker",
        partial(run, 1),
        at_most=1 / FASTER,
        check=Check(lambda: difference(run(1), run(2)), 0.0),
        repeats=3,
        clock=time.perf_counter,
        patience=240.0,
    )


def jobs() -> Iterator[Job]:
    """One of its cells, in this process."""
    yield Job(
        f"a cell of the study, {N_SAMPLES} x {N_FEATURES:.0e}",
        partial(cell, N_SAMPLES, N_FEATURES),
        FLOOR,
        partial(floor, N_SAMPLES),
        "The distance is the spectrum and two proofs; what workers lose beside it is their start, and shared memory.",
    )
