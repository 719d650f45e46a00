"""Exact leaps: while an activation pattern holds, gradient descent is linear and needs no steps.

With D_k = diag σ′(β_k), U the samples with a slope in some neuron (for a ReLU, the active ones), H = Σ_k D_k K D_k
on U, H = QΛQᵀ, ρ = 1 − ηλ and c = Qᵀr_U,

    α_k(t) = α_k − s_k D_k Q (G(t) ∘ c),      β_k(t) = β_k − M_k G(t),      M_k = s_k K D_k Q diag(c),
    G_j(t) = (1 − ρ_j^t)/λ_j,                 G_j(∞) = 1/λ_j.

Modes with λ_j = 0 are left out: they do not move the weights, and the residual they carry stays for ever.

**When can the pattern change?** Over a window [a, b] each G_j lies between its extreme values, for ρ_j ≥ 0 those
at the ends; for ρ_j < 0 those of the first even and the first odd exponent. Hence, entry by entry,

    |β(t) − (β − M Ḡ)| ≤ ½ |M| (G_max − G_min) + margin(b)      for all t in [a, b],   Ḡ = ½ (G_max + G_min),

and a sign that this keeps cannot change in the window. Windows that decide nothing are halved (the earlier half
first, only the undecided entries), down to a single step, where the bound is exact but for rounding; the step that
stays undecided is taken by plain stepping, so that events are always those of the recursion itself. (Ours.)

**Rounding margin.** ε |β_i|, r ε Σ_j |M_ij| G_j for the product, and what the decomposition of H contributes
(:class:`relubias.linalg.factor.PatternModes`).

**At rest.** An entry with a slope whose pre-activation and residual both stay within a few margins of zero: whether it
is on or off makes no difference that rounding would not hide.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relubias.dynamics.stepping import Iterate
from relubias.linalg.factor import EPS, PatternModes, Slopes
from relubias.linalg.gram import Array

INFINITY = float("inf")
#: Beyond this many steps a search stops halving what is infinitely long.
FARTHEST = 10**18
#: Windows examined in one search; beyond it the search returns what it has.
SEARCH_WINDOWS = 4_000
#: An active entry is at rest within this many rounding margins of zero.
REST_MARGINS = 4.0
#: … and never farther from it than this fraction of the largest label.
REST_AT_MOST = 1e-6


class Rates:
    """ρ_j = 1 − ηλ_j for λ_j > 0 and 0 < ηλ_j < 2, and sums of their powers; logarithms are taken once.

    Parameters
    ----------
    eigenvalues : ndarray, shape (r,)
        λ.
    step_size : float
        η.
    """

    def __init__(self, eigenvalues: Array, step_size: float) -> None:
        self.eigenvalues, self.step_size = eigenvalues, step_size
        rate = step_size * eigenvalues
        self.falling, self.alternating = rate < 1.0, rate > 1.0
        self.any_alternating = bool(self.alternating.any())
        self._log_falling = np.log1p(-rate[self.falling])
        self._log_alternating = np.log(rate[self.alternating] - 1.0)
        self._room = 2.0 - rate[self.alternating]

    def decay(self, time: float) -> Array:
        """ρ_j^t for an integer t ≥ 0 or infinity."""
        if time == INFINITY:
            return np.zeros_like(self.eigenvalues)
        power = np.full_like(self.eigenvalues, 0.0 if time else 1.0)
        power[self.falling] = np.exp(time * self._log_falling)
        if self.any_alternating:
            power[self.alternating] = self._alternating_decay(time)
        return power

    def _alternating_decay(self, time: float) -> Array:
        return np.asarray((-1.0 if time % 2 else 1.0) * np.exp(time * self._log_alternating))

    def growth(self, time: float) -> Array:
        """G_j(t) = (1 − ρ_j^t)/λ_j, without cancellation where ρ_j^t is near 1."""
        if time == INFINITY:
            return 1.0 / self.eigenvalues
        change = np.full_like(self.eigenvalues, 1.0 if time else 0.0)
        change[self.falling] = -np.expm1(time * self._log_falling)
        if self.any_alternating:
            change[self.alternating] = 1.0 - self._alternating_decay(time)
        return change / self.eigenvalues

    def path_length(self, time: float, growth: Array) -> Array:
        """Ĝ_j(t) = η Σ_{s<t} |ρ_j|^s, which is G_j(t) (given) for ρ_j ≥ 0 and larger for alternating modes."""
        if not self.any_alternating:
            return growth
        length = growth.copy()
        decayed = np.zeros_like(self._room) if time == INFINITY else np.abs(self._alternating_decay(time))
        length[self.alternating] = self.step_size * (1.0 - decayed) / self._room
        return length

    def growth_range(self, first: float, last: float, at_last: Array) -> tuple[Array, Array]:
        """The smallest and the largest G_j(t) over the integers first ≤ t ≤ last (infinity included), given G(last)."""
        at_first, at_second = self.growth(first), at_last
        if self.any_alternating and first + 1 != last:
            at_second = np.where(self.alternating, self.growth(min(first + 1, last)), at_last)
        return np.minimum(at_first, at_second), np.maximum(at_first, at_second)


class Outlook(NamedTuple):
    """How far the pattern certainly keeps, in steps from the leap's origin, and the entries that come to rest.

    `at_rest` lists flat indices of active entries that tend to zero; it is meaningful where `quiet_until` is infinite.
    """

    quiet_until: float
    at_rest: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Leap:
    """The linear dynamics of the pattern that an iterate has now; t counts from here.

    Attributes
    ----------
    active : ndarray of bool, shape (n_neurons, n_samples)
        1[β > 0].
    slopes : ndarray, shape (n_neurons, n_samples)
        D.
    kinked : bool
        Whether a change of sign is a change at all; for the identity it is none.
    modes : PatternModes
        U, λ, Q and K D_k Q.
    coefficients : ndarray, shape (r,)
        c = Qᵀr_U.
    lost : ndarray, shape (len(U),)
        r⊥, the part of the residual that no mode carries.
    response : ndarray, shape (n_neurons, n_samples, r)
        M.
    response_size : ndarray, shape (n_neurons, n_samples, r)
        |M|.
    roots : ndarray, shape (n_samples,)
        √K_ii.
    rest : ndarray, shape (n_samples,)
        Half width of the dead zone around zero.
    first : ndarray of int or None
        For each sample the first one that it coincides with.
    widest : float
        No entry farther from zero than this is at rest, however large the margins are.
    """

    primal: Array
    dual: Array
    signs: Array
    step_size: float
    active: NDArray[np.bool_]
    slopes: Slopes
    kinked: bool
    modes: PatternModes
    coefficients: Array
    lost: Array
    response: Array
    response_size: Array
    roots: Array
    rest: Array
    widest: float
    first: NDArray[np.intp] | None

    @classmethod
    def of(cls, iterate: Iterate) -> Leap:
        """Decompose H for the present pattern: one eigendecomposition, O(|U|³)."""
        active, slopes = iterate.pattern, iterate.slopes
        modes = iterate.operator.pattern_modes(slopes)
        residual = iterate.residual[modes.union]
        coefficients = modes.vectors.T @ residual
        response = iterate.signs[:, None, None] * modes.images * coefficients
        return cls(
            primal=iterate.primal.copy(),
            dual=iterate.dual.copy(),
            signs=iterate.signs,
            step_size=iterate.step_size,
            active=active,
            slopes=slopes,
            kinked=iterate.kinked,
            modes=modes,
            coefficients=coefficients,
            lost=residual - modes.vectors @ coefficients,
            response=response,
            response_size=np.abs(response),
            roots=np.sqrt(iterate.operator.diagonal),
            rest=iterate.zero,
            first=iterate.first,
            widest=REST_AT_MOST * float(np.abs(iterate.labels).max() or np.abs(iterate.primal).max()),
        )

    @cached_property
    def rates(self) -> Rates:
        """ρ = 1 − ηλ."""
        return Rates(self.modes.values, self.step_size)

    @property
    def stable(self) -> bool:
        """True where η λ_max(H) < 2 for certain."""
        return self.step_size * self.modes.ceiling < 2.0

    def primal_at(self, time: float) -> Array:
        """β(t), shape (n_neurons, n_samples)."""
        return self.primal - self.response @ self.rates.growth(time)

    def dual_at(self, time: float) -> Array:
        """α(t), shape (n_neurons, n_samples)."""
        dual = self.dual.copy()
        move = self.modes.vectors @ (self.rates.growth(time) * self.coefficients)
        dual[:, self.modes.union] -= self.signs[:, None] * self.slopes[:, self.modes.union] * move
        return dual

    def margin(self, time: float) -> Array:
        """Bound for the rounding error of `primal_at`, shape (n_neurons, n_samples)."""
        rows = np.arange(self.active.size)
        return self._margin(time, self.rates.growth(time), rows).reshape(self.active.shape)

    def _margin(self, time: float, growth: Array, rows: NDArray[np.intp]) -> Array:
        """The margin of the entries `rows`, given G(time)."""
        length = self.rates.path_length(time, growth)
        own, other = self.modes.rounding(np.abs(self.coefficients), float(np.linalg.norm(self.lost)), length)
        spectral = other * self.roots[rows % self.active.shape[1]]
        if len(self.signs) == 1:
            spectral = np.where(self.active.ravel()[rows], own, spectral)
        product = len(growth) * EPS * (self._rows(self.response_size, rows) @ growth)
        return np.asarray(EPS * np.abs(self.primal.ravel()[rows]) + product + spectral)

    def _rows(self, table: Array, rows: NDArray[np.intp]) -> Array:
        flat = table.reshape(-1, len(self.modes.values))
        return flat if len(rows) == len(flat) else flat[rows]

    def _residual_bound(self, first: float) -> Array:
        """Bound for |r_i(t)|, summed over twins, at all t ≥ `first`, shape (n_samples,); 0 where nothing is moved."""
        bound = np.zeros(self.active.shape[1])
        union, vectors, lost = self.modes.union, self.modes.vectors, self.lost
        if self.first is not None:
            # Twins move the weights by the sum of their residuals, which may be 0 though none of them is.
            place = np.searchsorted(union, self.first[union])
            together, alone = np.zeros_like(vectors), np.zeros_like(lost)
            np.add.at(together, place, vectors)
            np.add.at(alone, place, lost)
            vectors, lost = together[place], alone[place]
        left = np.abs(self.coefficients) * np.abs(self.rates.decay(first))
        bound[self.modes.union] = np.abs(vectors) @ left + np.abs(lost)
        return bound

    def undecided(self, first: float, last: float, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Split off the entries whose sign is certain over the steps first + 1 … last.

        Parameters
        ----------
        rows : ndarray of int
            Flat indices into (n_neurons, n_samples) of the entries to examine.

        Returns
        -------
        undecided : ndarray of int
            Those among `rows` that may change.
        at_rest : ndarray of int
            Entries with a slope that are at rest over the whole window.
        """
        at_last = self.rates.growth(last)
        low, high = self.rates.growth_range(first + 1, last, at_last)
        now = self.primal.ravel()[rows]
        middle = now - self._rows(self.response, rows) @ (0.5 * (low + high))
        half = self._rows(self.response_size, rows) @ (0.5 * (high - low))
        rounding = self._margin(last, at_last, rows)
        active, moving = self.active.ravel()[rows], self.slopes.ravel()[rows] != 0
        if not self.kinked:
            return rows[:0], rows[:0]
        kept = np.where(active, middle - half - rounding > 0, middle + half + rounding <= 0)
        samples = rows % self.active.shape[1]
        width = np.minimum(np.maximum(self.rest[samples], REST_MARGINS * rounding), self.widest)
        resting = moving & ~kept & (np.abs(middle) + half <= width)
        if resting.any():
            resting &= self._residual_bound(first)[samples] <= REST_MARGINS * width
        return rows[~(kept | resting)], rows[resting]

    def search(self, last: float) -> Outlook:
        """Find how far the pattern certainly keeps, up to `last` steps from here (infinity included)."""
        windows: list[tuple[float, float, NDArray[np.intp]]] = [(0, last, np.arange(self.active.size))]
        at_rest: list[NDArray[np.intp]] = []
        for _ in range(SEARCH_WINDOWS):
            if not windows:
                return Outlook(last, np.sort(np.concatenate(at_rest)))
            first, end, rows = windows.pop()
            rows, resting = self.undecided(first, end, rows)
            if end == last:
                at_rest.append(resting)
            if not len(rows):
                continue
            if end - first <= 1:
                return Outlook(first, resting)
            if first >= FARTHEST:
                return Outlook(first, resting)
            middle = 2 * first + 1024 if end == INFINITY else first + (end - first) // 2
            windows.append((middle, end, rows))
            windows.append((first, middle, rows))
        return Outlook(windows[-1][0], np.empty(0, dtype=np.intp))
