"""Which cells of a study a judge may use: those with a proven limit, and what became of the others.

What is said to last for ever needs a certificate. A cell without one does not count as kept, and where a number is
averaged it is left out and counted; a judge who lost more than a few cells that way has nothing to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relubias.claims.claim import Judge, Quantity, Rows
from relubias.studies.fit import Estimate, Tally
from relubias.studies.tally import Sieve, together

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

STATUS = "run.status"
#: A judge may lose so many of the cells.
LOST = 0.05


def certified(rows: DataFrame, *needs: str) -> tuple[DataFrame, Tally]:
    """The cells with a proven limit and a finite number in each of some columns, and the tally of all."""
    sieve = Sieve(rows)
    sieve.require_limits()
    for name in needs:
        sieve.finite(name)
    return rows.loc[sieve.kept], sieve.tally()


def completeness(*tallies: Tally) -> Quantity:
    """How many cells a judge had to leave out; with more than 5 % of them nothing is decided."""
    tally = together(tallies)
    share = 1.0 - tally.kept / tally.cells if tally.cells else 1.0
    return Quantity("cells left out", share, target=f"≤ {LOST:g}", met=True if share <= LOST else None)


def told(*tallies: Tally) -> str:
    """What was left out, as a sentence; empty where nothing was."""
    tally = together(tallies)
    return f" ({tally.message}.)" if tally.dropped else ""


def shares_of(judge: Judge, rows: Rows, control: Rows, *, title: str) -> Figure:
    """The shares that a judge has found for a claim and for its control, as a figure."""
    from relubias.report.shares import shares

    def found(part: Rows) -> dict[str, Estimate]:
        return {
            found.name: Estimate(found.value, found.low, found.high)
            for found in judge(part).quantities
            if found.trials and found.low is not None and found.high is not None
        }

    return shares({"claim": found(rows), "control": found(control)}, title=title)
