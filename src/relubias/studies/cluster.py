"""Workers that are those of a Dask scheduler: the same cells, the same rows.

The executor of a client is one wide lane. Workers send messages on a topic of this run: a cell was begun, a cell is
finished. So cells come back one by one, and the one that does not end is known from those that wait behind it; the
batch as a whole follows, in case that a message was lost. Dask itself gives a batch to another worker when one dies,
and lets it go after a number of deaths (``distributed.scheduler.allowed-failures``, 3); its cells are then tried one by
one, and one with which Dask gives up again fails. Several cells may share the process of a worker, so that limits are
kept by a watch (:mod:`relubias.studies.limits`). Workers may come and go while a study runs; they need this version of
relubias.
"""

from __future__ import annotations

import concurrent.futures
import json
import time
import uuid
from collections.abc import Container, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from typing import Any

from relubias import __version__
from relubias.errors import ArgumentError, MissingDependency, RelubiasError
from relubias.studies.crew import GRACE, Came, Events, Lane, Lost
from relubias.studies.grid import Cell
from relubias.studies.spec import Study
from relubias.studies.work import Outcome, failed, told, warm_up, was_left_behind, work

#: Seconds to wait for a scheduler, for its first worker, and for others when all are gone.
PATIENCE = 30.0
#: Seconds between two looks at how many workers there are.
LOOK = 2.0
#: Errors, by name, with which a batch comes back when its workers are lost; any other is one of the batch itself.
LOSSES = ("KilledWorker", "CancelledError", "FutureCancelledError", "CommClosedError", "TimeoutError", "OSError")


@dataclass(eq=False)
class ClusterLane(Lane):
    """All workers of a cluster.

    Attributes
    ----------
    batches : dict
        The batch of each cell that is out, by id.
    begun : dict
        When a cell was begun, on the monotonic clock of this process, and by which worker, by id.
    """

    batches: dict[str, tuple[str, ...]] = field(default_factory=dict)
    begun: dict[str, tuple[float, str]] = field(default_factory=dict)

    def overdue(self, limit: float | None) -> str | None:
        """The id of a cell that a worker has not finished long after its limit of time, if there is one."""
        if limit is None:
            return None
        now = time.monotonic()
        begun = [(id, since) for id, (since, _) in list(self.begun.items()) if id in self.out]
        return next((id for id, since in begun if now - since > limit + GRACE), None)

    def without(self, workers: Container[str]) -> None:
        """Forget what was begun by any but these workers: Dask will have it begun again."""
        for id, (_, worker) in list(self.begun.items()):
            if worker not in workers:
                self.begun.pop(id, None)

    def took_back(self, id: str) -> bool:
        """Note that a cell has come back; False if it was not out."""
        self.begun.pop(id, None)
        return super().took_back(id)


