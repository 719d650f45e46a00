"""What other people's packages do of the same jobs; each package is asked for when its turn comes."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.harness import Skipped


def package(name: str, *, extra: str = "bench") -> Any:
    """Import a rival's package.

    Raises
    ------
    Skipped
        If it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Skipped(f"{name.partition('.')[0]} is not installed; the extra {extra} has it.") from None
