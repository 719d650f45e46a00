"""What a trillion features cost over a thousand, from the draw to the gap: n = 100, labels ±1, one neuron."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import scipy.linalg

import relubias
from benchmarks.harness import Row, race
from benchmarks.profiling import Job
from benchmarks.rows.limit import limit

GOAL = "d = 1e12 takes at most 1.2 times as long as d = 1e3"
N_SAMPLES, LARGE, SMALL = 100, 10**12, 10**3


def cell(n_samples: int, n_features: int, *, rng: int = 0) -> relubias.Gap:
    """Draw a problem, go to the certified limit at η = ½/‖λ‖₁, find w*, and return the gap."""
    problem = relubias.sampling.gaussian(n_samples=n_samples, n_features=n_features, rng=rng)
    run = limit(problem, step_size=relubias.step_sizes.relative(problem, 0.5))
    return relubias.gap(run, relubias.minimum_norm(problem, run.network))


def measure() -> Iterator[Row]:
    """Yield the race."""
    ours, small = partial(cell, N_SAMPLES, LARGE), partial(cell, N_SAMPLES, SMALL)
    name = f"draw, limit, w* and gap, {N_SAMPLES} x {LARGE:.0e}"
    yield race(name, ours, f"{N_SAMPLES} x {SMALL}", small, at_most=1.2, repeats=25)


def jobs() -> Iterator[Job]:
    """The whole cell against one eigendecomposition."""
    matrix = np.array(relubias.sampling.gaussian(n_samples=N_SAMPLES, n_features=LARGE, rng=0).gram)
    yield Job(
        f"draw, limit, w* and gap, n = {N_SAMPLES}",
        partial(cell, N_SAMPLES, LARGE),
        "one eigendecomposition of K",
        partial(scipy.linalg.eigh, matrix),
    )
