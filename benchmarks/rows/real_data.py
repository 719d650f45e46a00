"""A whole analysis of real data, from the file to the verdict, within a time that a person will wait.

The first analysis ever compiles the step loop, once for an installation. That is not in the two ceilings; it has a row
of its own, of fresh processes with an empty folder for what is compiled, against fresh processes that find it there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path

import relubias
from benchmarks.harness import Row, ceiling, race
from benchmarks.profiling import Job
from benchmarks.tasks.real_data import RIBOFLAVIN, YARN, folder, real

SECONDS, SECONDS_CENTRED = 2.0, 15.0
GOAL = f"yarn within {SECONDS:g} s, riboflavin with centred labels within {SECONDS_CENTRED:g} s"


def measure() -> Iterator[Row]:
    """Yield the ceilings, and what the first analysis ever takes."""
    folder()
    warm_up()
    yield ceiling("analyze yarn", partial(analyze, YARN), at_most=SECONDS)
    centred = partial(analyze, RIBOFLAVIN, centre_labels=True)
    yield ceiling("analyze riboflavin, centred", centred, at_most=SECONDS_CENTRED)
    with tempfile.TemporaryDirectory() as compiled:
        yield race(
            "first analyze of yarn ever, compilation included",
            first_ever,
            "a new process, compiled before",
            partial(in_a_new_process, compiled),
            repeats=3,
            clock=time.perf_counter,
            patience=60.0,
        )


def warm_up() -> None:
    """Analyse a small example."""
    relubias.analyze(relubias.read(Path(str(files("relubias") / "example_data" / "synthetic.csv")), target="y"))


def analyze(name: str, *, centre_labels: bool = False) -> relubias.Analysis:
    """Read and analyse one file with the default start and step."""
    return relubias.analyze(real(name, centre_labels=centre_labels), relubias.Network.single())


def first_ever() -> None:
    """Analyse with nothing compiled."""
    with tempfile.TemporaryDirectory() as compiled:
        in_a_new_process(compiled)


def in_a_new_process(compiled: str) -> None:
    """Analyse yarn in a process of its own that keeps what it compiles in this folder."""
    command = [sys.executable, "-m", "relubias", "analyze", str(folder() / YARN), "--target", "y"]
    subprocess.run(command, env=os.environ | {"NUMBA_CACHE_DIR": compiled}, check=True, capture_output=True)


def jobs() -> Iterator[Job]:
    """Against reading the file, which anybody has to do."""
    warm_up()
    remark = "The distance is the run to the limit: yarn takes millions of steps that have to be leapt over exactly."
    yield Job("analyze yarn", partial(analyze, YARN), "reading the file", partial(real, YARN), remark)
    centred = partial(real, RIBOFLAVIN, centre_labels=True)
    remark = "The distance is the run to the limit, with its hundreds of thousands of changes of pattern."
    analysed = partial(analyze, RIBOFLAVIN, centre_labels=True)
    yield Job("analyze riboflavin, centred", analysed, "reading the file", centred, remark)