class Cluster:
    """A crew behind a scheduler."""

    batch_seconds = 0.25

    def __init__(self, study: Study, address: str) -> None:
        self.study, self.address = study.core, address
        self.events = Events()
        self.client = _connected(address)
        try:
            width = sum(self.client.ncores().values())
            self.executor: concurrent.futures.Executor = self.client.get_executor(pure=False)
            _require_version(self.client, address)
        except BaseException:
            self.client.close()
            raise
        self.lane = ClusterLane(width=width)
        self.closed = False
        self.hanging: set[str] = set()  # cells that were given up and have not ended
        self.looked = self.peopled = time.monotonic()
        self.topic = f"relubias-{uuid.uuid4().hex}"
        self.client.subscribe_topic(self.topic, self._heard)

    @property
    def lanes(self) -> Sequence[Lane]:
        """One, of all workers."""
        return (self.lane,)

    @property
    def layout(self) -> str:
        """Who computes."""
        return f"{self.lane.width} threads of the workers of {self.address}, cells on one BLAS thread each"

    def send(self, lane: Lane, cells: Sequence[Cell]) -> None:
        """Give a batch to the scheduler."""
        ids = tuple(cell.id for cell in cells)
        lane.give(cells)
        self.lane.batches |= dict.fromkeys(ids, ids)
        future = self.executor.submit(compute, self.study, tuple(cells), self.topic)
        future.add_done_callback(partial(self._back, ids))

    def look(self) -> None:
        """Count the workers again, now and then.

        Raises
        ------
        RelubiasError
            If there has been none for a while, or every one of them is at a cell that does not end.
        """
        now = time.monotonic()
        if now - self.looked > LOOK:
            self.looked = now
            workers = self.client.ncores()
            self.lane.without(workers)
            if workers:
                self.peopled, self.lane.width = now, sum(workers.values())
        gone = now - self.peopled > PATIENCE
        if gone or len(self.hanging) >= self.lane.width:
            what = "has had no workers for a while" if gone else "has workers only that do not end their cells"
            raise RelubiasError(
                f"the scheduler {self.address} {what}; what was done is kept: restart them, and run the command again."
            )

    def _heard(self, message: tuple[Any, str]) -> None:
        """Take a cell that a worker has just finished, or note which one it has begun."""
        news = json.loads(message[1])
        if "worker" in news:
            self.lane.begun[news["id"]] = time.monotonic(), news["worker"]
        else:
            self.hanging.discard(news["id"])
            self.events.put(Came(self.lane, Outcome(**news)))

    def _back(self, ids: tuple[str, ...], future: concurrent.futures.Future[list[Outcome]]) -> None:
        if self.closed:
            return
        try:
            outcomes = future.result()
        except (concurrent.futures.CancelledError, Exception) as error:
            kind = type(error).__name__
            if kind not in LOSSES:  # nobody was lost, and once more would be no better
                outcomes = [failed(id, told(error)) for id in ids]
            elif kind == "KilledWorker" and len(ids) == 1:  # Dask has tried it on several workers already
                outcomes = [failed(ids[0], _lost_with(error))]
            else:
                self.events.put(Lost(self.lane, ids, ids, _lost_with(error)))
                return
        for outcome in outcomes:
            self.events.put(Came(self.lane, outcome))

    def mourn(self, lost: Lost) -> Lost:
        """Make sure that there still is a scheduler.

        Raises
        ------
        RelubiasError
            If it is gone.
        """
        if self.client.status != "running":
            raise RelubiasError(
                f"the scheduler {self.address} is gone; what was done is kept: run the command again when it is back."
            )
        return lost

    def give_up(self, lane: Lane, id: str) -> Outcome:
        """Go on without a cell: nobody else's process is killed, but those that wait behind it are given out again."""
        self.hanging.add(id)
        waiting = tuple(other for other in self.lane.batches[id] if other in lane.out)
        if waiting:
            self.events.put(Lost(lane, waiting, (), "another cell of their batch did not end"))
        return failed(id, was_left_behind(self.study.limits))

    def close(self, *, now: bool) -> None:
        """Leave the scheduler, with what it has not begun cancelled, and no trace on it."""
        self.closed = True
        self.executor.shutdown(wait=not (now or self.hanging))  # without waiting, Dask cancels what is out
        with suppress(Exception):  # the scheduler may be gone
            self.client.run_on_scheduler(_forget, self.topic)
        self.client.close()


def compute(study: Study, cells: Sequence[Cell], topic: str) -> list[Outcome]:
    """Compute a batch in a worker, and tell of each cell when it is begun and when it is finished.

    Parameters
    ----------
    study : Study
    cells : sequence of Cell
    topic : str
        What the messages are under.
    """
    from distributed import get_worker

    worker: Any = get_worker()
    _warm()
    outcomes = []
    for cell in cells:
        worker.log_event(topic, json.dumps({"id": cell.id, "worker": worker.address}))
        outcomes.append(work(study, cell, alone=False))
        # JSON keeps every bit of a number, and integers of any size
        worker.log_event(topic, json.dumps(asdict(outcomes[-1])))
    return outcomes


@lru_cache(maxsize=1)
def _warm() -> None:
    """Load and compile what cells need, once in a worker, so that no cell is charged for it."""
    warm_up()


def _forget(topic: str, dask_scheduler: Any) -> None:
    """Drop the messages of a run, which a scheduler keeps otherwise for as long as it lives."""
    topics = getattr(getattr(dask_scheduler, "_broker", None), "_topics", None)
    if topics is None:
        topics = dask_scheduler.events
    topics.pop(topic, None)


def _lost_with(error: BaseException) -> str:
    return " ".join(f"the workers that computed it were lost ({type(error).__name__}: {error})".split())


def version() -> str:
    """The version that a worker has."""
    return __version__


def _connected(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingDependency("a cluster needs dask.distributed: pip install 'relubias[cluster]'.") from error
    try:
        client: Any = Client(address, timeout=PATIENCE, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise ArgumentError(f"there is no scheduler at {address}: {' '.join(str(error).split())}") from error
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as error:
        client.close()
        raise ArgumentError(
            f"the scheduler {address} has no workers; start some with `dask worker {address}`."
        ) from error
    return client


def _require_version(client: Any, address: str) -> None:
    """Ask every worker that there is."""
    try:
        theirs = client.run(version)
    except Exception as error:
        raise ArgumentError(
            f"the workers of {address} cannot run relubias ({type(error).__name__}: {error}); install it there."
        ) from error
    for worker, found in sorted(theirs.items()):
        if found != __version__:
            raise ArgumentError(f"the worker {worker} has relubias {found}, here it is {__version__}; use one version.")
