"""kill -9 at random moments: no committed cell is lost or computed twice, the table is that of an undisturbed run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from study_cases import SMALL, computed, small

from relubias.errors import DataError
from relubias.studies.store import Store

KILLS, AT_ONCE = 20, 25
#: Many more cells than all the kills leave time for, so that no machine is fast enough to finish before the last one.
CELLS = 6000
TEXT = (
    SMALL.replace("n=8", "n=30").replace("[1e2, 1e6]", "[1e4, 1e6]").replace("repeats = 3", f"repeats = {CELLS // 4}")
)


def begun(folder: Path) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "relubias", "study", "run", "study.toml", "--store", "s.db"]
    return subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finished(path: Path) -> dict[str, float]:
    """When each cell that is done was finished: another number would mean that it was computed twice."""
    if not path.exists():
        return {}
    with Store.open(path) as store:
        return dict(store._rows("SELECT id, finished FROM cells WHERE status = 'done'"))


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(TEXT, encoding="utf-8")
    path, rng = tmp_path / "s.db", np.random.default_rng(0)
    before: dict[str, float] = {}
    in_the_middle = 0
    for kill in range(KILLS):
        process = begun(tmp_path)
        during_the_start = kill % 4 == 0
        until = time.monotonic() + (rng.uniform(0.0, 2.0) if during_the_start else np.inf)
        wanted = len(before) + int(rng.integers(1, AT_ONCE))
        while time.monotonic() < until and len(finished(path)) < wanted and process.poll() is None:
            time.sleep(0.01 * rng.uniform())
        in_the_middle += process.poll() is None and not during_the_start
        process.send_signal(signal.SIGKILL)
        process.wait()
        after = finished(path)
        assert before.items() <= after.items()
        before = after
    assert in_the_middle >= KILLS // 2
    assert 0 < len(before) < CELLS
    assert begun(tmp_path).wait(timeout=300) == 0
    assert before.items() <= finished(path).items()
    study = small(TEXT)
    with Store.open(path) as store, Store.create(tmp_path / "here.db", study) as here:
        here.commit(computed(study))
        pd.testing.assert_frame_equal(store.to_pandas(), here.to_pandas(), check_exact=True)
    assert not list(tmp_path.glob(".s.db*")) or len(list(tmp_path.glob(".s.db*"))) <= KILLS // 4


def test_a_second_run_is_refused_while_the_first_lives_and_sigterm_ends_it_cleanly(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(TEXT, encoding="utf-8")
    process = begun(tmp_path)
    try:
        deadline = time.monotonic() + 60.0
        while not finished(tmp_path / "s.db") and time.monotonic() < deadline:
            time.sleep(0.05)
        with Store.open(tmp_path / "s.db") as store:
            holder = store.status().holder
            assert holder is not None
            assert holder.pid == process.pid
            with pytest.raises(DataError, match=f"is being written by process {process.pid} on"), store.held():
                pytest.fail("two runs have it")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 130
    finally:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
    with Store.open(tmp_path / "s.db") as store:
        status = store.status()
        assert 0 < status.done < CELLS
        assert status.holder is None
        values = {outcome.id: outcome.values for outcome in computed(store.study, list(store.study.cells())[:20])}
        stored = [store.cell(id) for id in values]
        assert all(cell.values == values[cell.cell.id] for cell in stored if cell.status == "done")
