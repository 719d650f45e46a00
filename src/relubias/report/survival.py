r"""How long cells take to settle: the share that has not settled yet, against the step.

    S(t) = #{cells with T > t} / #{cells},      T the step of the last change of pattern.

Cells without a proven last change (cycles, runs whose budget was spent, cells that failed for their limit of time)
count as not settled at every step, and are a marker at the right end: S is then an upper bound. The usual estimate for
censored times (Kaplan and Meier) would treat them as if they were like the others; but budgets and time are spent on
exactly the cells that take longest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.report.axis_labels import axis_label
from relubias.report.study_page import entitle, groups_of, legend, page
from relubias.studies.limits import OVER_TIME
from relubias.studies.tally import FAILURES, Sieve, Tally, numbers_of, together
from relubias.wording import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


class Settling(NamedTuple):
    """When the cells of a group settled."""

    steps: Array  # ascending, of those that did; 0 where the pattern never changed
    unsettled: int
    tally: Tally

    @property
    def cells(self) -> int:
        """All that count."""
        return len(self.steps) + self.unsettled

    def surviving(self, steps: Array) -> Array:
        """S at these steps."""
        share: Array = 1.0 - np.searchsorted(self.steps, steps, side="right") / self.cells
        return share


def survival(rows: DataFrame, *, value: str = "run.stabilised_at", by: str | None = None) -> Figure:
    """Draw the share of cells that have not settled yet against the step, on a logarithmic axis.

    Parameters
    ----------
    rows : pandas.DataFrame
        One row a cell of a study.
    value : str
        Column with the step (or time) at which a cell settled, null where it is not known to have settled.
    by : str, optional
        A column whose values, up to 8, are drawn apart.

    Returns
    -------
    matplotlib.figure.Figure
        Needs no display; save it with ``savefig``.

    Raises
    ------
    ArgumentError
        If a column is missing or holds no numbers, no cell can be drawn, or there are too many groups.
    """
    groups = groups_of(rows, by)
    parts = [_settling(group.rows, value) for group in groups]
    tally = together(part.tally for part in parts)
    if not tally.kept:
        raise ArgumentError(f"there is nothing to draw; {tally.message}.")
    steps = np.concatenate([part.steps for part in parts])
    steps = steps[steps > 0]
    first, last = (steps.min(), steps.max()) if len(steps) else (1.0, 1.0)
    # Room before the first step for those that never change, and after the last for those that do not settle.
    room = max(last / first, 10.0) ** 0.08
    ends = np.array([first / room, last * room])
    unsettled = sum(part.unsettled for part in parts)
    with page() as (sheet, axes):
        axes.set(xscale="log", xlim=(ends[0], ends[1] * room**0.3), ylim=(-0.02, 1.05))
        for group, part in zip(groups, parts, strict=True):
            if not part.cells:
                continue
            at = np.unique(np.concatenate([ends, part.steps[part.steps > 0]]))
            look = {"color": group.colour, "linestyle": group.line, "linewidth": 1.2}
            name = f"{group.name}, {count(part.cells, 'cell')}" if group.name else count(part.cells, "cell")
            name += f", {part.unsettled:,} not settled" if part.unsettled else ""
            axes.step(at, part.surviving(at), where="post", label=name, **look)
            if part.unsettled:
                axes.plot(
                    ends[1:],
                    part.surviving(ends[1:]),
                    group.marker,
                    color=group.colour,
                    markerfacecolor="white",
                    clip_on=False,
                )
        axes.set(xlabel=axis_label(rows, value), ylabel="share of cells not yet settled")
        legend(axes)
        note = f"; {unsettled:,} not settled (markers), which makes the curves upper bounds" if unsettled else ""
        entitle(sheet, f"how long cells take: {axis_label(rows, value)}", tally, note)
    return sheet


def _settling(rows: DataFrame, value: str) -> Settling:
    sieve = Sieve(rows)
    steps = numbers_of(rows, value)[sieve.kept]
    known = np.isfinite(steps)
    return Settling(np.sort(steps[known]), int(np.count_nonzero(~known)) + _out_of_time(rows), sieve.tally())


def _out_of_time(rows: DataFrame) -> int:
    """How many cells failed because they took too long."""
    failed = rows[rows["status"] == "failed"]
    for column in FAILURES:
        if column in rows.columns:
            return sum(str(told).startswith(OVER_TIME) for told in failed[column])
    return 0
