"""The anonymous memory of this process (what the kernel calls RssAnon).

Pages of a mapped file can be dropped at any time and are no one's burden, so that they are not counted.
"""

from __future__ import annotations

import threading
from pathlib import Path

from benchmarks.harness import Skipped

STATUS = Path("/proc/self/status")


def require_memory() -> None:
    """Ask whether it can be told.

    Raises
    ------
    Skipped
        If it cannot.
    """
    if not STATUS.exists():
        raise Skipped("anonymous memory is read from /proc, which this system does not have")


def anonymous_memory() -> int:
    """Return the anonymous memory of this process, in bytes."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("RssAnon"))
    return 1024 * int(line.split()[1])


class Peak:
    """The largest anonymous memory while this context lasts, looked at every millisecond."""

    def __init__(self) -> None:
        self.bytes = anonymous_memory()
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch)

    def __enter__(self) -> Peak:
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.001):
            self.bytes = max(self.bytes, anonymous_memory())
