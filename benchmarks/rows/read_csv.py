"""Reading a wide table: 100 samples, 20 000 features, from CSV to a validated problem with its Gram matrix."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import relubias
from benchmarks.harness import Row, ceiling, race

N_SAMPLES, N_FEATURES = 100, 20_000


def measure() -> Iterator[Row]:
    """Yield the race against pandas, and the ceiling."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.csv"
        values = np.random.default_rng(0).standard_normal((N_SAMPLES, N_FEATURES + 1))
        header = ",".join(["y", *(f"g{j}" for j in range(N_FEATURES))])
        np.savetxt(path, values, delimiter=",", fmt="%.6f", header=header, comments="")

        def ours() -> object:
            return relubias.read(path, target="y")

        yield ceiling("read 100 x 20000 CSV", ours, at_most=3.0)
        yield race("read 100 x 20000 CSV", ours, "pandas.read_csv", lambda: pd.read_csv(path), repeats=3)
