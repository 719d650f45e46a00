"""The runner commits every cell once, whatever becomes of the workers. (Its workers here are made up.)"""

from __future__ import annotations

import signal
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from study_cases import SMALL, InThisProcess, computed, small

from relubias.errors import ArgumentError, DataError
from relubias.studies import crew, database, runner
from relubias.studies.grid import Cell
from relubias.studies.runner import Snapshot, run
from relubias.studies.spec import Study
from relubias.studies.store import Store
from relubias.studies.work import Outcome

Crews = list[InThisProcess]


@pytest.fixture
def crews(monkeypatch: pytest.MonkeyPatch) -> Crews:
    """Workers in this process; the list has the crews that were made."""
    return hire(monkeypatch, lambda cell: False)


def hire(monkeypatch: pytest.MonkeyPatch, fate: Callable[[Cell], bool]) -> Crews:
    made: Crews = []

    def crew_of(study: Study, workers: int) -> InThisProcess:
        made.append(InThisProcess(study, fate))
        return made[-1]

    monkeypatch.setattr(runner, "Processes", crew_of)
    monkeypatch.setattr(runner, "WINDOW", 0.0)
    return made


def table_of(path: Path) -> pd.DataFrame:
    with Store.open(path) as store:
        return store.to_pandas()


def undisturbed(path: Path, study: Study) -> pd.DataFrame:
    """The table as it is without any runner."""
    with Store.create(path, study) as store:
        store.commit(computed(study))
        return store.to_pandas()


def test_a_run_computes_every_cell_once(crews: Crews, tmp_path: Path) -> None:
    seen: list[Snapshot] = []
    report = run(small(), tmp_path / "s.db", workers=1, progress=seen.append)
    (only,) = crews
    assert sorted(id for batch in only.sent for id in batch) == sorted(cell.id for cell in small().cells())
    assert (report.finished, report.status.done, report.interrupted, only.closed) == (12, 12, False, False)
    assert [outcome.id for snapshot in seen for outcome in snapshot.outcomes] == [cell.id for cell in small().cells()]
    assert (seen[0].pending, seen[-1].pending, seen[-1].done) == (12, 0, 12)
    pd.testing.assert_frame_equal(table_of(tmp_path / "s.db"), undisturbed(tmp_path / "u.db", small()))


def test_a_second_run_has_nothing_to_do_and_needs_no_workers(crews: Crews, tmp_path: Path) -> None:
    run(small(), tmp_path / "s.db", workers=1)
    report = run(small(), tmp_path / "s.db", workers=1)
    assert (len(crews), report.finished, report.status.done) == (1, 0, 12)


def test_cells_are_reported_only_after_they_are_committed(crews: Crews, tmp_path: Path) -> None:
    def look(snapshot: Snapshot) -> None:
        with Store.open(tmp_path / "s.db") as store:
            assert store.status().done == snapshot.done
            assert all(store.cell(outcome.id).status == "done" for outcome in snapshot.outcomes)

    run(small(), tmp_path / "s.db", workers=1, progress=look)


def test_a_run_that_is_extended_computes_the_new_cells_only(crews: Crews, tmp_path: Path) -> None:
    run(small(), tmp_path / "s.db", workers=1)
    more = small(SMALL.replace("[1e2, 1e6]", "[1e2, 1e4, 1e6]"))
    with pytest.raises(ArgumentError, match="--extend"):
        run(more, tmp_path / "s.db", workers=1)
    report = run(more, tmp_path / "s.db", workers=1, extend=True)
    assert (report.added, report.finished) == (6, 6)
    pd.testing.assert_frame_equal(table_of(tmp_path / "s.db"), undisturbed(tmp_path / "u.db", more))


def test_a_cell_that_loses_a_worker_is_tried_again_and_no_other_is_blamed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    unlucky = [cell.id for cell in small().cells()][4]
    deaths: list[str] = []

    def fate(cell: Cell) -> bool:
        if cell.id == unlucky and len(deaths) < 2:
            deaths.append(cell.id)
            return True
        return False

    crews = hire(monkeypatch, fate)
    report = run(small(), tmp_path / "s.db", workers=1)
    assert (report.retried, report.status.done) == (2, 12)
    with Store.open(tmp_path / "s.db") as store:
        lost = {cell.id: store.cell(cell.id).attempts for cell in small().cells()}
    assert lost == {cell.id: 2 * (cell.id == unlucky) for cell in small().cells()}
    assert [batch for batch in crews[0].sent if unlucky in batch][1:] == [[unlucky], [unlucky]]  # alone from then on


def test_a_cell_that_kills_every_worker_fails_with_the_reason_and_the_study_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deadly = next(small().cells()).id
    hire(monkeypatch, lambda cell: cell.id == deadly)
    report = run(small(), tmp_path / "s.db", workers=1)
    assert (report.status.done, report.status.failed) == (11, 1)
    assert report.status.failures == (("the worker died, 3 times", 1),)
    with Store.open(tmp_path / "s.db") as store:
        assert [stored.cell.id for stored in store.failed()] == [deadly]
    hire(monkeypatch, lambda cell: False)
    assert run(small(), tmp_path / "s.db", workers=1).finished == 0
    assert run(small(), tmp_path / "s.db", workers=1, retry_failed=True).status.done == 12


