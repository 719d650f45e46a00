"""Which cells of a study a judge may use: those with a proven limit, and what became of the others.

What is said to last for ever needs a certificate, and a gap is one to the minimum norm only where that is proven to be
the least. Where a number is averaged cells without either are left out and counted; a judge who lost more than a few
cells of one size that way has nothing to say, about a claim as about its control.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, cast

from relubias.claims.claim import Judge, Quantity, Rows
from relubias.status import Optimality
from relubias.studies.fit import Estimate, Loss, PowerLaw, Tally
from relubias.studies.tally import LIMITS, Sieve, require_columns, together
from relubias.wording import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

STATUS, REFERENCE = "run.status", "reference.status"
#: A judge may lose so many of the cells of one size.
LOST = 0.05
#: Medians this close to a power law follow it, whatever a test of fit says.
NEAR = 0.02
#: Beginnings of columns that are about w*.
OF_REFERENCE = ("gap.", "reference.", "law.ratio", "law.worst_ratio")


def certified(
    rows: DataFrame, *needs: str, by: str | Sequence[str] = (), ended: Collection[str] = LIMITS
) -> tuple[DataFrame, Tally]:
    """The cells with a proven limit and a finite number in each of some columns, and the tally of all.

    Parameters
    ----------
    rows : pandas.DataFrame
    *needs : str
        Columns; where one of them is about the minimum norm w*, only cells count whose w* is proven to be optimal.
    by : str or sequence of str
        Coordinates that make a size; the tally then says how many cells each of them has lost.
    ended : collection of str
        Statuses with which a cell may count; those of a proven limit, but for dynamics that have no certificate.

    Raises
    ------
    ArgumentError
        If a column is missing, "reference.status" included where w* is needed.
    """
    sieve = Sieve(rows)
    if tuple(ended) == LIMITS:
        sieve.require_limits()
    else:
        require_columns(rows, [STATUS])
        sieve.drop("that did not come to rest", ~rows[STATUS].isin(ended).to_numpy(dtype=bool))
    return _finished(sieve, needs, by)


def measured(rows: DataFrame, *needs: str, by: str | Sequence[str] = ()) -> tuple[DataFrame, Tally]:
    """The same without a look at how runs ended, for judges that count cells without a limit themselves."""
    return _finished(Sieve(rows), needs, by)


def _finished(sieve: Sieve, needs: Sequence[str], by: str | Sequence[str]) -> tuple[DataFrame, Tally]:
    rows = sieve.rows
    if any(name.startswith(OF_REFERENCE) for name in needs):
        require_columns(rows, [REFERENCE])
        optimal = (rows[REFERENCE] == str(Optimality.OPTIMAL)).to_numpy(dtype=bool)
        sieve.drop("whose minimum norm is not proven", ~optimal)
    for name in needs:
        sieve.finite(name)
    names = [by] if isinstance(by, str) else list(by)
    require_columns(rows, names)
    losses = []
    for size, part in rows.assign(kept=sieve.kept).groupby(names, dropna=False)["kept"] if names else ():
        if not part.all():
            losses.append(Loss(cast("tuple[float | str, ...]", size), int((~part).sum()), len(part)))
    return rows.loc[sieve.kept], sieve.tally(losses)


def completeness(*tallies: Tally) -> Quantity:
    """The largest share of cells that one size had to leave out; with more than 5 % of them nothing is decided.

    Tallies without sizes count as one size each.
    """
    shares = [1.0]
    if tallies and all(tally.cells for tally in tallies):
        pooled = [(tally.cells - tally.kept) / tally.cells for tally in tallies]
        shares = pooled + [loss.dropped / loss.cells for tally in tallies for loss in tally.losses]
    cells = sum(tally.cells for tally in tallies)
    share = max(shares)
    met = True if share <= LOST else None
    return Quantity("cells left out, where most are", share, None, None, cells, f"≤ {LOST:g}", met, premise=True)


def straight(fit: PowerLaw, words: str = "") -> Quantity:
    """Whether medians lie on a power law: they must not lack fit, or lie within 2 % of it all the same.

    An exponent of what is no power law says nothing; but with little scatter a test of fit also sees corrections to a
    law that are far too small to matter. The 2 % are those within which the corrected gap law is claimed.
    """
    name = "farthest median from the power law" + (f", {words}" if words else "")
    met = True if fit.holds or fit.farthest <= 1.0 + NEAR else None
    target = f"≤ {number(NEAR)}, or no lack of fit (here p = {number(fit.lack_of_fit)})"
    return Quantity(name, fit.farthest - 1.0, target=target, met=met)


def told(*tallies: Tally) -> str:
    """What was left out, as a sentence; empty where nothing was."""
    tally = together(tallies)
    return f" {tally.message}." if tally.dropped else ""


def shares_of(judge: Judge, rows: Rows, control: Rows, *, title: str) -> Figure:
    """The shares that a judge has found for a claim and for its control, as a figure; other numbers are no shares."""
    from relubias.report.shares import shares

    def found(part: Rows) -> dict[str, Estimate]:
        return {
            found.name: Estimate(found.value, found.low, found.high)
            for found in judge(part).quantities
            if found.trials and found.low is not None and found.high is not None and found.target[:2] != "in"
        }

    return shares({"claim": found(rows), "control": found(control)}, title=title)
