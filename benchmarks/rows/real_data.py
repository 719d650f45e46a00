"""A whole analysis of real data, from the file to the verdict, within a time that a person will wait."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path

import relubias
from benchmarks.harness import Row, Skipped, ceiling
from benchmarks.profiling import Job

GOAL = "yarn within 2 s, riboflavin with centred labels within 15 s"


def measure() -> Iterator[Row]:
    """Yield the ceilings; a small analysis comes first, so that compiling is not counted."""
    folder()
    warm_up()
    yield ceiling("analyze yarn", partial(analyze, "yarn.csv.gz"), at_most=2.0)
    centred = partial(analyze, "riboflavin.csv.gz", centre_labels=True)
    yield ceiling("analyze riboflavin, centred", centred, at_most=15.0)


def folder() -> Path:
    """The folder of the real data.

    Raises
    ------
    Skipped
        If no folder is named.
    """
    if not os.environ.get("RELUBIAS_DATA"):
        raise Skipped("RELUBIAS_DATA names no folder with real data")
    return Path(os.environ["RELUBIAS_DATA"])


def real(name: str, *, centre_labels: bool = False) -> relubias.Problem:
    """Read one of them."""
    return relubias.read(folder() / name, target="y", centre_labels=centre_labels)


def warm_up() -> None:
    """Analyse a small example."""
    relubias.analyze(relubias.read(Path(str(files("relubias") / "example_data" / "synthetic.csv")), target="y"))


def analyze(name: str, *, centre_labels: bool = False) -> relubias.Analysis:
    """Read and analyse one file with the default start and step."""
    return relubias.analyze(real(name, centre_labels=centre_labels), relubias.Network.single())


def jobs() -> Iterator[Job]:
    """Against reading the file, which anybody has to do."""
    warm_up()
    for name in ("yarn.csv.gz", "riboflavin.csv.gz"):
        yield Job(f"analyze {name}", partial(analyze, name), "reading the file", partial(real, name))
