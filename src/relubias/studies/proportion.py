r"""Shares of cells that meet a condition, with intervals for the probability.

k of n cells meet it, and k ~ Binomial(n, π). The exact (Clopper–Pearson) interval covers π with at least the stated
confidence for every n and π; Wilson's is shorter and covers it on average over π. SciPy computes both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from relubias.errors import ArgumentError
from relubias.studies.bootstrap import Estimate, checked_confidence
from relubias.studies.tally import Sieve, Tally, require_columns

if TYPE_CHECKING:
    from pandas import DataFrame

#: Kinds of intervals.
METHODS = ("exact", "wilson")


@dataclass(frozen=True)
class Proportion:
    """A share of cells.

    Attributes
    ----------
    met, trials : int
        Cells that meet the condition, of how many usable ones.
    estimate : Estimate
        The share, with its interval for the probability.
    confidence : float
    method : str
        "exact" or "wilson".
    tally : Tally
        What became of every cell.
    at : dict of str to object
        The coordinates the cells share, by name; empty for all cells.
    """

    met: int
    trials: int
    estimate: Estimate
    confidence: float
    method: str
    tally: Tally
    at: dict[str, object]

    @property
    def message(self) -> str:
        """The share in words."""
        return f"{self.met:,} of {self.trials:,}, {self.estimate} ({100 * self.confidence:g} %); {self.tally.message}."


def proportion(
    rows: DataFrame,
    condition: Callable[[DataFrame], Any],
    *,
    needs: str | Sequence[str],
    confidence: float = 0.95,
    method: str = "exact",
) -> Proportion:
    """The share of cells that meet a condition.

    Parameters
    ----------
    rows : pandas.DataFrame
        One row a cell, with the column "status".
    condition : callable
        Function of rows that returns one truth value a row.
    needs : str or sequence of str
        Columns that the condition reads. A cell with a null in one of them is left out and counted: a comparison
        with a null is false, and would pass for a cell that does not meet the condition.
    confidence : float
    method : str
        "exact" (Clopper–Pearson) or "wilson".

    Returns
    -------
    Proportion
        Where no cell is usable the share is NaN and its interval everything, from 0 to 1.

    Raises
    ------
    ArgumentError
        If a column is missing, or the condition does not return truth values.
    """
    return _proportion(rows, condition, _checked_needs(rows, needs), checked_confidence(confidence), method, {})


def proportions(
    rows: DataFrame,
    condition: Callable[[DataFrame], Any],
    *,
    by: str | Sequence[str],
    needs: str | Sequence[str],
    confidence: float = 0.95,
    method: str = "exact",
) -> tuple[Proportion, ...]:
    """The share of cells that meet a condition at each value of some coordinates, in ascending order.

    Parameters
    ----------
    by : str or sequence of str
        The columns of the coordinates.
    rows, condition, needs, confidence, method
        As for :func:`proportion`.

    Returns
    -------
    tuple of Proportion

    Raises
    ------
    ArgumentError
        If `by` names no column, or as :func:`proportion` does.
    """
    names = [by] if isinstance(by, str) else list(by)
    require_columns(rows, names)
    if not names:
        raise ArgumentError("by names no column; use proportion for the share of all cells.")
    columns, level = _checked_needs(rows, needs), checked_confidence(confidence)
    groups = rows.groupby(names, dropna=False, sort=True)
    return tuple(
        _proportion(
            group, condition, columns, level, method, dict(zip(names, cast("tuple[Any, ...]", key), strict=True))
        )
        for key, group in groups
    )


def _checked_needs(rows: DataFrame, needs: str | Sequence[str]) -> list[str]:
    columns = [needs] if isinstance(needs, str) else list(needs)
    require_columns(rows, columns)
    return columns


def _proportion(
    rows: DataFrame,
    condition: Callable[[DataFrame], Any],
    needs: Sequence[str],
    confidence: float,
    method: str,
    at: dict[str, object],
) -> Proportion:
    if method not in METHODS:
        raise ArgumentError(f"method must be {' or '.join(map(repr, METHODS))}; it is {method!r}.")
    sieve = Sieve(rows)
    for name in needs:
        sieve.drop(f"with a null in {name}", rows[name].isna().to_numpy(dtype=bool))
    tally = sieve.tally()
    if not tally.kept:  # nothing is known
        return Proportion(0, 0, Estimate(np.nan, 0.0, 1.0), confidence, method, tally, at)
    met = int(np.count_nonzero(truths(condition(rows.loc[sieve.kept]), tally.kept)))
    kind: Literal["exact", "wilson"] = "exact" if method == "exact" else "wilson"
    interval = binomtest(met, tally.kept).proportion_ci(confidence, method=kind)
    estimate = Estimate(met / tally.kept, float(interval.low), float(interval.high))
    return Proportion(met, tally.kept, estimate, confidence, method, tally, at)


def truths(values: Any, cells: int) -> NDArray[np.bool_]:
    """What a condition returned, as one truth value a cell.

    Raises
    ------
    ArgumentError
        If it is something else.
    """
    array = np.asarray(values)
    if array.dtype == object and all(isinstance(value, bool | np.bool_) for value in array.flat):
        array = array.astype(np.bool_)
    if array.shape != (cells,) or array.dtype != np.bool_:
        raise ArgumentError(
            f"the condition must return one truth value a row, {cells} of them; it returned {array.dtype} of shape "
            f"{array.shape}."
        )
    return array
