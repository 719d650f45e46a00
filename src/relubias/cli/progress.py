"""Signs of life on standard error, for anything that takes longer than a second.

A stage of the work (reading, training, computing the minimum-norm solution) is named once it has lasted for a second.
Training also reports its steps: on a terminal in one line that is overwritten; elsewhere (a log, a pipe) in a plain
line every ten seconds.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from relubias.dynamics.run import Progress

#: Seconds before the first line, between redraws of the live line, and between plain lines.
QUIET, REDRAW, PLAIN = 1.0, 0.2, 10.0


class ProgressLine:
    """A progress callback that writes to a stream; leaving its ``with`` block clears the live line."""

    def __init__(
        self,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        timer: Callable[[float, Callable[[], None]], Any] = threading.Timer,
    ) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.live = self.stream.isatty()
        self.clock = clock
        self.timer = timer
        self.next = clock() + (QUIET if self.live else PLAIN)
        self.drawn = False
        self.stage = 0
        self.waiting: Any = None
        self.lock = threading.Lock()  # the timer writes from a thread of its own

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._begin_stage()
        if self.drawn:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self.drawn = False

    def __call__(self, progress: Progress) -> None:
        now = self.clock()
        if now < self.next:
            return
        self.next = now + (REDRAW if self.live else PLAIN)
        with self.lock:
            self.write(
                f"relubias: {'piece' if progress.flow else 'step'} {progress.steps:,}, {progress.pattern_changes:,} changes of pattern, "
                f"loss {progress.loss:.3g}, {progress.cost / progress.budget:.0%} of the budget"
            )

    def announce(self, text: str) -> None:
        """Say what is being done, if it is still being done in a second."""
        stage = self._begin_stage()

        def say() -> None:
            with self.lock:
                if self.stage == stage:
                    self.write(f"relubias: {text} …")

        self.waiting = self.timer(QUIET, say)
        self.waiting.daemon = True
        self.waiting.start()

    def write(self, text: str) -> None:
        """Show a line: over the last one on a terminal, below it elsewhere."""
        if self.live:
            self.stream.write(f"\r\x1b[K{text}")
            self.drawn = True
        else:
            self.stream.write(f"{text}\n")
        self.stream.flush()

    def _begin_stage(self) -> int:
        """Leave the stage before, whose name need not be told any more."""
        if self.waiting is not None:
            self.waiting.cancel()
        with self.lock:
            self.stage += 1
            return self.stage
