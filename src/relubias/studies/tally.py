"""What became of every cell of a study on its way into a fit or a figure: used, or left out for a named reason.

Each cell is counted once, under the first reason that applies, so that

    cells = kept + Σ_reason dropped[reason].

Cells that are left out bias what is kept where the reason depends on the size (a limit of time fails the large ones
first), so that the sizes that lost cells are named too.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.status import Status
from relubias.wording import count, listed, number

if TYPE_CHECKING:
    from pandas import DataFrame

#: Statuses of a run whose state is the proven limit.
LIMITS = tuple(str(status) for status in Status if status.is_limit)
#: Columns that may say why a cell failed.
FAILURES = ("failure", "message")
#: Steps in natural units are words: a multiple of 1/‖λ‖₁ (trace) or of 1/λ_max(H) (lmax).
_NATURAL = re.compile(r"\s*([-+.\deE]+)\s*/\s*(trace|lmax)\s*")


class Loss(NamedTuple):
    """Cells that one size has lost."""

    size: tuple[float | str, ...]
    dropped: int
    cells: int


@dataclass(frozen=True)
class Tally:
    """How many cells were used, and why the others were not.

    Attributes
    ----------
    cells : int
        Rows that were given.
    kept : int
        Of these, used.
    dropped : dict of str to int
        Reason → number of cells, each counted under the first reason that applies.
    failures : dict of str to int
        Sentence of failure → number of failed cells, the most frequent first.
    losses : tuple of Loss
        Sizes that lost cells, the largest share first; empty where cells were not grouped by size.
    """

    cells: int
    kept: int
    dropped: dict[str, int]
    failures: dict[str, int]
    losses: tuple[Loss, ...] = ()

    @property
    def message(self) -> str:
        """The tally in one sentence, without a full stop."""
        text = f"{self.kept:,} of {count(self.cells, 'cell')} used"
        if not self.dropped:
            return text
        text += f"; left out: {listed(f'{cells:,} {self._named(reason)}' for reason, cells in self.dropped.items())}"
        if self.losses:
            worst = self.losses[0]
            place = listed(value if isinstance(value, str) else number(value) for value in worst.size)
            text += f"; the largest share at {place}, {worst.dropped:,} of {worst.cells:,}"
        return text

    def _named(self, reason: str) -> str:
        """A reason; that of failed cells with the most frequent sentence, without its full stop."""
        if reason != "failed" or not self.failures:
            return reason
        sentence, cells = next(iter(self.failures.items()))
        part = "" if cells == self.dropped[reason] else f"{cells:,} of them "
        return f"failed ({part}“{sentence.rstrip('.')}”)"


class Sieve:
    """Cells are left out one reason after the other, and counted.

    Parameters
    ----------
    rows : pandas.DataFrame
        One row a cell of a study.

    Attributes
    ----------
    kept : ndarray of bool, shape (cells,)

    Raises
    ------
    ArgumentError
        If there is no column "status".
    """

    def __init__(self, rows: DataFrame) -> None:
        require_columns(rows, ["status"])
        self.rows = rows
        self.kept = np.ones(len(rows), dtype=bool)
        self.dropped: dict[str, int] = {}
        status = rows["status"].astype(str).to_numpy(dtype=str)
        for value in np.unique(status):
            if value != "done":
                self.drop(str(value), status == value)
        self.failures: dict[str, int] = {}
        for column in FAILURES:
            if column in rows.columns:
                said = rows.loc[status == "failed", column].dropna().astype(str).value_counts()
                self.failures = {str(sentence): int(cells) for sentence, cells in said.items()}
                break

    def drop(self, reason: str, mask: NDArray[np.bool_]) -> None:
        """Leave out the cells in `mask` that are still there."""
        hit = self.kept & mask
        if hit.any():
            self.dropped[reason] = self.dropped.get(reason, 0) + int(np.count_nonzero(hit))
            self.kept &= ~hit

    def require_limits(self) -> None:
        """Leave out the cells whose run has no proven limit.

        Raises
        ------
        ArgumentError
            If the rows do not tell.
        """
        if "run.status" not in self.rows.columns:
            raise ArgumentError(
                "there is no column 'run.status' that tells which cells reached a certified limit; measure it, or say "
                "certified=False to use all cells."
            )
        self.drop("without a certified limit", ~self.rows["run.status"].isin(LIMITS).to_numpy(dtype=bool))

    def finite(self, column: str) -> Array:
        """Leave out the cells where this column is null or infinite, and return it as numbers (NaN where null)."""
        values = numbers_of(self.rows, column)
        self.drop(f"with a null in {column}", np.isnan(values))
        self.drop(f"with an infinite {column}", np.isinf(values))
        return values

    def tally(self, losses: Iterable[Loss] = ()) -> Tally:
        """The count so far."""
        worst_first = sorted(losses, key=lambda loss: -loss.dropped / loss.cells)
        return Tally(len(self.kept), int(self.kept.sum()), dict(self.dropped), dict(self.failures), tuple(worst_first))


def together(tallies: Iterable[Tally]) -> Tally:
    """The tally of several disjoint sets of cells; sizes are those of the parts, and are not named."""
    cells = kept = 0
    dropped: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    for tally in tallies:
        cells, kept = cells + tally.cells, kept + tally.kept
        dropped.update(tally.dropped)
        failures.update(tally.failures)
    return Tally(cells, kept, dict(dropped), dict(failures.most_common()))


def require_columns(rows: DataFrame, names: Iterable[str]) -> None:
    """Refuse names of columns that are not there, and what is no table.

    Raises
    ------
    ArgumentError
        With the nearest names there are.
    """
    if not hasattr(rows, "columns"):
        raise ArgumentError(f"rows is a {type(rows).__name__}, not a pandas DataFrame with one row a cell.")
    there = [str(name) for name in rows.columns]
    for name in names:
        if name not in there:
            near = difflib.get_close_matches(str(name), there, n=3, cutoff=0.5)
            hint = f"did you mean {' or '.join(map(repr, near))}" if near else f"there are {listed(map(repr, there))}"
            raise ArgumentError(f"there is no column {name!r} among the rows; {hint}.")


def numbers_of(rows: DataFrame, column: str) -> Array:
    """One column as float64, NaN where it is null; "0.5/trace" counts as 0.5 where all steps have that unit.

    Raises
    ------
    ArgumentError
        If the column is missing, or holds something that is no number.
    """
    require_columns(rows, [column])
    unit, values = unit_of(rows, column), rows[column]
    try:
        if unit:
            return values.str.partition("/")[0].to_numpy(dtype=np.float64, na_value=np.nan)
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"column {column!r} holds values that are no numbers ({error}).") from None


def unit_of(rows: DataFrame, column: str) -> str:
    """The natural unit that all steps in a column have, "trace" or "lmax"; empty for everything else."""
    words = rows[column].dropna().unique()
    found = [_NATURAL.fullmatch(word) if isinstance(word, str) else None for word in words]
    units = {match.group(2) if match else "" for match in found}
    return units.pop() if len(units) == 1 else ""
