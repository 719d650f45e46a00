"""Reading a wide table: 100 samples, 20 000 features, from CSV to a validated problem with its Gram matrix."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow

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
    """Against the conversion of the numbers alone, by the fastest that we know, from text that is cut already."""
    with tempfile.TemporaryDirectory() as folder:
        ours, _ = tasks(Path(folder))
        text = (Path(folder) / "wide.csv").read_text(encoding="utf-8").split("\n", 1)[1]
        cut = pyarrow.array(text.rstrip().replace("\n", ",").split(","))
        yield Job(
            f"read {N_SAMPLES} x {N_FEATURES} CSV",
            ours,
            "the conversion of its numbers, cut already, by pyarrow",
            partial(cut.cast, pyarrow.float64()),
            "The distance is Python's own conversion, cell by cell so that a bad one can be named, and the cutting.",
        )
