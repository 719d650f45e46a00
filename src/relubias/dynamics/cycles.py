"""Cycles: training that repeats itself for ever.

Gradient descent need not have a limit: a step at the edge of stability oscillates, and where the labels cannot
be interpolated, samples near the kink are switched on and off for ever. The recursion in floating point is
a deterministic map, so that a state β that returns bit by bit proves that everything since then repeats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relubias.linalg.gram import Array

if TYPE_CHECKING:
    from relubias.dynamics.stepping import Iterate

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
    """

    period: int
    states: Array
    mean: Array
    amplitude: float

    def __repr__(self) -> str:
        return f"<Cycle of period {self.period:,}, amplitude {self.amplitude:.3g}>"


def cycle_of(iterate: Iterate, period: int) -> Cycle:
    """Walk once around the cycle of `period` steps that the iterate is on; it comes back to where it was."""
    kept = max(1, min(period, KEPT_NUMBERS // iterate.primal.size))
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
    largest = max(float(np.abs(values).max()) for values in (low, high, iterate.labels))
    mean = total / period
    spread = float(np.maximum(high - mean, mean - low).max())
    return Cycle(period, states, mean, spread / largest if largest else 0.0)
