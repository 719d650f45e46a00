"""What p neurons of sign + and q of sign − need at least, if they may share every load equally. (Ours.)

Output weights fixed at ±1. By Cauchy and Schwarz, sign by sign, all networks that fit the labels have

    ‖W‖² = Σ_k ‖w_k‖² ≥ S₊²/p + S₋²/q,        S_± = Σ_{s_k = ±} ‖w_k‖,

and what the right side is at least, over any number of neurons, is a convex program. Where its solution has one
neuron u_± for each sign, p equal neurons u₊/p and q equal neurons u₋/q reach the bound, since σ(u/p) = σ(u)/p: then it
is the minimum norm of the network. For orthogonal rows that is so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from relubias.linalg.factor import EPS
from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.problem import Problem
from relubias.references.any_number import smallest_of_any_number
from relubias.references.gauge import Gauge
from relubias.references.reach import reachable
from relubias.references.single import require_fixed_relu


@dataclass(frozen=True, eq=False)
class SharedLoad:
    """The least shared load and the neurons that attain it.

    Attributes
    ----------
    lower_bound : float
        ‖W‖² of no network of these signs that fits the labels is below this, rounding of K included.
    load : float
        S₊²/p + S₋²/q of the neurons that were found; infinite where none were.
    signs : ndarray, shape (J,)
    duals : ndarray, shape (J, n_samples)
        u_j = Xᵀ duals_j.
    lengths : ndarray, shape (J,)
        ‖u_j‖.
    labels : ndarray, shape (n_samples,)
        What was fitted: the labels, those of a sign without neurons replaced by 0, those out of reach by the nearest.
    """

    lower_bound: float
    load: float
    signs: Array
    duals: Array
    lengths: Array
    labels: Array

    @property
    def reached(self) -> bool:
        """Whether equal neurons reach the load: at most one neuron for each sign."""
        return math.isfinite(self.load) and len(set(self.signs.tolist())) == len(self.signs)


def shared_load(problem: Problem, network: Network) -> SharedLoad:
    """Bound ‖W‖² of all networks of these signs that fit the labels.

    The interval [lower_bound, load] is tight for orthogonal rows and for up to 16 samples; beyond, it holds the least
    load all the same.

    Parameters
    ----------
    problem : Problem
    network : Network
        Signs, with fixed output weights.

    Raises
    ------
    ArgumentError
        If the network is no ReLU network of fixed signs.
    """
    require_fixed_relu(network)
    gauge = Gauge((network.signs.count(1), network.signs.count(-1)))
    labels, kept = reachable(problem, gauge.signs)
    found = smallest_of_any_number(problem, labels, kept, gauge)
    bound = found.lower_bound**2 * (1 - 4 * EPS)
    return SharedLoad(bound, found.size**2, found.signs, found.duals, found.lengths, labels)
