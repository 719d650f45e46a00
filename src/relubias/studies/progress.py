"""How a run is coming along: counts, speed, time left, and the median so far of one column.

On a terminal one line that is overwritten; elsewhere a plain line now and then.
"""

from __future__ import annotations

import bisect
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

from relubias.studies.runner import Snapshot
from relubias.wording import number

#: Seconds between redraws of the live line, and between plain lines.
REDRAW, PLAIN = 0.2, 10.0


class StudyProgress:
    """A progress callback of :func:`relubias.studies.run` that writes to a stream.

    Parameters
    ----------
    column : str, optional
        The measured column of numbers whose running median is shown.
    so_far : list of float
        Its values in the store when the run begins.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        column: str | None = None,
        so_far: list[float] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.live = self.stream.isatty()
        self.clock = clock
        self.column = column
        self.values = sorted(so_far or [])
        self.next = clock()
        self.last: Snapshot | None = None
        self.drawn = False

    def __enter__(self) -> StudyProgress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.last is not None and self.last.finished:
            self.write(self.line(self.last))
        if self.drawn:
            self.stream.write("\n")
            self.stream.flush()

    def __call__(self, snapshot: Snapshot) -> None:
        if self.last is None:
            self.stream.write(f"relubias: {snapshot.layout}\n")
            self.stream.flush()
            self.next = self.clock() + (REDRAW if self.live else PLAIN)
        self.last = snapshot
        for outcome in snapshot.outcomes:
            value = outcome.values.get(self.column or "")
            if isinstance(value, int | float):
                bisect.insort(self.values, float(value))
        if self.clock() >= self.next:
            self.next = self.clock() + (REDRAW if self.live else PLAIN)
            self.write(self.line(snapshot))

    @property
    def median(self) -> float | None:
        """Of the column so far; the lower one of two."""
        return self.values[(len(self.values) - 1) // 2] if self.values else None

    def line(self, snapshot: Snapshot) -> str:
        """All of it in one line."""
        parts = [
            f"{snapshot.done:,} done, {snapshot.failed:,} failed, {snapshot.pending:,} pending",
            f"{snapshot.per_second:.3g} cells/s",
        ]
        if snapshot.pending:
            parts.append(f"{duration(snapshot.seconds_left)} left")
        if self.median is not None:
            parts.append(f"median {self.column} {number(self.median)}")
        return "relubias: " + "; ".join(parts)

    def write(self, text: str) -> None:
        """Show a line: over the last one on a terminal, below it elsewhere."""
        if self.live:
            self.stream.write(f"\r\x1b[K{text}")
            self.drawn = True
        else:
            self.stream.write(f"{text}\n")
        self.stream.flush()


def duration(seconds: float) -> str:
    """Return ``45 s``, ``12 min``, ``3.5 h``; days are hours too."""
    if seconds == float("inf"):
        return "an unknown time"
    if seconds < 100:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
