"""What the options of several commands are called, and how their values are read."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from relubias.errors import ArgumentError

if TYPE_CHECKING:
    from relubias.dynamics.trajectory import Record
    from relubias.network import Network
    from relubias.problem import Problem
    from relubias.sampling import Sampler
    from relubias.state import State

#: Exit code of a command that Ctrl-C ended.
INTERRUPTED = 130

File = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]",
        help="One sample a row and the labels: .csv, .tsv, .txt or .svmlight (plain or .gz), .parquet, .npy or .npz; "
        "in its place --random draws a problem.",
    ),
]
Target = Annotated[str | None, typer.Option("--target", help="Column of the labels: its name, or its position from 1.")]
Labels = Annotated[
    Path | None, typer.Option("--labels", metavar="LABELS", help="File of the labels, where FILE has features alone.")
]
Preprocess = Annotated[
    str, typer.Option("--preprocess", help="What to do to the features: none, centre, standardise or unit-rows.")
]
CentreLabels = Annotated[
    bool, typer.Option("--centre-labels", "--center-labels", help="Subtract the mean of the labels.")
]
NetworkSigns = Annotated[
    str, typer.Option("--network", help="Signs of the neurons: single (the same as +), -, pair, or a list as +,+,-.")
]
Random = Annotated[
    str | None,
    typer.Option(
        "--random",
        metavar="PROBLEM",
        help="Draw a problem: 'gaussian n=100 d=1e12 test=50', 'vardi-shamir gamma=2', or a .toml file that names one.",
    ),
]
RandomLabels = Annotated[
    str | None,
    typer.Option(
        "--random-labels",
        metavar="LABELS",
        help="Labels of the draw: 'signs 0.5..2 fraction=0.3', 'teacher relu noise=0.1'; by default ±1, half each.",
    ),
]
Activation = Annotated[
    str,
    typer.Option(
        "--activation",
        help="relu, leaky-relu (or leaky-relu:0.1), identity, absolute, softplus, gelu, silu, tanh or squared-relu.",
    ),
]
TrainOutput = Annotated[bool, typer.Option("--train-output", help="Train the output weights too.")]
SearchBudget = Annotated[
    str | None,
    typer.Option(
        "--search-budget",
        metavar="COUNT",
        help="Convex programs that the branch and bound for the shortest solution of several neurons may solve; by "
        "default 10,000 for a pair, and fewer for large networks.",
    ),
]
Loss = Annotated[
    str, typer.Option("--loss", help="squared, huber (or huber:0.5, its width), log-cosh, logistic or absolute.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on standard output.")]


def network(text: str, activation: str = "relu", train_output: bool = False) -> Network:
    """Read ``single``, ``pair`` or a list of signs such as ``+,+,-``.

    Raises
    ------
    ArgumentError
        If it is none of these, or there is no such activation.
    """
    from relubias.network import Network, signs_from_text

    signs = signs_from_text(text)
    if signs is None:
        raise ArgumentError(f"--network {text!r} is none of: single, pair, +, -, or a list of signs such as +,+,-.")
    return Network.of_signs(signs, activation=activation, train_output=train_output)


def step_size(
    text: str | None, problem: Problem, network: Network, *, loss: str = "squared", start: State | None = None
) -> float | None:
    """Read η: a number, ``0.5/lmax`` for 0.5/λ_max(H) of the worst pattern, ``0.5/trace`` for 0.5/(tr K/n).

    Raises
    ------
    ArgumentError
        If it is none of these, or not positive.
    """
    from relubias import step_sizes

    if text is None:
        return None
    chosen = step_sizes.from_text(text, problem, network, loss=loss, start=start)
    if chosen is None:
        raise ArgumentError(f"--step-size {text!r} is none of: a number, 0.5/lmax, 0.5/trace.")
    return chosen


def until(text: str | None, *, flow: bool = False) -> float | None:
    """Read a number of steps such as ``1000`` or ``1e9``; of a flow, a time such as ``0.5``.

    Raises
    ------
    ArgumentError
        If it is not a whole number, or not a time.
    """
    if text is None:
        return None
    if flow:
        return _time(text, f"--until {text!r} is not a finite time from 0 on; leave it out for the limit.")
    steps = _whole(text)
    if steps is None:
        raise ArgumentError(f"--until {text!r} is not a whole number of steps; leave it out for the limit.")
    return steps


def _time(text: str, refusal: str) -> float:
    try:
        time = float(text)
    except ValueError:
        time = math.nan
    if not 0.0 <= time < math.inf:
        raise ArgumentError(refusal)
    return time


def record(text: str | None, *, flow: bool = False) -> Record:
    """Read ``log``, ``none`` or a list of steps such as ``1,10,1e3``; of a flow, of times such as ``0.1,1``.

    Raises
    ------
    ArgumentError
        If it is none of these.
    """
    if text is None or text == "none":
        return None
    if text == "log":
        return "log"
    if flow:
        refusal = f"--record {text!r} is none of: log, none, or a list of times such as 0.01,1,1e3."
        return [_time(item, refusal) for item in text.split(",")]
    steps = [_whole(item) for item in text.split(",")]
    if None in steps:
        raise ArgumentError(f"--record {text!r} is none of: log, none, or a list of steps such as 1,10,1e3.")
    return [step for step in steps if step is not None]


def search_budget(text: str | None) -> int | None:
    """Read a positive whole number such as ``1000`` or ``1e6``.

    Raises
    ------
    ArgumentError
        If it is none.
    """
    if text is None:
        return None
    count = _whole(text)
    if count is None or count < 1:
        raise ArgumentError(f"--search-budget {text!r} is not a positive whole number of convex programs.")
    return count


def _whole(text: str) -> int | None:
    """Read a whole number such as ``1000`` or ``1e9``, exactly; None if it is none."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
        return int(number) if int(number) == number else None
    except (ValueError, OverflowError):
        return None


