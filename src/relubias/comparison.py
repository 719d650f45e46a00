"""How far a state is from a reference, in weights and in predictions.

    gap = ‖w − w*‖ = √(Σ_k Δα_kᵀ K Δα_k + ‖w_k^⊥ − w*_k^⊥‖²),      relative gap = ‖w − w*‖/‖w*‖

Neurons of equal sign can change places without any change of f, so that each neuron is matched with one of the same
sign, such that the sum of squares is least. The reference lies in the span of the samples; the part w^⊥ of the start
outside it is never moved by training and is part of the gap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relubias.dynamics.run import Run
from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.problem import same_problem
from relubias.references.record import MinimumNorm
from relubias.state import State


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
        ‖w_k − w*_k‖, w*_k the neuron of the reference that k is matched with.
    prediction : float
        max_i |f(x_i) − f*(x_i)| over the samples, in label units.
    message : str
        One sentence with both gaps, or why there is no relative one.
    partners : tuple of int
        The neuron of the reference that each neuron is matched with.
    """

    absolute: float
    relative: float | None
    per_neuron: Array
    prediction: float
    message: str
    partners: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """All fields as JSON-able values; None where a number is not finite."""
        return {
            "absolute": _finite(self.absolute),
            "relative": _finite(self.relative),
            "per_neuron": [_finite(value) for value in self.per_neuron],
            "partners": list(self.partners),
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
    if star.of == "variation":
        raise ArgumentError(
            "weights are not compared with those of least variation norm, which other networks may have too; compare "
            "Σ|a_k|‖w_k‖ with the norm of the reference."
        )
    if state.network.signs != star.network.signs:
        raise ArgumentError(
            f"the run has {state.network}, the reference has {star.network}; compute both for the same network."
        )
    if not star.is_solution:
        raise ArgumentError(f"there is no reference to compare with: {star.message}")
    partners = matching(state, star.state)
    difference = state.dual - star.state.dual[partners]
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
    return Gap(absolute, relative, per_neuron, prediction, message, tuple(int(k) for k in partners))


def matching(state: State, other: State) -> NDArray[np.intp]:
    """Match the neurons of two states of equal signs such that Σ ‖w_k − w′_p(k)‖² is least; return p, shape (m,)."""
    from scipy.optimize import linear_sum_assignment

    signs = np.array(state.network.signs)
    partners = np.arange(len(signs))
    for sign in np.unique(signs):
        own = np.flatnonzero(signs == sign)
        if len(own) > 1:
            lengths = [state.problem.operator.lengths(state.dual[k] - other.dual[own]) for k in own]
            partners[own] = own[linear_sum_assignment(np.square(lengths))[1]]
    return partners
