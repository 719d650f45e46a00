"""The minimum-norm global minimiser of a pair of ReLU neurons, f(x) = σ(β⁺) − σ(β⁻) with β^± = x·w^±. (Ours.)

For y > 0 the constraint f = y is a union of two *pieces*, each a ray in the plane of (β⁺, β⁻),

    alone:  β⁺ = y,  β⁻ ≤ 0,            both:  β⁺ − β⁻ = y,  β⁻ ≥ 0,

whose convex hull is {β⁺ ≥ y,  β⁺ − β⁻ ≥ y}; for y < 0 the neurons change places. For y = 0 the pieces are

    none:  β⁺ ≤ 0,  β⁻ ≤ 0,             both:  β⁺ = β⁻ ≥ 0,

and the hull is the whole plane. To minimise ‖w⁺‖² + ‖w⁻‖² over the hulls of all samples is a convex program with two
constraints a sample, solved through its multipliers (:mod:`relubias.references.lifting`); it bounds the norm of every
global minimiser. With all pieces decided it is a convex program too, whose solution *is* one. In between there is
branch and bound (:mod:`relubias.references.branching`): each node offers the pieces nearest to its relaxation as a
solution, and splits the sample whose label the relaxation misses by the most.

For nearly orthogonal samples the relaxation has the positive labels in one neuron and the negative ones in the other,
violates nothing, and there is nothing to split.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.problem import Problem
from relubias.references.branching import BUDGET, Choice, Relaxed, search
from relubias.references.conditions import ROUNDING, Constraints, Evidence, norm_demanded
from relubias.references.constrained import best_multipliers
from relubias.references.lifting import Lifted, pre_activations
from relubias.references.outcome import reachable_labels, record_of
from relubias.references.record import MinimumNorm
from relubias.references.violation import least_violation
from relubias.state import State

#: The pieces of a sample: the neuron of the sign of its label alone (for y = 0: none), or both.
UNDECIDED, ALONE, BOTH = 0, 1, 2
#: Labels missed by less than this fraction of the largest one are not missed.
MISSED = 1e-13


class PairTree:
    """The pieces of all samples of a problem for two neurons of opposite sign.

    Parameters
    ----------
    problem : Problem
    network : Network
        Signs (+, −) or (−, +).
    labels : ndarray, shape (n,)
        What is to be fitted.
    kept : ndarray of bool, shape (n,)
        The samples that have constraints; others are copies of these, or zero.
    """

    def __init__(self, problem: Problem, network: Network, labels: Array, kept: NDArray[np.bool_]) -> None:
        self.problem, self.network = problem, network
        self.labels, self.kept, self.wanted = labels, kept, problem.labels
        #: The neuron that alone can fit the label, and the other one.
        self.own = np.where(labels * network.signs[0] >= 0, 0, 1)
        self.scale = float(np.max(np.abs(labels), initial=0.0)) or 1.0
        self._tables()

    def _tables(self) -> None:
        """The two constraints of each sample in each piece: coefficients (3, n, 2, 2), targets and equal (3, n, 2)."""
        n, size = len(self.labels), np.abs(self.labels)
        own, other = np.eye(2)[self.own], np.eye(2)[1 - self.own]
        self.coefficients = np.zeros((3, n, 2, 2))
        self.targets, self.equal = np.zeros((3, n, 2)), np.zeros((3, n, 2), dtype=bool)
        self.coefficients[UNDECIDED, :, 0], self.coefficients[UNDECIDED, :, 1] = -own, other - own
        self.targets[UNDECIDED] = -size[:, None]
        self.coefficients[ALONE, :, 0], self.coefficients[ALONE, :, 1] = own, other
        self.coefficients[BOTH, :, 0], self.coefficients[BOTH, :, 1] = own - other, -other
        self.targets[[ALONE, BOTH], :, 0] = size
        self.equal[ALONE, :, 0], self.equal[BOTH, :, 0] = self.labels != 0, True
        self.present = np.repeat(self.kept[None, :], 3, axis=0)
        self.present[UNDECIDED] &= self.labels != 0

    def pieces(self, node: Relaxed) -> tuple[int, int]:
        """The pieces of a sample."""
        return ALONE, BOTH

    def relax(self, choice: Choice, parent: Relaxed | None) -> Relaxed:
        """Minimise the norm over the decided pieces and the hulls of the others."""
        rows = np.flatnonzero(self.present[choice, np.arange(len(choice))])
        program, multipliers, proof, bound = self._solve(choice, rows, parent)
        n, rounding = len(choice), 0.0
        if proof.norm > 0:
            rounding = program.operator(self.problem.operator).square_error(multipliers) / proof.norm**2
        dual = program.dual(multipliers, n)
        primal = pre_activations(self.problem, dual)
        binding = np.zeros((n, 2), dtype=bool)
        binding[rows] = (multipliers < 0).reshape(-1, 2) | program.constraints.equal.reshape(-1, 2)
        nearest = np.where((choice == UNDECIDED) & self.kept, self.nearest(primal), choice).astype(np.int8)
        split = self._most_missed(choice, primal, dual)
        return Relaxed(choice, bound, rounding, nearest, split, binding)

    def norm(self, choice: Choice, near: Relaxed | None) -> float:
        """The least norm in the given pieces; infinite where they cannot be met."""
        _, _, proof = self.decided(choice, near)
        return proof.norm if proof.feasible else math.inf

    def decided(self, choice: Choice, near: Relaxed | None = None) -> tuple[Lifted, Array, Evidence]:
        """Solve with all pieces decided: the constraints, their multipliers and the evidence for them."""
        program, multipliers, proof, _ = self._solve(choice, np.flatnonzero(self.kept), near)
        return program, multipliers, proof

    def choice_near(self, primal: Array) -> Choice:
        """The pieces nearest to pre-activations of shape (2, n)."""
        return np.where(self.kept, self.nearest(primal), UNDECIDED).astype(np.int8)

    def choice_of(self, pattern: NDArray[np.bool_], nearest: Choice) -> Choice:
        """The pieces in which the pattern, shape (2, n), fits labels; `nearest` where it fits none."""
        columns = np.arange(len(self.labels))
        mine, other = pattern[self.own, columns], pattern[1 - self.own, columns]
        fits = (self.labels == 0) | mine
        chosen = np.where(mine & other, BOTH, ALONE)
        return np.where(self.kept, np.where(fits, chosen, nearest), UNDECIDED).astype(np.int8)

    def pattern(self, choice: Choice) -> NDArray[np.bool_]:
        """Which neurons are active on which samples in these pieces, shape (2, n)."""
        active = np.tile(choice == BOTH, (2, 1))
        active[self.own, np.arange(len(choice))] |= (choice == ALONE) & (self.labels != 0)
        return active

    def _solve(
        self, choice: Choice, rows: NDArray[np.intp], near: Relaxed | None
    ) -> tuple[Lifted, Array, Evidence, float]:
        """Least norm under the constraints of the samples `rows`, with a bound that holds in any case."""
        coefficients = self.coefficients[choice, np.arange(len(choice))][rows].reshape(-1, 2)
        constraints = Constraints(
            self.targets[choice, np.arange(len(choice))][rows].ravel(),
            self.equal[choice, np.arange(len(choice))][rows].ravel(),
        )
        program = Lifted(coefficients, np.repeat(rows, 2), constraints)
        operator = program.operator(self.problem.operator)
        multipliers, proof = best_multipliers(operator, constraints, binding=self._guess(choice, rows, near))
        bound = proof.lower_bound
        if not proof.feasible:
            error = least_violation(operator, constraints)
            if error is not None:
                bound = max(bound, norm_demanded(operator, constraints, error))
        return program, multipliers, proof, bound

    def _guess(self, choice: Choice, rows: NDArray[np.intp], near: Relaxed | None) -> NDArray[np.bool_] | None:
        """Which inequalities bind: as in the nearby program; the second row of a newly decided piece if both did."""
        if near is None:
            return None
        guess = near.binding.copy()
        fresh = (choice != near.choice) & (choice != UNDECIDED)
        guess[fresh, 1] = guess[fresh].all(axis=1)
        return np.asarray(guess[rows].ravel())

    def nearest(self, primal: Array) -> NDArray[np.int_]:
        """The piece nearest to the pre-activations, shape (2, n), in the plane of each sample."""
        columns, size = np.arange(len(self.labels)), np.abs(self.labels)
        own, other = primal[self.own, columns], primal[1 - self.own, columns]
        first = np.where(size > 0, own - size, np.maximum(own, 0.0))
        along = np.maximum((own - size + other) / 2, 0.0)
        alone = np.hypot(first, np.maximum(other, 0.0))
        # by rounding alone no sample is shared: a choice that contradicts the constraints may come of it
        return np.where(np.hypot(own - size - along, other - along) < alone - MISSED * self.scale, BOTH, ALONE)

    def _most_missed(self, choice: Choice, primal: Array, dual: Array) -> int | None:
        """The undecided sample whose label is missed by the most, beyond rounding; None where there is none."""
        missed = np.abs(self.network.output(primal) - self.labels)
        operator = self.problem.operator
        rounding = ROUNDING * np.sum([operator.image_error(own) for own in dual], axis=0)
        open_ = (choice == UNDECIDED) & self.kept & (missed > rounding + MISSED * self.scale)
        return int(np.argmax(np.where(open_, missed, -1.0))) if np.any(open_) else None


def pair_minimum(
    problem: Problem, network: Network, *, state: State | None = None, budget: int = BUDGET
) -> MinimumNorm:
    """Find the minimum-norm global minimiser of two neurons of opposite sign.

    Parameters
    ----------
    problem : Problem
    network : Network
        Signs (+, −) or (−, +).
    state : State, optional
        The pieces of its pattern are tried as a solution: a warm start.
    budget : int
        Relaxations to solve at most.

    Returns
    -------
    MinimumNorm
        See :func:`relubias.references.outcome.record_of`.
    """
    tree = pair_tree(problem, network)
    top = tree.relax(np.zeros(problem.n_samples, dtype=np.int8), None)
    candidates = [] if state is None else [tree.choice_of(state.pattern, top.nearest)]
    return record_of(tree, search(tree, top, budget=budget, candidates=candidates))


def pair_tree(problem: Problem, network: Network) -> PairTree:
    """The pieces of a pair for the labels that least squares asks for."""
    return PairTree(problem, network, *reachable_labels(problem))
