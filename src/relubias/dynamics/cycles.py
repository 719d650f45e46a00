"""Cycles: training that repeats itself for ever.

Gradient descent need not have a limit: a step at the edge of stability oscillates, and where the labels cannot
be interpolated, samples near the kink are switched on and off for ever. The recursion in floating point is
a deterministic map, so that a state β that returns bit by bit proves that everything since then repeats. Where states
come back only nearly, because rounding goes on, :mod:`~relubias.dynamics.period_map` proves that training approaches
a cycle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from relubias.linalg.gram import Array

if TYPE_CHECKING:
    from relubias.dynamics.period_map import Approach

#: States that are kept of a cycle; of a longer one the first ones.
KEPT_NUMBERS = 10**7
#: A cycle whose amplitude is below this fraction of its states is rounding, not motion.
RESTING = 1e-12


@dataclass(frozen=True, eq=False)
class Cycle:
    """States that repeat for ever.

    Attributes
    ----------
    period : int
        Steps after which the state returns.
    states : ndarray, shape (kept, n_neurons, n_samples)
        β over one period, from its first step on; at most as many as make 10⁷ numbers.
    mean : ndarray, shape (n_neurons, n_samples)
        Time average of β over one period.
    amplitude : float
        Largest deviation from the mean, relative to the largest |β| or |y|.
    distance : float
        ‖W − W*‖_F between training and the cycle when it was found: 0 where a state has returned bit by bit; where
        training is proven to approach the cycle, it shrinks with every turn.
    outer : ndarray, shape (n_neurons,), or None
        Time average of the output weights, where they are trained.
    """

    period: int
    states: Array
    mean: Array
    amplitude: float
    distance: float = 0.0
    outer: Array | None = None

    def __repr__(self) -> str:
        return f"<Cycle of period {self.period:,}, amplitude {self.amplitude:.3g}>"


class Walker(Protocol):
    """An iterate that can be copied and moved."""

    primal: Array
    labels: Array

    def copy(self) -> Self:
        """A second one, which can go its own way."""

    def advance(self, max_steps: int, limits: tuple[float, float], /) -> Any:
        """Take up to `max_steps` steps; infinite limits mean exactly so many."""


def cycle_of(iterate: Walker, period: int) -> Cycle:
    """Walk once around the cycle of `period` steps that the iterate is on; it comes back to where it was."""
    kept = kept_states(iterate, period)
    states = np.empty((kept, *iterate.primal.shape))
    total = np.zeros_like(iterate.primal)
    low, high = np.full_like(total, np.inf), np.full_like(total, -np.inf)
    walker = iterate.copy()
    for step in range(period):
        if step < kept:
            states[step] = walker.primal
        total += walker.primal
        low, high = np.minimum(low, walker.primal), np.maximum(high, walker.primal)
        walker.advance(1, (np.inf, np.inf))
    return _cycle(states, period, total / period, low, high, iterate.labels)


def cycle_ahead(iterate: Walker, ahead: Approach) -> Cycle:
    """The cycle that the iterate is proven to approach."""
    turn = ahead.cycle
    return _cycle(turn.states, ahead.map.period, turn.mean, turn.low, turn.high, iterate.labels, ahead.distance)


def kept_states(iterate: Walker, period: int) -> int:
    """How many states of a cycle of this period are kept."""
    return max(1, min(period, KEPT_NUMBERS // iterate.primal.size))


def _cycle(
    states: Array, period: int, mean: Array, low: Array, high: Array, labels: Array, distance: float = 0.0
) -> Cycle:
    largest = max(float(np.abs(values).max()) for values in (low, high, labels))
    spread = float(np.maximum(high - mean, mean - low).max())
    return Cycle(period, states, mean, spread / largest if largest else 0.0, distance)
