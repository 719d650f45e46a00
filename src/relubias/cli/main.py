"""The command ``relubias``.

Exit codes: 0 an answer, whatever its status; 2 bad input, told in one sentence; 3 a certified limit was required and
there is none; 130 interrupted. Whatever takes time to import is imported by the command that needs it, so that
``relubias --help`` answers at once.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from relubias import __version__
from relubias.cli.analyze import analyze_command
from relubias.cli.certify import certify_command
from relubias.cli.options import INTERRUPTED
from relubias.cli.sample import sample_command
from relubias.cli.study import study_app
from relubias.errors import NotAtLimit, RelubiasError

BAD_INPUT, NO_LIMIT = 2, 3

#: What typer raises for options that do not exist or do not parse; it offers no public name for it.
_USAGE: Any = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="relubias",
    help="Which zero-loss solution does gradient descent on a ReLU model pick, and how far is it from the shortest?",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("analyze")(analyze_command)
app.command("analyse", hidden=True)(analyze_command)
app.command("certify")(certify_command)
app.command("sample")(sample_command)
app.add_typer(study_app, name="study")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"relubias {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of the command itself."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    if arguments is None:
        # A time limit of a queue ends as Ctrl-C does: with what there is.
        signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    try:
        code = app(args=words or ["--help"], prog_name="relubias", standalone_mode=False)
    except NotAtLimit as error:
        return _fail(str(error), NO_LIMIT)
    except RelubiasError as error:
        return _fail(str(error), BAD_INPUT)
    except typer.Abort:
        code = INTERRUPTED
    except _USAGE as error:
        return _fail(error.format_message(), BAD_INPUT)
    if code == INTERRUPTED:
        print("relubias: interrupted.", file=sys.stderr)
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int) -> int:
    print(f"relubias: error: {' '.join(message.split())}", file=sys.stderr)
    return code
