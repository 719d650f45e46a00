"""Studies in words and as plain values: forecasts, runs, how far they are, cells that were computed again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from relubias.studies.check import Forecast
from relubias.studies.progress import duration
from relubias.studies.rerun import Rerun
from relubias.studies.runner import RunReport
from relubias.studies.stored import StudyStatus
from relubias.wording import count


def forecast_values(found: Forecast) -> dict[str, Any]:
    """A forecast as JSON-able values."""
    return {
        "cells": found.n_cells,
        "workers": found.workers,
        "cpu_seconds": found.cpu_seconds,
        "seconds": found.seconds,
        "megabytes": found.megabytes,
        "exponent": found.exponent,
        "all_tried_computed": found.is_whole,
        "tried": [
            {
                "id": probe.cell.id,
                "coordinates": probe.cell.coordinates,
                "status": probe.outcome.status,
                "message": probe.outcome.message,
                "cpu_seconds": probe.cpu_seconds,
            }
            for probe in found.probes
        ],
    }


def forecast_text(found: Forecast) -> str:
    """A forecast in sentences."""
    lines = [
        f"cells     {found.n_cells:,}",
        f"time      about {duration(found.seconds)} on {count(found.workers, 'process', 'processes')}",
        f"memory    about {found.megabytes:,.0f} MB for all processes",
        "tried     one trial at the smallest and the largest size, everything else at its first and last value:",
    ]
    for probe in found.probes:
        fate = "" if probe.outcome.status == "done" else f"; FAILED: {probe.outcome.message}"
        least = "at least " if probe.at_least else ""
        lines.append(f"          {least}{1e3 * probe.cpu_seconds:,.1f} ms  {probe.cell}{fate}")
    how = f"(samples × neurons)^{found.exponent:.2g} in between" if found.exponent else "all cells alike"
    lines.append(f"          time is taken for {how}; a forecast, no bound.")
    if not found.is_whole:
        lines.append("          Not every one of them was computed: time and memory of the study are not known.")
    return "\n".join(lines)


def run_values(report: RunReport) -> dict[str, Any]:
    """What a run did, as JSON-able values."""
    names = ("layout", "finished", "added", "retried", "seconds", "busy", "interrupted")
    return {name: getattr(report, name) for name in names} | {"status": status_values(report.status)}


def run_text(report: RunReport, store: Path) -> str:
    """What a run did, in sentences."""
    lines = [
        f"{count(report.finished, 'cell')} finished in {duration(report.seconds)}, workers {report.busy:.0%} busy."
    ]
    if report.added:
        lines.append(f"{count(report.added, 'cell')} added.")
    if report.retried:
        lines.append(f"{count(report.retried, 'cell')} computed again after a worker was lost.")
    if report.status.pending:
        lines.append(f"The same command goes on with {store}.")
    return "\n".join([*lines, status_text(report.status)])


def status_values(status: StudyStatus) -> dict[str, Any]:
    """How far a study is, as JSON-able values."""
    return {
        "name": status.name,
        "cells": status.n_cells,
        "done": status.done,
        "failed": status.failed,
        "pending": status.pending,
        "cpu_seconds": status.cpu_seconds,
        "failures": [{"message": message, "cells": number} for message, number in status.failures],
        "holder": None if status.holder is None else str(status.holder),
    }


def status_text(status: StudyStatus) -> str:
    """How far a study is, in lines."""
    lines = [
        f"study     {status.name}",
        f"cells     {status.n_cells:,}: {status.done:,} done, {status.failed:,} failed, {status.pending:,} pending",
        f"computed  {duration(status.cpu_seconds)} of processors",
    ]
    lines += [f"failed    {number:,} × {message}" for message, number in status.failures]
    if status.holder is not None:
        lines.append(f"running   {status.holder}")
    return "\n".join(lines)


def rerun_values(found: Rerun) -> dict[str, Any]:
    """A cell that was computed again, as JSON-able values."""
    return {
        "id": found.stored.cell.id,
        "coordinates": found.stored.cell.coordinates,
        "trial": found.stored.cell.trial,
        "stored": {"status": found.stored.status, "values": found.stored.values, "message": found.stored.message},
        "now": {"status": found.now.status, "values": found.now.values, "message": found.now.message},
        "equal": found.equal,
        "stored_environment": found.stored.environment,
    }


def rerun_text(found: Rerun) -> str:
    """A cell that was computed again, in lines."""
    lines = [f"cell      {found.stored.cell}"]
    for name, value in found.now.values.items():
        note = found.now.notes.get(name, "")
        told = "" if name not in found.differences else f"   stored: {found.differences[name][0]!r}"
        lines.append(f"          {name} = {'not defined: ' + note if value is None else repr(value)}{told}")
    if found.now.status == "failed":
        lines += [f"fails     {found.now.message}", found.now.traceback.rstrip()]
    verdict = {
        True: "the row in the store is the same, to the bit",
        False: "the row in the store is another one (its versions and machine: "
        f"{found.stored.environment.get('versions')}, {found.stored.environment.get('blas')})",
        None: f"the store has no values of it; there it is {found.stored.status}",
    }
    return "\n".join([*lines, f"equal     {verdict[found.equal]}."])
