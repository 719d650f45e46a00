"""A stream of features takes the memory of a block, not of the features."""

from __future__ import annotations

import pytest

from benchmarks.rows import drawing
from benchmarks.tasks.memory import STATUS

pytestmark = pytest.mark.skipif(not STATUS.exists(), reason="anonymous memory is read from /proc")


def test_a_stream_takes_less_than_its_features() -> None:
    _, peak = drawing.measured(100_000)
    assert 0 < peak < 8 * drawing.N_SAMPLES * 100_000 / 2


@pytest.mark.slow
def test_a_million_distinct_eigenvalues_take_less_than_300_megabytes() -> None:
    _, peak = drawing.measured(10**6)
    assert peak < drawing.CEILING == 300e6
