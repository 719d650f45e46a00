"""``relubias analyze``: from a file to the verdict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relubias.cli import options
from relubias.cli.compare_steps import compare_and_print, refuse_for_comparison
from relubias.cli.starting import start_of
from relubias.errors import ArgumentError

if TYPE_CHECKING:
    from relubias.analysis import Analysis
    from relubias.dynamics.descent import Descent
    from relubias.dynamics.flow import Flow
    from relubias.dynamics.trajectory import Record
    from relubias.network import Network
    from relubias.problem import Problem

#: Up to so many samples --output records steps unasked: beyond, the eigenvectors that this takes begin to cost.
RECORDED = 1000


def analyze_command(
    file: options.File = None,
    random: options.Random = None,
    random_labels: options.RandomLabels = None,
    target: options.Target = None,
    labels: options.Labels = None,
    preprocess: options.Preprocess = "none",
    centre_labels: options.CentreLabels = False,
    network: options.NetworkSigns = "single",
    activation: options.Activation = "relu",
    train_output: options.TrainOutput = False,
    loss: options.Loss = "squared",
    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            help="all-active, gaussian, disjoint, balanced or aligned (with --train-output), or a file of weights "
            "(.npy, .txt, .csv); by default all-active where there is one.",
        ),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(
            "--scale",
            help="Size of the start, in label units; by default rms(labels)/1000. Of a balanced start: relative to the "
            "size at which one neuron fits the labels; by default 1/1000.",
        ),
    ] = None,
    depth: Annotated[
        float | None,
        typer.Option(
            "--depth", help="How deep inactive samples of a disjoint start are; by default 3 √(n/d₂) max|label|."
        ),
    ] = None,
    rng: Annotated[
        int | None,
        typer.Option("--rng", help="Seed of --random and, independently of it, of a random start; by default 0."),
    ] = None,
    step_size: Annotated[
        str | None,
        typer.Option("--step-size", help="A number, or 0.5/lmax, or 0.5/trace; by default 1/lmax.", metavar="STEP"),
    ] = None,
    flow: Annotated[
        bool, typer.Option("--flow", help="Gradient flow, the limit of small steps, instead of gradient descent.")
    ] = False,
    until: Annotated[
        str | None,
        typer.Option(
            "--until", help="Stop at this step (time, with --flow); by default at the exact limit.", metavar="STEPS"
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            "--record",
            help="Steps (times, with --flow) to keep for --output: log (spaced logarithmically), none, or a list as "
            f"1,10,1e3; by default log up to {RECORDED:,} samples, where it costs next to nothing.",
            metavar="STEPS",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option("--budget", help="Work allowed: plain steps, by default 1e9; with --flow events, by default 1e5."),
    ] = None,
    compare_steps: Annotated[
        str | None,
        typer.Option(
            "--compare-steps",
            help="Compare several steps with gradient flow: auto, or a list as 0.5/trace,0.05/trace.",
            metavar="STEPS",
        ),
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(
            "--of",
            help="Which solutions the reference is the shortest of: global, pattern, partition, linear or variation "
            "(with --train-output); by default the one that fits the network.",
        ),
    ] = None,
    search_budget: options.SearchBudget = None,
    json: options.Json = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            help="Folder for report.json and .txt, figure.png and .pdf, analysis.npz and, where steps are recorded, "
            "trajectory.png, .pdf and .parquet.",
        ),
    ] = None,
    require_limit: Annotated[
        bool, typer.Option("--require-limit", help="Exit with code 3 if training has no certified limit.")
    ] = False,
) -> int:
    """Train to the exact limit, find the shortest solution, and say how they differ."""
    from relubias.cli.output import check_folder, write_folder
    from relubias.cli.progress import ProgressLine

    if output is not None:
        check_folder(output)
    elif record is not None:
        raise ArgumentError("--record keeps steps for the files of --output; add --output DIR.")
    if flow and step_size is not None:
        raise ArgumentError("--step-size is for gradient descent; a flow has no step: leave one of the two out.")
    if random is not None:
        options.require_no_file(file, target, preprocess, centre_labels, labels=labels)
    elif random_labels is not None:
        raise ArgumentError("--random-labels are those of a drawn problem; add --random.")
    elif rng is not None and start not in ("gaussian", "balanced", "aligned"):
        raise ArgumentError(
            "--rng is the seed of a gaussian start or of a drawn problem; add --start gaussian or --random."
        )
    if flow and loss != "squared":
        raise ArgumentError("--loss is for gradient descent; gradient flow is built for the squared loss.")
    signs = options.network(network, activation, train_output)
    stop, kept = options.until(until, flow=flow), options.record(record, flow=flow)
    if compare_steps is not None:
        refuse_for_comparison(
            flow=flow,
            step_size=step_size,
            until=until,
            record=record,
            of=of,
            loss=loss,
            train_output=train_output,
            search_budget=search_budget,
        )
    with ProgressLine() as line:
        if random is None:
            line.announce(f"reading {file}")
            problem = options.problem(file, target, preprocess, centre_labels, labels=labels)
        else:
            line.announce("drawing the problem")
            problem = options.sampler(random, random_labels).draw(rng=rng or 0)
        warn_of_labels(problem, signs)
        line.announce("preparing the start")
        state = start_of(problem, signs, start, scale=scale, depth=depth, rng=rng)
    if compare_steps is not None:
        return compare_and_print(problem, signs, state, compare_steps, budget=budget, output=output, json=json)
    if output is not None and record is None and problem.n_samples <= RECORDED:
        kept = "log"
    with ProgressLine() as line:
        from relubias.analysis import analyze

        analysis = analyze(
            problem,
            signs,
            state,
            dynamics=_dynamics(
                flow, options.step_size(step_size, problem, signs, loss=loss, start=state), stop, kept, budget, loss
            ),
            of=of,
            search_budget=options.search_budget(search_budget),
            progress=line,
            announce=line.announce,
        )
        if output is not None:
            line.announce(f"writing {output}")
            write_folder(output, analysis)
    _print(analysis, json)
    if analysis.interrupted:
        return options.INTERRUPTED
    if require_limit:
        analysis.run.require_limit()
    return 0


def warn_of_labels(problem: Problem, network: Network) -> None:
    """Say before a long run, on standard error, that its labels leave nothing to be learned."""
    if network.activation.slope_below == 0.0 and not any((sign * problem.labels > 0).any() for sign in network.signs):
        kind = "positive" if network.signs[0] > 0 else "negative"
        typer.echo(
            f"relubias: note: no label is {kind}, so the shortest solution is w = 0; --centre-labels may be meant.",
            err=True,
        )


def _dynamics(
    flow: bool, step_size: float | None, until: float | None, record: Record, budget: float | None, loss: str
) -> Descent | Flow:
    """How to train, from the options."""
    from relubias.dynamics.descent import Descent
    from relubias.dynamics.flow import Flow

    if flow:
        options = Flow(until=until, record=record)
        return options if budget is None else replace(options, max_events=budget)  # type: ignore[arg-type]
    steps = None if until is None else int(until)
    work = 1e9 if budget is None else budget
    return Descent(step_size=step_size, until=steps, record=record, budget=work, loss=loss)


def _print(analysis: Analysis, json: bool) -> None:
    if json:
        from relubias.cli.output import json_text

        typer.echo(json_text(analysis.as_dict()), nl=False)
    else:
        from relubias.report.tables import as_text

        typer.echo(as_text(analysis), nl=False)
