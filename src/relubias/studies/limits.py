"""Limits of one cell: seconds by the clock, and megabytes beyond what its process held before.

Where a cell has its process for itself (processes) the time is a timer signal, and the memory is a limit of the
address space, so that the allocation that exceeds it fails in the cell and nowhere else. Where it shares a process
with others (a thread of a Dask worker) a watch looks at the clock and at the memory that the process has gained,
twenty times a second, and raises the error in the thread of the cell. Neither can break into a call of a compiled
library; a cell that does not come back long after its time is given up by who waits for it, and its process killed.

Wall-clock time does not change a result: a cell over its limit has none, it fails.
"""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from relubias.errors import ArgumentError
from relubias.sampling.records import real, settle

#: Seconds between two looks of the watch.
LOOK = 0.05
_STATM = Path("/proc/self/statm")


#: No limit is larger: the system counts neither more seconds nor more bytes.
MOST = 1e9


@dataclass(frozen=True)
class Limits:
    """What a cell may take.

    Attributes
    ----------
    seconds : float or None
    megabytes : float or None
        Of 10⁶ bytes, beyond what its process holds when it begins. Not watched where the system does not tell.
    """

    seconds: float | None = None
    megabytes: float | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "megabytes"):
            value = getattr(self, name)
            if value is not None:
                wanted = f"a number between 0 and {MOST:g} (leave it out for no limit)"
                settle(self, **{name: real(value, name, wanted, lambda number: 0 < number <= MOST)})


class OverLimit(BaseException):
    """A cell is over a limit; no part of a computation that handles errors of its own may swallow this."""


@contextmanager
def limited(limits: Limits, *, alone: bool) -> Iterator[None]:
    """Raise OverLimit in the block once it is over a limit.

    Parameters
    ----------
    limits : Limits
    alone : bool
        Whether the block has its process for itself, and runs in its main thread.

    Raises
    ------
    OverLimit
        With the limit in one sentence.
    """
    if not alone:
        with _watched(limits):
            yield
        return
    try:
        with _timer(limits.seconds), _ceiling(limits.megabytes):
            yield
    except MemoryError as error:
        if limits.megabytes is None:
            raise
        raise OverLimit(_over_memory(limits)) from error


#: How every sentence begins that says so.
OVER_TIME = "the cell took longer than its limit of"


def over_time(limits: Limits) -> str:
    """That a cell was over its limit of time, in words."""
    return f"{OVER_TIME} {limits.seconds:g} s"


def _over_memory(limits: Limits) -> str:
    return f"the cell wanted more memory than its limit of {limits.megabytes:g} MB"


@contextmanager
def _timer(seconds: float | None) -> Iterator[None]:
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise OverLimit(over_time(Limits(seconds)))

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _ceiling(megabytes: float | None) -> Iterator[None]:
    if megabytes is None or not _STATM.exists():
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _memory(0) + int(megabytes * 1e6)
    bounds = [bound for bound in (soft, hard) if bound != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *bounds]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _memory(field: int) -> int:
    """Bytes of this process: 0 is its address space, 1 what of it is in memory."""
    import resource

    return int(_STATM.read_text(encoding="ascii").split()[field]) * resource.getpagesize()


@contextmanager
def _watched(limits: Limits) -> Iterator[None]:
    """Have another thread look at clock and memory, and raise OverLimit in this one."""
    if limits == Limits():
        yield
        return
    thread, done, guard = threading.get_ident(), threading.Event(), threading.Lock()
    begun, memory = time.monotonic(), _memory(1) if _STATM.exists() else 0
    said: list[str] = []

    def watch() -> None:
        while not done.wait(LOOK):
            if limits.seconds is not None and time.monotonic() - begun > limits.seconds:
                said.append(over_time(limits))
            elif limits.megabytes is not None and memory and _memory(1) - memory > limits.megabytes * 1e6:
                said.append(_over_memory(limits))
            with guard:
                if said and not done.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(OverLimit))
                    return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    except OverLimit as error:
        raise OverLimit(*said) from error
    finally:
        with guard:
            done.set()
            # what was raised but has not arrived yet must not arrive later, in somebody else's work
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None)


def limits_from(values: object) -> Limits:
    """Read the table ``[limits]``.

    Raises
    ------
    ArgumentError
        With the key, if it is no table, or something in it is unknown or out of range.
    """
    from relubias.sampling.records import built

    if not isinstance(values, dict):
        raise ArgumentError(f"limits must be a table; it is {values!r:.80}.")
    return built(Limits, values, "limits")
