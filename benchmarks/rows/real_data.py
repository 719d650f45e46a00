"""A whole analysis of real data, from the file to the verdict, within a time that a person will wait."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import relubias
from benchmarks.harness import Row, Skipped, ceiling


def measure() -> Iterator[Row]:
    """Yield the ceilings; a small analysis comes first, so that compiling is not counted."""
    folder = os.environ.get("RELUBIAS_DATA")
    if not folder:
        raise Skipped("RELUBIAS_DATA names no folder with real data")
    analyze(Path(str(files("relubias") / "example_data" / "synthetic.csv")))

    yarn, riboflavin = Path(folder, "yarn.csv.gz"), Path(folder, "riboflavin.csv.gz")
    yield ceiling("analyze yarn", lambda: analyze(yarn), at_most=2.0)
    yield ceiling("analyze riboflavin, centred", lambda: analyze(riboflavin, centre_labels=True), at_most=15.0)


def analyze(path: Path, *, centre_labels: bool = False) -> relubias.Analysis:
    """Read and analyse one file with the default start and step."""
    problem = relubias.read(path, target="y", centre_labels=centre_labels)
    return relubias.analyze(problem, relubias.Network.single())
