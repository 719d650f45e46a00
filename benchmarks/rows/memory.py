"""Memory that a whole comparison takes when the features stay on disk: a float32 array of a million features, mapped.

Each measurement is a process of its own, since memory once taken is not always given back. Counted is anonymous
memory; the interpreter with all its imports is subtracted.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import relubias
from benchmarks.harness import Row, Sample
from benchmarks.profiling import Job
from benchmarks.tasks.memory import Peak, anonymous_memory, require_memory

CEILING = 400e6  # bytes
GOAL = f"at most {CEILING / 1e6:g} MB above the imports"
SIZES, N_FEATURES = (50, 200), 1_000_000
BLOCK = 10_000


def measure() -> Iterator[Row]:
    """Yield the rows for 50 and for 200 samples."""
    require_memory()
    for n_samples in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            write_features(Path(folder) / "X.npy", n_samples, N_FEATURES)
            np.save(Path(folder) / "y.npy", np.where(np.arange(n_samples) % 2, 1.0, -1.0))
            seconds, peak = measured(folder)
        name = f"gap, {n_samples} x {N_FEATURES} float32 memmap"
        yield Row(name, Sample.of([seconds]), peak_bytes=peak, peak_at_most=CEILING)


def write_features(path: Path, n_samples: int, n_features: int) -> None:
    """Write Gaussian features block by block."""
    rng = np.random.default_rng(0)
    features = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n_samples, n_features))
    for first in range(0, n_features, BLOCK):
        block = features[:, first : first + BLOCK]
        block[:] = rng.standard_normal(block.shape, dtype=np.float32)


def measured(folder: str) -> tuple[float, int]:
    """Return seconds and bytes that the comparison of X.npy and y.npy in `folder` takes in a fresh process."""
    code = "import sys; from benchmarks.rows.memory import report; report(sys.argv[1])"
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", code, folder]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    seconds, peak = json.loads(done.stdout)
    return seconds, peak


def report(folder: str) -> None:
    """Print seconds, and bytes beyond those of the imports."""
    importlib.import_module("numba")
    for name in relubias.__all__:
        getattr(relubias, name)
    before = anonymous_memory()
    with Peak() as peak:
        start = time.perf_counter()
        compare(relubias.read(Path(folder) / "X.npy", labels=Path(folder) / "y.npy"))
        seconds = time.perf_counter() - start
    print(json.dumps([seconds, peak.bytes - before]))


def compare(problem: relubias.Problem) -> None:
    """Facts, the limit of gradient descent, the minimum-norm solution, the gap, and the weights."""
    network = relubias.Network.single()
    print(problem.facts.rank, file=sys.stderr)
    run = relubias.gradient_descent(problem, network, relubias.starts.all_active(problem, network)).require_limit()
    gap = relubias.gap(run, relubias.minimum_norm(problem, network))
    print(gap.absolute, run.state.weights().shape, file=sys.stderr)


def jobs() -> Iterator[Job]:
    """The same comparison in this process, against the Gram product of the mapped features."""
    with tempfile.TemporaryDirectory() as folder:
        path, labels = Path(folder) / "X.npy", Path(folder) / "y.npy"
        largest = SIZES[-1]
        write_features(path, largest, N_FEATURES)
        np.save(labels, np.where(np.arange(largest) % 2, 1.0, -1.0))

        def ours() -> None:
            compare(relubias.read(path, labels=labels))

        def product() -> None:
            features = np.load(path, mmap_mode="r")
            blocks = (features[:, k : k + BLOCK].astype(np.float64) for k in range(0, N_FEATURES, BLOCK))
            sum(block @ block.T for block in blocks)

        yield Job(
            f"gap, {largest} x {N_FEATURES} float32 memmap",
            ours,
            "the product X Xᵀ in blocks",
            product,
            "The distance is a second pass over the file, in search of constant columns, and the pass for the weights.",
        )
