"""Shares of draws with their intervals: side by side with those of a negative control, or over a coordinate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from relubias.errors import ArgumentError
from relubias.report.study_page import LOOKS, legend, page
from relubias.studies.fit import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: How far above and below its line a group is drawn.
APART = 0.16


def shares(groups: Mapping[str, Mapping[str, Estimate]], *, title: str) -> Figure:
    """Draw shares as points with intervals, one line a share.

    Parameters
    ----------
    groups : mapping of str to mapping of str to Estimate
        Shares by their names, for each group; a name that several groups have is one line.
    title : str

    Returns
    -------
    matplotlib.figure.Figure
        Needs no display; groups differ in marker.

    Raises
    ------
    ArgumentError
        If there is nothing to draw.
    """
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    if not names:
        raise ArgumentError("there are no shares to draw; give at least one.")
    shifts = np.linspace(-APART, APART, len(groups)) if len(groups) > 1 else np.zeros(1)
    with page((6.4, 1.4 + 0.34 * len(names))) as (sheet, axes):
        for (word, group), shift, (colour, _, marker) in zip(groups.items(), shifts, LOOKS, strict=False):
            places = [names.index(name) + shift for name in group]
            values = np.array([estimate.value for estimate in group.values()])
            ends = np.array([[estimate.low, estimate.high] for estimate in group.values()]).T
            widths = np.abs(ends - values)
            axes.errorbar(values, places, xerr=widths, fmt=marker, color=colour, capsize=3, markersize=5, label=word)
        axes.set_yticks(range(len(names)), names, fontsize=8)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(-0.03, 1.03)
        axes.set_xlabel("share of draws, with its interval")
        legend(axes)
        sheet.suptitle(f"{title[:1].upper()}{title[1:]}", x=0.01, ha="left", fontsize=10)
    return sheet


def shares_over(lines: Mapping[str, Sequence[tuple[float, Estimate]]], *, xlabel: str, ylabel: str) -> Figure:
    """Draw shares with their intervals over a positive coordinate, one line a name.

    Parameters
    ----------
    lines : mapping of str to sequence of (float, Estimate)
        Places and shares; in a figure in black and white lines differ in dashes and marker.
    xlabel, ylabel : str

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ArgumentError
        If there is nothing to draw.
    """
    if not any(lines.values()):
        raise ArgumentError("there are no shares to draw; give at least one.")
    with page() as (sheet, axes):
        for (name, points), (colour, line, marker) in zip(lines.items(), LOOKS, strict=False):
            places = [place for place, _ in points]
            found = np.array([share for _, share in points]).reshape(-1, 3)
            widths = np.abs(found[:, 1:] - found[:, :1]).T
            axes.errorbar(
                places, found[:, 0], widths, marker=marker, linestyle=line, color=colour, capsize=2, label=name
            )
        axes.set(xscale="log", xlabel=xlabel, ylabel=ylabel, ylim=(-0.03, 1.03))
        legend(axes)
    return sheet
