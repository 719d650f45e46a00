"""Workers that are processes: real ones, killed, over their limits, and never in the way of the results."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from study_cases import SMALL, computed, small

from relubias.errors import ArgumentError, DataError, RelubiasError
from relubias.report.study_tables import forecast_text
from relubias.studies import check, processes, runner
from relubias.studies import crew as crew_module
from relubias.studies.check import forecast
from relubias.studies.crew import Came, Lost
from relubias.studies.grid import Cell
from relubias.studies.processes import Processes, cores, once
from relubias.studies.rerun import rerun
from relubias.studies.runner import Snapshot, run
from relubias.studies.spec import Study
from relubias.studies.store import Store
from relubias.studies.work import TYPICAL, Outcome, failed, had_to_be_killed, work

#: Cells that take a few milliseconds, well inside the regime.
LARGER = SMALL.replace("n=8", "n=60").replace("[1e2, 1e6]", "[1e5, 1e6]")

#: Cells of 0.1 s and of 30 s or more: a pair whose pattern changes for ever, with a budget.
SLOW = """
name = "slow"
repeats = 2
problem = "gaussian n=40 d=20"
[start]
kind = "gaussian"
[dynamics]
step_size = "1/lmax"
[grid]
dynamics.budget = [10, 1_000_000_000_000]
[measure]
columns = ["run.status"]
"""


def test_one_process_and_two_give_the_table_that_this_process_gives(tmp_path: Path) -> None:
    study = small()
    tables = []
    for workers in (1, min(2, cores())):
        report = run(study, tmp_path / f"{workers}.db", workers=workers)
        assert report.layout.startswith(f"{workers} process")
        assert 0.0 < report.busy <= 1.0
        with Store.open(tmp_path / f"{workers}.db") as store:
            tables.append(store.to_pandas())
    pd.testing.assert_frame_equal(tables[0], tables[1], check_exact=True)
    here = [outcome.values["gap.absolute"] for outcome in computed(study)]
    assert tables[0]["gap.absolute"].tolist() == here


def test_a_cell_can_be_computed_again_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    run(small(repeats=1), path, workers=1)
    with Store.open(path) as store:
        id = next(store.study.cells()).id
        found = rerun(store, id[:10])
        assert found.equal is True
        assert found.now.values == store.cell(id).values | {"run.at_limit": True}
        store._connection.execute('UPDATE cells SET "gap.absolute" = "gap.absolute" * (1 + 3e-16)')
        found = rerun(store, id)
    assert found.equal is False
    assert found.differences.keys() == {"gap.absolute"}


def test_cells_over_their_limits_fail_and_the_others_do_not(tmp_path: Path) -> None:
    study = Study.from_toml(SLOW + "[limits]\nseconds = 3")
    report = run(study, tmp_path / "s.db", workers=1)
    assert (report.status.done, report.status.failed) == (2, 2)
    assert report.status.failures == (("the cell took longer than its limit of 3 s", 2),)


def test_a_cell_that_wants_too_much_memory_fails_and_the_next_one_has_its_own() -> None:
    text = SMALL.replace("problem.features.n_features = [1e2, 1e6]", "problem.n_samples = [2000, 20]")
    study = Study.from_toml(text.replace("d=100", "d=1e6") + "[limits]\nmegabytes = 60")
    large, small_one = list(study.cells())[:: study.n_cells - 1]
    outcomes = once(study, [large, small_one, large])
    assert [outcome.status for outcome in outcomes] == ["failed", "done", "failed"]
    assert outcomes[0].message == "the cell wanted more memory than its limit of 60 MB"
    assert "Traceback" in outcomes[0].traceback


def test_a_cell_that_cannot_be_interrupted_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker is stopped, as one in an endless call of a library would be."""
    monkeypatch.setattr(crew_module, "GRACE", 0.5)
    crews: list[Processes] = []

    class Watched(Processes):
        def __init__(self, study: Study, workers: int) -> None:
            super().__init__(study, workers)
            crews.append(self)

    monkeypatch.setattr(runner, "Processes", Watched)
    stopped: list[int] = []

    def stop(snapshot: Snapshot) -> None:
        if snapshot.finished and not stopped:
            stopped.append(processes._own(crews[0].lanes[0]).ready.result())
            os.kill(stopped[0], signal.SIGSTOP)

    study = Study.from_toml(LARGER + "[limits]\nseconds = 2")
    report = run(study, tmp_path / "s.db", workers=1, progress=stop)
    assert stopped
    assert (report.status.done, report.status.failed) == (11, 1)
    assert "had to be killed" in report.status.failures[0][0]


