"""``relubias analyze --compare-steps``: what the finite step does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from relubias.cli import options
from relubias.errors import ArgumentError

if TYPE_CHECKING:
    from relubias.cli.progress import ProgressLine
    from relubias.network import Network
    from relubias.problem import Problem
    from relubias.state import State
    from relubias.step_comparison import StepComparison


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


def compare_steps(
    problem: Problem,
    network: Network,
    start: State | None,
    text: str,
    *,
    budget: float,
    line: ProgressLine,
    output: Path | None,
) -> StepComparison:
    """Compare the steps and write ``steps.json``, ``.txt``, ``.png`` and ``.pdf`` to the folder, if there is one."""
    from relubias.step_comparison import compare

    comparison = compare(
        problem,
        network,
        start,
        step_sizes=steps_of(text, problem, network),
        budget=budget,
        progress=line,
        announce=line.announce,
    )
    if output is not None:
        from relubias.cli.output import write_steps

        line.announce(f"writing {output}")
        write_steps(output, comparison)
    return comparison


def print_steps(comparison: StepComparison, json: bool) -> None:
    """Print the comparison on standard output."""
    if json:
        from relubias.cli.output import json_text

        typer.echo(json_text(comparison.as_dict()), nl=False)
    else:
        from relubias.report.steps import steps_text

        typer.echo(steps_text(comparison), nl=False)
