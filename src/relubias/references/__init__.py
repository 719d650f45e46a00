"""Floor 3: where the minimum norm is.

:func:`minimum_norm` finds the solution of least norm with a proof; :func:`certify` judges any other candidate.
"""

from __future__ import annotations

from relubias.errors import ArgumentError
from relubias.network import Network
from relubias.nouns import require_nouns, require_state
from relubias.problem import Problem
from relubias.references.certify import Certificate, certify
from relubias.references.equal_neurons import orthogonal_minimum
from relubias.references.linear import linear_interpolator
from relubias.references.pattern import partition_of, pattern_minimum
from relubias.references.record import KKT, MinimumNorm
from relubias.references.searched import checked_budget, is_pair, searched_minimum
from relubias.references.single import require_fixed_relu, single_neuron
from relubias.references.variation import minimum_variation, require_both_layers
from relubias.state import State
from relubias.status import Optimality

__all__ = ["KKT", "Certificate", "MinimumNorm", "certify", "checked_of", "minimum_norm", "require_possible", "suitable"]

#: What a reference can be the shortest of.
CHOICES = ("global", "pattern", "partition", "linear", "variation")


def minimum_norm(
    problem: Problem, network: Network, *, of: str = "global", state: State | None = None, budget: int | None = None
) -> MinimumNorm:
    """Find the solution of minimum ℓ₂ norm, with the residuals and the lower bound that prove it.

    Parameters
    ----------
    problem : Problem
    network : Network
    of : {"global", "pattern", "partition", "linear", "variation"}
        ``"global"``: among the global minimisers of the loss. For one neuron of sign s: min ‖w‖ s.t. x_iᵀw = s y_i
        where s y_i > 0 and x_iᵀw ≤ 0 elsewhere. For several neurons: min ‖W‖ s.t. f = y, and f = 0 where no
        neuron has the sign of the label, by branch and bound. ``"pattern"``: any network, among the weights with
        the pattern of `state` that fit what this pattern can fit. ``"partition"``: the same for a state in which
        each sample is active in one neuron at most, of the sign of its label, such as a disjoint start.
        ``"linear"``: among the linear interpolators, s X w = y. ``"variation"``, of a network whose output weights are
        trained: min Σ_k |a_k|‖w_k‖ among the networks of any number of neurons with f = y; this is then the norm of
        the record.
    state : State, optional
        Whose pattern is given, for ``"pattern"`` and ``"partition"``. For ``"global"`` a warm start of the branch and
        bound, such as the state of a run.
    budget : int, optional
        Convex programs that the branch and bound may solve; by default 10 000 for a pair, and for other networks
        fewer if they are large: 1.2e7/(n m)², but 10 at least and 10 000 at most.

    Returns
    -------
    MinimumNorm
        Its status is ``optimal`` only where the residuals of the optimality conditions, recomputed from K, are at
        most 1e-9 relative, or at the rounding level of K; and after branch and bound, where the interval that
        holds the least norm is at most 1e-8 relative, or at that level. Where the budget ends first, or Ctrl-C does,
        the status says so, and the interval [lower_bound, norm] and the best solution so far are there. (The search for
        the least variation norm is short, and Ctrl-C ends it without a record.)

    Raises
    ------
    ArgumentError
        If `of` is not one of the choices, a state is missing or belongs to another problem or network, the activation
        is not the ReLU, the output weights are trained, or the budget is not a positive whole number.
    """
    require_nouns(problem, network)
    budget = checked_budget(budget)
    if state is not None:
        require_state(problem, network, state, name="state")
    if checked_of(of) == "linear":
        return linear_interpolator(problem, network)
    if of == "variation":
        return minimum_variation(problem, network)
    if of == "global":
        return _global(problem, network, state, budget)
    require_fixed_relu(network)
    if state is None:
        raise ArgumentError(f"of={of!r} needs a state whose pattern is given: minimum_norm(..., state=run.state).")
    pattern = partition_of(state) if of == "partition" else state.pattern
    return pattern_minimum(problem, network, pattern, of=of)


def _global(problem: Problem, network: Network, state: State | None, budget: int | None) -> MinimumNorm:
    if network.n_neurons == 1:
        return single_neuron(problem, network)
    if not is_pair(network) and not network.train_output:
        closed = orthogonal_minimum(problem, network)
        if closed is not None and closed.status is not Optimality.BUDGET:
            return closed
    return searched_minimum(problem, network, state=state, budget=budget)


def require_possible(network: Network, start: State, of: str) -> None:
    """Refuse a reference that this network or start cannot have, before a long training.

    Parameters
    ----------
    network : Network
    start : State
    of : str
        One that :func:`checked_of` knows.

    Raises
    ------
    ArgumentError
        As :func:`minimum_norm` would.
    """
    if of == "variation":
        require_both_layers(network)
    elif of == "partition" and not network.train_output and network.activation.name == "relu":
        partition_of(start)  # that others have none is noted later


def suitable(network: Network, start: State) -> str:
    """Which reference fits a network that is trained from this start, where none is asked for.

    The one of least variation norm where the output weights are trained. Else the global one for one neuron and for
    two of opposite sign, and for others the one given the partition, where the start has one, or given the pattern in
    which training ends.

    Parameters
    ----------
    network : Network
    start : State

    Returns
    -------
    str
        What :func:`minimum_norm` takes as `of`.
    """
    if network.train_output and network.activation.name == "relu":
        return "variation"
    if network.n_neurons == 1 or is_pair(network):
        return "global"
    try:
        partition_of(start)
    except ArgumentError:
        return "pattern"
    return "partition"


def checked_of(of: str) -> str:
    """Return `of` if it names a reference.

    Parameters
    ----------
    of : str
        As for :func:`minimum_norm`.

    Raises
    ------
    ArgumentError
        Otherwise.
    """
    if of not in CHOICES:
        raise ArgumentError(f"of={of!r} is not known; choose one of: {', '.join(CHOICES)}.")
    return of
