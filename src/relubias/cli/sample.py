"""``relubias sample``: draw a problem and keep it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from relubias.cli import options
from relubias.errors import ArgumentError

if TYPE_CHECKING:
    from relubias.problem import Problem
    from relubias.sampling import Sampler


def sample_command(
    sampler: Annotated[
        str,
        typer.Argument(
            metavar="PROBLEM",
            help="'gaussian n=100 d=1e12 test=50', 'vardi-shamir gamma=2', or a .toml file that names one.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", help="The file to write, .npz; a .toml beside it names the sampler.")
    ],
    random_labels: options.RandomLabels = None,
    rng: Annotated[int, typer.Option("--rng", help="Seed of the draw.")] = 0,
    features: Annotated[
        bool,
        typer.Option("--features", help="Draw X itself, and write it to a .features.npy beside the file."),
    ] = False,
    json: options.Json = False,
) -> int:
    """Draw a problem, and write it to a file that the other commands read."""
    from relubias.cli.output import json_text
    from relubias.cli.progress import ProgressLine

    if output.suffix != ".npz":
        raise ArgumentError(f"--output {output}: the file is an archive of arrays; give it the suffix .npz.")
    with ProgressLine() as line:
        line.announce("drawing the problem")
        law = options.sampler(sampler, random_labels)
        problem = law.draw(rng=rng, features=features)
        line.announce(f"writing {output}")
        written = _write(output, problem, law, rng, features)
        line.announce("collecting the facts of the problem")
        facts = problem.facts
    if json:
        from relubias.analysis import population_as_dict

        values: dict[str, Any] = {
            "files": [str(path) for path in written],
            "sampler": law.as_dict(),
            "rng": rng,
            "source": problem.source,
            "population": population_as_dict(problem),
            "facts": facts.as_dict(),
        }
        typer.echo(json_text(values), nl=False)
        return 0
    from relubias.report.tables import problem_as_text

    typer.echo(problem_as_text(problem))
    typer.echo(f"Written: {', '.join(str(path) for path in written)}")
    return 0


def _write(output: Path, problem: Problem, law: Sampler, rng: int, features: bool) -> list[Path]:
    """Write the problem, the sampler and, where they were asked for, the features."""
    import numpy as np

    from relubias.archive import write_atomically
    from relubias.sampling import to_toml

    text = f"# drawn with --rng {rng}\n{to_toml(law)}"
    written = [
        problem.save(output),
        write_atomically(output.with_suffix(".toml"), lambda stream: stream.write(text.encode())),
    ]
    if features:
        path = output.with_suffix(".features.npy")
        written.append(
            write_atomically(path, lambda stream: np.save(stream, np.asarray(problem.features), allow_pickle=False))
        )
    return written