def problem(
    file: Path | None, target: str | None, preprocess: str, centre_labels: bool, *, labels: Path | None = None
) -> Problem:
    """Read the file into a problem; labels from a file of their own only where there is one.

    Raises
    ------
    ArgumentError
        If there is no file.
    """
    if file is None:
        raise ArgumentError("name a FILE to read, or a problem to draw with --random.")
    from relubias.files import read

    apart: dict[str, Any] = {} if labels is None else {"labels": labels}
    return read(file, target=target, preprocess=preprocess, centre_labels=centre_labels, **apart)


def require_no_file(
    file: Path | None, target: str | None, preprocess: str, centre_labels: bool, *, labels: Path | None = None
) -> None:
    """Refuse a file, and what is said of one, beside a random problem.

    Raises
    ------
    ArgumentError
        If there is anything of it.
    """
    if file is not None:
        raise ArgumentError(f"--random draws a problem in the place of a file; leave out {file} or --random.")
    given = {
        "--target": target is not None,
        "--labels": labels is not None,
        "--preprocess": preprocess != "none",
        "--centre-labels": centre_labels,
    }
    for name, is_given in given.items():
        if is_given:
            raise ArgumentError(f"{name} is about a file; leave it out with --random (its labels: --random-labels).")


def sampler(text: str, labels: str | None) -> Sampler:
    """Read a sampler from one line, or from a file in TOML.

    Raises
    ------
    ArgumentError, DataError
        If there is no such file, or something in it or in the line is unknown.
    """
    from relubias.errors import DataError
    from relubias.sampling import from_toml, parse

    if not text.endswith(".toml"):
        return parse(text, labels)
    if labels is not None:
        raise ArgumentError(f"--random-labels: {text} names the labels too; leave one of them out.")
    try:
        words = Path(text).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {text}: {getattr(error, 'strerror', None) or error}.") from error
    try:
        return from_toml(words)
    except (ArgumentError, DataError) as error:
        raise type(error)(f"{text}: {error}") from error
