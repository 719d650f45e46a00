"""Workers of a Dask scheduler: the same cells, the same table. A real scheduler with two workers runs on loopback."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from study_cases import SMALL, computed, small

from relubias.errors import ArgumentError, MissingDependency, RelubiasError
from relubias.studies import cluster
from relubias.studies.crew import Came, Events, Lost
from relubias.studies.runner import Snapshot, run
from relubias.studies.spec import Study
from relubias.studies.store import Store
from relubias.studies.work import Outcome

pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:distributed", "ignore::ResourceWarning")

LARGER = SMALL.replace("n=8", "n=60").replace("[1e2, 1e6]", "[1e5, 1e6]")

#: A cell that ends at once, and one that ends at its limit.
SLOW = (
    'name = "slow"\nproblem = "gaussian n=40 d=20"\n[start]\nkind = "gaussian"\n'
    "[grid]\ndynamics.budget = [10, 1e12]\n[measure]\ncolumns = ['run.status']\n[limits]\nseconds = 3"
)


@pytest.fixture(scope="module")
def scheduler() -> Iterator[Any]:
    """A scheduler with two worker processes."""
    from distributed import LocalCluster

    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1", silence_logs=50
    ) as local:
        yield local


def test_a_cluster_gives_the_table_that_this_process_gives(scheduler: Any, tmp_path: Path) -> None:
    study = small()
    report = run(study, tmp_path / "cluster.db", cluster=scheduler.scheduler_address)
    assert report.layout.startswith("2 threads of the workers of tcp://127.0.0.1:")
    with Store.open(tmp_path / "cluster.db") as store, Store.create(tmp_path / "here.db", study) as here:
        here.commit(computed(study))
        pd.testing.assert_frame_equal(store.to_pandas(), here.to_pandas(), check_exact=True)
        hosts = store.to_pandas(provenance=True)
    assert (hosts["cpu_seconds"] > 0).all()


def test_a_worker_that_is_killed_costs_the_study_nothing(scheduler: Any, tmp_path: Path) -> None:
    study = small(LARGER, repeats=15)
    killed: list[int] = []

    def kill(snapshot: Snapshot) -> None:
        if snapshot.finished >= 3 and not killed:
            killed.append(next(iter(scheduler.workers.values())).process.pid)
            os.kill(killed[0], signal.SIGKILL)

    report = run(study, tmp_path / "s.db", cluster=scheduler.scheduler_address, progress=kill)
    assert killed
    assert (report.status.done, report.status.pending) == (60, 0)
    with Store.open(tmp_path / "s.db") as store:
        values = store.to_pandas()["gap.absolute"].tolist()
    assert values == [outcome.values["gap.absolute"] for outcome in computed(study)]


def test_a_cell_over_its_time_fails_there_too(scheduler: Any, tmp_path: Path) -> None:
    report = run(Study.from_toml(SLOW), tmp_path / "s.db", cluster=scheduler.scheduler_address)
    assert (report.status.done, report.status.failed) == (1, 1)
    assert report.status.failures == (("the cell took longer than its limit of 3 s", 1),)


def test_cells_of_a_batch_come_back_one_by_one(scheduler: Any) -> None:
    study = Study.from_toml(SLOW)
    crew = cluster.Cluster(study, scheduler.scheduler_address)
    try:
        (lane,) = crew.lanes
        crew.send(lane, list(study.cells()))
        events, times = [], []
        while lane.out:
            event = crew.events.get(timeout=60.0)
            assert isinstance(event, Came)
            if lane.took_back(event.outcome.id):
                events.append(event.outcome)
                times.append(time.monotonic())
    finally:
        crew.close(now=False)
    assert [outcome.status for outcome in events] == ["done", "failed"]
    assert times[1] - times[0] > 0.5


def test_the_width_of_a_cluster_is_that_of_its_workers_now(scheduler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "LOOK", -1.0)
    crew = cluster.Cluster(small(), scheduler.scheduler_address)
    try:
        (lane,) = crew.lanes
        for counted, width in (({"a": 2, "b": 3}, 5), ({}, 5), ({"a": 1}, 1)):
            monkeypatch.setattr(crew.client, "ncores", lambda counted=counted: counted)
            crew.look()
            assert lane.width == width
    finally:
        crew.close(now=True)


def test_an_interrupt_leaves_the_scheduler_as_it_was(scheduler: Any, tmp_path: Path) -> None:
    def stop(snapshot: Snapshot) -> None:
        if snapshot.finished:
            signal.raise_signal(signal.SIGINT)

    study = small(LARGER, repeats=10)
    report = run(study, tmp_path / "s.db", cluster=scheduler.scheduler_address, progress=stop)
    assert report.interrupted
    assert run(study, tmp_path / "s.db", cluster=scheduler.scheduler_address).status.done == 40


def test_no_scheduler_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with pytest.raises(ArgumentError, match=r"there is no scheduler at tcp://127\.0\.0\.1:9"):
        run(small(), tmp_path / "s.db", cluster="tcp://127.0.0.1:9")
    with Store.open(tmp_path / "s.db") as store:
        assert store.status().pending == 12
        assert store.status().holder is None


def test_something_else_that_listens_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        with pytest.raises(ArgumentError, match=f"there is no scheduler at tcp://127.0.0.1:{port}: "):
            run(small(), tmp_path / "s.db", cluster=f"tcp://127.0.0.1:{port}")


def test_a_missing_package_is_named_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingDependency, match=r"pip install 'relubias\[cluster\]'"):
        run(small(), tmp_path / "s.db", cluster="tcp://127.0.0.1:9")


def test_blas_has_one_thread_or_the_cell_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import threading; from threadpoolctl import threadpool_info, threadpool_limits; import scipy.linalg\n"
        "from study_cases import computed, small; from relubias.studies.work import one_thread\n"
        "limits = threadpool_limits(2, user_api='blas') if {taken} else None\n"
        "found = []\n"
        "thread = threading.Thread(target=lambda: found.extend(computed(small())))\n"
        "thread.start(); thread.join()\n"
        "print(found[0].status, [pool['num_threads'] for pool in threadpool_info() if pool['user_api'] == 'blas'])\n"
        "print(found[0].message)\n"
    )
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    told = {}
    for taken in (False, True):
        words = [sys.executable, "-c", code.format(taken=taken)]
        done = subprocess.run(words, cwd=Path(__file__).parent, env=environment, capture_output=True, text=True)
        told[taken] = done.stdout
    assert told[False].startswith("done [1")
    assert told[True].startswith(("done [1", "failed [2"))  # newer threadpoolctl: the first thread to set it keeps it
    assert told[True].startswith("done") or "BLAS keeps several threads in this process" in told[True]


def test_what_dask_gives_up_is_tried_one_by_one_and_then_fails() -> None:
    """Made-up futures: a worker that is killed again and again takes minutes."""

    class KilledWorker(Exception):
        """Dask's word for it."""

    crew = object.__new__(cluster.Cluster)
    crew.events, crew.closed, crew.lane = Events(), False, cluster.ClusterLane(width=2)
    for ids in (("a", "b"), ("a",)):
        future: Future[list[Outcome]] = Future()
        future.set_exception(KilledWorker("four workers died"))
        crew._back(ids, future)
    lost, came = crew.events.get_nowait(), crew.events.get_nowait()
    assert isinstance(lost, Lost)
    assert (lost.held, lost.blamed) == (("a", "b"), ("a", "b"))
    assert isinstance(came, Came)
    assert (came.outcome.id, came.outcome.status) == ("a", "failed")
    assert came.outcome.message == "the workers that computed it were lost (KilledWorker: four workers died)"


