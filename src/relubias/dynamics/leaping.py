"""Exact leaps: while an activation pattern holds, gradient descent is linear and needs no steps.

With U the samples that are active in some neuron, H = Σ_k D_k K D_k on U, H = QΛQᵀ, ρ = 1 − ηλ and c = Qᵀr_U,

    α_k(t) = α_k − s_k D_k Q (G(t) ∘ c),      β_k(t) = β_k − M_k G(t),      M_k = s_k K D_k Q diag(c),
    G_j(t) = (1 − ρ_j^t)/λ_j,                 G_j(∞) = 1/λ_j.

Modes with λ_j = 0 are left out: they do not move the weights, and the residual they carry stays for ever.

**When can the pattern change?** Over a window [a, b] each G_j lies between its extreme values, for ρ_j ≥ 0 those
at the ends; for ρ_j < 0 those of the first even and the first odd exponent. Hence, entry by entry,

    |β(t) − (β − M Ḡ)| ≤ ½ |M| (G_max − G_min) + margin(b)      for all t in [a, b],   Ḡ = ½ (G_max + G_min),

and a sign that this keeps cannot change in the window. Windows that decide nothing are halved (the earlier half
first, only the undecided entries), down to a single step, where the bound is exact but for rounding; the step that
stays undecided is taken by plain stepping, so that events are always those of the recursion itself. (Ours.)

**Rounding margin.** What the operator says of its own errors: with entries of K trusted to γ = n ε and eigenvalues
to δ = √n ε λ_max, and since |K_iA Q_j| ≤ √(K_ii λ_j), the error of β_i(t) is at most about

    ε |β_i| + Σ_j |c_j| G_j(t) (γ ‖K_iA‖ + δ √(K_ii/λ_j)),

and for a single neuron and i active, where K_AA Q = QΛ exactly, Σ_j |c_j| G_j(t) (γ λ_j + δ). A factor of X instead of
K has smaller ones (:mod:`relubias.linalg.factored`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relubias.dynamics.stepping import Iterate
from relubias.linalg.factor import EPS, PatternModes
from relubias.linalg.gram import Array

INFINITY = float("inf")
#: Windows examined in one search; beyond it the search returns what it has.
SEARCH_WINDOWS = 4_000
#: An active entry is at rest within this many rounding margins of zero.
REST_MARGINS = 4.0


def decay(eigenvalues: Array, step_size: float, time: float) -> Array:
    """Return ρ_j^t = (1 − ηλ_j)^t for λ_j > 0, 0 < ηλ_j < 2 and an integer t ≥ 0 or infinity."""
    if time == INFINITY:
        return np.zeros_like(eigenvalues)
    rate = step_size * eigenvalues
    falling, alternating = rate < 1.0, rate > 1.0
    power = np.full_like(eigenvalues, 0.0 if time else 1.0)
    power[falling] = np.exp(time * np.log1p(-rate[falling]))
    power[alternating] = (-1.0 if time % 2 else 1.0) * np.exp(time * np.log(rate[alternating] - 1.0))
    return power


def growth(eigenvalues: Array, step_size: float, time: float) -> Array:
    """Return G_j(t) = (1 − ρ_j^t)/λ_j, without cancellation where ρ_j^t is near 1."""
    if time == INFINITY:
        return 1.0 / eigenvalues
    rate = step_size * eigenvalues
    change = 1.0 - decay(eigenvalues, step_size, time)
    falling = rate < 1.0
    change[falling] = -np.expm1(time * np.log1p(-rate[falling]))
    return change / eigenvalues


def growth_range(eigenvalues: Array, step_size: float, first: float, last: float) -> tuple[Array, Array]:
    """Return the smallest and the largest G_j(t) over the integers first ≤ t ≤ last (infinity included)."""
    at_first = growth(eigenvalues, step_size, first)
    second = np.where(step_size * eigenvalues > 1.0, first + 1, last)
    at_second = growth(eigenvalues, step_size, last)
    alternating = second != last
    if np.any(alternating):
        at_second[alternating] = growth(eigenvalues[alternating], step_size, min(first + 1, last))
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
        D.
    modes : PatternModes
        U, λ, Q and K D_k Q.
    coefficients : ndarray, shape (r,)
        c = Qᵀr_U.
    response : ndarray, shape (n_neurons, n_samples, r)
        M.
    response_size : ndarray, shape (n_neurons, n_samples, r)
        |M|.
    margin_per_growth : ndarray, shape (n_neurons, n_samples, r)
        Rounding error of M G for each unit of G.
    rest : ndarray, shape (n_samples,)
        Half width of the dead zone around zero.
    """

    primal: Array
    dual: Array
    signs: Array
    step_size: float
    active: NDArray[np.bool_]
    modes: PatternModes
    coefficients: Array
    response: Array
    response_size: Array
    margin_per_growth: Array
    rest: Array

    @classmethod
    def of(cls, iterate: Iterate) -> Leap:
        """Decompose H for the present pattern: one eigendecomposition, O(|U|³)."""
        active = iterate.pattern
        modes = iterate.operator.pattern_modes(active)
        coefficients = modes.vectors.T @ iterate.residual[modes.union]
        response = iterate.signs[:, None, None] * modes.images * coefficients
        return cls(
            primal=iterate.primal.copy(),
            dual=iterate.dual.copy(),
            signs=iterate.signs,
            step_size=iterate.step_size,
            active=active,
            modes=modes,
            coefficients=coefficients,
            response=response,
            response_size=np.abs(response),
            margin_per_growth=modes.error * np.abs(coefficients),
            rest=iterate.zero,
        )

    @property
    def stable(self) -> bool:
        """True where η λ_max(H) < 2."""
        return self.step_size * self.modes.largest < 2.0

    def primal_at(self, time: float) -> Array:
        """β(t), shape (n_neurons, n_samples)."""
        return self.primal - self.response @ growth(self.modes.values, self.step_size, time)

    def dual_at(self, time: float) -> Array:
        """α(t), shape (n_neurons, n_samples)."""
        dual = self.dual.copy()
        move = self.modes.vectors @ (growth(self.modes.values, self.step_size, time) * self.coefficients)
        dual[:, self.modes.union] -= self.signs[:, None] * self.active[:, self.modes.union] * move
        return dual

    def margin(self, time: float) -> Array:
        """Bound for the rounding error of `primal_at`, shape (n_neurons, n_samples)."""
        spread = self.margin_per_growth @ growth(self.modes.values, self.step_size, time)
        return np.asarray(EPS * np.abs(self.primal) + spread)

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
            Active entries that stay within a few rounding margins of zero over the whole window: whether they
            are on or off makes no difference that rounding would not hide.
        """
        low, high = growth_range(self.modes.values, self.step_size, first + 1, last)
        r = len(self.modes.values)
        now = self.primal.ravel()[rows]
        middle = now - self.response.reshape(-1, r)[rows] @ (0.5 * (low + high))
        half = self.response_size.reshape(-1, r)[rows] @ (0.5 * (high - low))
        rounding = self.margin_per_growth.reshape(-1, r)[rows] @ high + EPS * np.abs(now)
        active = self.active.ravel()[rows]
        kept = np.where(active, middle - half - rounding > 0, middle + half + rounding <= 0)
        width = np.maximum(self.rest[rows % self.active.shape[1]], REST_MARGINS * rounding)
        resting = active & ~kept & (np.abs(middle) + half <= width)
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
            middle = 2 * first + 1024 if end == INFINITY else first + (end - first) // 2
            windows.append((middle, end, rows))
            windows.append((first, middle, rows))
        return Outlook(windows[-1][0], np.empty(0, dtype=np.intp))
