"""Synthetic rows of studies, as a store exports them: a law, noise in its logarithm, and cells that went wrong."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], Array]

#: Noise in the logarithm, each with median 0: normal, skewed, heavy-tailed, and without a mean.
NOISES: dict[str, Noise] = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "skewed": lambda rng, size: rng.exponential(size=size) - np.log(2.0),
    "student": lambda rng, size: rng.standard_t(2, size),
    "cauchy": lambda rng, size: rng.standard_cauchy(size),
}


def study_rows(
    grid: Mapping[str, Sequence[float]],
    law: Callable[[pd.DataFrame], Any],
    *,
    trials: int = 20,
    noise: str = "normal",
    scatter: float = 0.1,
    seed: int | np.random.Generator = 0,
    y: str = "gap.absolute",
) -> pd.DataFrame:
    """Rows over a grid: y = law · exp(scatter · noise), every cell done and certified."""
    rng = np.random.default_rng(seed)
    cells = [(*point, trial) for point in itertools.product(*grid.values()) for trial in range(trials)]
    rows = pd.DataFrame(cells, columns=[*grid, "trial"])
    rows["status"], rows["failure"] = "done", pd.Series([None] * len(rows), dtype=object)
    rows["run.status"] = "certified"
    # Noise without a mean is cut where the exponential would overflow, far beyond every median.
    factor = np.exp(np.clip(scatter * NOISES[noise](rng, len(rows)), -600.0, 600.0))
    rows[y] = np.asarray(law(rows), dtype=np.float64) * factor
    return rows


def fail(rows: pd.DataFrame, index: Sequence[int], sentence: str, *measured: str) -> pd.DataFrame:
    """The same rows with some cells failed: nothing was measured there."""
    rows = rows.copy()
    rows.loc[list(index), "status"] = "failed"
    rows.loc[list(index), "failure"] = sentence
    for name in ["run.status", *measured]:
        rows.loc[list(index), name] = None
    return rows
