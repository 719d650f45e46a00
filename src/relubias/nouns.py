"""The nouns that public functions take in this order, problem, network, start, and what is said where one is none."""

from __future__ import annotations

from relubias.errors import ArgumentError, DataError
from relubias.network import Network
from relubias.problem import Problem
from relubias.state import State


def require_problem(problem: object) -> None:
    """Refuse what is no Problem, or one of sizes that no computation in double precision can take.

    Raises
    ------
    ArgumentError
        With the ways to make one.
    DataError
        If norms of samples or labels are too large or too small.
    """
    if not isinstance(problem, Problem):
        raise ArgumentError(
            f"problem is a {type(problem).__name__}, not a relubias.Problem; make one with "
            "relubias.Problem.from_features(X, y), relubias.Problem.from_gram(K, y) or relubias.read(path)."
        )
    if not problem.is_in_range:
        raise DataError(
            f"samples have norms up to {problem.longest:.1g} and labels sizes up to {problem.largest_label:.1g}, whose "
            "products leave the range of double precision; multiply the features or the labels by a constant, "
            "which multiplies the weights by its inverse or by itself."
        )


def require_nouns(problem: object, network: object) -> None:
    """Refuse what is no Problem, or no Network.

    Raises
    ------
    ArgumentError
        With the ways to make them.
    """
    require_problem(problem)
    if not isinstance(network, Network):
        raise ArgumentError(
            f"network is a {type(network).__name__}, not a relubias.Network; make one with "
            "relubias.Network.single(), .pair() or .of_signs([+1, -1])."
        )


def require_state(problem: Problem, network: Network, state: object, *, name: str = "start") -> None:
    """Refuse what is no State of this problem and network.

    Raises
    ------
    ArgumentError
        With the ways to make one.
    """
    if not isinstance(state, State):
        raise ArgumentError(
            f"{name} is a {type(state).__name__}, not a relubias.State; make one with relubias.starts, or from weights "
            "with relubias.State.from_weights(problem, network, weights)."
        )
    if state.problem is not problem or state.network != network:
        raise ArgumentError(
            f"the {name} belongs to another problem or network; make one with relubias.starts for this one."
        )
