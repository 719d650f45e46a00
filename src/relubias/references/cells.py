"""The smallest network whose neurons lie in given cells, by an interior-point method. (Ours.)

A *cell* is a sign s and a pattern D: the vectors u with x_iᵀu ≥ 0 where D_i = 1 and ≤ 0 elsewhere. Neurons in the same
cell add up to one, so that the network of least size G with neurons in the cells j = 1 … J solves a convex program,

    min G(Σ_{s_j>0} ‖u_j‖, Σ_{s_j<0} ‖u_j‖)    s.t.    Σ_j s_j D_j X u_j = y,     (2D_j − I) X u_j ≥ 0,

and its dual, with prices z and multipliers λ_j,

    max zᵀy    s.t.    ‖Xᵀκ_j‖ ≤ t_{s_j},    κ_j = s_j D_j z + (2D_j − I) λ_j,    λ_j ≥ 0,    G*(t₊, t₋) ≤ 1.

The dual has an interior, and Newton's method follows its central path: the maximisers, as τ → 0, of

    zᵀy + τ (Σ_j log(t_j² − ‖Xᵀκ_j‖²) + Σ_{j,i} log λ_{j,i} + log(1 − G*(t)²) + Σ_i log(C² − z_i²)).

(For the variation norm log(1 − t₊) + log(1 − t₋) takes the place of the third term.) On the path the vectors
u_j = 2τ Xᵀκ_j/(t_j² − ‖Xᵀκ_j‖²) lie in the interior of their cells and fit the labels, except for a misfit
2τ z_i/(C² − z_i²): the box |z_i| ≤ C keeps the dual bounded where the cells cannot fit the labels yet. Rows are taken
to have length 1 here, which changes the labels to y_i/‖x_i‖, and max |y_i| = 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.gram import Array
from relubias.references.gauge import Gauge

#: The path is followed down to this τ, by this factor at a time, with so many steps of Newton's method each.
END, SHRINK, STEPS = 1e-13, 0.1, 40
#: The vectors are taken from the path at this τ: t² − ‖Xᵀκ‖² is of this size, and has 16 digits less those of τ.
MIDDLE = 1e-11
#: Long steps could be this much longer without leaving the interior.
ROOM = 1.5
#: Newton's decrement that is near enough to the path.
NEAR = 1e-2


@dataclass(frozen=True, eq=False)
class Cells:
    """Signs and patterns.

    Attributes
    ----------
    signs : ndarray, shape (J,)
    patterns : ndarray of bool, shape (J, n)
    """

    signs: Array
    patterns: NDArray[np.bool_]

    def with_(self, signs: Array, patterns: NDArray[np.bool_]) -> Cells:
        """These cells and others."""
        return Cells(np.concatenate([self.signs, signs]), np.concatenate([self.patterns, patterns]))


@dataclass(frozen=True, eq=False)
class Centre:
    """What the central path says about the solution.

    Attributes
    ----------
    prices : ndarray, shape (n,)
        z, from the end of the path.
    levels : ndarray, shape (2,)
        t₊ and t₋, likewise.
    vectors : ndarray, shape (J, r)
        u_j, from the middle of the path.
    at_zero : ndarray of bool, shape (J, n)
        Where u_j seems to lie on a side of its cell, x_iᵀu_j = 0, likewise: |x_iᵀu_j|/‖u_j‖ < λ_{j,i}. Their product is
        τ/‖u_j‖, so that one of them is small.
    """

    prices: Array
    levels: Array
    vectors: Array
    at_zero: NDArray[np.bool_]

    @property
    def lengths(self) -> Array:
        """‖u_j‖, shape (J,)."""
        return np.asarray(np.linalg.norm(self.vectors, axis=1))


class Barrier:
    """The dual of the cells' program with its barrier, and Newton's step for it.

    Parameters
    ----------
    factor : ndarray, shape (n, r)
        L with the cosines of the rows, L Lᵀ.
    labels : ndarray, shape (n,)
    cells : Cells
    gauge : Gauge
    ceiling : float
        C.
    """

    def __init__(self, factor: Array, labels: Array, cells: Cells, gauge: Gauge, ceiling: float) -> None:
        self.factor, self.labels, self.gauge, self.ceiling = factor, labels, gauge, ceiling
        self.gram = factor @ factor.T
        self.share = cells.signs[:, None] * cells.patterns  # s_j D_j
        self.side = np.where(cells.patterns, 1.0, -1.0)  # 2 D_j − I
        #: Which of t₊, t₋ belongs to the cell.
        self.level = np.where(cells.signs > 0, 0, 1)

    def start(self) -> tuple[Array, Array]:
        """Prices and levels (z, t), shape (n + 2,), and multipliers λ, shape (J, n), in the interior."""
        n = len(self.labels)
        outer = np.zeros(n + 2)
        outer[n:] = 0.5 / self.gauge.dual(1.0, 1.0)
        return outer, np.full(self.side.shape, outer[n] / (4.0 * n))

    def loads(self, outer: Array, slopes: Array) -> tuple[Array, Array, Array]:
        """κ_j, Xᵀκ_j and t_j² − ‖Xᵀκ_j‖²."""
        n = len(self.labels)
        kappa = self.share * outer[:n] + self.side * slopes
        vectors = kappa @ self.factor
        return kappa, vectors, outer[n:][self.level] ** 2 - np.einsum("jr,jr->j", vectors, vectors)

    def inside(self, outer: Array, slopes: Array) -> bool:
        """Whether the barrier is finite there."""
        n = len(self.labels)
        return bool(
            np.all(slopes > 0)
            and np.all(outer[n:] > 0)
            and np.all(self.loads(outer, slopes)[2] > 0)
            and np.all(np.abs(outer[:n]) < self.ceiling)
            and self.gauge.dual(*outer[n:]) < 1
        )

    def centre(self, outer: Array, slopes: Array, tau: float) -> Centre:
        """What a point of the path says."""
        n = len(self.labels)
        _, vectors, gap = self.loads(outer, slopes)
        vectors = (2 * tau / gap)[:, None] * vectors
        lengths = np.linalg.norm(vectors, axis=1)
        return Centre(outer[:n], outer[n:], vectors, np.abs(vectors @ self.factor.T) < slopes * lengths[:, None])

    def slope_along(self, outer: Array, slopes: Array, tau: float, move: Array, inner: Array) -> float:
        """Derivative of what Newton's step makes small, along a step."""
        n = len(self.labels)
        _, vectors, gap = self.loads(outer, slopes)
        change = (self.share * move[:n] + self.side * inner) @ self.factor
        levels, by_level = outer[n:][self.level], move[n:][self.level]
        terms = 2 / gap * (np.einsum("jr,jr->j", vectors, change) - levels * by_level)
        return float(terms.sum() - (inner / slopes).sum() + self._outer(outer, tau)[0] @ move)

    def step(self, outer: Array, slopes: Array, tau: float) -> tuple[Array, Array, float]:
        """Newton's step in (z, t) and in λ, and its decrement: λ_j are eliminated cell by cell."""
        n = len(self.labels)
        _, vectors, gap = self.loads(outer, slopes)
        image = vectors @ self.factor.T
        levels = outer[n:][self.level]
        weight = 2.0 / gap
        curve = weight[:, None, None] * self.gram + weight[:, None, None] ** 2 * image[:, :, None] * image[:, None, :]
        # Derivatives of −log(t² − κᵀKκ) by κ, by t, by both, and by t twice.
        by_kappa, by_level = weight[:, None] * image, -weight * levels
        mixed = -(weight**2 * levels)[:, None] * image
        twice = weight**2 * levels**2 - weight
        # In units of λ itself, where the curvature of −log λ is 1.
        sides = self.side * slopes
        inner = sides[:, :, None] * curve * sides[:, None, :] + np.eye(n)
        inner_slope = sides * by_kappa - 1.0
        coupling = np.zeros((len(gap), n, n + 2))
        coupling[:, :, :n] = sides[:, :, None] * curve * self.share[:, None, :]
        coupling[np.arange(len(gap)), :, n + self.level] = sides * mixed
        slope, matrix = self._outer(outer, tau)
        slope[:n] += np.einsum("jn,jn->n", self.share, by_kappa)
        matrix[:n, :n] += np.einsum("ji,jik,jk->ik", self.share, curve, self.share)
        for k in (0, 1):
            own = self.level == k
            slope[n + k] += by_level[own].sum()
            matrix[n + k, n + k] += twice[own].sum()
            cross = np.einsum("jn,jn->n", self.share[own], mixed[own])
            matrix[:n, n + k] += cross
            matrix[n + k, :n] += cross
        both = np.concatenate([coupling, inner_slope[:, :, None]], axis=2)
        solved = np.linalg.solve(inner, both)
        matrix -= np.einsum("jna,jnb->ab", coupling, solved[:, :, :-1])
        slope -= np.einsum("jna,jn->a", coupling, solved[:, :, -1])
        move = -_solve(matrix, slope)
        inner_move = -slopes * (solved[:, :, -1] + np.einsum("jna,a->jn", solved[:, :, :-1], move))
        square = -float(slope @ move) + float(np.einsum("jn,jn->", inner_slope, solved[:, :, -1]))
        return move, inner_move, float(np.sqrt(max(square, 0.0)))

    def _outer(self, outer: Array, tau: float) -> tuple[Array, Array]:
        """Gradient and Hessian of the terms in z and t alone."""
        n = len(self.labels)
        prices, levels = outer[:n], outer[n:]
        slope, matrix = np.zeros(n + 2), np.zeros((n + 2, n + 2))
        room = self.ceiling**2 - prices**2
        slope[:n] = -self.labels / tau + 2 * prices / room
        matrix[np.arange(n), np.arange(n)] = 2 / room + 4 * prices**2 / room**2
        if self.gauge.shares is None:
            slope[n:] = 1 / (1 - levels)
            matrix[[n, n + 1], [n, n + 1]] = (1 - levels) ** -2.0
        else:
            shares = np.array(self.gauge.shares, dtype=np.float64)
            rest = 1 - float(shares @ levels**2)
            own = 2 * shares * levels / rest
            slope[n:] = own
            # A sign without neurons has a level that nothing depends on; it is held where it is.
            matrix[n:, n:] = np.diag(2 * shares / rest + (shares == 0)) + np.outer(own, own)
        return slope, matrix


