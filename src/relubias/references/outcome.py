"""What a search over pieces has found, as a record with its evidence and one sentence.

The best solution is solved once more with its pieces decided; the interval is that of the search. Where no solution was
found, the record holds a compromise within one pattern, and says so.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.problem import Problem
from relubias.references.branching import Choice, Found
from relubias.references.conditions import LARGEST_FLOOR, ROUNDING, TOLERANCE, Evidence
from relubias.references.constrained import UNREACHABLE, listed_samples, rounded_down
from relubias.references.lifting import Lifted, pre_activations, state_of
from relubias.references.pattern import pattern_minimum
from relubias.references.reach import sufficient
from relubias.references.record import MinimumNorm
from relubias.references.smallest import WIDTH
from relubias.status import Optimality


class Searched(Protocol):
    """The tree of a search, as far as its outcome needs it.

    Attributes
    ----------
    labels : ndarray, shape (n,)
        What was to be fitted.
    wanted : ndarray, shape (n,)
        What would have been, if all samples could be fitted one by one.
    scale : float
        The largest |label|, or 1.
    """

    problem: Problem
    network: Network
    labels: Array
    wanted: Array
    scale: float

    def decided(self, choice: Choice) -> tuple[Lifted, Array, Evidence]:
        """Solve with all pieces decided: the constraints, their multipliers and the evidence for them."""

    def pattern(self, choice: Choice) -> NDArray[np.bool_]:
        """Which neurons are active on which samples in these pieces, shape (m, n)."""


def reachable_labels(problem: Problem) -> tuple[Array, NDArray[np.bool_]]:
    """The labels that least squares asks for, and the samples that are needed to say so, as a mask.

    Samples that coincide have the same prediction, for which Σ (f − y_i)² asks to be their mean; a zero sample is
    predicted 0.
    """
    labels = problem.labels.copy()
    labels[problem.operator.diagonal == 0] = 0.0
    for group in problem.facts.duplicates:
        members = list(group)
        if np.ptp(labels[members]) > 0:
            labels[members] = labels[members].mean()
    return labels, sufficient(problem)


def record_of(tree: Searched, found: Found) -> MinimumNorm:
    """The record of what a search has found.

    Its status is ``optimal`` where every node is closed and the interval is at most 1e-8 relative, or at the rounding
    level of K. ``budget`` or ``interrupted``: the least norm is in [lower_bound, norm]; the norm is infinite where no
    solution was found. ``infeasible``: no weights fit all labels. Where that is due to samples that coincide or are
    zero, the state has the least norm among the weights of least loss; else it is a compromise within the pieces
    nearest to the relaxation.
    """
    if found.choice is None:
        return _unsolved(tree, found)
    problem, network = tree.problem, tree.network
    program, multipliers, proof = tree.decided(found.choice)
    dual = program.dual(multipliers, problem.n_samples)
    primal, pattern = pre_activations(problem, dual), tree.pattern(_with_copies(problem, found.choice))
    solution = state_of(problem, network, dual, primal, pattern, tree.labels)
    missed = np.abs(solution.predictions - tree.wanted)
    rows = tuple(int(i) for i in np.flatnonzero(tree.labels != tree.wanted))
    kkt = replace(proof.kkt, primal=max(proof.kkt.primal, float(missed.max()) / tree.scale)) if rows else proof.kkt
    status, message = _verdict(problem, found, proof, rows)
    return MinimumNorm(
        problem=problem,
        network=network,
        of="global",
        status=status,
        message=message,
        state=solution,
        norm=proof.norm,
        lower_bound=min(found.lower_bound, proof.norm),
        kkt=kkt,
        infeasible_rows=rows,
        nodes=found.nodes,
    )


def _with_copies(problem: Problem, choice: Choice) -> Choice:
    """The pieces of all samples: those of copies are those of the sample they coincide with."""
    full = choice.copy()
    for group in problem.facts.duplicates:
        full[list(group)] = choice[group[0]]
    return full


def _verdict(problem: Problem, found: Found, proof: Evidence, rows: tuple[int, ...]) -> tuple[Optimality, str]:
    width = (found.norm - found.lower_bound) / found.norm if found.norm > 0 else 0.0
    searched = "without any branching" if found.nodes == 1 else f"after {found.nodes:,} nodes"
    between = f"is between {found.lower_bound:.10g} and {found.norm:.10g} (relative width {width:.1e})"
    if rows:
        stopped = ", where the search was interrupted" if found.interrupted else ""
        return Optimality.INFEASIBLE, (
            f"no weights fit all labels: {listed_samples(problem, rows)} coincide with samples of other labels or are "
            f"zero; the least norm of the least-squares compromises {between}, {searched}{stopped}."
        )
    if found.norm == 0.0:
        return Optimality.OPTIMAL, "the minimum-norm global minimiser is w = 0, exactly."
    if found.closed and proof.optimal and width <= max(WIDTH, min(found.root.rounding * ROUNDING, LARGEST_FLOOR)):
        level = ", the rounding level of this nearly singular Gram matrix" if width > WIDTH else ""
        return Optimality.OPTIMAL, (
            f"the minimum-norm global minimiser is proven {searched}: its norm is known to {width:.1e}, "
            f"relative{level}; the optimality conditions within its pattern hold to {proof.kkt.worst:.1e}."
        )
    if found.closed:
        return Optimality.BUDGET, (
            f"every case is examined, {searched}, but this nearly singular Gram matrix leaves too few digits for a "
            f"proof: the least norm {between}."
        )
    if found.interrupted:
        return Optimality.INTERRUPTED, f"the search was interrupted {searched}: the least norm {between}."
    return Optimality.BUDGET, f"the budget was spent {searched}: the least norm {between}."


def _unsolved(tree: Searched, found: Found) -> MinimumNorm:
    """The record where no solution was found: the compromise within the pieces nearest to the relaxation."""
    problem = tree.problem
    pattern = tree.pattern(_with_copies(problem, found.root.nearest))
    nearest = pattern_minimum(problem, tree.network, pattern, of="global")
    rank = f"the Gram matrix has rank {problem.operator.rank} for {problem.n_samples} samples"
    compromise = "what is returned is a compromise within one pattern, not the best of all"
    if not found.closed:
        status = Optimality.INTERRUPTED if found.interrupted else Optimality.BUDGET
        stopped = "before the search was interrupted, within" if found.interrupted else "within"
        message = f"no weights that fit all labels were found {stopped} {found.nodes:,} nodes; {rank}; {compromise}."
    elif found.lower_bound <= UNREACHABLE * nearest.norm:
        status = Optimality.BUDGET
        message = (
            f"every case is examined, but no weights that fit all labels were found within the digits of this nearly "
            f"singular Gram matrix; {rank}; {compromise}."
        )
    else:
        status = Optimality.INFEASIBLE
        short = f" of norm below {rounded_down(found.lower_bound)}" if math.isfinite(found.lower_bound) else ""
        message = f"no weights{short} fit all labels at once: {rank}; {compromise}."
    missed = np.abs(nearest.state.predictions - tree.wanted)
    rows = tuple(int(i) for i in np.flatnonzero(missed > TOLERANCE * tree.scale))
    return replace(
        nearest,
        status=status,
        message=message,
        norm=nearest.norm if status is Optimality.INFEASIBLE else math.inf,
        lower_bound=min(found.lower_bound, nearest.norm) if status is Optimality.INFEASIBLE else found.lower_bound,
        kkt=replace(nearest.kkt, primal=float(missed.max()) / tree.scale),
        infeasible_rows=rows,
        nodes=found.nodes,
    )
