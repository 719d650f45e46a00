"""Figures of large studies, from the rows of a store to the picture on disk, in a time that a person will wait."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.harness import Row, ceiling
from benchmarks.profiling import Job
from relubias.report.study_figures import distribution, phase_diagram, scaling, survival

SECONDS = 2.0
GOAL = f"each within {SECONDS:g} s"
N_FEATURES, STEP, GAP = "problem.n_features", "dynamics.step_size", "gap.absolute"
#: Points along the axes of a map and cells at each of them; numbers of features of the other figures, and their cells.
SIDE, AT_A_POINT = 40, 20
ALONG, AT_EACH = 50, 250
STEPS = (0.25, 0.5, 1.0, 2.0)

Draw = Callable[[Path], None]


def measure() -> Iterator[Row]:
    """Yield one ceiling for each figure."""
    draws = figures()
    with tempfile.TemporaryDirectory() as folder:
        for name, draw in draws.items():
            yield ceiling(name, partial(draw, Path(folder)), at_most=SECONDS)


def figures() -> Mapping[str, Draw]:
    """Make the rows, and return what draws each figure of them into a folder."""
    plane = rows_of(np.geomspace(1e3, 1e6, SIDE), np.linspace(0.1, 2.0, SIDE), AT_A_POINT)
    lines = rows_of(np.geomspace(1e3, 1e6, ALONG), STEPS, AT_EACH)

    def phases(folder: Path) -> None:
        figure = phase_diagram(plane, value=GAP, x=N_FEATURES, y=STEP, logarithmic=True)
        figure.savefig(folder / "figure.png")

    def laws(folder: Path) -> None:
        scaling(lines, y=GAP, x=N_FEATURES, by=STEP, slope=-0.5).savefig(folder / "figure.png")

    def distributions(folder: Path) -> None:
        distribution(lines, value=GAP, by=STEP, logarithmic=True).savefig(folder / "figure.png")

    def survivals(folder: Path) -> None:
        survival(lines, value=GAP, by=STEP).savefig(folder / "figure.png")

    return {
        f"phase diagram of {len(plane)} rows": phases,
        f"scaling of {len(lines)} rows, with fits and intervals": laws,
        f"distribution of {len(lines)} rows": distributions,
        f"survival of {len(lines)} rows": survivals,
    }


def rows_of(features: Sequence[float] | np.ndarray, steps: Sequence[float] | np.ndarray, trials: int) -> pd.DataFrame:
    """Rows as a store exports them, all cells done, with gaps η d^(−1/2) up to a tenth."""
    cells = list(itertools.product(features, steps, range(trials)))
    rows = pd.DataFrame(cells, columns=[N_FEATURES, STEP, "trial"])
    noise = np.random.default_rng(0).standard_normal(len(rows))
    rows["status"], rows["failure"] = "done", pd.Series([None] * len(rows), dtype=object)
    rows["run.status"] = "certified"
    rows[GAP] = rows[STEP] * rows[N_FEATURES] ** -0.5 * np.exp(0.1 * noise)
    return rows


def jobs() -> Iterator[Job]:
    """Each figure against an empty one."""
    from matplotlib.figure import Figure

    draws = figures()
    with tempfile.TemporaryDirectory() as folder:
        for name, draw in draws.items():
            yield Job(
                name,
                partial(draw, Path(folder)),
                "an empty figure",
                partial(Figure().savefig, Path(folder) / "empty.png"),
                "The distance is the medians and their bootstrap intervals, and matplotlib's drawing.",
            )
