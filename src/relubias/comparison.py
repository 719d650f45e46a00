"""How far a state is from a reference, in weights and in predictions.

    gap = ‖w − w*‖ = √(Σ_k Δα_kᵀ K Δα_k + ‖w_k^⊥ − w*_k^⊥‖²),      relative gap = ‖w − w*‖/‖w*‖

The reference lies in the span of the samples; the part w^⊥ of the start outside it is never moved by training
and is part of the gap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from relubias.dynamics.run import Run
from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.problem import same_problem
from relubias.references.record import MinimumNorm
from relubias.state import State
from relubias.status import Optimality


@dataclass(frozen=True, eq=False)
class Gap:
    """The distance between a state and a reference.

    Attributes
    ----------
    absolute : float
        ‖W − W*‖_F.
    relative : float or None
        ‖W − W*‖_F/‖W*‖_F; None where ‖W*‖ = 0.
    per_neuron : ndarray, shape (n_neurons,)
        ‖w_k − w*_k‖.
    prediction : float
        max_i |f(x_i) − f*(x_i)| over the samples, in label units.
    message : str
        One sentence with both gaps, or why there is no relative one.
    """

    absolute: float
    relative: float | None
    per_neuron: Array
    prediction: float
    message: str

    def as_dict(self) -> dict[str, Any]:
        """All fields as JSON-able values; None where a number is not finite."""
        return {
            "absolute": _finite(self.absolute),
            "relative": _finite(self.relative),
            "per_neuron": [_finite(value) for value in self.per_neuron],
            "prediction": _finite(self.prediction),
            "message": self.message,
        }


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def gap(run: Run | State, star: MinimumNorm) -> Gap:
    """Measure how far a run (its state) or any state is from a reference.

    Parameters
    ----------
    run : Run or State
    star : MinimumNorm
        A reference of the same problem with as many neurons of the same signs.

    Raises
    ------
    ArgumentError
        If the problems or the neurons differ, or the reference is infeasible.
    """
    state = run.state if isinstance(run, Run) else run
    if not isinstance(state, State) or not isinstance(star, MinimumNorm):
        raise ArgumentError(
            f"gap compares a Run or a State with a MinimumNorm from relubias.minimum_norm, not {type(run).__name__} "
            f"with {type(star).__name__}."
        )
    if not same_problem(state.problem, star.problem):
        raise ArgumentError("the run and the reference belong to different problems; compute both on the same one.")
    if state.network.signs != star.network.signs:
        raise ArgumentError(
            f"the run has {state.network}, the reference has {star.network}; compute both for the same network."
        )
    if star.status is Optimality.INFEASIBLE:
        raise ArgumentError(f"there is no reference to compare with: {star.message}")
    difference = state.dual - star.state.dual
    per_neuron = np.hypot(star.problem.operator.lengths(difference), state.orthogonal_norms)
    absolute = float(np.linalg.norm(per_neuron))
    prediction = float(np.max(np.abs(state.predictions - star.predictions)))
    if star.norm > 0:
        relative = absolute / star.norm
        message = f"the weights are {absolute:.4g} away from the reference, {100 * relative:.3g} % of its norm."
    else:
        relative = None
        message = (
            f"the weights are {absolute:.4g} away from the reference, which is w = 0, so there is no relative gap."
        )
    return Gap(absolute, relative, per_neuron, prediction, message)
