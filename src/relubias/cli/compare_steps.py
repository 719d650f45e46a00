"""``relubias analyze --compare-steps``: what the finite step does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from relubias.cli import options
from relubias.errors import ArgumentError

if TYPE_CHECKING:
    from relubias.network import Network
    from relubias.problem import Problem
    from relubias.state import State


def steps_of(text: str, problem: Problem, network: Network) -> list[float] | None:
    """Read ``auto`` or a list of steps such as ``0.5/trace,0.05/trace``.

    Raises
    ------
    ArgumentError
        If it is neither.
    """
    if text == "auto":
        return None
    try:
        sizes = [options.step_size(item.strip(), problem, network) for item in text.split(",")]
    except ArgumentError as error:
        raise ArgumentError(
            f"--compare-steps {text!r} is none of: auto, or a list of steps such as 0.5/trace,0.05/trace."
        ) from error
    return [size for size in sizes if size is not None]


def refuse_for_comparison(
    *,
    flow: bool,
    step_size: str | None,
    until: str | None,
    record: str | None,
    of: str | None,
    loss: str,
    train_output: bool,
    search_budget: str | None,
) -> None:
    """Refuse the options that have no meaning beside ``--compare-steps``.

    Raises
    ------
    ArgumentError
        If one of them was given.
    """
    given = {
        "--flow": flow,
        "--step-size": step_size is not None,
        "--until": until is not None,
        "--record": record is not None,
        "--of": of not in (None, "global"),
        "--loss": loss != "squared",
        "--train-output": train_output,
        "--search-budget": search_budget is not None,
    }
    for name, there in given.items():
        if there:
            raise ArgumentError(
                f"{name} has no meaning with --compare-steps, which runs several steps to their limits."
            )


def compare_and_print(
    problem: Problem,
    network: Network,
    start: State | None,
    text: str,
    *,
    budget: float | None,
    output: Path | None,
    json: bool,
) -> int:
    """Compare the steps, print them, and write ``steps.json``, ``.txt``, ``.png`` and ``.pdf`` where asked to."""
    from relubias.cli.output import json_text, write_steps
    from relubias.cli.progress import ProgressLine
    from relubias.report.steps import steps_text
    from relubias.step_comparison import compare

    with ProgressLine() as line:
        comparison = compare(
            problem,
            network,
            start,
            step_sizes=steps_of(text, problem, network),
            progress=line,
            announce=line.announce,
            **({} if budget is None else {"budget": budget}),
        )
        if output is not None:
            line.announce(f"writing {output}")
            write_steps(output, comparison)
    typer.echo(json_text(comparison.as_dict()) if json else steps_text(comparison), nl=False)
    return options.INTERRUPTED if comparison.interrupted else 0
