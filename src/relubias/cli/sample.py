"""``relubias sample``: draw a problem and keep it."""

from __future__ import annotations

from dataclasses import dataclass
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
        typer.Option("--features", help="Draw X itself, and write X and y to a .features.npz beside the file."),
    ] = False,
    json: options.Json = False,
) -> int:
    """Draw a problem, and write it to a file that the other commands read."""
    from relubias.cli.output import json_text
    from relubias.cli.progress import ProgressLine

    if output.suffix != ".npz":
        raise ArgumentError(f"--output {output}: the file is an archive of arrays; give it the suffix .npz.")
    law = options.sampler(sampler, random_labels)
    files = _Files.beside(output, features)
    files.require_free(sampler, law)
    with ProgressLine() as line:
        line.announce("drawing the problem")
        problem = law.draw(rng=rng, features=features)
        line.announce(f"writing {output}")
        written = files.write(problem, law, rng)
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


@dataclass(frozen=True)
class _Files:
    """What is written: the problem, the sampler beside it and, where they are asked for, the features.

    Only what this command wrote is ever replaced.
    """

    problem: Path
    sampler: Path
    features: Path | None

    @classmethod
    def beside(cls, output: Path, features: bool) -> _Files:
        return cls(output, output.with_suffix(".toml"), output.with_suffix(".features.npz") if features else None)

    def require_free(self, given: str, law: Sampler) -> None:
        """Refuse to replace a file that this command did not write, before anything is drawn.

        Raises
        ------
        ArgumentError
            If there is one.
        """
        theirs = [self.problem] if self.problem.exists() and not self._is_drawn_before() else []
        if self.sampler.exists() and not (self._is_given(given) or _names(self.sampler, law)):
            theirs.append(self.sampler)
        if self.features is not None and self.features.exists() and not _is_drawn(self.features):
            theirs.append(self.features)
        if theirs:
            raise ArgumentError(
                f"{theirs[0]} exists and is not what this draw would write again; choose another --output, or move it."
            )

    def _is_drawn_before(self) -> bool:
        """Whether the problem is one that has its sampler beside it, and no other that somebody saved."""
        from relubias.archive import kind_of_record

        return self.sampler.exists() and kind_of_record(self.problem) == "problem"

    def _is_given(self, given: str) -> bool:
        """Whether the sampler was read from the very file that would name it."""
        return given.endswith(".toml") and self.sampler.samefile(given)

    def write(self, problem: Problem, law: Sampler, rng: int) -> list[Path]:
        """Write them; a file of the user that names the sampler already stays as it is."""
        from relubias.archive import write_atomically

        written = [problem.save(self.problem)]
        if not self.sampler.exists() or _names(self.sampler, law):
            text = f"{_SEED}{rng}\n{_plain_text(law)}"
            written.append(write_atomically(self.sampler, lambda stream: stream.write(text.encode())))
        if self.features is not None:
            import numpy as np

            arrays = _arrays(problem)
            written.append(
                write_atomically(self.features, lambda stream: np.savez(stream, allow_pickle=False, **arrays))
            )
        return written


#: How the file that names a sampler begins, and the array that marks features that were drawn.
_SEED, _MARK = "# drawn with --rng ", "drawn"


def _plain_text(law: Sampler) -> str:
    from relubias.sampling import to_toml

    return to_toml(law)


def _names(path: Path, law: Sampler) -> bool:
    """Whether the file is what this command writes of the sampler, with whatever seed."""
    try:
        first, _, rest = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return False
    return first.startswith(_SEED) and rest == _plain_text(law)


def _is_drawn(path: Path) -> bool:
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            return f"{_MARK}.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def _arrays(problem: Problem) -> dict[str, Any]:
    """The arrays of features, labels and test points, as :func:`relubias.read` takes them."""
    import numpy as np

    arrays: dict[str, Any] = {"X": problem.features, "y": problem.labels, _MARK: np.array(problem.source)}
    if problem.test is not None:
        arrays |= {"X_test": problem.test.features, "y_test": problem.test.labels}
    return arrays
