"""The minimum-norm linear interpolator,  min ‖w‖  s.t.  s x_iᵀw = y_i  for all i:  w = s Xᵀ K⁺ y.

It fits every label, where a ReLU neuron selects those of its own sign. The sign s of the neuron's output weight is
kept, so that its weights can be compared with those of the neuron.
"""

from __future__ import annotations

import numpy as np

from relubias.network import Network
from relubias.problem import Problem
from relubias.references.conditions import Constraints
from relubias.references.constrained import minimum_norm_under
from relubias.references.record import MinimumNorm


def linear_interpolator(problem: Problem, network: Network) -> MinimumNorm:
    """Find the minimum-norm linear interpolator, one linear neuron whatever the network.

    Its sign is that of the network where that has one neuron, else +1. Where y is outside the range of K the
    status is ``infeasible`` and the state is the least-squares solution of least norm.
    """
    neuron = network if network.n_neurons == 1 else Network.single()
    constraints = Constraints(neuron.signs[0] * problem.labels, np.ones(problem.n_samples, dtype=bool))
    return minimum_norm_under(problem, neuron, constraints, of="linear", demand="fit the labels linearly")
