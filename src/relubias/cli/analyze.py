"""``relubias analyze``: from a file to the verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relubias.cli import options
from relubias.errors import ArgumentError

if TYPE_CHECKING:
    from relubias.network import Network
    from relubias.problem import Problem
    from relubias.state import State

INTERRUPTED = 130


def analyze_command(
    file: options.File,
    target: options.Target = None,
    preprocess: options.Preprocess = "none",
    centre_labels: options.CentreLabels = False,
    network: options.NetworkSigns = "single",
    start: Annotated[
        str | None, typer.Option("--start", help="all-active or gaussian; by default all-active where there is one.")
    ] = None,
    scale: Annotated[
        float | None, typer.Option("--scale", help="Size of the start, in label units; by default rms(labels)/1000.")
    ] = None,
    rng: Annotated[int | None, typer.Option("--rng", help="Seed of the gaussian start; by default 0.")] = None,
    step_size: Annotated[
        str | None,
        typer.Option("--step-size", help="A number, or 0.5/lmax, or 0.5/trace; by default 1/lmax.", metavar="STEP"),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", help="Stop at this step; by default at the exact limit.", metavar="STEPS")
    ] = None,
    budget: Annotated[float, typer.Option("--budget", help="Work allowed, in plain steps.")] = 1e9,
    of: Annotated[str, typer.Option("--of", help="Which solutions the reference is the shortest of.")] = "global",
    json: options.Json = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Folder for report.json, report.txt, figure.png, figure.pdf and analysis.npz."),
    ] = None,
    require_limit: Annotated[
        bool, typer.Option("--require-limit", help="Exit with code 3 if training has no certified limit.")
    ] = False,
) -> int:
    """Train to the exact limit, find the shortest solution, and say how they differ."""
    from relubias.cli.output import check_folder, json_text, write_folder
    from relubias.cli.progress import ProgressLine

    if output is not None:
        check_folder(output)
    signs, steps = options.network(network), options.until(until)
    with ProgressLine() as line:
        line.announce(f"reading {file}")
        problem = options.problem(file, target, preprocess, centre_labels)
        from relubias.analysis import analyze
        from relubias.dynamics.descent import Descent

        analysis = analyze(
            problem,
            signs,
            _start(problem, signs, start, scale, rng),
            dynamics=Descent(step_size=options.step_size(step_size, problem, signs), until=steps, budget=budget),
            of=of,
            progress=line,
        )
    if output is not None:
        write_folder(output, analysis)
    if json:
        typer.echo(json_text(analysis.as_dict()), nl=False)
    else:
        from relubias.report.tables import as_text

        typer.echo(as_text(analysis), nl=False)
    if analysis.interrupted:
        return INTERRUPTED
    if require_limit:
        analysis.run.require_limit()
    return 0


def _start(problem: Problem, network: Network, name: str | None, scale: float | None, rng: int | None) -> State | None:
    """The start that was asked for; None leaves the choice to the analysis."""
    from relubias import starts

    if rng is not None and name != "gaussian":
        raise ArgumentError("--rng is the seed of a gaussian start; add --start gaussian.")
    if name == "gaussian":
        return starts.gaussian(problem, network, scale=scale, rng=rng or 0)
    if name == "all-active" or (name is None and scale is not None):
        return starts.all_active(problem, network, scale=scale)
    if name is None:
        return None
    raise ArgumentError(f"--start {name!r} is none of: all-active, gaussian.")
