"""The folder of a report: checked before anything is computed, each file written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from relubias.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from relubias.analysis import Analysis
    from relubias.step_comparison import StepComparison

Write = Callable[[BinaryIO], object]

#: Files that are there only where steps were recorded.
TRAJECTORY = ("trajectory.png", "trajectory.pdf", "trajectory.parquet", "trajectory_neurons.parquet")


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


def write_steps(folder: Path, comparison: StepComparison) -> None:
    """Write steps.json, steps.txt, steps.png and steps.pdf.

    Raises
    ------
    ArgumentError
        If a file cannot be written.
    """
    from relubias.archive import write_atomically
    from relubias.report.steps import steps_figure, steps_text

    _make(folder)
    contents: dict[str, Write] = {
        "steps.json": lambda stream: stream.write(json_text(comparison.as_dict()).encode()),
        "steps.txt": lambda stream: stream.write(steps_text(comparison).encode()),
        **_pictures("steps", steps_figure(comparison)),
    }
    for name, write in contents.items():
        write_atomically(folder / name, write)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(f"--output {folder}: {error.strerror}; choose another path.") from error


def write_folder(folder: Path, analysis: Analysis) -> None:
    """Write report.json, report.txt, figure.png, figure.pdf, analysis.npz and what shows the trajectory, if any.

    The folder then holds this analysis and no other: files of the trajectory of an earlier one are removed.

    Raises
    ------
    ArgumentError
        If a file cannot be written.
    """
    from relubias.archive import write_atomically

    _make(folder)
    analysis.save(folder / "analysis.npz")
    contents = _report(analysis) | _trajectory(analysis)
    for name, write in contents.items():
        write_atomically(folder / name, write)
    for name in TRAJECTORY:
        if name not in contents:
            (folder / name).unlink(missing_ok=True)


def _report(analysis: Analysis) -> dict[str, Write]:
    from relubias.report.figures import figure
    from relubias.report.tables import as_text

    return {
        "report.json": lambda stream: stream.write(json_text(analysis.as_dict()).encode()),
        "report.txt": lambda stream: stream.write(as_text(analysis).encode()),
        **_pictures("figure", figure(analysis)),
    }


def _trajectory(analysis: Analysis) -> dict[str, Write]:
    from relubias.report.trajectories import trajectory_figure
    from relubias.report.trajectory_rows import write_neurons, write_samples

    run = analysis.run
    if run.trajectory is None:
        return {}
    return {
        "trajectory.parquet": lambda stream: write_samples(run, stream),
        "trajectory_neurons.parquet": lambda stream: write_neurons(run, stream),
        **_pictures("trajectory", trajectory_figure(run, reference=analysis.reference)),
    }


def _pictures(name: str, page: Figure) -> dict[str, Write]:
    return {
        f"{name}.png": lambda stream: page.savefig(stream, format="png", dpi=160),
        f"{name}.pdf": lambda stream: page.savefig(stream, format="pdf", dpi=300),
    }


def json_text(values: dict[str, Any]) -> str:
    """Return JSON with one entry a line where that helps reading; NaN and infinities are refused."""
    return json.dumps(values, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
