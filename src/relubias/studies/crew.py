"""What the runner knows of its workers, whatever they are.

A crew has *lanes*. Cells go out to a lane in batches and come back one by one, as events in one queue:

    Came(lane, outcome)            a cell is finished
    Lost(lane, held, blamed, …)    a worker died; what it held is to be given out again, `blamed` was being computed

In a lane of one process cells are computed in their order, so that the one to blame is the first that has not come
back. A cluster is one wide lane, whose workers tell which cell they have begun.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from relubias.studies.grid import Cell
from relubias.studies.work import Outcome

#: Seconds beyond its limit that a cell has to come back by itself.
GRACE = 5.0


@dataclass(eq=False)
class Lane:
    """A place where cells are computed.

    Attributes
    ----------
    width : int
        How many cells are computed in it at once.
    out : dict
        The cells that were given out and have not come back, by id, in their order.
    since : float
        When the last cell came back, or the first was given out, on the monotonic clock.
    """

    width: int = 1
    out: dict[str, Cell] = field(default_factory=dict)
    since: float = 0.0

    @property
    def is_ready(self) -> bool:
        """Whether its worker has begun, so that the time of its cells counts."""
        return True

    def overdue(self, limit: float | None) -> str | None:
        """The id of the cell that has not come back long after its limit of time, if there is one.

        In a lane of one process that is the one that is being computed.
        """
        if limit is None or not self.out or not self.is_ready:
            return None
        return next(iter(self.out)) if time.monotonic() - self.since > limit + GRACE else None

    def give(self, cells: Sequence[Cell]) -> None:
        """Note that these cells are out."""
        if not self.out:
            self.since = time.monotonic()
        self.out |= {cell.id: cell for cell in cells}

    def took_back(self, id: str) -> bool:
        """Note that a cell has come back; False if it was not out (it had been given up)."""
        self.since = time.monotonic()
        return self.out.pop(id, None) is not None


@dataclass(frozen=True)
class Came:
    """A cell is finished."""

    lane: Lane
    outcome: Outcome


@dataclass(frozen=True)
class Lost:
    """A worker died.

    Attributes
    ----------
    lane : Lane
    held : tuple of str
        The cells that have to be given out again, by id.
    blamed : tuple of str
        Those among them that were being computed, or may have been.
    reason : str
        One sentence.
    """

    lane: Lane
    held: tuple[str, ...]
    blamed: tuple[str, ...]
    reason: str


Events = queue.SimpleQueue[Came | Lost]


class Crew(Protocol):
    """Workers of one kind."""

    events: Events
    #: Seconds of work in a batch.
    batch_seconds: float

    @property
    def lanes(self) -> Sequence[Lane]:
        """The places where cells are computed."""
        ...

    @property
    def layout(self) -> str:
        """Who computes, in one line."""
        ...

    def send(self, lane: Lane, cells: Sequence[Cell]) -> None:
        """Give cells to a lane."""
        ...

    def look(self) -> None:
        """Look around, a few times a second: has anybody come or gone?"""
        ...

    def give_up(self, lane: Lane, id: str) -> Outcome:
        """Fail a cell that does not end, if need be with its process; an event tells what became of the others."""
        ...

    def mourn(self, lost: Lost) -> Lost:
        """Replace a worker that died, and tell which cells it held."""
        ...

    def close(self, *, now: bool) -> None:
        """Send everybody home; `now` without waiting for what is being computed."""
        ...
