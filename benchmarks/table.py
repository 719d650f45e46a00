"""The benchmark table as text, under the machine and the versions it was measured with."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.harness import Row, Sample

HEADER = ("row", "ours", "rival", "rival's", "ours/rival", "goal", "met", "repeats", "answers differ by", "peak MB")
PACKAGES = ("relubias", "numpy", "scipy", "numba", "pandas", "pyarrow", "torch")
RIVALS = ("quadprog", "clarabel", "cvxpy", "osqp", "piqp", "proxsuite", "daqp")


def machine() -> list[str]:
    """Return lines that say on what the table was measured."""
    import numpy  # noqa: F401 - so that its BLAS is loaded and can be asked
    from threadpoolctl import threadpool_info

    pools = {f"{pool['internal_api']} {pool['version']}, {pool['num_threads']} threads" for pool in threadpool_info()}
    return [
        f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}",
        f"Python {platform.python_version()}, {', '.join(versions())}",
        "; ".join(sorted(pools)),
    ]


def processor() -> str:
    """Return the name of the processor, as far as the system tells it."""
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def versions() -> Iterable[str]:
    """Yield name and version of each package that is installed and matters."""
    for package in (*PACKAGES, *RIVALS):
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            continue


def cells(row: Row) -> tuple[str, ...]:
    """Return the cells of one row."""
    goal = "" if row.at_most is None else f"<= {row.at_most:g} s" if row.is_ceiling else f"<= {times(row.at_most)}"
    if row.peak_at_most is not None:
        goal = f"<= {row.peak_at_most / 1e6:g} MB"
    return (
        row.name,
        seconds(row.seconds),
        row.rival or ("ceiling" if row.is_ceiling else ""),
        "" if row.rival_seconds is None else seconds(row.rival_seconds),
        "" if row.ratio is None else spread(row.ratio),
        goal,
        {True: "yes", False: "NO", None: ""}[row.met],
        str(row.seconds.count),
        "" if row.deviation is None else f"{row.deviation:.0e}",
        "" if row.peak_bytes is None else f"{row.peak_bytes / 1e6:.1f}",
    )


def times(ratio: float) -> str:
    """Return a ratio as "1.25x", or, where ours is ten times as fast or faster, as "1/800"."""
    return f"{ratio:.3g}x" if ratio > 0.1 else f"1/{rounded(1 / ratio)}"


def spread(ratio: Sample) -> str:
    """Return a median ratio with its quartiles, all in the form that suits the median."""
    if ratio.median > 0.1:
        return f"{ratio.median:.2f} ({ratio.low:.2f}-{ratio.high:.2f})"
    return f"1/{rounded(1 / ratio.median)} (1/{rounded(1 / ratio.low)}-1/{rounded(1 / ratio.high)})"


def rounded(number: float) -> str:
    """Return three digits of a number of 10 or more: 12.5, 812, 1230."""
    return f"{number:.3g}" if number < 1e3 else f"{float(f'{number:.3g}'):.0f}"


def seconds(sample: Sample) -> str:
    """Return a median time with its quartiles, in a unit that suits it."""
    units = ((1 / 86_400, "days"), (1 / 3600, "h"), (1.0, "s"), (1e3, "ms"), (1e6, "µs"))
    factor, unit = next((f, u) for f, u in units if sample.median * f >= 1 or u == "µs")
    return f"{sample.median * factor:.3g} ({sample.low * factor:.3g}-{sample.high * factor:.3g}) {unit}"


def table(rows: Sequence[Row]) -> str:
    """Return all rows as a Markdown table with aligned columns."""
    lines = [HEADER, *(cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    text = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text)
