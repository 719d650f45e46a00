"""Memory that a whole comparison takes when the features stay on disk: a float32 array of a million features, mapped.

Each measurement is a process of its own, since memory once taken is not always given back. Counted is anonymous
memory (what the kernel calls RssAnon): pages of the mapped file can be dropped at any time and are no one's burden.
The interpreter with all its imports is subtracted.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import relubias
from benchmarks.harness import Row, Sample, Skipped
from benchmarks.profiling import Job

GOAL = "at most 400 MB above the imports"
N_FEATURES = 1_000_000
CEILING = 400e6  # bytes
_STATUS = Path("/proc/self/status")
_BLOCK = 10_000


def measure() -> Iterator[Row]:
    """Yield the rows for 50 and for 200 samples."""
    if not _STATUS.exists():
        raise Skipped("anonymous memory is read from /proc, which this system does not have")
    for n_samples in (50, 200):
        with tempfile.TemporaryDirectory() as folder:
            write_features(Path(folder) / "X.npy", n_samples, N_FEATURES)
            np.save(Path(folder) / "y.npy", np.where(np.arange(n_samples) % 2, 1.0, -1.0))
            seconds, peak = measured(folder)
        name = f"gap, {n_samples} x 1e6 float32 memmap"
        yield Row(name, Sample.of([seconds]), peak_bytes=peak, peak_at_most=CEILING)


def write_features(path: Path, n_samples: int, n_features: int) -> None:
    """Write Gaussian features block by block."""
    rng = np.random.default_rng(0)
    features = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n_samples, n_features))
    for first in range(0, n_features, _BLOCK):
        block = features[:, first : first + _BLOCK]
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
        write_features(path, 50, N_FEATURES)
        np.save(labels, np.where(np.arange(50) % 2, 1.0, -1.0))

        def ours() -> None:
            compare(relubias.read(path, labels=labels))

        def product() -> None:
            features = np.load(path, mmap_mode="r")
            blocks = (features[:, k : k + _BLOCK].astype(np.float64) for k in range(0, N_FEATURES, _BLOCK))
            sum(block @ block.T for block in blocks)

        yield Job("gap, 50 x 1e6 float32 memmap", ours, "the product X Xᵀ in blocks", product)


class Peak:
    """The largest anonymous memory while this context lasts, looked at every millisecond."""

    def __init__(self) -> None:
        self.bytes = anonymous_memory()
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch)

    def __enter__(self) -> Peak:
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.001):
            self.bytes = max(self.bytes, anonymous_memory())


def anonymous_memory() -> int:
    """Return the anonymous memory of this process, in bytes."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("RssAnon"))
    return 1024 * int(line.split()[1])
