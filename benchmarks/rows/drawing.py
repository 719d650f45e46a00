"""Drawing a problem: what a trillion features cost over ten thousand, and how much memory a million distinct
eigenvalues take.

Equal eigenvalues are drawn together, so that time and memory do not depend on the number of features. Distinct ones
are streamed: 2e8 numbers are drawn, a block at a time, in a process of its own, whose anonymous memory beyond that of
the imports is counted.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.harness import Row, Sample, race
from benchmarks.profiling import Job
from benchmarks.tasks.memory import Peak, anonymous_memory, require_memory
from relubias.facts import Facts
from relubias.problem import Problem
from relubias.sampling.features import FeatureLaw, Gaussian
from relubias.sampling.spectra import PowerLaw

N_SAMPLES, AT_MOST = 200, 1.2
CEILING = 300e6  # bytes
DISTINCT = 10**6
GOAL = (
    f"1e12 features at most {AT_MOST:g} times as long as 1e4; "
    f"{DISTINCT:.0e} distinct eigenvalues within {CEILING / 1e6:g} MB"
).replace("e+06", "e6")


def measure() -> Iterator[Row]:
    """Yield the race between two numbers of features, and the memory of a stream."""
    large, small = (partial(facts_of_a_draw, Gaussian(d)) for d in (10**12, 10**4))
    yield race("draw and facts, 200 x 1e12", large, "200 x 1e4", small, at_most=AT_MOST, repeats=25)
    require_memory()
    seconds, peak = measured(DISTINCT)
    yield Row("draw and facts, power law, 200 x 1e6", Sample.of([seconds]), peak_bytes=peak, peak_at_most=CEILING)


def facts_of_a_draw(law: FeatureLaw) -> Facts:
    """Draw K with labels ±1, and look at it."""
    labels = np.where(np.arange(N_SAMPLES) % 2, 1.0, -1.0)
    return Problem.from_gram(law.gram(N_SAMPLES, 0), labels, n_features=law.n_features).facts


def measured(n_features: int) -> tuple[float, int]:
    """Return seconds and bytes that a stream of so many features takes in a fresh process."""
    code = "import sys; from benchmarks.rows.drawing import report; report(int(sys.argv[1]))"
    command = [sys.executable, "-c", code, str(n_features)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], check=True, capture_output=True, text=True)
    seconds, peak = json.loads(done.stdout)
    return seconds, peak


def report(n_features: int) -> None:
    """Print seconds, and bytes beyond those of the imports."""
    before = anonymous_memory()
    with Peak() as peak:
        start = time.perf_counter()
        facts_of_a_draw(Gaussian(n_features, spectrum=PowerLaw(1.0)))
        seconds = time.perf_counter() - start
    print(json.dumps([seconds, peak.bytes - before]))


def jobs() -> Iterator[Job]:
    """Against the eigenvalues of K, which the facts need."""
    matrix = Gaussian(10**12).gram(N_SAMPLES, 0)
    ours = partial(facts_of_a_draw, Gaussian(10**12))
    yield Job(
        f"draw and facts, n = {N_SAMPLES}",
        ours,
        "the eigenvalues of K",
        partial(np.linalg.eigvalsh, matrix),
        "The distance is the draw itself, the checks of K, and the search for duplicates and for the largest cosine.",
    )
