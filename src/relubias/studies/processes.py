"""Workers that are processes of this machine: one executor of one process a lane.

Processes are *spawned*: a fresh interpreter inherits no threads, locks or open database from this one, and it is the
only way that every system has. It takes a second, once in the life of a worker. With one executor a process, a process
that is killed breaks no other; and cells come back through a pipe of its own, so that whatever it had finished
is kept and the one that it was at is known. Workers end when this process does, even by kill -9.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection, wait

from relubias.arguments import is_whole
from relubias.errors import ArgumentError, RelubiasError
from relubias.studies.crew import Came, Events, Lane, Lost
from relubias.studies.grid import Cell
from relubias.studies.spec import Study
from relubias.studies.work import Outcome, failed, had_to_be_killed, one_thread, told, warm_up, work

#: So many workers in a row may die before they are ready.
MOST_STILLBORN = 3
#: Seconds between two looks at the clock.
LOOK = 0.2


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked_workers(workers: int | None) -> int:
    """Return a number of processes: one a core, if none is given.

    Parameters
    ----------
    workers : int or None

    Raises
    ------
    ArgumentError
        If it is no whole number from 1, or more than there are cores.
    """
    if workers is None:
        return cores()
    if not is_whole(workers) or workers < 1:
        raise ArgumentError(f"workers must be a whole number from 1; it is {workers!r:.80}.")
    if workers > cores():
        raise ArgumentError(
            f"workers={workers} are more than the {cores()} cores that there are; they would only wait."
        )
    return int(workers)


@dataclass(eq=False)
class ProcessLane(Lane):
    """One process."""

    executor: ProcessPoolExecutor | None = None
    ready: Future[int] = field(default_factory=Future)
    given_up: bool = False

    def start(self, study: Study, events: Events) -> None:
        """Start the process, and a thread that listens to it."""
        context = multiprocessing.get_context("spawn")
        reader, writer = context.Pipe(duplex=False)
        self.executor = ProcessPoolExecutor(1, context, initializer=_begin, initargs=(writer, study))
        self.ready = self.executor.submit(warm_up)
        self.ready.add_done_callback(self._begin)
        writer.close()  # the worker has its own by now; when that one closes, the worker is gone
        threading.Thread(target=self._listen, args=(reader, events), daemon=True).start()

    @property
    def is_ready(self) -> bool:
        """Whether the process has loaded what it needs."""
        return self.ready.done()

    def _begin(self, ready: Future[int]) -> None:
        self.since = time.monotonic()

    def _listen(self, reader: Connection, events: Events) -> None:
        with reader, suppress(EOFError, OSError):
            while True:
                events.put(Came(self, reader.recv()))
        events.put(Lost(self, (), (), "the process that computed it died"))

    def kill(self) -> None:
        """End the process without a word."""
        with suppress(BrokenProcessPool, ProcessLookupError):  # it may be gone already
            os.kill(self.ready.result(timeout=60.0), signal.SIGKILL)


class Processes:
    """A crew of processes."""

    batch_seconds = 0.1

    def __init__(self, study: Study, workers: int) -> None:
        self.study = study.core
        self.events = Events()
        self.lanes: Sequence[Lane] = [ProcessLane() for _ in range(workers)]
        self.stillborn = 0
        for lane in self.lanes:
            _own(lane).start(self.study, self.events)

    @property
    def layout(self) -> str:
        """Who computes."""
        processes = f"{len(self.lanes)} process{'es' if len(self.lanes) > 1 else ''}"
        return f"{processes} of one BLAS thread each, on {cores()} core{'s' if cores() > 1 else ''}"

    @property
    def processes(self) -> list[ProcessPoolExecutor]:
        """The executor of each lane."""
        return [_process(lane) for lane in self.lanes]

    def send(self, lane: Lane, cells: Sequence[Cell]) -> None:
        """Give cells to a process; if it has just died, an event about it is on its way."""
        lane.give(cells)
        with suppress(BrokenProcessPool):
            _process(lane).submit(_compute, tuple(cells)).add_done_callback(partial(_end_if_it_failed, _own(lane)))

    def look(self) -> None:
        """Nothing is to be seen: an event tells when a process has died."""

    def give_up(self, lane: Lane, id: str) -> Outcome:
        """Kill the process; an event about it follows, for which no other cell is to blame."""
        _own(lane).given_up = True
        _own(lane).kill()
        return failed(id, had_to_be_killed(self.study.limits))

    def mourn(self, lost: Lost) -> Lost:
        """Start a new process in the place of one that died, and tell what it held.

        Raises
        ------
        RelubiasError
            If processes die again and again before they are ready.
        """
        lane = _own(lost.lane)
        _process(lane).shutdown(wait=True)
        stillborn = lane.ready.cancelled() or lane.ready.exception() is not None
        self.stillborn = self.stillborn + 1 if stillborn else 0
        if self.stillborn >= MOST_STILLBORN:
            raise RelubiasError(
                "worker processes die before they are ready; in a script, call relubias.studies.run below "
                "`if __name__ == '__main__':`, since every worker reads the script too."
            )
        held = tuple(lane.out)
        blameless, lane.given_up = stillborn or lane.given_up, False
        lane.start(self.study, self.events)
        return Lost(lane, held, () if blameless else held[:1], lost.reason)

    def close(self, *, now: bool) -> None:
        """End all processes."""
        for lane in self.lanes:
            if now:
                with suppress(TimeoutError):
                    _own(lane).kill()
        for lane in self.lanes:
            _process(lane).shutdown(wait=True, cancel_futures=True)


def _own(lane: Lane) -> ProcessLane:
    assert isinstance(lane, ProcessLane)
    return lane


def _process(lane: Lane) -> ProcessPoolExecutor:
    executor = _own(lane).executor
    assert executor is not None
    return executor


class _Here:
    """What a worker process has: the way back to the runner, and the study."""

    channel: Connection
    study: Study


def _begin(channel: Connection, study: Study) -> None:
    """Prepare a worker process: Ctrl-C is for the runner, BLAS has one thread, and who is orphaned ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _Here.channel, _Here.study = channel, study
    one_thread()
    runner = multiprocessing.parent_process()
    assert runner is not None

    def watch() -> None:
        wait([runner.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def turn_to(study: Study) -> None:
    """Let this worker process compute cells of another study from now on."""
    _Here.study = study


def _compute(cells: Sequence[Cell]) -> None:
    for cell in cells:
        try:
            outcome = work(_Here.study, cell, alone=True)
        except BaseException as error:  # a library wants to exit, or there was no memory left to say what is wrong
            outcome = failed(cell.id, told(error))
        _Here.channel.send(outcome)


def _end_if_it_failed(lane: ProcessLane, batch: Future[None]) -> None:
    """A batch that ended before its last cell leaves a process of which nobody would hear again."""
    if not batch.cancelled() and not isinstance(batch.exception(), BrokenProcessPool | None):
        lane.kill()


def once(study: Study, cells: Sequence[Cell]) -> list[Outcome]:
    """Compute a few cells in one worker process, whether or not it survives them; none is tried twice."""
    crew = Processes(study, 1)
    (lane,) = crew.lanes
    outcomes: dict[str, Outcome] = {}
    left = list(cells)
    try:
        while left:
            crew.send(lane, left)
            while lane.out:
                try:
                    event = crew.events.get(timeout=LOOK)
                except queue.Empty:
                    if (late := lane.overdue(study.limits.seconds)) is not None:
                        lane.took_back(late)
                        outcomes[late] = crew.give_up(lane, late)
                    continue
                if isinstance(event, Lost):
                    blamed = crew.mourn(event).blamed
                    outcomes |= {id: failed(id, event.reason) for id in blamed}
                    lane.out.clear()
                elif lane.took_back(event.outcome.id):
                    outcomes[event.outcome.id] = event.outcome
            left = [cell for cell in left if cell.id not in outcomes]
    finally:
        crew.close(now=bool(left))
    return [outcomes[cell.id] for cell in cells]
