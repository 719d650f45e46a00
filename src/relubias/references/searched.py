"""The global minimum-norm solution of a network of several neurons, by the search that fits it.

Two neurons of opposite sign have two pieces a sample (:mod:`relubias.references.pair`), other networks more
(:mod:`relubias.references.many`).
"""

from __future__ import annotations

from relubias.arguments import is_whole
from relubias.errors import ArgumentError
from relubias.network import Network
from relubias.problem import Problem
from relubias.references.branching import BUDGET
from relubias.references.many import ManyTree, many_minimum
from relubias.references.pair import PairTree, pair_minimum, pair_tree
from relubias.references.record import MinimumNorm
from relubias.references.single import require_fixed_relu
from relubias.state import State

#: Relaxations solved at most, for networks other than a pair: so many over (n m)², but not fewer than a handful.
EFFORT, FEWEST = 1.2e7, 10


def is_pair(network: Network) -> bool:
    """Whether there are two neurons of opposite sign."""
    return network.n_neurons == 2 and sum(network.signs) == 0


def usual_budget(problem: Problem, network: Network) -> int:
    """Relaxations to solve at most where nothing is asked for: fewer for large networks, by size and not by time."""
    if network.n_neurons == 1 or is_pair(network):
        return BUDGET
    return int(min(BUDGET, max(FEWEST, EFFORT / float(problem.n_samples * network.n_neurons) ** 2)))


def checked_budget(budget: int | None) -> int | None:
    """Return a budget as an int, None as it is.

    Raises
    ------
    ArgumentError
        If it is not a positive whole number.
    """
    if budget is None:
        return None
    if not is_whole(budget) or budget < 1:
        raise ArgumentError(f"budget={budget!r} is not a positive whole number of convex programs.")
    return int(budget)


def tree_of(problem: Problem, network: Network) -> PairTree | ManyTree:
    """The pieces that are searched for several neurons.

    Raises
    ------
    ArgumentError
        If the activation is not the ReLU or the output weights are trained.
    """
    require_fixed_relu(network)
    return pair_tree(problem, network) if is_pair(network) else ManyTree(problem, network)


def searched_minimum(
    problem: Problem, network: Network, *, state: State | None = None, budget: int | None = None
) -> MinimumNorm:
    """Find the minimum-norm global minimiser of several neurons; see the modules of the two searches.

    Raises
    ------
    ArgumentError
        If the activation is not the ReLU or the output weights are trained.
    """
    require_fixed_relu(network)
    most = usual_budget(problem, network) if budget is None else budget
    find = pair_minimum if is_pair(network) else many_minimum
    return find(problem, network, state=state, budget=most)
