"""Measurements of a study, grouped by size: what a fit is made of.

A *size* is one combination s = (x₁, …, x_k) of coordinates, and at each size there are independent trials
v_{s,1}, …, v_{s,T_s}: the seed of a cell depends on all of its coordinates, so that trial 3 of one size has nothing
in common with trial 3 of another. Two cells with the same size and trial differ in a coordinate that was not named,
and mixing them would call a coordinate chance: that is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.studies.tally import Loss, Sieve, Tally, numbers_of, require_columns
from relubias.wording import listed, number

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class BySize:
    """The usable values of one column, size by size.

    Attributes
    ----------
    coordinates : tuple of str
        Names of the k coordinates.
    sizes : ndarray, shape (S, k)
        In lexicographic order.
    values : tuple of ndarray
        Values at each size, ascending.
    tally : Tally
    """

    coordinates: tuple[str, ...]
    sizes: Array
    values: tuple[Array, ...]
    tally: Tally

    @property
    def medians(self) -> Array:
        """Median at each size, shape (S,)."""
        return np.array([np.median(values) for values in self.values])

    @property
    def trials(self) -> NDArray[np.intp]:
        """Number of values at each size, shape (S,)."""
        return np.array([len(values) for values in self.values], dtype=np.intp)


def by_size(
    rows: DataFrame,
    value: str,
    coordinates: Sequence[str],
    *,
    positive: bool,
    certified: bool,
    fewest: int = 1,
) -> BySize:
    """Group a column by size, leaving out what cannot be used and counting it.

    Parameters
    ----------
    rows : pandas.DataFrame
        One row a cell, with the columns "status" and "trial".
    value : str
        Column that was measured.
    coordinates : sequence of str
        Columns that make a size.
    positive : bool
        Whether values and coordinates have to be positive, as logarithms need them.
    certified : bool
        Whether only cells with a certified limit count.
    fewest : int
        A size with fewer usable trials is left out.

    Returns
    -------
    BySize

    Raises
    ------
    ArgumentError
        If a column is missing or holds no numbers, or two cells share size and trial.
    """
    require_columns(rows, ["trial", value, *coordinates])
    points = np.column_stack([numbers_of(rows, name) for name in coordinates])
    _refuse_mixtures(rows, coordinates)
    sieve = Sieve(rows)
    if certified:
        sieve.require_limits()
    numbers = sieve.finite(value)
    for name in coordinates:
        sieve.finite(name)
    if positive:
        sieve.drop(f"with a {value} that is not positive", ~(numbers > 0))
        for j, name in enumerate(coordinates):
            sieve.drop(f"with a {name} that is not positive", ~(points[:, j] > 0))

    # Sizes of all cells, so that one whose cells are all left out is still named among the losses.
    placed = np.isfinite(points).all(axis=1)
    sizes, place = np.unique(points[placed], axis=0, return_inverse=True)
    at = np.full(len(rows), -1)
    at[placed] = place.reshape(-1)
    full = np.bincount(at[sieve.kept], minlength=len(sizes)) >= fewest
    sieve.drop(f"at sizes with fewer than {fewest} usable trials", sieve.kept & np.isin(at, np.flatnonzero(~full)))
    cells, kept = np.bincount(at[placed], minlength=len(sizes)), np.bincount(at[sieve.kept], minlength=len(sizes))
    losses = [
        Loss(tuple(sizes[s].tolist()), int(cells[s] - kept[s]), int(cells[s])) for s in np.flatnonzero(kept < cells)
    ]
    order = np.lexsort((numbers[sieve.kept], at[sieve.kept]))
    values = np.split(numbers[sieve.kept][order], np.cumsum(kept)[:-1])
    used = np.flatnonzero(kept)
    return BySize(tuple(coordinates), sizes[used], tuple(values[s] for s in used), sieve.tally(losses))


def _refuse_mixtures(rows: DataFrame, coordinates: Sequence[str]) -> None:
    """Of all cells, also those that will be left out: each might be the only one of its kind that is left."""
    keys = [*coordinates, "trial"]
    twice = rows.duplicated(keys, keep=False) & rows[keys].notna().all(axis=1)
    if not twice.any():
        return
    first = rows.loc[twice].iloc[0]
    mixed = rows.loc[(rows[keys] == first[keys]).all(axis=1)]
    # Measured columns differ too; coordinates are those with few values over the whole study.
    differing = [
        str(name)
        for name in rows.columns
        if name not in keys and mixed[name].nunique(dropna=False) > 1 and rows[name].nunique() <= len(rows) ** 0.5
    ]
    where = listed(f"{name} = {number(float(first[name]))}" for name in coordinates)
    which = f" (perhaps {listed(differing)})" if differing else ""
    raise ArgumentError(
        f"{len(mixed)} cells share {where} and trial {first['trial']}: another coordinate varies{which}; select the "
        "rows with one value of it, or name it among the coordinates."
    )