def test_a_cell_that_never_comes_back_is_given_up_and_the_others_are_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stuck = next(small().cells()).id
    crews = hire(monkeypatch, lambda cell: False)
    monkeypatch.setattr(crew, "GRACE", 0.0)
    monkeypatch.setattr(runner, "LOOK", 0.01)
    send = InThisProcess.send
    monkeypatch.setattr(InThisProcess, "send", lambda self, lane, cells: stuck_at(self, lane, cells))

    def stuck_at(self: InThisProcess, lane: object, cells: list[Cell]) -> None:
        send(self, lane, cells)  # type: ignore[arg-type]
        if any(cell.id == stuck for cell in cells):
            self.events.get()  # what came back first never arrives

    study = Study.from_toml(SMALL + "[limits]\nseconds = 1.0")
    report = run(study, tmp_path / "s.db", workers=1)
    assert crews[0].given_up == [stuck]
    assert (report.status.done, report.status.failed) == (11, 1)
    assert report.status.failures[0][0] == "the cell took longer than its limit of 1 s, and had to be killed"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_falls_between_commits_and_the_next_run_goes_on(
    crews: Crews, tmp_path: Path, number: signal.Signals
) -> None:
    before = signal.getsignal(number)

    def stop(snapshot: Snapshot) -> None:
        if snapshot.finished:
            signal.raise_signal(number)

    report = run(small(), tmp_path / "s.db", workers=1, progress=stop)
    assert report.interrupted
    assert 0 < report.finished < 12
    assert crews[0].closed is True
    assert signal.getsignal(number) == before
    with Store.open(tmp_path / "s.db") as store:
        assert store.status().done == report.finished
        assert store.status().holder is None
    again = run(small(), tmp_path / "s.db", workers=1)
    assert again.finished == 12 - report.finished
    pd.testing.assert_frame_equal(table_of(tmp_path / "s.db"), undisturbed(tmp_path / "u.db", small()))


def test_a_second_interrupt_is_heard_at_once(crews: Crews, tmp_path: Path) -> None:
    def stop(snapshot: Snapshot) -> None:
        if snapshot.finished:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(small(), tmp_path / "s.db", workers=1, progress=stop)
    assert crews[0].closed is True


def test_a_run_outside_the_main_thread_leaves_signals_alone(crews: Crews, tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=run, args=(small(), tmp_path / "s.db"), kwargs={"workers": 1})
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) == before
    assert len(table_of(tmp_path / "s.db")) == 12


@pytest.mark.parametrize("workers", [0, 1.5, 10_000, "two"])
def test_workers_that_make_no_sense_are_refused(tmp_path: Path, workers: object) -> None:
    with pytest.raises(ArgumentError, match="workers"):
        run(small(), tmp_path / "s.db", workers=workers)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_cluster_brings_its_own_workers(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="the workers of a cluster are those that it has"):
        run(small(), tmp_path / "s.db", workers=1, cluster="tcp://localhost:1")


def test_a_disk_that_fills_up_ends_the_run_with_what_was_committed(
    crews: Crews, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, study = tmp_path / "s.db", small(repeats=60)
    Store.create(path, study).close()
    connect = database.connect

    def small_disk(place: Path) -> sqlite3.Connection:
        connection = connect(place)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        return connection

    with monkeypatch.context() as disk:
        disk.setattr(database, "connect", small_disk)
        seen: list[Snapshot] = []
        with pytest.raises(DataError, match="there is no room left; what was reported as done is kept"):
            run(study, path, workers=1, progress=seen.append)
    assert crews[0].closed is True
    with Store.open(path) as store:
        assert store.status().done == seen[-1].done > 0
        assert store.status().holder is None
    assert run(study, path, workers=1).finished == 240 - seen[-1].done
    pd.testing.assert_frame_equal(table_of(path), undisturbed(tmp_path / "u.db", study))


def test_the_time_of_a_cell_counts_only_when_its_worker_has_begun() -> None:
    class Starting(crew.Lane):
        """A lane whose worker is not there yet."""

        @property
        def is_ready(self) -> bool:
            """Not yet."""
            return False

    cells = list(small().cells())
    for lane, late in ((crew.Lane(), cells[0].id), (Starting(), None)):
        lane.give(cells)
        lane.since -= 2.0 + crew.GRACE
        assert lane.overdue(1.0) == late
        assert lane.overdue(None) is None


def test_batches_follow_the_time_that_cells_take_of_late(tmp_path: Path) -> None:
    study = small(repeats=100)
    with Store.create(tmp_path / "s.db", study) as store:
        dispatch = runner._Dispatch(store, threading.Event(), None)
        crew_of_one = InThisProcess(study)
        sizes = [dispatch._batch(crew_of_one)]
        for seconds in (0.001, 1.0):
            cells = [dispatch.pending.popleft() for _ in range(20)]
            dispatch._commit([Outcome(cell.id, "done", seconds=seconds) for cell in cells], 0.0)
            sizes.append(dispatch._batch(crew_of_one))
        assert sizes == [1, 10, 1]  # a hundredth of a second of work
        dispatch.usual = 0.001
        while len(dispatch.pending) > 12:
            dispatch.pending.popleft()
        assert dispatch._batch(crew_of_one) == 3  # at the end, no lane takes more than its share
