"""Features on disk stay there: memory does not grow with them, from the file to the gap."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.harness import Row, Sample
from benchmarks.rows import memory
from benchmarks.table import table
from benchmarks.tasks.memory import STATUS, Peak, anonymous_memory

pytestmark = pytest.mark.skipif(not STATUS.exists(), reason="anonymous memory is read from /proc")


def written(folder: Path, n_samples: int, n_features: int) -> str:
    memory.write_features(folder / "X.npy", n_samples, n_features)
    np.save(folder / "y.npy", np.where(np.arange(n_samples) % 2, 1.0, -1.0))
    return str(folder)


def test_the_peak_sees_memory_that_was_given_back() -> None:
    before = anonymous_memory()
    with Peak() as peak:
        for _ in range(20):
            np.ones(10**7)
    assert peak.bytes - before > 0.5 * 8e7


def test_the_features_on_disk_are_those_that_were_drawn(tmp_path: Path) -> None:
    memory.write_features(tmp_path / "X.npy", 3, 2 * memory.BLOCK + 5)
    features = np.load(tmp_path / "X.npy")
    assert features.dtype == np.float32
    assert abs(features.std() - 1) < 0.02
    assert np.all(np.ptp(features, axis=0) > 0)


def test_a_comparison_takes_less_than_its_features(tmp_path: Path) -> None:
    _, peak = memory.measured(written(tmp_path, 100, 500_000))
    assert 0 < peak < (tmp_path / "X.npy").stat().st_size


@pytest.mark.slow
@pytest.mark.parametrize("n_samples", [50, 200])
def test_a_million_features_take_less_than_400_megabytes(tmp_path: Path, n_samples: int) -> None:
    _, peak = memory.measured(written(tmp_path, n_samples, 1_000_000))
    (tmp_path / "X.npy").unlink()
    assert peak < 400e6


def test_a_goal_about_memory_is_met_or_not() -> None:
    fits = Row("a", Sample.of([1.0]), peak_bytes=5, peak_at_most=6)
    assert fits.met is True
    assert Row("a", Sample.of([1.0]), peak_bytes=7, peak_at_most=6).met is False
    assert "<= 400 MB" in table([Row("a", Sample.of([1.0]), peak_bytes=5, peak_at_most=400e6)])
