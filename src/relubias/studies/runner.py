"""Running a study: cells go out to workers in batches, come back one by one, and are committed by this process alone.

    pending ──send──▶ out ──event──▶ committed (done or failed)
       ▲               │
       └─ worker lost ─┘      what was being computed: twice at most, then it fails; the rest: as often as needed

Rows that arrive within a few hundredths of a second share a transaction, since each costs a flush of the disk; a cell
counts as done, in the progress and everywhere, only when its transaction has returned.
"""

from __future__ import annotations

import math
import os
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from relubias.errors import ArgumentError
from relubias.studies.crew import Came, Crew, Lane, Lost
from relubias.studies.grid import Cell
from relubias.studies.processes import Processes, checked_workers
from relubias.studies.spec import Study
from relubias.studies.standing import Standing
from relubias.studies.store import Store
from relubias.studies.stored import StudyStatus
from relubias.studies.work import Outcome, failed

#: How often a cell is computed again after workers were lost with it.
RETRIES = 2
#: Seconds within which rows share a transaction, and between two looks at the clock.
WINDOW, LOOK = 0.05, 0.2
#: Cells in one batch at most, and over how many of the last ones their usual time is averaged.
MOST_AT_ONCE, LATELY = 64, 16


@dataclass(frozen=True)
class Snapshot:
    """How far a run is, after a commit.

    Attributes
    ----------
    layout : str
        Who computes, in one line.
    done, failed, pending : int
        Numbers of cells, those of earlier runs included.
    finished : int
        Cells that this run has finished.
    seconds : float
        Since this run began to compute.
    outcomes : tuple of Outcome
        What has just been committed.
    """

    layout: str
    done: int
    failed: int
    pending: int
    finished: int
    seconds: float
    outcomes: tuple[Outcome, ...] = ()

    @property
    def per_second(self) -> float:
        """Cells a second, in this run."""
        return self.finished / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float:
        """At this rate; infinite where there is none yet."""
        return self.pending / self.per_second if self.per_second > 0 else (math.inf if self.pending else 0.0)


@dataclass(frozen=True)
class RunReport:
    """What one run did.

    Attributes
    ----------
    status : StudyStatus
        How far the study is now.
    layout : str
        Who computed.
    finished : int
        Cells that this run finished.
    added : int
        Cells that it added to the store.
    retried : int
        Cells that were computed again because a worker was lost.
    seconds : float
    busy : float
        Time of processors in cells, over the time that workers were there: their number times `seconds`.
    interrupted : bool
    """

    status: StudyStatus
    layout: str
    finished: int
    added: int
    retried: int
    seconds: float
    busy: float
    interrupted: bool


def run(
    study: Study,
    store: str | os.PathLike[str],
    *,
    workers: int | None = None,
    cluster: str | None = None,
    extend: bool = False,
    retry_failed: bool = False,
    take_over: bool = False,
    progress: Callable[[Snapshot], None] | None = None,
    crew: Standing | None = None,
) -> RunReport:
    """Compute the cells of a study that are not in its store yet.

    Parameters
    ----------
    study : Study
    store : path
        The file with the results; made if it is not there, gone on with if it is.
    workers : int, optional
        Processes; by default, and at most, one a core.
    cluster : str, optional
        Address of a Dask scheduler, ``tcp://host:port``, whose workers compute instead.
    extend : bool
        Whether cells may be added to a store whose study had fewer values or repeats.
    retry_failed : bool
        Whether cells that failed are computed again.
    take_over : bool
        Take the store from a process on another machine that is known to have ended.
    progress : callable, optional
        Called with a Snapshot at the beginning and after each commit.
    crew : Standing, optional
        Processes that are there already, and stay unless the run is interrupted.

    Returns
    -------
    RunReport
        Ctrl-C (and SIGTERM) ends the run with what is committed; the next run goes on from there.

    Raises
    ------
    ArgumentError
        If the store holds another study, or an option makes no sense.
    DataError
        If another process is writing to the store, it is damaged or newer, or there is no room left.
    """
    count = _checked_workers(workers, cluster)
    path = Path(store)
    with Store.open(path) if path.exists() or path.is_symlink() else Store.create(path, study) as opened:
        with opened.held(take_over=take_over), _interrupts() as stopping:
            added = opened.adopt(study, extend=extend)
            if retry_failed:
                opened.retry_failed()
            dispatch = _Dispatch(opened, stopping, progress)
            if dispatch.pending:
                _compute(dispatch, opened.study, count, cluster, crew)
        return dispatch.report(added)


def _compute(dispatch: _Dispatch, study: Study, workers: int, cluster: str | None, standing: Standing | None) -> None:
    crew: Crew
    if standing is not None:
        standing.serve(study)
        crew = standing
    elif cluster is None:
        crew = Processes(study, min(workers, len(dispatch.pending)))
    else:
        from relubias.studies.cluster import Cluster

        crew = Cluster(study, cluster)
    finished = False
    try:
        dispatch.run(crew)
        finished = not dispatch.stopping.is_set()
    finally:
        crew.close(now=not finished)


