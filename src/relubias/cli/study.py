"""``relubias study``: many problems from start to answer, none of which can be lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relubias.cli.analyze import INTERRUPTED
from relubias.cli.options import Json
from relubias.errors import ArgumentError

if TYPE_CHECKING:
    from relubias.studies import Forecast, Rerun, RunReport, StudyStatus

#: What `study cell` answers with where the row is not what it was.
DIFFERS = 3

study_app = typer.Typer(
    help="Run many problems from start to answer, none of which can be lost.", rich_markup_mode=None
)

StudyFile = Annotated[Path, typer.Argument(metavar="FILE", help="The study, a .toml file.")]
StorePath = Annotated[Path, typer.Argument(metavar="STORE", help="The file with the results.")]
Workers = Annotated[int | None, typer.Option("--workers", help="Processes; by default, and at most, one a core.")]


@study_app.command("new")
def new_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the study; the file is NAME.toml.")],
) -> int:
    """Write a commented example to NAME.toml, to be changed."""
    from relubias.studies.example import example

    path = Path(name if name.endswith(".toml") else f"{name}.toml")
    text = example(path.stem, file=path.name, stem=path.stem)
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise ArgumentError(f"{path} exists; choose another name.") from error
    except OSError as error:
        raise ArgumentError(f"{path} cannot be written: {error.strerror}.") from error
    typer.echo(f"Written: {path}")
    return 0


@study_app.command("check")
def check_command(file: StudyFile, workers: Workers = None, json: Json = False) -> int:
    """Say how many cells a study has, and how long and how much memory it will take; up to four cells are tried."""
    from relubias.cli.progress import ProgressLine
    from relubias.studies import Study, forecast

    study = Study.read(file)
    with ProgressLine() as line:
        line.announce("trying a few cells")
        found = forecast(study, workers=workers)
    _print(forecast_values(found), forecast_text(found), json)
    return 0


@study_app.command("run")
def run_command(
    file: StudyFile,
    store: Annotated[Path, typer.Option("--store", help="The file with the results: made, or gone on with.")],
    workers: Workers = None,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="ADDRESS", help="Dask scheduler whose workers compute: tcp://host:port."),
    ] = None,
    extend: Annotated[
        bool, typer.Option("--extend", help="Add cells to a store whose study had fewer values or repeats.")
    ] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Compute failed cells again.")] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Take the store from a process on another machine that has ended.")
    ] = False,
    watch: Annotated[
        str | None,
        typer.Option("--watch", metavar="COLUMN", help="Measured column whose running median is shown."),
    ] = None,
    json: Json = False,
) -> int:
    """Compute the cells of a study that are not in its store yet."""
    from relubias.studies import Store, Study, run
    from relubias.studies.progress import StudyProgress

    study = Study.read(file)
    column = watched(study.columns, watch)
    so_far: list[float] = []
    if column is not None and store.exists():
        with Store.open(store) as opened:
            so_far = (
                [value for value in opened.column(column) if value is not None]
                if column in opened.study.columns
                else []
            )
    with StudyProgress(column=column, so_far=so_far) as progress:
        report = run(
            study,
            store,
            workers=workers,
            cluster=cluster,
            extend=extend,
            retry_failed=retry_failed,
            take_over=take_over,
            progress=progress,
        )
    _print(run_values(report), run_text(report, store), json)
    return INTERRUPTED if report.interrupted else 0


@study_app.command("status")
def status_command(store: StorePath, json: Json = False) -> int:
    """Say how far a study is, also while it runs."""
    from relubias.studies import Store

    with Store.open(store) as opened:
        status = opened.status()
    _print(status_values(status), status_text(status), json)
    return 0


@study_app.command("export")
def export_command(
    store: StorePath,
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="The file to write, .csv or .parquet.")],
) -> int:
    """Write the table, one row a cell; cells that failed are named on standard error."""
    from relubias.studies import Store

    with Store.open(store) as opened:
        opened.export(output)
        status, failed = opened.status(), opened.failed()
    for cell in failed[:NAMED]:
        typer.echo(f"relubias: failed: {cell.cell}: {cell.message}", err=True)
    if len(failed) > NAMED:
        typer.echo(f"relubias: failed: and {len(failed) - NAMED:,} more, with status failed in {output}", err=True)
    typer.echo(f"Written: {output} ({status.done:,} done, {status.failed:,} failed, {status.pending:,} pending)")
    return 0


@study_app.command("cell")
def cell_command(
    store: StorePath,
    id: Annotated[str, typer.Argument(metavar="ID", help="Of a cell, or the beginning of it.")],
    json: Json = False,
) -> int:
    """Compute one cell again, alone, and compare it with its row; exit code 3 if they differ."""
    from relubias.studies import Store, rerun

    with Store.open(store) as opened:
        found = rerun(opened, id)
    _print(rerun_values(found), rerun_text(found), json)
    return DIFFERS if found.equal is False else 0


#: How many failed cells are named.
NAMED = 20


def watched(columns: tuple[str, ...], wanted: str | None) -> str | None:
    """The column to show the median of: the one that is wanted, or the first of real numbers.

    Raises
    ------
    ArgumentError
        If it is not measured, or has no median.
    """
    from relubias.studies import MEASURES

    numbers = [name for name in columns if MEASURES[name].kind in ("real", "whole")]
    if wanted is None:
        return next((name for name in numbers if name.startswith("gap.")), numbers[0] if numbers else None)
    if wanted not in numbers:
        raise ArgumentError(f"--watch {wanted!r} is none of the numbers that are measured: {', '.join(numbers)}.")
    return wanted


def forecast_values(found: Forecast) -> dict[str, object]:
    """A forecast as JSON-able values."""
    return {
        "cells": found.n_cells,
        "workers": found.workers,
        "cpu_seconds": found.cpu_seconds,
        "seconds": found.seconds,
        "megabytes": found.megabytes,
        "exponent": found.exponent,
        "tried": [
            {
                "id": probe.cell.id,
                "coordinates": probe.cell.coordinates,
                "status": probe.outcome.status,
                "message": probe.outcome.message,
                "cpu_seconds": probe.outcome.cpu_seconds,
            }
            for probe in found.probes
        ],
    }


def forecast_text(found: Forecast) -> str:
    """A forecast in sentences."""
    from relubias.studies.progress import duration
    from relubias.wording import count

    lines = [
        f"cells     {found.n_cells:,}",
        f"time      about {duration(found.seconds)} on {count(found.workers, 'process', 'processes')}",
        f"memory    about {found.megabytes:,.0f} MB for all processes",
        "tried     one trial at the smallest and the largest size, everything else at its first and last value:",
    ]
    for probe in found.probes:
        fate = "" if probe.outcome.status == "done" else f"; FAILED: {probe.outcome.message}"
        lines.append(f"          {1e3 * probe.outcome.cpu_seconds:,.1f} ms  {probe.cell}{fate}")
    how = f"(samples × neurons)^{found.exponent:.2g} in between" if found.exponent else "all cells alike"
    return "\n".join([*lines, f"          time is taken for {how}; a forecast, no bound."])


def run_values(report: RunReport) -> dict[str, object]:
    """What a run did, as JSON-able values."""
    names = ("layout", "finished", "added", "retried", "seconds", "busy", "interrupted")
    return {name: getattr(report, name) for name in names} | {"status": status_values(report.status)}


def run_text(report: RunReport, store: Path) -> str:
    """What a run did, in sentences."""
    from relubias.studies.progress import duration
    from relubias.wording import count

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


def status_values(status: StudyStatus) -> dict[str, object]:
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
    from relubias.studies.progress import duration

    lines = [
        f"study     {status.name}",
        f"cells     {status.n_cells:,}: {status.done:,} done, {status.failed:,} failed, {status.pending:,} pending",
        f"computed  {duration(status.cpu_seconds)} of processors",
    ]
    lines += [f"failed    {number:,} × {message}" for message, number in status.failures]
    if status.holder is not None:
        lines.append(f"running   {status.holder}")
    return "\n".join(lines)


def rerun_values(found: Rerun) -> dict[str, object]:
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


def _print(values: dict[str, object], text: str, json: bool) -> None:
    if json:
        from relubias.cli.output import json_text

        typer.echo(json_text(values), nl=False)
    else:
        typer.echo(text)
