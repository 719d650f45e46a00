"""The folder of a report: checked before anything is computed, each file written whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relubias.errors import ArgumentError

if TYPE_CHECKING:
    from relubias.analysis import Analysis


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made or written, without making it.

    Raises
    ------
    ArgumentError
        If there is a file in its place or above it, or the folder (or where it would be made) cannot be written.
    """
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        raise ArgumentError(f"--output {folder}: {place} is a file, not a folder; choose another path.")
    if not os.access(place, os.W_OK | os.X_OK):
        raise ArgumentError(f"--output {folder}: {place} cannot be written; choose another path.")


def write_folder(folder: Path, analysis: Analysis) -> None:
    """Write report.json, report.txt, figure.png, figure.pdf and analysis.npz.

    Raises
    ------
    ArgumentError
        If a file cannot be written.
    """
    from relubias.archive import write_atomically
    from relubias.report.figures import figure
    from relubias.report.tables import as_text

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(f"--output {folder}: {error.strerror}; choose another path.") from error
    analysis.save(folder / "analysis.npz")
    for name, text in (("report.json", json_text(analysis.as_dict())), ("report.txt", as_text(analysis))):
        write_atomically(folder / name, lambda stream, text=text: stream.write(text.encode()))  # type: ignore[misc]
    page = figure(analysis)
    for kind in ("png", "pdf"):
        write_atomically(
            folder / f"figure.{kind}", lambda stream, kind=kind: page.savefig(stream, format=kind, dpi=160)
        )  # type: ignore[misc]


def json_text(values: dict[str, Any]) -> str:
    """Return JSON with one entry a line where that helps reading; NaN and infinities are refused."""
    return json.dumps(values, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
