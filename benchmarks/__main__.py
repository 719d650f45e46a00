"""Measure the rows that are named, or all: ``python -m benchmarks [ROW ...] [--profile] [--output FILE]``."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import pkgutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import benchmarks.rows
from benchmarks.machine import Beginning
from benchmarks.profiling import listing, profiled
from benchmarks.race import remark
from benchmarks.report import Report
from benchmarks.row import NotMeasured, Remark, Row
from benchmarks.table import brief

INTERRUPTED = 130  # what a shell says of a command that was ended by Ctrl-C


class Ended(BaseException):
    """Somebody pressed Ctrl-C; no ``KeyboardInterrupt``, which relubias takes as a wish for the run as far as it is."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; a missed goal is shown but no failure unless asked for, since a busy machine misses goals."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    known = sorted(module.name for module in pkgutil.iter_modules(benchmarks.rows.__path__))
    options = parsed(given, known)
    report = Report(Beginning.now(as_called(given)), is_profile=options.profile)
    names = options.rows or known

    def keep() -> None:
        """Write what there is, so that a run that is ended loses nothing."""
        if options.output:
            options.output.write_text(report.text() + "\n", encoding="utf-8")
        if options.json:
            data = json.dumps(report.as_data(), indent=1, ensure_ascii=False, allow_nan=False)
            options.json.write_text(data + "\n", encoding="utf-8")

    with one_thread(), ended_by_interrupts():
        interrupted = run(names, report, keep)
    print(report.text())
    if interrupted:
        return INTERRUPTED
    return int(report.failed or (options.strict and bool(report.missed or report.not_measured)))


def parsed(arguments: Sequence[str], known: Sequence[str]) -> argparse.Namespace:
    """Return the options, with files that can be written to."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description="Measure rows of the benchmark table.", allow_abbrev=False
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"one of {', '.join(known)}; all by default")
    parser.add_argument("--profile", action="store_true", help="say where our time goes instead")
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write what is printed to this file")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write machine and rows to this file, as JSON")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a goal is missed or not measured")
    parser.add_argument("--torch", action="store_true", help="insist on PyTorch among the rivals")
    parser.add_argument("--from", type=Path, default=Path(), dest="folder", help=argparse.SUPPRESS)  # of FILE
    options = parser.parse_args(arguments)
    for name in options.rows:
        if name not in known:
            parser.error(f"there is no row {name!r}; the rows are {', '.join(known)}")
    if options.profile and (options.json or options.strict):
        parser.error("--json and --strict are about rows of the table, which --profile does not measure")
    if options.torch and not importlib.util.find_spec("torch"):
        parser.error("PyTorch is not installed; the extra bench-torch has it")
    for option in ("output", "json"):
        if path := getattr(options, option):
            setattr(options, option, writable(options.folder / path, parser))
    if options.output and options.output == options.json:
        parser.error("--output and --json name the same file")
    return options


def writable(path: Path, parser: argparse.ArgumentParser) -> Path:
    """Return a path that can be written to: better known now than after an hour. What it holds stays until then."""
    try:
        path.open("a", encoding="utf-8").close()
    except OSError as reason:
        parser.error(f"{path} cannot be written: {reason.strerror}")
    return path


def as_called(arguments: Sequence[str]) -> list[str]:
    """Return the arguments as the user gave them: `--from` comes from the script."""
    if "--from" not in arguments:
        return list(arguments)
    where = list(arguments).index("--from")
    return [*arguments[:where], *arguments[where + 2 :]]


def run(names: Sequence[str], report: Report, keep: Callable[[], None]) -> bool:
    """Measure or profile each of the named rows, one after another; return whether somebody ended it before."""
    action = profile if report.is_profile else measure
    for position, name in enumerate(names):
        print(f"{'profiling' if report.is_profile else 'measuring'} {name} ...", file=sys.stderr, flush=True)
        try:
            failure = attempted(name, report, keep, action)
        except (Ended, KeyboardInterrupt):
            report.remarks += [(left, Remark("Interrupted.", is_failure=False)) for left in names[position:]]
            keep()
            return True
        if failure is not None:
            report.remarks.append((name, failure))
        keep()
    return False


def measure(name: str, report: Report, keep: Callable[[], None]) -> None:
    """Measure the rows of one file; each is told, and kept, as soon as it is there."""
    for entry in importlib.import_module(f"benchmarks.rows.{name}").measure():
        if isinstance(entry, Row):
            report.rows.append((name, entry))
            print(f"  {brief(entry)}", file=sys.stderr, flush=True)
        else:
            report.remarks.append((name, entry))
            print(f"  {entry.text}", file=sys.stderr, flush=True)
        keep()


def profile(name: str, report: Report, keep: Callable[[], None]) -> None:
    """Profile the jobs of one file."""
    module = importlib.import_module(f"benchmarks.rows.{name}")
    if not hasattr(module, "jobs"):
        report.profiles.append(f"{name}: no profile, since it runs in processes of its own.")
        return
    for job in module.jobs():
        report.profiles.append(listing(profiled(job)))
        keep()


def attempted(
    name: str, report: Report, keep: Callable[[], None], action: Callable[[str, Report, Callable[[], None]], None]
) -> Remark | None:
    """Do something with a row; return a remark where it could not be done."""
    try:
        action(name, report, keep)
    except NotMeasured as reason:
        return remark(reason)
    except Exception as error:  # the other rows are not lost to it
        return Remark(f"Failed: {type(error).__name__}: {error}", is_failure=True)
    return None


def one_thread() -> AbstractContextManager[Any]:
    """While this lasts, BLAS works on one thread, for us and for the rivals."""
    import numpy  # noqa: F401 - so that its BLAS is loaded and can be told
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1)
    return limits


@contextmanager
def ended_by_interrupts() -> Iterator[None]:
    """While this lasts, Ctrl-C ends the measurement: what was interrupted must not be timed as if it were whole."""

    def end(*_: object) -> None:
        raise Ended

    before = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


if __name__ == "__main__":
    sys.exit(main())