def _solve(matrix: Array, right: Array) -> Array:
    """Solve a symmetric system after scaling its rows and columns to size 1; it may be singular to rounding."""
    largest = np.abs(matrix).max(axis=0)
    if not np.all(largest > 0) or not np.all(np.isfinite(largest)):
        raise np.linalg.LinAlgError("a row of zeros")
    units = 1.0 / np.sqrt(largest)
    return np.asarray(units * np.linalg.lstsq(matrix * units * units[:, None], units * right)[0])


def smallest_in(factor: Array, labels: Array, cells: Cells, gauge: Gauge, *, ceiling: float) -> Centre:
    """Follow the central path to its end; see :class:`Barrier` for the arguments."""
    barrier = Barrier(factor, labels, cells, gauge, ceiling)
    point, tau = barrier.start(), 1.0
    middle = Centre(point[0], point[0], np.zeros((len(cells.signs), factor.shape[1])), cells.patterns)
    while True:
        point = _centred(barrier, point, tau)
        if tau > MIDDLE / 2:
            middle = barrier.centre(*point, tau)
        if tau < 2 * END:
            n = len(labels)
            return Centre(point[0][:n], point[0][n:], middle.vectors, middle.at_zero)
        tau *= SHRINK


def _centred(barrier: Barrier, point: tuple[Array, Array], tau: float) -> tuple[Array, Array]:
    """Steps of Newton's method, each as long as the slope of the barrier along it allows, or is sure to allow."""
    for _ in range(STEPS):
        try:
            move, inner, decrement = barrier.step(*point, tau)
        except np.linalg.LinAlgError:  # rounding is all that is left
            return point
        sure = 1.0 if decrement < 0.25 else 1.0 / (1.0 + decrement)
        length = 1.0
        while True:
            trial = point[0] + length * move, point[1] + length * inner
            beyond = point[0] + ROOM * length * move, point[1] + ROOM * length * inner
            if barrier.inside(*trial) and (
                length <= sure or (barrier.inside(*beyond) and barrier.slope_along(*trial, tau, move, inner) <= 0)
            ):
                break
            length *= 0.5
            if length < 1e-10:
                return point
        point = trial
        if decrement < NEAR:
            break
    return point
