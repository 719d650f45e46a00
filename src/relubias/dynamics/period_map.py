"""The map of one period: where training goes that repeats a sequence of patterns. (Ours.)

With the patterns D(0) … D(p − 1) of p steps given, gradient descent is affine. Let V_k be an orthonormal basis of the
span of the samples that have a slope in neuron k at least once (for a ReLU, that are active), C_k = X V_k and
z_k = V_kᵀ w_k. Nothing moves outside the V_k, and with D_k = diag σ′(β_k)

    β_k(t) = β_k(0) + C_k (z_k(t) − z_k(0)),
    z ← z − η B_tᵀ (B_t z − y),      B_t = [s_1 D_1(t) C_1, s_2 D_2(t) C_2, …].

Over the period, z ↦ M z + b with M = Π_t (I − η B_tᵀ B_t). Suppose κ < 1 bounds ‖M‖; then the period map has one fixed
point z*, and ‖z − z*‖ ≤ ‖T z − z‖/(1 − κ).

**Certificate.** Let the path from z stay farther from every kink, in units of √K_ii, than a ‖z − z*‖, with
a = max_t ‖Π_{s<t} (I − η B_sᵀ B_s)‖. Then the path from z* has the same patterns, the one from z comes back nearer to
z* by the factor κ, and so on for ever: training approaches the cycle through z*, and its patterns repeat from now on.

For a stable step every factor is a contraction. Then a = 1, and the norm of any run of consecutive factors is a κ: a
period of a million steps needs no product of a million matrices, and z* is found by going around.

**Rounding.** Each step of the walk is known to a few ε ‖z‖ √v. Such errors are not increased, and contracted by κ in
every run of factors, so that they add up to at most (number of factors)/(1 − κ) of them; κ itself is increased by the
rounding of its product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relubias.dynamics.stepping import Iterate
from relubias.linalg.blas import frobenius, product
from relubias.linalg.factor import EPS
from relubias.linalg.gram import Array

#: A product of factors is long enough when its norm has fallen so far.
CONTRACTED = 0.5
#: Rounding errors of one step of the walk, and of one factor of the product, in units of ε √v.
ERRORS = 4.0
#: Turns after which a walk that halves its distance each time has arrived.
MOST_TURNS = 80
#: Bytes that the coordinates of all samples may take.
LARGEST_IMAGES = 5e8


@dataclass(frozen=True, eq=False)
class Turn:
    """One walk around a period, from z back to where it leads.

    Attributes
    ----------
    end : ndarray, shape (v,)
        T z.
    clearance : float
        How far the path stays from every kink, in units of √K_ii, less what rounding may hide.
    states : ndarray, shape (kept, n_neurons, n_samples)
        The first β along the path.
    mean, low, high : ndarray, shape (n_neurons, n_samples)
        Time average and range of β.
    """

    end: Array
    clearance: float
    states: Array
    mean: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class PeriodMap:
    """Gradient descent over one period.

    Attributes
    ----------
    period : int
        Number of steps p.
    base : ndarray, shape (n_neurons, n_samples)
        β − C z, which does not move.
    images : ndarray, shape (n_neurons, n_samples, v)
        C_k in the columns of neuron k, zero elsewhere.
    origin : ndarray, shape (v,)
        z where training is.
    blur : ndarray, shape (n_neurons, n_samples)
        What of β is rounding: the dead zone, and for active samples what steps have left outside the range of K.
    roots : ndarray, shape (n_neurons, n_samples)
        √K_ii; 0 where β is 0 for ever, so that its sign does not matter.
    stable : bool
        Whether no step of any pattern can increase a distance.
    """

    period: int
    base: Array
    images: Array
    origin: Array
    labels: Array
    signs: Array
    below: float
    step_size: float
    blur: Array
    roots: Array
    stable: bool

    @classmethod
    def of(cls, iterate: Iterate, period: int, ever: NDArray[np.bool_]) -> PeriodMap:
        """The map of the next `period` steps; `ever` tells which samples have a slope in which neuron some time."""
        n_neurons, n = iterate.primal.shape
        modes = [iterate.operator.pattern_modes(mask[None]) if mask.any() else None for mask in ever]
        sizes = [0 if own is None else len(own.values) for own in modes]
        images, origin = np.zeros((n_neurons, n, sum(sizes))), np.zeros(sum(sizes))
        blur = np.tile(iterate.zero, (n_neurons, 1))
        base = iterate.primal.copy()
        for k, own in enumerate(modes):
            if own is None:
                continue
            columns = slice(sum(sizes[:k]), sum(sizes[: k + 1]))
            roots = np.sqrt(own.values)
            image = own.images[0] / roots
            origin[columns] = own.vectors.T @ iterate.primal[k, own.union] / roots
            base[k] -= image @ origin[columns]
            blur[k, own.union] += np.abs(base[k, own.union])
            base[k, own.union] = 0.0
            images[k, :, columns] = image
        return cls(
            period=period,
            base=base,
            images=images,
            origin=origin,
            labels=iterate.labels,
            signs=iterate.signs,
            below=iterate.below,
            step_size=iterate.step_size,
            blur=blur,
            roots=np.where(images.any(axis=2) | (base != 0.0), np.sqrt(iterate.operator.diagonal), 0.0),
            stable=iterate.step_size * n_neurons * iterate.operator.largest <= 2.0,
        )

    def primal_at(self, point: Array) -> Array:
        """β for the coordinates z, shape (n_neurons, n_samples)."""
        return np.asarray(self.base + self.images @ point)

    def around(self, point: Array, kept: int) -> Turn:
        """Walk around once from z, keeping the first `kept` states."""
        from relubias.dynamics.turning import walk  # here because it brings numba with it

        end = point.copy()
        states = np.empty((min(kept, self.period), *self.base.shape))
        total = np.zeros_like(self.base)
        low, high = np.full_like(total, np.inf), np.full_like(total, -np.inf)
        clearance = walk(
            self.images,
            self.signs,
            self.labels,
            self.below,
            self.step_size,
            self.base,
            end,
            self.period,
            self.roots,
            self.blur,
            states,
            total,
            low,
            high,
        )
        return Turn(end, float(clearance), states, total / self.period, low, high)

    def product(self, most: int) -> tuple[Array, int, float]:
        """Multiply factors along the path from where training is, until they contract or `most` are done.

        Returns
        -------
        matrix : ndarray, shape (v, v)
        factors : int
            How many; a product of all `period` is M.
        reach : float
            The largest Frobenius norm on the way, at least 1.
        """
        point, matrix, reach = self.origin.copy(), np.eye(len(self.origin)), 1.0
        for step in range(1, min(most, self.period) + 1):
            slopes = np.where(self.primal_at(point) > 0, 1.0, self.below)
            rows = np.flatnonzero(slopes.any(axis=0))
            mixed = np.einsum("k,ki,kic->ic", self.signs, slopes[:, rows], self.images[:, rows])
            point = point - self.step_size * mixed.T @ (mixed @ point - self.labels[rows])
            matrix -= self.step_size * product(mixed.T, product(mixed, matrix))
            norm = frobenius(matrix)
            reach = max(reach, norm)
            if self.stable and norm <= CONTRACTED and step < self.period:
                return matrix, step, reach
        return matrix, min(most, self.period), reach


@dataclass(frozen=True, eq=False)
class Approach:
    """The proof that training approaches a cycle, and where that cycle is.

    Attributes
    ----------
    map : PeriodMap
    cycle : Turn
        One walk along the cycle, from the step that training is at.
    points : tuple of ndarray, each of shape (v,)
        z after 0, 1, 2, … turns, until it is z* but for rounding.
    linear : ndarray, shape (v, v), or None
        M, where it was multiplied out; `points` then holds z and z*.
    distance : float
        Bound of ‖W − W*‖_F, how far training is from the cycle.
    """

    map: PeriodMap
    cycle: Turn
    points: tuple[Array, ...]
    linear: Array | None
    distance: float

    def shorter_periods(self, near: Array) -> list[int]:
        """Smaller periods that the cycle may have, ascending: it is then back within `near`, shape (n_samples,)."""
        states = self.cycle.states
        periods = range(1, min(len(states), self.map.period // 2 + 1))
        return [p for p in periods if self.map.period % p == 0 and np.all(np.abs(states[p] - states[0]) <= near)]

    def primal_after(self, turns: int) -> Array:
        """β after so many whole turns from where training is."""
        if self.linear is None:
            return self.map.primal_at(self.points[min(turns, len(self.points) - 1)])
        power = np.linalg.matrix_power(self.linear, turns)
        return self.map.primal_at(self.points[-1] + power @ (self.points[0] - self.points[-1]))


def approach(iterate: Iterate, period: int, *, allowed: float, kept: int) -> Approach | None:
    """Prove that the patterns of the next `period` steps repeat for ever, or return None.

    Parameters
    ----------
    allowed : float
        Flops that the proof may cost; they are added to those of the iterate.
    kept : int
        States of the cycle to keep.
    """
    n_neurons, n = iterate.primal.shape
    size = float(n_neurons * iterate.operator.rank)
    once = period * (iterate.step_flops + 4.0 * n_neurons * n * size)
    factor = 4.0 * n * size**2 + 1.0
    most = int(min((allowed - 3.0 * once) / factor, period))
    if most < 1 or 8.0 * n_neurons * n * size > LARGEST_IMAGES:
        return None
    iterate.flops += 3.0 * once
    ever = _ever_active(iterate, period)
    if ever is None:
        return None
    turn = PeriodMap.of(iterate, period, ever)
    matrix, factors, reach = turn.product(most)
    iterate.flops += factors * factor
    whole = factors == period
    unit = ERRORS * EPS * np.sqrt(len(turn.origin))
    contraction = _norm(matrix) + unit * factors * reach**2
    if not contraction < 1.0 or not (whole or turn.stable):
        return None
    first = turn.around(turn.origin, kept)
    noise = unit * factors / (1.0 - contraction) * float(np.linalg.norm(turn.origin))
    points = _solved(turn, matrix, first) if whole else _followed(turn, first, noise, (allowed - 3.0 * once) / once)
    if points is None:
        return None
    cycle = turn.around(points[-1], kept)
    missed = float(np.linalg.norm(cycle.end - points[-1]))
    distance = float(np.linalg.norm(points[-1] - turn.origin)) + (missed + noise) / (1.0 - contraction)
    if not (1.0 if turn.stable else reach) * distance < min(cycle.clearance, first.clearance):
        return None
    return Approach(turn, cycle, tuple(points), matrix if whole else None, distance)


def _norm(matrix: Array) -> float:
    """‖M‖; infinite where it cannot be computed."""
    try:
        return float(np.linalg.norm(matrix, 2))
    except np.linalg.LinAlgError:
        return float("inf")


def _solved(turn: PeriodMap, matrix: Array, first: Turn) -> list[Array] | None:
    """z and z*, from M."""
    try:
        step = np.linalg.solve(np.eye(len(matrix)) - matrix, first.end - turn.origin)
    except np.linalg.LinAlgError:
        return None
    return [turn.origin, np.asarray(turn.origin + step, dtype=np.float64)]


def _followed(turn: PeriodMap, first: Turn, noise: float, turns: float) -> list[Array] | None:
    """z after each turn, until it moves by no more than rounding; None if that takes more than `turns`."""
    points = [turn.origin, first.end]
    while float(np.linalg.norm(points[-1] - points[-2])) > noise:
        if len(points) > min(turns, MOST_TURNS):
            return None
        points.append(turn.around(points[-1], 1).end)
    return points


def _ever_active(iterate: Iterate, period: int) -> NDArray[np.bool_] | None:
    """Which samples have a slope in which neuron in the next `period` steps; None where those cannot be taken."""
    from relubias.dynamics import kernel  # here because it brings numba with it

    walker = iterate.copy()
    ever = (walker.slopes != 0) | (walker.logged > 0)
    last = iterate.steps + period
    while walker.steps < last:
        if walker.advance(last - walker.steps, (np.inf, np.inf)) in (kernel.FROZEN, kernel.DIVERGED):
            return None
    return np.asarray(ever | (walker.last_change > iterate.steps))
