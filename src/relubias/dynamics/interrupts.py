"""Ctrl-C between pieces of work, never inside one.

An interrupt that arrives while a piece is being done is held until the piece is complete, so that a run that is
stopped holds a state that it really had.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hold SIGINT while the block runs; deliver it to whoever handled it before at the end.

    Only the main thread receives signals in Python; elsewhere this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[FrameType | None] = []
    handler = signal.signal(signal.SIGINT, lambda _, frame: held.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if handler is None else handler)
        if held and callable(handler):
            handler(signal.SIGINT, held[0])
