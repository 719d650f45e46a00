"""Measure the rows that are named, or all: ``python -m benchmarks [ROW ...] [--profile] [--output FILE]``."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import benchmarks.rows
from benchmarks.harness import Row, Skipped, WrongAnswer
from benchmarks.profiling import listing, profiled
from benchmarks.table import machine, table


def main() -> int:
    """Print the table; a missed goal is shown but no failure, since a busy machine misses goals."""
    known = sorted(module.name for module in pkgutil.iter_modules(benchmarks.rows.__path__))
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measure rows of the benchmark table.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"one of {', '.join(known)}; all by default")
    parser.add_argument("--profile", action="store_true", help="say where our time goes instead, and what it could be")
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write what is printed to this file")
    options = parser.parse_args()
    for name in options.rows:
        if name not in known:
            parser.error(f"there is no row {name!r}; the rows are {', '.join(known)}")

    names = options.rows or known
    with one_thread():
        body, failed = profiles(names) if options.profile else measurements(names)
        text = "\n".join([*machine(), "", *body])
    print(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    return int(failed)


def measurements(names: Sequence[str]) -> tuple[list[str], bool]:
    """Return the table with its remarks, and whether a row failed."""
    rows: list[Row] = []
    remarks: list[str] = []
    failed = False

    def measure(name: str) -> None:
        nonlocal failed
        for entry in importlib.import_module(f"benchmarks.rows.{name}").measure():
            if isinstance(entry, Row):
                rows.append(entry)
            else:
                remarks.append(f"{name}: {entry.text}")
                failed |= entry.is_failure

    for name in names:
        print(f"measuring {name} ...", file=sys.stderr)
        remark, broken = attempted(name, measure)
        remarks += remark
        failed |= broken
    return [table(rows), *remarks], failed


def profiles(names: Sequence[str]) -> tuple[list[str], bool]:
    """Return the profiles of these rows as text, and whether one failed."""
    text: list[str] = []
    failed = False

    def profile(name: str) -> None:
        module = importlib.import_module(f"benchmarks.rows.{name}")
        if hasattr(module, "jobs"):
            text.extend(listing(profiled(job)) for job in module.jobs())
        else:
            text.append(f"{name}: no profile, since it runs in processes of its own.")

    for name in names:
        print(f"profiling {name} ...", file=sys.stderr)
        remark, broken = attempted(name, profile)
        text += remark
        failed |= broken
    return text, failed


def attempted(name: str, action: Callable[[str], None]) -> tuple[list[str], bool]:
    """Do something with a row; return the remark why it could not be done, and whether that is a failure."""
    try:
        action(name)
    except Skipped as reason:
        return [f"Skipped: {name}: {reason}"], False
    except WrongAnswer as reason:
        return [f"Refused: {name}: {reason}"], True
    except Exception as error:  # the other rows are not lost to it
        return [f"Failed: {name}: {type(error).__name__}: {error}"], True
    return [], False


def one_thread() -> AbstractContextManager[Any]:
    """While this lasts, BLAS works on one thread, for us and for the rivals."""
    import numpy  # noqa: F401 - so that its BLAS is loaded and can be told
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1)
    return limits


if __name__ == "__main__":
    sys.exit(main())
