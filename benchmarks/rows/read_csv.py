"""Reading a wide table: 100 samples, 20 000 features, from CSV to a validated problem with its Gram matrix."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from pyarrow.csv import ReadOptions, read_csv

import relubias
from benchmarks.harness import Check, Row, ceiling, race
from benchmarks.profiling import Job

SECONDS = 3.0
GOAL = f"within {SECONDS:g} s"
N_SAMPLES, N_FEATURES = 100, 20_000


def measure() -> Iterator[Row]:
    """Yield the ceiling, and the race against pandas."""
    with tempfile.TemporaryDirectory() as folder:
        ours, rival = tasks(Path(folder))

        def deviation() -> float:
            problem, table = ours(), rival()
            return float(np.max(np.abs(np.asarray(problem.features) - table.drop(columns="y").to_numpy())))

        yield ceiling(f"read {N_SAMPLES} x {N_FEATURES} CSV", ours, at_most=SECONDS)
        check = Check(deviation, 0.0)
        yield race(f"read {N_SAMPLES} x {N_FEATURES} CSV", ours, "pandas.read_csv", rival, repeats=3, check=check)


def tasks(folder: Path) -> tuple[Callable[[], relubias.Problem], Callable[[], pd.DataFrame]]:
    """Write the table, and return how we and how pandas read it."""
    path = folder / "wide.csv"
    values = np.random.default_rng(0).standard_normal((N_SAMPLES, N_FEATURES + 1))
    header = ",".join(["y", *(f"g{j}" for j in range(N_FEATURES))])
    np.savetxt(path, values, delimiter=",", fmt="%.6f", header=header, comments="")
    return partial(relubias.read, path, target="y"), lambda: pd.read_csv(path)


def jobs() -> Iterator[Job]:
    """Against pyarrow, on one thread, which reads no more than the numbers."""
    with tempfile.TemporaryDirectory() as folder:
        ours, _ = tasks(Path(folder))
        limit = partial(read_csv, Path(folder) / "wide.csv", ReadOptions(use_threads=False, block_size=2**26))
        remark = (
            "The distance is the search for the header, for labels and for what is no number, and the Gram product."
        )
        yield Job(f"read {N_SAMPLES} x {N_FEATURES} CSV", ours, "pyarrow.csv.read_csv, one thread", limit, remark)
