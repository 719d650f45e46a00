"""What happens at the kink: on, off, or sliding along it.

A pre-activation β_{k,i} = 0 allows every speed of its dual coefficient between the two sides,

    v_on = −s_k r_i  (slope 1),        v_off = −a s_k r_i  (slope a < 1).

Where s_k r_i ≥ 0 both sides push towards the kink or not at all. The speeds v of all such zeros Z of one neuron
minimise ½ vᵀK_ZZ v + (K_Z: α̇_rest)ᵀ v over the box v_on ≤ v ≤ v_off, whose gradient is β̇_Z: so

    v_i = v_on  and β̇_i > 0:  it goes on;      v_i = v_off  and β̇_i < 0:  it goes off;      else β̇_i = 0:  it slides.

The minimum is unique in β̇, since K is positive semidefinite. Where s_k r_i < 0 the zero is *repelling*: it goes off
unless β̇_i > 0 even with v_off, as σ′(0) = a asks for; if on would have been consistent as well, the flow is not unique
there, and is marked so.

**Second order.** A slider whose speed has just reached an end of its box has β̇ = 0 at that end. What comes next is
decided by the same program one derivative up: v̇ bounded on one side only at the end that is touched, free inside,
α̈ = −s_k φ′ ṙ for all others, and the gradient is β̈. What is zero to this order too stays at rest on the kink, on the
side of the end that it touches. (Ours.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.factor import EPS, GramOperator
from relubias.linalg.gram import Array
from relubias.linalg.held import Held

Rows = NDArray[np.intp]
#: Exchanges without progress before single exchanges of the last index, which always end, take over.
PATIENCE = 5
#: Rounding errors within which a gradient is zero.
GRADIENT_MARGIN = 16.0
#: Relative distance from an end of the box that rounding explains.
SPEED_MARGIN = 64.0 * EPS


class BoxMinimum(NamedTuple):
    """The speeds at the zeros of one neuron.

    Attributes
    ----------
    place : ndarray of int, shape (z,)
        +1 at v_on, −1 at v_off, 0 in between (or free).
    speeds, gradient : ndarray, shape (z,)
        v and β̇.
    resolved : ndarray of bool, shape (z,)
        Where the gradient is not zero beyond rounding.
    unique : ndarray of bool, shape (z,)
        False for a repelling zero that could have gone either way.
    """

    place: NDArray[np.int8]
    speeds: Array
    gradient: Array
    resolved: NDArray[np.bool_]
    unique: NDArray[np.bool_]


@dataclass
class BoxProgram:
    """min ½ vᵀK_ZZ v + (K_Z: a)ᵀ v over v_on ≤ v ≤ v_off, by exchanging blocks of indices.

    Attributes
    ----------
    index : ndarray of int, shape (z,)
        Z.
    rates : ndarray, shape (n,)
        a, zero on Z.
    on, off : ndarray, shape (z,)
        The ends of the box; infinite where there is none. on > off marks a repelling zero.
    fixed : ndarray of bool, shape (z,)
        Entries that stay where `place` puts them.
    blur : ndarray, shape (z,)
        Error of the gradient that comes with that of the rates.
    """

    operator: GramOperator
    index: Rows
    rates: Array
    on: Array
    off: Array
    fixed: NDArray[np.bool_]
    blur: Array

    def solve(self, place: NDArray[np.int8]) -> BoxMinimum:
        """Start from a guess of the places; at most a few exchanges are needed where it is nearly right."""
        place = place.copy()
        repelling = self.on > self.off
        place[repelling & ~self.fixed] = -1
        best, patience = len(place) + 1, PATIENCE
        speeds, gradient, margin = self._speeds(place)
        for _ in range(5 * len(place) + 20):
            target = self._wrong(place, speeds, gradient, margin, repelling)
            wrong = np.flatnonzero(target != place)
            if not len(wrong):
                break
            if len(wrong) < best:
                best, patience = len(wrong), PATIENCE
            elif patience:
                patience -= 1
            else:
                wrong = wrong[-1:]
            place[wrong] = target[wrong]
            speeds, gradient, margin = self._speeds(place)
        resolved = (place != 0) & (np.abs(gradient) > margin)
        return BoxMinimum(place, speeds, gradient, resolved, self._unique(place, gradient, margin, repelling))

    def _speeds(self, place: NDArray[np.int8]) -> tuple[Array, Array, Array]:
        """v, its gradient and the rounding margin of that; dependent free entries are put back to an end."""
        free = np.flatnonzero(place == 0)
        held = Held.of(self.operator, self.index[free])
        if len(held.index) < len(free):
            dependent = free[~np.isin(self.index[free], held.index)]
            place[dependent] = np.where(np.isfinite(self.off[dependent]), -1, 1)
            bounded = np.isfinite(self.off[dependent]) | np.isfinite(self.on[dependent])
            place[dependent[~bounded]] = 0
        moved = self.rates.copy()
        speeds = np.where(place > 0, self.on, np.where(place < 0, self.off, 0.0))
        moved[self.index] = speeds
        moved[held.index] += held.speeds(moved)
        speeds = moved[self.index]
        gradient = self.operator.matvec(moved)[self.index]
        margin = GRADIENT_MARGIN * self.operator.image_error(moved)[self.index] + self.blur
        gradient[place == 0] = 0.0
        return speeds, gradient, margin

    def _wrong(
        self,
        place: NDArray[np.int8],
        speeds: Array,
        gradient: Array,
        margin: Array,
        repelling: NDArray[np.bool_],
    ) -> NDArray[np.int8]:
        """Where each entry should go."""
        width = SPEED_MARGIN * np.abs(speeds)
        target = place.copy()
        free = place == 0
        target[free & (speeds < self.on - width)] = 1
        target[free & (speeds > self.off + width)] = -1
        flat = self.on == self.off
        target[(place > 0) & (gradient < -margin)] = 0
        target[(place < 0) & (gradient > margin)] = 0
        target[flat & (place > 0) & (gradient < -margin)] = -1
        target[flat & (place < 0) & (gradient > margin)] = 1
        # A repelling zero goes off, unless that moves it up; it does not come back.
        target[repelling] = np.where((place[repelling] > 0) | (gradient[repelling] > margin[repelling]), 1, -1)
        target[self.fixed] = place[self.fixed]
        return target

    def _unique(
        self, place: NDArray[np.int8], gradient: Array, margin: Array, repelling: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """A repelling zero that goes off could as well go on if β̇ > 0 there."""
        unique = np.ones(len(place), dtype=bool)
        for i in np.flatnonzero(repelling & (place < 0) & ~self.fixed):
            other = place.copy()
            other[i] = 1
            if self._speeds(other)[1][i] > margin[i]:
                unique[i] = False
        return unique


@dataclass(frozen=True, eq=False)
class Kink:
    """How the zeros of one neuron go on.

    Attributes
    ----------
    index : ndarray of int, shape (z,)
        The samples at zero.
    mode : ndarray of int8, shape (z,)
        +1 on, −1 off, 0 sliding.
    contact : ndarray of int8, shape (z,)
        1 or 2: the order at which β leaves zero; 0 where it stays there, sliding or at rest.
    unique : ndarray of bool, shape (z,)
        False where a repelling zero could have gone either way.
    """

    index: Rows
    mode: NDArray[np.int8]
    contact: NDArray[np.int8]
    unique: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Zeros:
    """The zeros of one neuron at one moment, and where they come from.

    Attributes
    ----------
    index : ndarray of int, shape (z,)
    place : ndarray of int8, shape (z,)
        +1 where they come from above, −1 from below, 0 where they have been sliding.
    ended : ndarray of int8, shape (z,)
        For sliders whose speed has reached an end: +1 for v_on, −1 for v_off; else 0.
    """

    index: Rows
    place: NDArray[np.int8]
    ended: NDArray[np.int8]


def _blur(operator: GramOperator, index: Rows, error: Array) -> Array:
    """How far an error of the rates, shape (n,), moves K_i: a."""
    roots = operator.roots
    return np.asarray(roots[index] * float(roots @ error))


def first_order(
    operator: GramOperator,
    zeros: Zeros,
    sign: float,
    residual: tuple[Array, Array],
    ends: tuple[Array, Array],
    slopes: Array,
) -> BoxMinimum:
    """Speeds at the zeros of one neuron.

    Parameters
    ----------
    residual : pair of ndarray, shape (n,)
        r and a bound of its rounding error.
    ends : pair of ndarray, shape (n,)
        Those of the box are −s_k times these: r_i and a r_i for a sample without parallels.
    slopes : ndarray, shape (n,)
        φ′ of the samples of this neuron that are not at zero; 0 on the zeros.
    """
    at = zeros.index
    on, off = (-sign * end[at] for end in ends)
    fixed = zeros.ended != 0
    place = np.where(fixed, zeros.ended, zeros.place).astype(np.int8)
    blur = _blur(operator, at, slopes * residual[1])
    found = BoxProgram(operator, at, -slopes * sign * residual[0], on, off, fixed, blur).solve(place)
    return found._replace(resolved=found.resolved & ~fixed)


def second_order(
    operator: GramOperator,
    zeros: Zeros,
    first: BoxMinimum,
    sign: float,
    residual: tuple[Array, Array],
    ends: tuple[Array, Array],
    change: tuple[Array, Array],
    ends_change: tuple[Array, Array],
    slopes: Array,
) -> Kink:
    """Decide by β̈ what β̇ left open.

    Parameters
    ----------
    residual, change : pair of ndarray, shape (n,)
        r and ṙ, each with a bound of its rounding error.
    ends_change : pair of ndarray, shape (n,)
        The derivatives of `ends`.
    slopes : ndarray, shape (n,)
        φ′ of all samples that `first` has resolved or that are not at zero; 0 elsewhere.
    """
    mode, contact = first.place.copy(), np.where(first.resolved, 1, 0).astype(np.int8)
    unique = first.unique.copy()
    left = np.flatnonzero(~first.resolved)
    at, place, ended = zeros.index[left], first.place[left], zeros.ended[left]
    on, off = (-sign * end[at] for end in ends)
    speeds = first.speeds[left]
    moving = float(np.max(np.abs(np.concatenate([slopes * residual[0], speeds]))))
    # Rounding of the speeds; that of the ends is relative to themselves.
    width = SPEED_MARGIN * moving + float(np.max(np.abs(slopes) * residual[1], initial=0.0))
    repelling = on > off + SPEED_MARGIN * (np.abs(on) + np.abs(off))
    at_on = ~repelling & ((place > 0) | (speeds <= on + width + SPEED_MARGIN * np.abs(on)))
    at_off = ~repelling & ((place < 0) | (speeds >= off - width - SPEED_MARGIN * np.abs(off)))
    touching = np.flatnonzero(at_on | at_off | repelling)
    if not len(touching):
        return Kink(zeros.index, mode, contact, unique)
    if len(touching) == 1 and ended[touching[0]] and not np.any(at_on & at_off):
        # A slider alone at its end goes where its speed went: β̈ has the sign of what the box now holds back.
        contact[left[touching]] = 2
        return Kink(zeros.index, mode, contact, unique)
    on_change, off_change = (-sign * end[at] for end in ends_change)
    on, off = np.where(at_on, on_change, -np.inf), np.where(at_off, off_change, np.inf)
    # Nothing lies between the sides of a zero that repels already: it is off, and on only if β̈ lifts it.
    on[repelling] = off[repelling] = off_change[repelling]
    blur = _blur(operator, at, slopes * change[1])
    program = BoxProgram(operator, at, -slopes * sign * change[0], on, off, np.zeros(len(at), dtype=bool), blur)
    guess = np.where(at_on & ~at_off, 1, np.where(at_off | repelling, -1, 0)).astype(np.int8)
    second = program.solve(guess)
    mode[left] = second.place
    contact[left] = np.where(second.resolved, np.where(repelling & (second.place > 0), 1, 2), 0)
    unique[left] &= second.unique
    return Kink(zeros.index, mode, contact, unique)
