"""How a measured quantity is distributed over cells: steps of the cumulative share, or a histogram, for each group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.report.axis_labels import axis_label, words_of
from relubias.report.study_page import Group, entitle, groups_of, legend, page
from relubias.studies.tally import Sieve, Tally, together
from relubias.wording import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: Ways to draw a distribution.
KINDS = ("cumulative", "histogram")
#: Bins of a histogram, common to all groups.
BINS = 40


def distribution(
    rows: DataFrame,
    *,
    value: str,
    by: str | None = None,
    kind: str = "cumulative",
    logarithmic: bool = False,
    certified: bool = True,
) -> Figure:
    """Draw the distribution of a column.

    Parameters
    ----------
    rows : pandas.DataFrame
        One row a cell of a study.
    value : str
        Column that was measured.
    by : str, optional
        A column whose values, up to 8, are drawn apart.
    kind : str
        "cumulative", the share of cells up to each value, or "histogram", the share in each of 40 bins.
    logarithmic : bool
        Whether the axis of values is; cells that are not positive are then left out and counted.
    certified : bool
        Whether only cells with a certified limit are drawn.

    Returns
    -------
    matplotlib.figure.Figure
        Needs no display; save it with ``savefig``.

    Raises
    ------
    ArgumentError
        If a column is missing or holds no numbers, no cell can be drawn, `kind` is neither word, or there are too many
        groups.
    """
    if kind not in KINDS:
        raise ArgumentError(f"kind must be {' or '.join(map(repr, KINDS))}; it is {kind!r}.")
    groups = groups_of(rows, by)
    parts = [_usable(group, value, logarithmic=logarithmic, certified=certified) for group in groups]
    tally = together(part for _, part in parts)
    if not tally.kept:
        raise ArgumentError(f"there is nothing to draw; {tally.message}.")
    bins = _bins(np.concatenate([values for values, _ in parts]), logarithmic=logarithmic)
    with page() as (sheet, axes):
        for group, (values, _) in zip(groups, parts, strict=True):
            if len(values):
                _draw(axes, group, values, bins if kind == "histogram" else None)
        axes.set(xscale="log" if logarithmic else "linear", xlabel=axis_label(rows, value), ylim=(0.0, None))
        axes.set_ylabel(
            "share of cells" + (" up to this value" if kind == "cumulative" else f" in each of {BINS} bins")
        )
        legend(axes)
        entitle(sheet, f"distribution of {words_of(value)}", tally)
    return sheet


def _usable(group: Group, value: str, *, logarithmic: bool, certified: bool) -> tuple[Array, Tally]:
    sieve = Sieve(group.rows)
    if certified:
        sieve.require_limits()
    values = sieve.finite(value)
    if logarithmic:
        sieve.drop(f"with a {value} that is not positive", ~(values > 0))
    return values[sieve.kept], sieve.tally()


def _bins(values: Array, *, logarithmic: bool) -> Array:
    edges: Array = np.histogram_bin_edges(np.log(values) if logarithmic else values, BINS)
    return np.exp(edges) if logarithmic else edges


def _draw(axes: Axes, group: Group, values: Array, bins: Array | None) -> None:
    name = f"{group.name}, {count(len(values), 'cell')}" if group.name else count(len(values), "cell")
    if bins is None:
        axes.ecdf(values, color=group.colour, linestyle=group.line, linewidth=1.2, label=name)
        return
    # The outermost edges may be off by rounding; every value is in a bin.
    shares = np.histogram(np.clip(values, bins[0], bins[-1]), bins)[0] / len(values)
    axes.stairs(shares, bins, color=group.colour, linestyle=group.line, linewidth=1.2, label=name)
