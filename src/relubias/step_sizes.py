"""Step sizes in natural units.

While an activation pattern holds, training is linear with matrix H = Σ_k D_k K D_k, and stable for
η < 2/λ_max(H). A sample that is active in p neurons counts p times: λ_max(H) ≤ p λ_max(K) ≤ m λ_max(K).
"""

from __future__ import annotations

import math

import numpy as np

from relubias.arguments import is_number
from relubias.errors import ArgumentError
from relubias.network import Network
from relubias.nouns import require_nouns, require_problem
from relubias.problem import Problem


def largest_curvature(problem: Problem, network: Network) -> float:
    """Upper bound m λ_max(K) of λ_max(H) over all patterns, attained where all samples are active in all neurons."""
    require_nouns(problem, network)
    return network.n_neurons * problem.operator.largest


def stable(problem: Problem, network: Network, fraction: float = 0.5) -> float:
    """Return fraction · 2/λ_max(H) for the worst pattern of this network.

    ``fraction=0.5`` is the default step of training, 1/λ_max(H); below 1 every pattern is stable, and at 1 the
    stiffest one oscillates for ever.

    Raises
    ------
    ArgumentError
        If the fraction is not positive, or all samples are zero.
    """
    curvature = largest_curvature(problem, network)
    return _positive(fraction, "fraction") * 2.0 / _nonzero(curvature)


def relative(problem: Problem, fraction: float = 0.5) -> float:
    """Return fraction/‖λ‖₁: η in the units of the paper, c = η‖λ‖₁.

    ‖λ‖₁ is that of the distribution where the samples were drawn from a known one, else it is estimated by tr K / n;
    so it is too where the distribution has no variance.
    """
    require_problem(problem)
    known = problem.population
    trace = float(np.trace(problem.gram)) / problem.n_samples
    if known is not None and math.isfinite(known.trace):
        trace = known.trace
    return _positive(fraction, "fraction") / _nonzero(trace)


def checked(step_size: float) -> float:
    """Return η as a float.

    Raises
    ------
    ArgumentError
        If it is not a positive finite number.
    """
    return _positive(step_size, "step_size")


def _positive(value: float, what: str) -> float:
    number = float(value) if is_number(value) else math.nan
    if not (math.isfinite(number) and number > 0):
        raise ArgumentError(f"{what} must be a positive finite number; it is {value!r}.")
    return number


def _nonzero(scale: float) -> float:
    if scale == 0.0:
        raise ArgumentError(
            "all samples are zero, so there is no natural unit for the step size; nothing can be learned."
        )
    return scale
