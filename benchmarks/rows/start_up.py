"""What a person waits for before anything happens: ``import relubias`` and ``relubias --help``.

Each measurement is a process of its own, timed by the clock from its start to its end. ``import relubias`` loads its
parts when they are first used; the third line is what they take all together, numba aside, for which there is no goal.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial

from benchmarks.harness import Row, ceiling, race

GOAL = "import at most 1.3 times as long as NumPy and scipy.linalg, --help within 0.7 s"
IMPORT, RIVAL = "import relubias", "import numpy, scipy.linalg"
EVERYTHING = "import relubias\nfor name in relubias.__all__: getattr(relubias, name)"
REPEATS = 9


def python(*arguments: str) -> None:
    """Run Python with these arguments."""
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)


def measure() -> Iterator[Row]:
    """Yield both races and the ceiling."""
    rival = partial(python, "-c", RIVAL)
    wall = time.perf_counter
    yield race(IMPORT, partial(python, "-c", IMPORT), RIVAL, rival, at_most=1.3, repeats=REPEATS, clock=wall)
    everything = partial(python, "-c", EVERYTHING)
    yield race("import relubias and all its public names", everything, RIVAL, rival, repeats=REPEATS, clock=wall)
    yield ceiling("relubias --help", help_page, at_most=0.7, repeats=REPEATS)


def help_page() -> None:
    """Ask for help in a fresh process."""
    python("-m", "relubias", "--help")