def test_a_killed_worker_costs_the_cell_that_it_was_at_one_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []
    crews: list[Processes] = []

    class Watched(Processes):
        def __init__(self, study: Study, workers: int) -> None:
            super().__init__(study, workers)
            crews.append(self)

    monkeypatch.setattr(runner, "Processes", Watched)

    def kill(snapshot: Snapshot) -> None:
        if snapshot.finished >= 3 * (len(killed) + 1) and len(killed) < 2:
            killed.append(processes._own(crews[0].lanes[0]).ready.result())
            os.kill(killed[-1], signal.SIGKILL)

    study = small(LARGER, repeats=10)
    report = run(study, tmp_path / "s.db", workers=min(2, cores()), progress=kill)
    assert len(killed) == 2
    assert (report.status.done, report.status.pending) == (40, 0)
    assert report.retried <= 2
    with Store.open(tmp_path / "s.db") as store:
        values = store.to_pandas()["gap.absolute"].tolist()
    assert values == [outcome.values["gap.absolute"] for outcome in computed(study)]


def test_workers_end_with_the_process_that_began_them() -> None:
    code = (
        "import sys, time; from relubias.studies.processes import Processes; from study_cases import small\n"
        "if __name__ == '__main__':\n"
        "    crew = Processes(small(), 1)\n"
        "    print(crew.lanes[0].ready.result(), flush=True)\n"
        "    time.sleep(600)\n"
    )
    runner_of_one = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent
    )
    assert runner_of_one.stdout is not None
    worker = int(runner_of_one.stdout.readline())
    assert processes_alive(worker)
    runner_of_one.kill()
    runner_of_one.communicate()
    deadline = time.monotonic() + 60.0
    while processes_alive(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not processes_alive(worker)


def processes_alive(pid: int) -> bool:
    """Whether there is such a process that is no zombie."""
    from relubias.studies.locks import began

    return bool(began(pid))


def test_workers_that_cannot_start_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "warm_up", os.abort)
    with pytest.raises(RelubiasError, match="worker processes die before they are ready; in a script"):
        once(small(), [next(small().cells())])


def test_a_forecast_tries_the_ends_and_adds_up(tmp_path: Path) -> None:
    text = SMALL.replace("problem.features.n_features = [1e2, 1e6]", "problem.n_samples = [10, 30, 90]")
    study = Study.from_toml(text.replace("d=100", "d=1e4"))
    found = forecast(study, workers=2)
    assert found.n_cells == 18
    assert [(probe.size, probe.cell.coordinates["dynamics.step_size"]) for probe in found.probes] == [
        *((10, "1/trace"), (10, "0.1/trace"), (90, "1/trace"), (90, "0.1/trace"))
    ]
    costs = [probe.outcome.cpu_seconds for probe in found.probes]
    low, high = sum(costs[:2]) / 2, sum(costs[2:]) / 2
    assert 18 * min(low, high) * 0.999 <= found.cpu_seconds <= 18 * max(low, high) * 1.001
    assert found.seconds == found.cpu_seconds / 2
    assert found.megabytes > 50


def test_events_come_in_the_order_of_the_cells() -> None:
    study = small()
    crew = Processes(study, 1)
    try:
        (lane,) = crew.lanes
        cells = list(study.cells())[:5]
        crew.send(lane, cells)
        events = [crew.events.get(timeout=60) for _ in cells]
        assert [event.outcome.id for event in events if isinstance(event, Came)] == [cell.id for cell in cells]
    finally:
        crew.close(now=False)


