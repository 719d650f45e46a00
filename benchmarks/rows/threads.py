"""What the threads that BLAS takes by itself cost or gain, against one thread.

NumPy and SciPy may each bring a BLAS with threads of its own, which wait for each other where work alternates between
the two: milliseconds for what takes microseconds. Whoever does not set the number of threads must not lose by it. Both
sides are fresh processes of this package, timed by the clock after a warm call, one with the variables that choose
threads unset and one with a single thread; they take turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

import relubias
from benchmarks.harness import Row, Sample, elapsed
from benchmarks.profiling import Job
from benchmarks.tasks.cells import FLOOR, cell, floor
from benchmarks.tasks.cores import require_two_cores

AT_MOST = 1.5
GOAL = f"with the threads that BLAS takes by itself at most {AT_MOST:g} times as long as with one"
N_SAMPLES, RATIO, REPEATS = 200, 100, 5
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def minimum() -> Callable[[], object]:
    """Return what finds w* of a single neuron, and of a pair, with their proofs."""
    features, labels = data(2 * N_SAMPLES)

    def both() -> None:
        problem = relubias.Problem.from_features(features, labels)
        relubias.minimum_norm(problem, relubias.Network.single())
        relubias.minimum_norm(problem, relubias.Network.pair(), budget=1)

    return both


def analysis() -> Callable[[], object]:
    """Return what analyses a problem, from X to the verdict."""
    features, labels = data(RATIO * N_SAMPLES)
    return lambda: relubias.analyze(relubias.Problem.from_features(features, labels))


def flow() -> Callable[[], object]:
    """Return what follows gradient flow to its limit."""
    features, labels = data(3 * N_SAMPLES // 2)

    def run() -> relubias.Run:
        problem, network = relubias.Problem.from_features(features, labels), relubias.Network.single()
        return relubias.gradient_flow(problem, network, relubias.starts.all_active(problem, network))

    return run


def data(n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw features and labels, half of them negative."""
    rng = np.random.default_rng(0)
    signs = np.where(np.arange(N_SAMPLES) % 2, 1.0, -1.0)
    return rng.standard_normal((N_SAMPLES, n_features)), signs * rng.uniform(0.5, 2.0, N_SAMPLES)


#: What is timed, how it is made, and how often it is called in each process.
TASKS: dict[str, tuple[Callable[[], Callable[[], object]], int]] = {
    "draw, limit, w* and gap": (lambda: partial(cell, N_SAMPLES, RATIO * N_SAMPLES), 15),
    "w* of one neuron and of a pair": (minimum, 15),
    "analyze, from X": (analysis, 7),
    "gradient flow": (flow, 1),
}


def measure() -> Iterator[Row]:
    """Yield a race for each task.

    Raises
    ------
    Skipped
        If the machine has one core.
    """
    require_two_cores()
    for name in TASKS:
        several: list[float] = []
        one: list[float] = []
        for k in range(REPEATS):
            for alone in (bool(k % 2), not k % 2):
                (one if alone else several).append(seconds_in_a_process(name, alone=alone))
        ratio = Sample.of([ours / rival for ours, rival in zip(several, one, strict=True)])
        yield Row(
            f"{name}, n = {N_SAMPLES}, threads as they come",
            Sample.of(several),
            "the same on one thread",
            Sample.of(one),
            ratio,
            at_most=AT_MOST,
        )


def seconds_in_a_process(name: str, *, alone: bool) -> float:
    """Return the median seconds that a task takes in a fresh process, on one thread or on as many as BLAS takes."""
    environment = {key: value for key, value in os.environ.items() if key not in VARIABLES}
    if alone:
        environment |= dict.fromkeys(VARIABLES, "1")
    code = "import sys; from benchmarks.rows.threads import report; report(sys.argv[1])"
    command = [sys.executable, "-c", code, name]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout))


def report(name: str) -> None:
    """Print the median seconds of a task, after a warm call."""
    make, calls = TASKS[name]
    task = make()
    task()
    print(json.dumps(median(elapsed(task, time.perf_counter) for _ in range(calls))))


def jobs() -> Iterator[Job]:
    """The cell, in this process."""
    yield Job(
        f"draw, limit, w* and gap, n = {N_SAMPLES}, d = {RATIO} n",
        partial(cell, N_SAMPLES, RATIO * N_SAMPLES),
        FLOOR,
        partial(floor, N_SAMPLES),
        "The distance is the same as in `growth`; threads that wait for each other would show everywhere.",
    )
