"""Workers that are those of a Dask scheduler: the same cells, the same rows.

The executor of a client is one wide lane. Every cell comes back when it is finished, as a message of its worker on a
topic of this run; the batch as a whole follows, in case that a message was lost. Dask itself gives a batch to another
worker when one dies, and lets it go after a number of deaths (``distributed.scheduler.allowed-failures``, 3); its cells
are then tried one by one, and one with which Dask gives up again fails. Several cells may share the process of a
worker, so that limits are kept by a watch (:mod:`relubias.studies.limits`). Workers may come and go while a study runs;
they need this version of relubias.
"""

from __future__ import annotations

import concurrent.futures
import json
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Any

from relubias import __version__
from relubias.errors import ArgumentError, MissingDependency, RelubiasError
from relubias.studies.crew import Came, Events, Lane, Lost
from relubias.studies.grid import Cell
from relubias.studies.spec import Study
from relubias.studies.work import Outcome, failed, work

#: Seconds to wait for a scheduler, and for its first worker.
PATIENCE = 30.0
#: Seconds between two looks at how many workers there are.
LOOK = 2.0


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
            _require_version(self.executor, address)
        except BaseException:
            self.client.close()
            raise
        self.lanes: Sequence[Lane] = [Lane(width=width)]
        self.closed, self.looked = False, time.monotonic()
        self.topic = f"relubias-{uuid.uuid4().hex}"
        self.client.subscribe_topic(self.topic, self._one)

    @property
    def layout(self) -> str:
        """Who computes."""
        return f"{self.lanes[0].width} threads of the workers of {self.address}, cells on one BLAS thread each"

    def send(self, lane: Lane, cells: Sequence[Cell]) -> None:
        """Give a batch to the scheduler."""
        self._look(lane)
        lane.give(cells)
        future = self.executor.submit(compute, self.study, tuple(cells), self.topic)
        future.add_done_callback(partial(self._back, lane, tuple(cell.id for cell in cells)))

    def _look(self, lane: Lane) -> None:
        """Count the workers again, now and then; where all are gone, wait for as many as there were."""
        if time.monotonic() - self.looked > LOOK:
            self.looked = time.monotonic()
            lane.width = sum(self.client.ncores().values()) or lane.width

    def _one(self, message: tuple[Any, str]) -> None:
        """Take a cell that a worker has just finished."""
        self.events.put(Came(self.lanes[0], Outcome(**json.loads(message[1]))))

    def _back(self, lane: Lane, ids: tuple[str, ...], future: concurrent.futures.Future[list[Outcome]]) -> None:
        if self.closed:
            return
        try:
            outcomes = future.result()
        except (concurrent.futures.CancelledError, Exception) as error:
            kind = type(error).__name__
            reason = " ".join(f"the workers that computed it were lost ({kind}: {error})".split())
            if kind == "KilledWorker" and len(ids) == 1:  # Dask has tried it on several workers already
                self.events.put(Came(lane, failed(ids[0], reason)))
            else:
                self.events.put(Lost(lane, ids, ids, reason))
        else:
            for outcome in outcomes:
                self.events.put(Came(lane, outcome))

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

    def give_up(self, lane: Lane, id: str) -> None:
        """Nobody else's process is killed: whoever gives up a cell goes on without it."""

    def close(self, *, now: bool) -> None:
        """Leave the scheduler, with what it has not begun cancelled."""
        self.closed = True
        with suppress(Exception):  # the scheduler may be gone
            self.client.unsubscribe_topic(self.topic)
        self.executor.shutdown(wait=not now)  # without waiting, Dask cancels what is out
        self.client.close()


def compute(study: Study, cells: Sequence[Cell], topic: str) -> list[Outcome]:
    """Compute a batch in a worker, and tell of each cell when it is finished."""
    from distributed import get_worker

    worker: Any = get_worker()
    outcomes = []
    for cell in cells:
        outcomes.append(work(study, cell, alone=False))
        # JSON keeps every bit of a number, and integers of any size
        worker.log_event(topic, json.dumps(asdict(outcomes[-1])))
    return outcomes


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


def _require_version(executor: concurrent.futures.Executor, address: str) -> None:
    try:
        theirs = executor.submit(version).result(timeout=PATIENCE)
    except Exception as error:
        raise ArgumentError(
            f"the workers of {address} cannot run relubias ({type(error).__name__}: {error}); install it there."
        ) from error
    if theirs != __version__:
        raise ArgumentError(
            f"the workers of {address} have relubias {theirs}, here it is {__version__}; use one version."
        )
