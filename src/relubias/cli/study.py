"""``relubias study``: many problems from start to answer, none of which can be lost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from relubias.cli.options import INTERRUPTED, Json
from relubias.errors import ArgumentError

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
    if path.name == ".toml":
        raise ArgumentError("a study needs a name; give one, such as: relubias study new gap_by_dimension.")
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
    from relubias.report.study_tables import forecast_text, forecast_values
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
    from relubias.report.study_tables import run_text, run_values
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
    from relubias.report.study_tables import status_text, status_values
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
        status, failed = opened.status(), opened.failed(most=NAMED)
    for cell in failed:
        typer.echo(f"relubias: failed: {cell.cell}: {cell.message}", err=True)
    if status.failed > NAMED:
        typer.echo(f"relubias: failed: and {status.failed - NAMED:,} more, with status failed in {output}", err=True)
    typer.echo(f"Written: {output} ({status.done:,} done, {status.failed:,} failed, {status.pending:,} pending)")
    return 0


@study_app.command("cell")
def cell_command(
    store: StorePath,
    id: Annotated[str, typer.Argument(metavar="ID", help="Of a cell, or the beginning of it.")],
    json: Json = False,
) -> int:
    """Compute one cell again, alone, and compare it with its row; exit code 3 if they differ."""
    from relubias.report.study_tables import rerun_text, rerun_values
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


def _print(values: dict[str, object], text: str, json: bool) -> None:
    if json:
        from relubias.cli.output import json_text

        typer.echo(json_text(values), nl=False)
    else:
        typer.echo(text)
