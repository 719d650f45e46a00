"""Rows as text: the cells of the table, and one short line for whoever watches.

``1/800`` in the column of ratios stands for 800 times as fast; ``≈`` for a time that was extrapolated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from benchmarks.row import Row
from benchmarks.sample import Sample

HEADER = (
    "row",
    "ours",
    "rival",
    "rival's",
    "ours/rival",
    "goal",
    "met",
    "repeats",
    "answers differ by",
    "KKT (ours, rival)",
    "peak MB",
)


def cells(row: Row) -> tuple[str, ...]:
    """Return the cells of one row."""
    return (
        row.name,
        seconds(row.seconds),
        row.rival or ("ceiling" if row.is_ceiling else ""),
        rival_seconds(row),
        "" if row.ratio is None else marked(row, spread(row.ratio)),
        goal(row),
        verdict(row),
        str(row.seconds.count),
        "" if row.deviation is None else f"{row.deviation:.0e}",
        "" if row.residuals is None else ", ".join("?" if math.isnan(one) else f"{one:.0e}" for one in row.residuals),
        "" if row.peak_bytes is None else f"{row.peak_bytes / 1e6:.1f}",
    )


def goal(row: Row) -> str:
    """Return all goals of a row, as upper bounds."""
    goals = []
    if row.at_most is not None:
        goals.append(f"<= {row.at_most:g} s" if row.is_ceiling else f"<= {times(row.at_most)}")
    if row.peak_at_most is not None:
        goals.append(f"<= {row.peak_at_most / 1e6:g} MB")
    return ", ".join(goals)


def verdict(row: Row) -> str:
    """Return whether the goal is met, and whether that is close; nothing where there is no goal."""
    met = row.met
    if met is None:
        return ""
    return ("yes" if met else "NO") + (", close" if row.close else "")


def rival_seconds(row: Row) -> str:
    """Return the rival's time. What is extrapolated has no spread: that is the one of another, shorter time."""
    if row.rival_seconds is None:
        return ""
    if row.extrapolated is None:
        return seconds(row.rival_seconds)
    number, unit = in_units(row.rival_seconds.median)
    return marked(row, f"{digits(number(row.rival_seconds.median))} {unit} (from {row.extrapolated})")


def marked(row: Row, text: str) -> str:
    """Return a cell with the mark of what is extrapolated, where it is."""
    return text if row.extrapolated is None else f"≈ {text}"


def seconds(sample: Sample) -> str:
    """Return a median time with its quartiles, in a unit that suits it; of a single repeat, that alone."""
    number, unit = in_units(sample.median)
    return f"{with_quartiles(sample, lambda value: digits(number(value)))} {unit}"


def in_units(value: float) -> tuple[Callable[[float], float], str]:
    """Return what converts seconds into a unit that suits this value, and the unit."""
    units = ((1 / 86_400, "days"), (1 / 3600, "h"), (1.0, "s"), (1e3, "ms"), (1e6, "µs"))
    factor, unit = next((f, u) for f, u in units if value * f >= 1 or u == "µs")
    return lambda value: value * factor, unit


def times(ratio: float) -> str:
    """Return a bound of a ratio as "1.25x", or, where ours is ten times as fast or faster, as "1/800"."""
    return f"{ratio:.3g}x" if ratio > 0.1 else f"1/{f'{1 / ratio:.3g}' if 1 / ratio < 1e3 else digits(1 / ratio)}"


def spread(ratio: Sample) -> str:
    """Return a median ratio with its quartiles, all in the form that suits the median."""
    if ratio.median > 0.1:
        return with_quartiles(ratio, digits)
    return with_quartiles(ratio, lambda value: f"1/{digits(1 / value)}")


def with_quartiles(sample: Sample, text: Callable[[float], str]) -> str:
    """Return "median (low-high)", or the one value that there is."""
    if sample.count == 1:
        return text(sample.median)
    return f"{text(sample.median)} ({text(sample.low)}-{text(sample.high)})"


def digits(number: float) -> str:
    """Return three significant digits: 0.110, 1.00, 12.5, 812, 1230."""
    rounded = float(f"{number:.3g}")
    return f"{rounded:.0f}" if abs(rounded) >= 100 else f"{rounded:#.3g}"


def table(rows: Sequence[Row]) -> str:
    """Return all rows as a Markdown table with aligned columns."""
    lines = [HEADER, *(cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    text = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text)


def brief(row: Row) -> str:
    """Return one row as a short line for whoever watches."""
    text = f"{row.name}: {seconds(row.seconds)}"
    if row.ratio is not None:
        text += f", {marked(row, spread(row.ratio))} of {row.rival}"
    if row.peak_bytes is not None:
        text += f", {row.peak_bytes / 1e6:.1f} MB"
    return f"{text}; goal {goal(row)}: {verdict(row)}" if verdict(row) else text
