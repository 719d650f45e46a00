"""How a measured quantity scales: each trial, medians with intervals, and a slope to compare with, in logarithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from relubias.arguments import is_number
from relubias.errors import ArgumentError
from relubias.report.axis_labels import axis_label, words_of
from relubias.report.study_page import Group, entitle, groups_of, legend, page
from relubias.studies.bootstrap import checked_confidence, median_interval
from relubias.studies.by_size import BySize, by_size
from relubias.studies.power_law import PowerLaw
from relubias.studies.tally import numbers_of, together
from relubias.wording import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: The factor between the line of reference and the median that is nearest to it.
BELOW = 1.6


def scaling(
    rows: DataFrame,
    *,
    y: str,
    x: str,
    by: str | None = None,
    slope: float | None = None,
    law: PowerLaw | None = None,
    confidence: float = 0.95,
    certified: bool = True,
) -> Figure:
    """Draw y against x on logarithmic axes.

    Each trial is a faint point; medians are markers with their exact intervals (which need 6 trials at 95 %).

    Parameters
    ----------
    rows : pandas.DataFrame
        One row a cell of a study.
    y, x : str
        Columns: what was measured, and the coordinate.
    by : str, optional
        A column whose values, up to 8, are drawn apart.
    slope : float, optional
        Of a reference line, drawn below all medians.
    law : PowerLaw, optional
        A fit of y in x to draw.
    confidence : float
        Of the intervals.
    certified : bool
        Whether only cells with a certified limit are drawn.

    Returns
    -------
    matplotlib.figure.Figure
        Needs no display; save it with ``savefig``.

    Raises
    ------
    ArgumentError
        If a column is missing or holds no numbers, no cell can be drawn, two cells of a group share x and trial, the
        law is of something else, or there are too many groups.
    """
    confidence = checked_confidence(confidence)
    if slope is not None and not (is_number(slope) and np.isfinite(slope)):
        raise ArgumentError(f"slope must be a finite number or None; it is {slope!r}.")
    if law is not None and (law.y, law.coordinates) != (y, (x,)):
        raise ArgumentError(f"the law is one of {law.y} in {', '.join(law.coordinates)}, not of {y} in {x}.")
    numbers_of(rows, x)  # of all groups together, so that steps in different units never share an axis
    groups = groups_of(rows, by)
    parts = [by_size(group.rows, y, [x], positive=True, certified=certified) for group in groups]
    tally = together(part.tally for part in parts)
    if not tally.kept:
        raise ArgumentError(f"there is nothing to draw; {tally.message}.")
    with page() as (sheet, axes):
        axes.set(xscale="log", yscale="log", xlabel=axis_label(rows, x), ylabel=axis_label(rows, y))
        for group, part in zip(groups, parts, strict=True):
            if part.tally.kept:
                _draw(axes, group, part, confidence)
        ends = np.array([min(p.sizes.min() for p in parts if len(p.sizes)), max(p.sizes.max() for p in parts)])
        if law is not None:
            name = f"fit, exponent {law.exponent()}"
            axes.plot(ends, law.at(ends), color="0.7", linewidth=3.0, label=name, zorder=2)
        if slope is not None:
            # Below all medians, where it hides none of them.
            below = min(float(np.min(part.medians / part.sizes[:, 0] ** slope)) for part in parts if len(part.sizes))
            line = below * ends**slope / BELOW
            axes.plot(ends, line, "--", color="0.45", linewidth=1.1, label=f"slope {number(slope)}, for reference")
        legend(axes)
        entitle(
            sheet,
            f"{words_of(y)} against {axis_label(rows, x)}",
            tally,
            f"; medians with {100 * confidence:g} % intervals",
        )
    return sheet


def _draw(axes: Axes, group: Group, part: BySize, confidence: float) -> None:
    sizes = part.sizes[:, 0]
    axes.plot(
        np.repeat(sizes, part.trials),
        np.concatenate(part.values),
        group.marker,
        color=group.colour,
        markersize=2.5,
        markeredgewidth=0,
        alpha=0.25,
        rasterized=True,
        zorder=1,
    )
    found = np.array([median_interval(values, confidence) for values in part.values])
    known = np.isfinite(found).all(axis=1)
    axes.vlines(sizes[known], found[known, 1], found[known, 2], color=group.colour, linewidth=1.4, zorder=3)
    axes.plot(
        sizes,
        found[:, 0],
        marker=group.marker,
        linestyle=group.line,
        color=group.colour,
        markerfacecolor="white",
        markersize=5,
        linewidth=0.8,
        label=group.name or "median",
        zorder=4,
    )
