"""The real data, in the folder that RELUBIAS_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

import relubias
from benchmarks.harness import Skipped

YARN, RIBOFLAVIN = "yarn.csv.gz", "riboflavin.csv.gz"


def folder() -> Path:
    """The folder of the real data.

    Raises
    ------
    Skipped
        If no folder is named, or the one that is named has not the data.
    """
    named = os.environ.get("RELUBIAS_DATA")
    if not named:
        raise Skipped("RELUBIAS_DATA names no folder with real data")
    if not (Path(named) / YARN).is_file():
        raise Skipped(f"RELUBIAS_DATA names {named}, where there is no {YARN}")
    return Path(named)


def real(name: str, *, centre_labels: bool = False) -> relubias.Problem:
    """Read one of them."""
    return relubias.read(folder() / name, target="y", centre_labels=centre_labels)