def _checked_workers(workers: int | None, cluster: str | None) -> int:
    if cluster is not None and workers is not None:
        raise ArgumentError("the workers of a cluster are those that it has; leave out the number of workers.")
    return checked_workers(workers)


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C or SIGTERM into an event, which falls between commits; a second one is heard at once."""
    stopping = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopping
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@dataclass
class _Dispatch:
    """What is pending, what is out, and what has been committed."""

    store: Store
    stopping: threading.Event
    progress: Callable[[Snapshot], None] | None
    attempts: dict[str, int] = field(default_factory=dict)
    finished: int = 0
    cpu_seconds: float = 0.0
    seconds: float = 0.0
    usual: float = 0.0  # seconds of a cell, of late: the next ones in the grid are like the last ones
    retried: int = 0
    layout: str = "nothing was left to compute"
    offered: float = 0.0  # seconds of workers that were there

    def __post_init__(self) -> None:
        self.pending = deque(self.store.pending())
        status = self.store.status()
        self.counts = {"done": status.done, "failed": status.failed}
        self.left = status.pending

    def run(self, crew: Crew) -> None:
        """Give out cells and commit what comes back until nothing is left, or somebody wants it to stop."""
        self.layout = crew.layout
        begun = now = time.monotonic()
        self._tell((), begun)
        while self.left and not self.stopping.is_set():
            crew.look()
            for lane in crew.lanes:
                self._fill(crew, lane)
            outcomes = self._handle(crew, _gathered(crew, self._work_out(crew)))
            outcomes += self._overdue(crew)
            self._commit(outcomes, begun)
            before, now = now, time.monotonic()
            self.offered += (now - before) * self._width(crew)
        self.seconds = now - begun

    @staticmethod
    def _width(crew: Crew) -> int:
        """How many cells are computed at once; on a cluster that may change."""
        return sum(lane.width for lane in crew.lanes)

    def _fill(self, crew: Crew, lane: Lane) -> None:
        """Keep enough cells with a lane that it never waits, and no more."""
        size = self._batch(crew)
        while self.pending and len(lane.out) < max(lane.width * 2, lane.width * size):
            room = 1 if self.pending[0].id in self.attempts else min(size, len(self.pending))
            batch: list[Cell] = []
            while len(batch) < room and not (batch and self.pending[0].id in self.attempts):
                batch.append(self.pending.popleft())
            crew.send(lane, batch)

    def _batch(self, crew: Crew) -> int:
        """How many cells are a batch: about `batch_seconds` of work, one at first, and a fair share at the end."""
        if not self.finished:
            return 1
        fair = len(self.pending) // (4 * self._width(crew))
        return max(1, min(MOST_AT_ONCE, fair, round(crew.batch_seconds / max(self.usual, 1e-6))))

    def _work_out(self, crew: Crew) -> float:
        """For how many seconds the lane that has least to do is still at work, at the usual time of a cell."""
        return self.usual * min(len(lane.out) / lane.width for lane in crew.lanes)

    def _handle(self, crew: Crew, events: Sequence[Came | Lost]) -> list[Outcome]:
        outcomes = []
        for event in events:
            if isinstance(event, Lost):
                outcomes += self._again(crew.mourn(event))
            elif event.lane.took_back(event.outcome.id):
                outcomes.append(event.outcome)
        return outcomes

    def _again(self, lost: Lost) -> list[Outcome]:
        """Put what a dead worker held at the head of the queue; what has killed too many workers fails."""
        lost_for_good = []
        for id in reversed(lost.held):
            cell = lost.lane.out.pop(id, None)
            if cell is None:
                continue
            if id in lost.blamed:
                self.attempts[id] = self.attempts.get(id, 0) + 1
            if self.attempts.get(id, 0) > RETRIES:
                lost_for_good.append(failed(id, f"{lost.reason}, {RETRIES + 1} times"))
            else:
                self.retried += id in lost.blamed
                self.pending.appendleft(cell)
        return lost_for_good

    def _overdue(self, crew: Crew) -> list[Outcome]:
        """Give up cells that are over their time and could not be stopped."""
        limits = self.store.study.limits
        outcomes = []
        for lane in crew.lanes:
            id = lane.overdue(limits.seconds)
            if id is not None:
                lane.took_back(id)
                outcomes.append(crew.give_up(lane, id))
        return outcomes

    def _commit(self, outcomes: list[Outcome], begun: float) -> None:
        if not outcomes:
            return
        self.store.commit(outcomes, [self.attempts.get(outcome.id, 0) for outcome in outcomes])
        for outcome in outcomes:
            self.counts[outcome.status] += 1
            self.cpu_seconds += outcome.cpu_seconds
            self.finished += 1
            self.usual += (outcome.seconds - self.usual) / min(self.finished, LATELY)
        self.left -= len(outcomes)
        self._tell(tuple(outcomes), begun)

    def _tell(self, outcomes: tuple[Outcome, ...], begun: float) -> None:
        if self.progress is not None:
            seconds = time.monotonic() - begun
            done, failed = self.counts["done"], self.counts["failed"]
            self.progress(Snapshot(self.layout, done, failed, self.left, self.finished, seconds, outcomes))

    def report(self, added: int) -> RunReport:
        """What has been done."""
        busy = self.cpu_seconds / self.offered if self.offered > 0 else 0.0
        return RunReport(
            status=self.store.status(),
            layout=self.layout,
            finished=self.finished,
            added=added,
            retried=self.retried,
            seconds=self.seconds,
            busy=busy,
            interrupted=self.stopping.is_set() and self.left > 0,
        )


def _gathered(crew: Crew, work_out: float) -> list[Came | Lost]:
    """Wait for an event, and for those that come soon after it; no longer than half of the work that is out."""
    try:
        events = [crew.events.get(timeout=LOOK)]
    except queue.Empty:
        return []
    time.sleep(min(WINDOW, work_out / 2))
    while True:
        try:
            events.append(crew.events.get_nowait())
        except queue.Empty:
            return events