HANG = """
import time
from relubias.studies import work as module

def hang(study, cell, *, alone):
    if cell.trial == 2:
        time.sleep(9.0)  # like a library that does not come back
    return plain(study, cell, alone=alone)

plain, module_cluster = module.work, __import__("relubias.studies.cluster", fromlist=["work"])
module_cluster.work = hang
"""


def test_a_cell_that_hangs_in_a_library_costs_no_other_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr(cluster, "GRACE", 0.5)
    text = 'name = "hangs"\nrepeats = 6\nproblem = "gaussian n=8 d=100"\n[measure]\ncolumns = ["run.status"]\n'
    study = Study.from_toml(text + "[limits]\nseconds = 2")
    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1", silence_logs=50
    ) as local:
        from distributed import Client

        with Client(local.scheduler_address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            client.run(exec, HANG, {})
        report = run(study, tmp_path / "s.db", cluster=local.scheduler_address)
    assert (report.status.done, report.status.failed) == (5, 1)
    told = "the cell took longer than its limit of 2 s, and its worker is still at it"
    assert report.status.failures == ((told, 1),)
    with Store.open(tmp_path / "s.db") as store:
        assert [stored.cell.trial for stored in store.failed()] == [2]


def test_an_error_of_a_batch_is_told_as_it_is_and_not_tried_again() -> None:
    crew = object.__new__(cluster.Cluster)
    crew.events, crew.closed, crew.lane = Events(), False, cluster.ClusterLane(width=2)
    future: Future[list[Outcome]] = Future()
    future.set_exception(TypeError("compute() takes 2 positional arguments"))
    crew._back(("a", "b"), future)
    events = [crew.events.get_nowait(), crew.events.get_nowait()]
    assert [event.outcome.message for event in events if isinstance(event, Came)] == [
        "TypeError: compute() takes 2 positional arguments"
    ] * 2


def test_a_scheduler_keeps_no_message_of_a_run(scheduler: Any, tmp_path: Path) -> None:
    before = set(scheduler.scheduler._broker._topics)  # cells of a run that was interrupted may still send some
    run(small(), tmp_path / "s.db", cluster=scheduler.scheduler_address)
    after = set(scheduler.scheduler._broker._topics)
    assert not [topic for topic in after - before if str(topic).startswith("relubias-")]


def test_what_a_lost_worker_had_begun_is_not_overdue() -> None:
    lane = cluster.ClusterLane(width=2)
    lane.give(list(small().cells())[:2])
    first, second = lane.out
    lane.begun |= {first: (time.monotonic() - 100.0, "a"), second: (time.monotonic() - 100.0, "b")}
    assert lane.overdue(None) is None
    assert lane.overdue(200.0) is None
    assert lane.overdue(1.0) == first
    lane.without({"b"})
    assert lane.overdue(1.0) == second
    assert lane.took_back(second)
    assert lane.overdue(1.0) is None


def test_a_cluster_without_workers_ends_the_run_with_a_sentence(
    scheduler: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    crew = cluster.Cluster(small(), scheduler.scheduler_address)
    try:
        crew.look()
        monkeypatch.setattr(cluster, "LOOK", -1.0)
        monkeypatch.setattr(cluster, "PATIENCE", -1.0)
        monkeypatch.setattr(crew.client, "ncores", dict)
        with pytest.raises(RelubiasError, match="has had no workers for a while; what was done is kept"):
            crew.look()
    finally:
        crew.close(now=True)


def test_every_worker_has_to_have_this_version(scheduler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "__version__", "99.0")
    with pytest.raises(ArgumentError, match=r"the worker tcp://127.0.0.1:\d+ has relubias .*, here it is 99.0"):
        cluster.Cluster(small(), scheduler.scheduler_address)
