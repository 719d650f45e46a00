"""What a person waits for before anything happens: ``import relubias`` and ``relubias --help``.

Each measurement is a process of its own, timed by the clock from its start to its end. ``import relubias`` loads its
parts when they are first used. So two lines without a goal say what a person pays later: at the first use of `Problem`,
and for all public names together.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial

from benchmarks.harness import Row, ceiling, race

AT_MOST, SECONDS = 1.3, 0.7
GOAL = f"import at most {AT_MOST:g} times as long as NumPy and scipy.linalg, --help within {SECONDS:g} s"
IMPORT, RIVAL = "import relubias", "import numpy, scipy.linalg"
FIRST_USE = "import relubias\nrelubias.Problem.from_gram([[1.0]], [1.0])"
EVERYTHING = "import relubias\nfor name in relubias.__all__: getattr(relubias, name)"
REPEATS = 9


def python(*arguments: str) -> None:
    """Run Python with these arguments."""
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)


def measure() -> Iterator[Row]:
    """Yield the races and the ceiling."""
    for name, code, at_most in (
        (IMPORT, IMPORT, AT_MOST),
        ("import relubias, first use of Problem", FIRST_USE, None),
        ("import relubias and all its public names", EVERYTHING, None),
    ):
        ours, rival = partial(python, "-c", code), partial(python, "-c", RIVAL)
        yield race(name, ours, RIVAL, rival, at_most=at_most, repeats=REPEATS, clock=time.perf_counter)
    yield ceiling("relubias --help", help_page, at_most=SECONDS, repeats=REPEATS)


def help_page() -> None:
    """Ask for help in a fresh process."""
    python("-m", "relubias", "--help")
