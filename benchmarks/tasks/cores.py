"""What the machine has to have for a row that is about more than one core."""

from __future__ import annotations

import os

from benchmarks.harness import Skipped


def require_two_cores() -> None:
    """Raise :class:`Skipped` if the machine has one core."""
    if (os.cpu_count() or 1) < 2:
        raise Skipped("there is one core only")
