"""The minimum-norm global minimisers of one ReLU neuron f(x) = s σ(wᵀx).

The loss is least where f is the label, or 0 if the label has the wrong sign for s:

    min ‖w‖   s.t.   x_iᵀw = s y_i   (s y_i > 0),        x_iᵀw ≤ 0   (s y_i ≤ 0).

This is a convex program; its solution is unique.
"""

from __future__ import annotations

import numpy as np

from relubias.errors import ArgumentError
from relubias.network import Network
from relubias.problem import Problem
from relubias.references.conditions import Constraints
from relubias.references.constrained import minimum_norm_under
from relubias.references.record import MinimumNorm


def constraints_of(problem: Problem, network: Network) -> Constraints:
    """Return the constraints that make one neuron a global minimiser.

    Raises
    ------
    ArgumentError
        If the network has another activation than the ReLU, or output weights that are trained.
    """
    require_fixed_relu(network)
    targets = network.signs[0] * problem.labels
    equal = targets > 0
    return Constraints(np.where(equal, targets, 0.0), equal)


def require_fixed_relu(network: Network) -> None:
    """Raise an :class:`ArgumentError` unless the activation is the ReLU and the output weights are fixed signs."""
    if network.activation.name != "relu":
        raise ArgumentError(f"minimum-norm references are built for the ReLU, not for {network.activation.name!r}.")
    if network.train_output:
        raise ArgumentError(
            "minimum-norm references are built for output weights that are fixed signs; where they are trained too, "
            "the norm of the first layer alone is no measure of a solution; ask for of='variation'."
        )


def single_neuron(problem: Problem, network: Network) -> MinimumNorm:
    """Find the minimum-norm global minimiser of one neuron.

    Where the constraints contradict each other (singular K only) the status is ``infeasible``.
    """
    sign = "positive" if network.signs[0] > 0 else "negative"
    demand = f"fit the {sign} labels and predict 0 elsewhere"
    return minimum_norm_under(problem, network, constraints_of(problem, network), of="global", demand=demand)
