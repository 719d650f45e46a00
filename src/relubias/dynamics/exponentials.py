"""Sums of exponentials, and the first time at which one of many turns negative.

    f_i(t) = f_i(0) − Σ_j M_ij G_j(t),       G_j(t) = (1 − e^{−λ_j t})/λ_j,       f_i′(t) = −Σ_j M_ij e^{−λ_j t}.

**Windows.** G_j is monotone, so that over [a, b] (b = ∞ included) splitting each row of M into its positive and its
negative part bounds f_i from below; and e^{λ_1 t} f_i′, λ_1 the smallest rate, is a sum of the monotone
e^{−(λ_j − λ_1) t}, which shows where f_i itself is monotone. A window is *settled* for a row that is bounded
away from zero or monotone; where it is monotone, the ends say whether there is a root. Windows that are not settled are
halved, the earlier half first. So no pair of roots can be stepped over, whatever the length of the window.

**Contact.** A function that has just been at zero starts with f = 0 there. With φ_1(z) = (1 − e^{−z})/z and
φ_2(z) = (z − 1 + e^{−z})/z², both positive and decreasing,

    f/t = −Σ_j M_ij φ_1(λ_j t)  (f(0) = 0),        f/t² = Σ_j M_ij λ_j φ_2(λ_j t)  (f(0) = f′(0) = 0),

are bounded on [0, b] in the same way, and that root at 0 is not found again.

**Rounding.** A row counts as negative only beyond its margin; below that no arithmetic could tell. (Ours.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.gram import Array

#: Times whose square overflows.
HUGE = 1e150
INFINITY = float("inf")
#: Windows examined in one search; beyond it the search returns how far it has come.
SEARCH_WINDOWS = 4_000
#: A window shorter than this fraction of its end cannot be halved in a meaningful way.
SHORTEST = 2.0**-50
#: Steps of the refinement of one root.
REFINEMENTS = 200

Rows = NDArray[np.intp]


def growth(rates: Array, time: float) -> Array:
    """Return G_j(t) = (1 − e^{−λ_j t})/λ_j for λ_j > 0 and t from 0 to infinity."""
    return np.asarray(-np.expm1(-rates * time) / rates) if time < INFINITY else 1.0 / rates


def decay(rates: Array, time: float) -> Array:
    """Return e^{−λ_j t}; at infinity 0 for λ_j > 0 and 1 for λ_j = 0."""
    return np.exp(-rates * time) if time < INFINITY else np.where(rates > 0.0, 0.0, 1.0)


def contact_basis(rates: Array, time: float, order: int) -> Array:
    """Return φ_1(λ_j t) or λ_j φ_2(λ_j t) for a finite t ≥ 0."""
    z = rates * time
    small = z < 1e-2
    safe = np.where(small, 1.0, z)
    if order == 1:
        return np.where(small, 1 - z / 2 * (1 - z / 3 * (1 - z / 4 * (1 - z / 5))), -np.expm1(-safe) / safe)
    series = 0.5 * (1 - z / 3 * (1 - z / 4 * (1 - z / 5 * (1 - z / 6))))
    return rates * np.where(small, series, (safe + np.expm1(-safe)) / safe**2)


class Crossing(NamedTuple):
    """The end of a search.

    `rows` turn negative at `time`; without rows, none does before `time`.
    """

    time: float
    rows: Rows


@dataclass(frozen=True, eq=False)
class ExponentialSums:
    """Functions f_i that start at or above zero.

    Attributes
    ----------
    rates : ndarray, shape (r,)
        λ, positive, ascending.
    start : ndarray, shape (N,)
        f_i(0) ≥ 0.
    weights : ndarray, shape (N, r)
        M.
    contact : ndarray of int, shape (N,)
        How many of f, f′ are zero at 0 and not to be found again.
    floor, scale : ndarray, shape (N,)
    spread : ndarray, shape (r,)
        The rounding margin of f_i at t is floor_i + scale_i Σ_j spread_j G_j(t).
    """

    rates: Array
    start: Array
    weights: Array
    contact: NDArray[np.int8]
    floor: Array
    scale: Array
    spread: Array

    def values(self, time: float, rows: Rows | None = None) -> Array:
        """f_i(t)."""
        start, weights = (self.start, self.weights) if rows is None else (self.start[rows], self.weights[rows])
        return np.asarray(start - weights @ growth(self.rates, time))

    def slopes(self, time: float, rows: Rows | None = None) -> Array:
        """f_i′(t)."""
        return np.asarray(-(self.weights if rows is None else self.weights[rows]) @ decay(self.rates, time))

    def margin(self, time: float, rows: Rows | None = None) -> Array:
        """How far below zero f_i(t) may be by rounding alone."""
        floor, scale = (self.floor, self.scale) if rows is None else (self.floor[rows], self.scale[rows])
        return np.asarray(floor + scale * float(self.spread @ growth(self.rates, time)))

    def search(self, last: float) -> Crossing:
        """Find the first time in [0, last], `last` infinite or not, at which a row turns negative."""
        none = np.empty(0, dtype=np.intp)
        if not len(self.start) or not len(self.rates):
            return Crossing(last, none)
        scale = self._first_guess()
        windows = [(0.0, last, np.arange(len(self.start)))]
        for _ in range(SEARCH_WINDOWS):
            if not windows:
                return Crossing(last, none)
            first, end, rows = windows.pop()
            falling, open_rows = self._unsettled(first, end, rows)
            if not len(open_rows):
                if len(falling):
                    return self._earliest(first, end, falling)
                continue
            rows = np.sort(np.concatenate([falling, open_rows]))
            if end < INFINITY and end - first <= SHORTEST * end:
                below = rows[self.values(end, rows) < -self.margin(end, rows)]
                if len(below):
                    return Crossing(end, below)
                continue
            middle = self._middle(first, end, scale)
            windows.append((middle, end, rows))
            windows.append((first, middle, rows))
        return Crossing(windows[-1][0], none)

    def _first_guess(self) -> float:
        """A time of the order of the first root: where the tangents at 0 reach zero, or the fastest decay time."""
        down = -self.slopes(0.0)
        some = (down > 0.0) & (self.start > self.floor)
        guess = float(np.min(self.start[some] / down[some], initial=INFINITY))
        return max(min(2.0 * guess, 1.0 / float(self.rates[0])), 1e-3 / float(self.rates[-1]) * 2.0**-20)

    @staticmethod
    def _middle(first: float, end: float, scale: float) -> float:
        if first == 0.0:
            return scale if end > 2.0 * scale else 0.5 * end
        return 2.0 * first if end > 4.0 * first else first + 0.5 * (end - first)

    def _unsettled(self, first: float, end: float, rows: Rows) -> tuple[Rows, Rows]:
        """Return the rows that fall through zero in the window, monotonically, and those of which nothing is known."""
        lowest, margin = self._lower_bounds(first, end, rows)
        rows = rows[lowest < -margin]
        if not len(rows):
            return rows, rows
        low, high = self._slope_signs(first, end, rows)
        at_end, allowed = self.values(end, rows), self.margin(end, rows)
        falling = (high <= 0.0) & (at_end < -allowed)
        settled = (low >= 0.0) | (high <= 0.0)
        return rows[falling], rows[~settled]

    def _lower_bounds(self, first: float, end: float, rows: Rows) -> tuple[Array, Array]:
        """Lower bounds of f (or of f over a power of t) on the window, and the margins that go with them."""
        weights, margin = self.weights[rows], self.margin(end, rows)
        below, above = growth(self.rates, first), growth(self.rates, end)
        lowest = self.start[rows] - weights @ (0.5 * (below + above)) - np.abs(weights) @ (0.5 * (above - below))
        if first == 0.0 and end < INFINITY:
            for order in (1, 2):
                some = np.flatnonzero(self.contact[rows] == order)
                if len(some):
                    low, high = contact_basis(self.rates, end, order), contact_basis(self.rates, 0.0, order)
                    signed = weights[some] if order == 2 else -weights[some]
                    lowest[some] = signed @ (0.5 * (low + high)) - np.abs(signed) @ (0.5 * (high - low))
                    margin[some] /= float(end) ** order if end < HUGE else INFINITY
        return lowest, margin

    def _slope_signs(self, first: float, end: float, rows: Rows) -> tuple[Array, Array]:
        """Bounds of e^{λ_1 t} f′(t) on the window."""
        relative = self.rates - self.rates[0]
        at_first, at_end = decay(relative, first), decay(relative, end)
        weights = self.weights[rows]
        middle, half = -weights @ (0.5 * (at_first + at_end)), np.abs(weights) @ (0.5 * (at_first - at_end))
        return middle - half, middle + half

    def _earliest(self, first: float, end: float, rows: Rows) -> Crossing:
        """The first of the roots of rows that all fall monotonically through zero in the window."""
        best, who = INFINITY, [int(rows[0])]
        for row in map(int, rows):
            bound = min(end, best)
            if bound < end and self._value(row, bound) > 0.0:
                continue
            time = self._root(row, first, bound)
            if time < best:
                best, who = time, [row]
            elif time == best:
                who.append(row)
        return Crossing(best, np.array(who, dtype=np.intp))

    def _value(self, row: int, time: float) -> float:
        return float(self.start[row] - self.weights[row] @ growth(self.rates, time))

    def _root(self, row: int, low: float, high: float) -> float:
        """The root of a row that decreases on [low, high]: Newton's method, kept between bounds that close in."""
        # What rests at zero ends its rest where it is negative beyond rounding, not at once.
        rests = self.start[row] == 0.0 and self.contact[row] == 0
        level = float(self.margin(high, np.array([row]))[0]) if rests else 0.0
        if self._value(row, low) + level <= 0.0:
            return low
        time = low
        if high == INFINITY:
            high = max(2.0 * low, 1.0 / float(self.rates[-1]))
            while self._value(row, high) + level > 0.0:
                low, high = high, 2.0 * high
        for _ in range(REFINEMENTS):
            value = self._value(row, time) + level
            if value > 0.0:
                low = time
            else:
                high = time
            slope = float(-self.weights[row] @ decay(self.rates, time))
            step = time - value / slope if slope < 0.0 else INFINITY
            fresh = step if low < step < high else 0.5 * (low + high)
            if abs(fresh - time) <= 2.0**-52 * fresh or value == 0.0:
                return fresh if value != 0.0 else time
            time = fresh
        return time
