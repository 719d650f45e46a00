"""How long training takes to come near its certified limit.

Once the pattern is certified, the residual decays mode by mode, and

    ‖W_t − W_∞‖² = Σ_j c_j² ρ_j^{2t} / λ_j

with the letters of :mod:`relubias.dynamics.leaping`. It never grows, so that the first step within a given distance is
found by bisection.
"""

from __future__ import annotations

import numpy as np

from relubias.dynamics.leaping import Leap
from relubias.dynamics.run import Resume, Run
from relubias.dynamics.stepping import Iterate
from relubias.dynamics.trajectory import LONGEST


def steps_to_limit(run: Run, fraction: float = 0.01) -> int | None:
    """About from which step on training is within `fraction` of its limit: ‖W − W_∞‖ ≤ fraction · ‖W_∞‖.

    Parameters
    ----------
    run : Run
        Of gradient descent.
    fraction : float

    Returns
    -------
    int or None
        At least the step at which the limit was certified, at most 10¹⁸; None where the run has no certified limit, or
        ‖W_∞‖ = 0. One eigendecomposition, O(n³).
    """
    if not run.at_limit or not isinstance(run.resume, Resume) or run.state.norm == 0:
        return None
    iterate = Iterate.begin(run.start, run.step_size)
    iterate.restore(run.resume, run.steps, 0, run.events[:0], 0, np.zeros_like(run.last_change, dtype=np.int64))
    if not iterate.slopes.any():
        return run.steps
    leap = Leap.of(iterate)
    wanted = fraction * run.state.norm
    size = np.abs(leap.coefficients) / np.sqrt(leap.modes.values)

    def far(time: int) -> bool:
        return float(np.linalg.norm(size * leap.rates.decay(time))) > wanted

    low, high = -1, LONGEST
    if far(high):
        return LONGEST
    while high - low > 1:
        middle = (low + high) // 2 if low > 0 or high <= 2 else high // 2
        low, high = (middle, high) if far(middle) else (low, middle)
    return run.steps + high
