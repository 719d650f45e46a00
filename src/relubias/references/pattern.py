"""The minimum norm of any network, given which neurons are active on which samples.

With the pattern D given, the network is linear on each sample, and to fit it is a convex program,

    min Σ_k ‖w_k‖²   s.t.   Σ_k D_{k,i} s_k β_{k,i} = z_i,    β_{k,i} ≥ 0 (D_{k,i} = 1),    β_{k,i} ≤ 0 (D_{k,i} = 0),

z_i = y_i where a neuron that is active on sample i has the sign of y_i, else z_i = 0, the best that D can do for it.
These are the weights of least norm among those that fit what the pattern can fit. Two patterns matter: the one that
training ended in, and the *partition* of a disjoint start, where each sample is active in one neuron at most.

Neither is the global minimum: other patterns may do with less. p equal neurons, above all, share a load w as w/p each,
and then ‖W‖² is ‖w‖²/p.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relubias.errors import ArgumentError
from relubias.network import Network
from relubias.problem import Problem
from relubias.references.constrained import budget_message, infeasible_message, optimal_message, solve_under
from relubias.references.lifting import fitted_labels, lifted, piece, pre_activations, state_of
from relubias.references.record import MinimumNorm
from relubias.state import State
from relubias.status import Optimality

Pattern = NDArray[np.bool_]


def pattern_minimum(problem: Problem, network: Network, pattern: Pattern, *, of: str = "pattern") -> MinimumNorm:
    """Find the weights of least norm that fit what a pattern, shape (m, n), can fit.

    Where no weights have the pattern and do so (singular K only) the status is ``infeasible``, and the state is
    a compromise of least violation of the constraints, as for one neuron.
    """
    labels = fitted_labels(network, pattern, problem.labels)
    rows = [piece(network, pattern[:, i], float(labels[i])) for i in range(problem.n_samples)]
    program = lifted(rows, network.n_neurons)
    solved = solve_under(program.operator(problem.operator), program.constraints)
    dual = program.dual(solved.multipliers, problem.n_samples)
    primal = pre_activations(problem, dual)
    violated = tuple(int(i) for i in np.unique(program.samples[list(solved.rows)]))
    if solved.status is Optimality.OPTIMAL:
        message = optimal_message(solved.proof, f"the minimum norm {_given(of)}")
        state = state_of(problem, network, dual, primal, pattern, labels)
    else:
        state = State(problem, network, problem.operator.project(dual), primal, np.zeros(network.n_neurons))
        message = budget_message(solved.proof)
    if solved.status is Optimality.INFEASIBLE:
        message = infeasible_message(problem, violated, f"fit the labels {_given(of)}", solved)
    return MinimumNorm(
        problem=problem,
        network=network,
        of=of,
        status=solved.status,
        message=message,
        state=state,
        norm=solved.proof.norm,
        lower_bound=min(solved.proof.lower_bound, solved.proof.norm),
        kkt=solved.proof.kkt,
        infeasible_rows=violated,
    )


def partition_of(state: State) -> Pattern:
    """The pattern of a state in which each sample is active in one neuron at most, of the sign of its label.

    Raises
    ------
    ArgumentError
        If it is not so.
    """
    pattern, problem = state.pattern, state.problem
    crowded = np.flatnonzero(pattern.sum(axis=0) > 1)
    if len(crowded):
        raise ArgumentError(
            f"this state has no partition: {problem.sample(int(crowded[0]))} is active in several neurons; give a "
            "disjoint start (relubias.starts.disjoint), or ask for of='pattern'."
        )
    wrong = np.flatnonzero(np.any(pattern & (state.network.output_weights[:, None] * problem.labels < 0), axis=0))
    if len(wrong):
        raise ArgumentError(
            f"this state has no partition: {problem.sample(int(wrong[0]))} is active in a neuron of the other sign "
            "than its label; give a disjoint start (relubias.starts.disjoint), or ask for of='pattern'."
        )
    return pattern


def _given(of: str) -> str:
    return "given the partition" if of == "partition" else "given the pattern"