def test_the_cell_that_warms_a_worker_up_is_computed() -> None:
    """A failure would be silent, and cells would pay for what was not loaded."""
    outcome = work(TYPICAL, Cell.at({}, 1), alone=False)
    assert outcome.status == "done"
    assert outcome.values["run.status"] == "certified"


def test_a_batch_that_ends_before_its_cells_is_noticed() -> None:
    """Memory may be gone even for saying so; the process then lives, and nobody would hear of the rest."""
    crew = Processes(small(), 1)
    try:
        (lane,) = crew.lanes
        lane.give(list(small().cells())[:2])
        batch = crew.processes[0].submit(exec, "raise MemoryError")
        assert isinstance(lane, processes.ProcessLane)
        batch.add_done_callback(partial(processes._end_if_it_failed, lane))
        event = crew.events.get(timeout=60)
        assert isinstance(event, Lost)
        assert crew.mourn(event).held == tuple(lane.out)
    finally:
        crew.close(now=True)


def test_a_library_that_wants_to_exit_fails_its_cell_only(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Outcome] = []

    def leave(study: Study, cell: Cell, *, alone: bool) -> Outcome:
        raise SystemExit(3)

    monkeypatch.setattr(processes, "work", leave)
    monkeypatch.setattr(processes._Here, "channel", SimpleNamespace(send=sent.append), raising=False)
    monkeypatch.setattr(processes._Here, "study", small(), raising=False)
    processes._compute(list(small().cells())[:2])
    assert [outcome.message for outcome in sent] == ["SystemExit: 3"] * 2


def test_no_other_cell_is_blamed_for_one_that_was_given_up() -> None:
    crew = Processes(small(SMALL + "[limits]\nseconds = 9"), 1)
    try:
        (lane,) = crew.lanes
        cells = list(small().cells())[:3]
        lane.give(cells)
        assert lane.took_back(cells[0].id)
        outcome = crew.give_up(lane, cells[0].id)
        assert outcome.status == "failed"
        event = crew.events.get(timeout=60)
        assert isinstance(event, Lost)
        lost = crew.mourn(event)
        assert (lost.held, lost.blamed) == (tuple(cell.id for cell in cells[1:]), ())
    finally:
        crew.close(now=True)


@pytest.mark.parametrize("workers", [0, -3, 10_000, 1.5])
def test_a_forecast_refuses_the_workers_that_a_run_would(workers: Any) -> None:
    with pytest.raises(ArgumentError, match="workers"):
        forecast(small(), workers=workers)


def test_a_cell_that_was_killed_is_forecast_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(study: Study, cells: list[Cell]) -> list[Outcome]:
        return [failed(cell.id, had_to_be_killed(study.limits)) for cell in cells]

    monkeypatch.setattr(check, "once", killed)
    found = forecast(Study.from_toml(SMALL + "[limits]\nseconds = 7"), workers=1)
    assert found.cpu_seconds == 12 * 7.0
    assert not found.is_whole
    text = forecast_text(found)
    assert "at least 7,000.0 ms" in text
    assert "time and memory of the study are not known" in text


def test_a_row_of_another_file_is_not_compared(tmp_path: Path) -> None:
    data = tmp_path / "few.csv"
    data.write_text("y,a,b\n1,2,3\n-1,0,1\n", encoding="utf-8")
    study = Study.from_dict({"name": "file", "problem": {"file": str(data), "target": "y"}})
    with Store.create(tmp_path / "s.db", study) as store:
        data.write_text("y,a,b\n1,2,3\n-1,0,2\n", encoding="utf-8")
        with pytest.raises(DataError, match=r"few.csv is not the file that it was"):
            rerun(store, next(study.cells()).id)
        data.unlink()
        with pytest.raises(DataError, match=r"cannot read .*few\.csv"):
            rerun(store, next(study.cells()).id)
