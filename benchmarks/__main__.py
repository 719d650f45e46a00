"""Measure the rows that are named, or all: ``python -m benchmarks [ROW ...] [--output FILE]``."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path

import benchmarks.rows
from benchmarks.harness import Row, Skipped
from benchmarks.table import machine, table


def main() -> int:
    """Print the table; a missed goal is shown but no failure, since a busy machine misses goals."""
    known = sorted(module.name for module in pkgutil.iter_modules(benchmarks.rows.__path__))
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measure rows of the benchmark table.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"one of {', '.join(known)}; all by default")
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write the table to this file")
    options = parser.parse_args()
    for name in options.rows:
        if name not in known:
            parser.error(f"there is no row {name!r}; the rows are {', '.join(known)}")

    rows: list[Row] = []
    remarks: list[str] = []
    failed = False
    for name in options.rows or known:
        print(f"measuring {name} ...", file=sys.stderr)
        try:
            rows += importlib.import_module(f"benchmarks.rows.{name}").measure()
        except Skipped as reason:
            remarks.append(f"Skipped: {name}: {reason}")
        except Exception as error:  # the other rows are not lost to it
            remarks.append(f"Failed: {name}: {type(error).__name__}: {error}")
            failed = True
    text = "\n".join([*machine(), "", table(rows), *remarks])
    print(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
