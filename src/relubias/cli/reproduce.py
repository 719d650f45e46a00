"""``relubias reproduce``: the claims, measured."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from relubias.cli.options import INTERRUPTED, Json

if TYPE_CHECKING:
    from relubias.claims import Reproduction, Stage

#: Seconds between redraws of the live line, and between plain lines.
REDRAW, PLAIN = 0.2, 10.0


def reproduce_command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer trials and sizes: minutes instead of half an hour.")
    ] = False,
    claims: Annotated[
        str | None, typer.Option("--claims", metavar="A,B", help="Only these claims; --list names all.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", help="Folder for report.html, claims.json, figures, tables and studies.")
    ] = Path("reproduction"),
    workers: Annotated[
        int | None, typer.Option("--workers", help="Processes; by default, and at most, one a core.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="ADDRESS", help="Dask scheduler whose workers compute: tcp://host:port."),
    ] = None,
    list_claims: Annotated[bool, typer.Option("--list", help="Name all claims and stop.")] = False,
    json: Json = False,
) -> int:
    """Measure the claims of the paper, and ours, and write a report; the same command goes on after an interruption."""
    from relubias.claims import chosen, reproduce
    from relubias.cli.output import check_folder

    wanted = None if claims is None else [name for name in claims.split(",") if name.strip()]
    if list_claims:
        for claim in chosen(wanted):
            typer.echo(f"{claim.id:24}{claim.title} ({claim.source})")
        return 0
    check_folder(output)
    with ReproduceProgress() as progress:
        found = reproduce(wanted, quick=quick, output=output, workers=workers, cluster=cluster, progress=progress)
    if json:
        typer.echo((output / "claims.json").read_text(encoding="utf-8"), nl=False)
    else:
        typer.echo(reproduce_text(found))
    return INTERRUPTED if found.interrupted else 0


class ReproduceProgress:
    """Progress of claims: one line each, and in between how far its studies are."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.live = self.stream.isatty()
        self.clock = clock
        self.next = clock() + (REDRAW if self.live else PLAIN)
        self.drawn = False

    def __enter__(self) -> ReproduceProgress:
        return self

    def __exit__(self, *raised: object) -> None:
        self._clear()

    def __call__(self, stage: Stage) -> None:
        head = f"relubias: [{stage.place}/{stage.total}] {stage.claim.id}"
        if stage.result is not None:
            self._clear()
            self.stream.write(f"{head}: {stage.result.verdict} ({stage.result.seconds:.1f} s)\n")
            self.stream.flush()
        elif stage.snapshot is not None and self.clock() >= self.next:
            self.next = self.clock() + (REDRAW if self.live else PLAIN)
            shot = stage.snapshot
            text = f"{head}: {shot.done:,} done, {shot.failed:,} failed, {shot.pending:,} pending"
            self.stream.write(f"\r\x1b[K{text}" if self.live else f"{text}\n")
            self.drawn = self.live
            self.stream.flush()

    def _clear(self) -> None:
        if self.drawn:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self.drawn = False


def reproduce_text(found: Reproduction) -> str:
    """The table of all claims, and where the report is."""
    from relubias.claims import Verdict
    from relubias.studies.progress import duration

    lines = []
    for result in found.results:
        key = result.key
        told = "" if key is None else f"{key.name}: {key}"
        lines.append(f"{result.verdict!s:14}{result.claim.id:28}{told}")
    counts = ", ".join(f"{found.count(verdict)} {verdict}" for verdict in Verdict)
    controls = sum(result.control_holds for result in found.results)
    lines += [
        "",
        f"{counts}; {controls} of {len(found.results)} negative controls came out negative; {duration(found.seconds)}.",
        f"Report: {found.report}",
    ]
    return "\n".join(lines)
