"""A phase diagram: one number for each point of a plane of two coordinates, as a map.

The number is the median over the trials of a column of numbers, or the share of trials in which a column of truth
values is true. The colours go from dark to light with the number, so that the map reads in black and white; points
without a usable cell are hatched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.report.axis_labels import axis_label, words_of
from relubias.report.study_page import entitle, page
from relubias.studies.by_size import by_size
from relubias.studies.tally import numbers_of, require_columns
from relubias.wording import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: From dark to light without a turn.
COLOURS = "cividis"


def phase_diagram(
    rows: DataFrame,
    *,
    value: str,
    x: str,
    y: str,
    logarithmic: bool = False,
    certified: bool = True,
) -> Figure:
    """Draw a column over two coordinates.

    Parameters
    ----------
    rows : pandas.DataFrame
        One row a cell of a study.
    value : str
        A column of numbers, of which the median over the trials is drawn, or of truth values, of which the share of
        true ones is.
    x, y : str
        Coordinates.
    logarithmic : bool
        Whether the colours are those of the logarithm.
    certified : bool
        Whether only cells with a certified limit are drawn. Say False where a cell without one is an answer, such as
        "not settled".

    Returns
    -------
    matplotlib.figure.Figure
        Needs no display; save it with ``savefig``.

    Raises
    ------
    ArgumentError
        If a column is missing or holds no numbers, no cell can be drawn, two cells share coordinates and trial, or
        colours are to be logarithmic and a number is not positive.
    """
    require_columns(rows, [value, x, y])
    share = is_truth(rows, value)
    data = by_size(rows, value, [x, y], positive=False, certified=certified)
    if not data.tally.kept:
        raise ArgumentError(f"there is nothing to draw; {data.tally.message}.")
    across, up = (_values(rows, name) for name in (x, y))
    grid = np.full((len(up), len(across)), np.nan)
    place = np.searchsorted(up, data.sizes[:, 1]), np.searchsorted(across, data.sizes[:, 0])
    grid[place] = [values.mean() for values in data.values] if share else data.medians
    missing = np.isnan(grid)
    if logarithmic and np.any(grid[~missing] <= 0):
        raise ArgumentError(
            f"{value} is not positive at {count(int(np.sum(grid[~missing] <= 0)), 'point')}, and its logarithm was "
            "asked for; say logarithmic=False."
        )
    what = f"share of trials: {words_of(value)}" if share else f"median {words_of(value)}"
    note = f"; hatched: {count(int(missing.sum()), 'point')} without a usable cell" if missing.any() else ""
    with page() as (sheet, axes):
        _map(sheet, across, up, grid, what=what, logarithmic=logarithmic, share=share)
        axes.set(xlabel=axis_label(rows, x), ylabel=axis_label(rows, y))
        entitle(sheet, f"{what}, over {axis_label(rows, x)} and {axis_label(rows, y)}", data.tally, note)
    return sheet


def _map(sheet: Figure, across: Array, up: Array, grid: Array, *, what: str, logarithmic: bool, share: bool) -> None:
    from matplotlib.colors import LogNorm, Normalize
    from matplotlib.patches import Rectangle

    axes = sheet.axes[0]
    axes.set(xscale="log" if is_geometric(across) else "linear", yscale="log" if is_geometric(up) else "linear")
    wide, high = edges(across), edges(up)
    if np.isnan(grid).any():
        back = Rectangle((wide[0], high[0]), wide[-1] - wide[0], high[-1] - high[0], zorder=0)
        back.set(facecolor="white", edgecolor="0.4", hatch="/////", linewidth=0.0)
        axes.add_patch(back)
    norm = LogNorm() if logarithmic else Normalize(0.0, 1.0) if share else Normalize()
    drawn = axes.pcolormesh(wide, high, np.ma.masked_invalid(grid), cmap=COLOURS, norm=norm, zorder=1, rasterized=True)
    axes.set(xlim=(wide[0], wide[-1]), ylim=(high[0], high[-1]))
    sheet.colorbar(drawn, ax=axes, label=what)


def _values(rows: DataFrame, column: str) -> Array:
    """The different values of a coordinate over all cells, failed ones included, so that no point goes missing."""
    values = numbers_of(rows, column)
    return np.unique(values[np.isfinite(values)])


def is_truth(rows: DataFrame, column: str) -> bool:
    """Whether all values of a column that are there are truth values."""
    there = rows[column].dropna().unique()
    return len(there) > 0 and all(isinstance(value, bool | np.bool_) for value in there)


def is_geometric(values: Array) -> bool:
    """Whether positive values, ascending, are more evenly spaced in logarithms than in themselves."""
    if len(values) < 3 or values[0] <= 0:
        return False
    plain, logs = np.diff(values), np.diff(np.log(values))
    return bool(logs.std() / logs.mean() < plain.std() / plain.mean())


def edges(values: Array) -> Array:
    """Edges of the cells around ascending values: halfway between them, in logarithms where these are more even."""
    if is_geometric(values):
        return np.exp(_halfway(np.log(values)))
    return _halfway(values)


def _halfway(values: Array) -> Array:
    if len(values) == 1:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    inner = 0.5 * (values[1:] + values[:-1])
    return np.concatenate([[2 * values[0] - inner[0]], inner, [2 * values[-1] - inner[-1]]])
