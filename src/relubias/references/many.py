"""The minimum-norm global minimiser of any number of ReLU neurons with fixed signs, f = Σ_k s_k σ(β_k). (Ours.)

**Labels.** The loss is least where f is the label; where no neuron has the sign of the label, where f = 0, which then
needs β_k ≤ 0 in all neurons. Let O be the *own* neurons of a label y, those of its sign (for y = 0 the positive ones),
and Q the others; both are at hand for every sample that is left.

**Pieces** are decided in two stages: first the set A ⊆ O of own neurons that are active on the sample, then the set
B ⊆ Q of others. With both decided the network is linear on the sample (:mod:`relubias.references.lifting`). With A
decided, g = Σ_A |β_k| − |y| has to equal h(β_Q) = Σ_Q σ(β_l), a convex function, and

    β_k ≥ 0 (k ∈ A),    β_k ≤ 0 (k ∈ O∖A),    g ≥ Σ_T β_l for T = ∅, Q and each single neuron of Q

holds on every piece, since h ≥ Σ_T β_l for any T. For a pair it is the convex hull of its two pieces.

**Undecided samples.** If several own neurons may share a label, and there are others, the convex hull of all
pieces is the whole space. What is left is Lagrange's bound. Every solution has Σ_O σ(β_k) ≥ |y| + Σ_T β_l for all T
(with equality for T = ∅ where Q is empty). Take multipliers of these, and of the constraints of the decided samples;
let z_i ≥ 0 be the sum of those of sample i, w_k the weights that all of them make of neuron k if its undecided samples
were active, v the dual value's linear part, Σ_r t_r a_r. Then

    ½‖W‖² ≥ v − ½ Σ_k M_k²,      M_k = max_{u ∈ {0,1}^U} ‖w_k − Σ_{i∈U} u_i z_i x_i‖,

U the undecided samples whose own neuron k is: min_w ½‖w‖² − gᵀw − Σ_U z_i σ(x_iᵀw) is attained where σ is 0 or the
identity for each i, as −z σ(β) = min(0, −zβ). M_k² exceeds ‖w_k‖² by

    E_k = max_{u ∈ {0,1}^U} uᵀQu − 2 (z∘β_k)ᵀu,      Q = diag(z) K_UU diag(z),      β_k = X w_k,

which is 0 for nearly orthogonal samples and bounded in general (:mod:`relubias.references.excess`). The multipliers are
those of the convex program in which all undecided samples are active in all their own neurons: where E = 0 its value
*is* the bound. For nearly orthogonal samples that is, at the root, the norm of p equal positive and q equal negative
neurons, which fit all labels, and there is nothing to split.

**Symmetry.** Neurons of equal sign whose decided samples agree can change places below a node without any change of
norms. Of the pieces that differ by such a change one is kept: in each class the first neurons are the active ones.

**Solutions** are offered by every node: the pieces near to its program. Before that come equal shares of all labels and
the pattern of the best pair (w⁺, w⁻), which p + q equal neurons w⁺/p and w⁻/q have too.

Where the budget is spent on few samples, the load that any number of neurons must share is a lower bound too
(:mod:`relubias.references.shared`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.factor import EPS
from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.problem import Problem
from relubias.references.branching import BUDGET, Relaxed, Rises, search
from relubias.references.conditions import ROUNDING, Constraints, Evidence, norm_demanded
from relubias.references.constrained import best_multipliers
from relubias.references.excess import excess_of
from relubias.references.lifting import Lifted, Row, piece, pre_activations
from relubias.references.outcome import reachable_labels, record_of
from relubias.references.pair import MISSED, pair_minimum
from relubias.references.record import MinimumNorm
from relubias.references.shared import shared_load
from relubias.references.violation import least_violation
from relubias.state import State
from relubias.status import Optimality

#: This part of the undecided samples that keep a bound from being tight is left out for another one.
DROPPED = 0.25
#: Relaxations spent on the pair whose solution p + q equal neurons may share.
PAIRED = 100
#: Up to so many samples the shared load is worth its search.
FEW = 12
#: What is decided about a neuron on a sample.
INACTIVE, UNDECIDED, ACTIVE = -1, 0, 1

#: The choice of a node, shape (n, m).
Decided = NDArray[np.int8]


class ManyTree:
    """The pieces of all samples of a problem for neurons of fixed signs.

    Parameters
    ----------
    problem : Problem
    network : Network
    """

    def __init__(self, problem: Problem, network: Network) -> None:
        self.problem, self.network = problem, network
        self.signs = network.output_weights
        labels, self.kept = reachable_labels(problem)
        self.labels, self.wanted = self._attainable(labels), self._attainable(problem.labels)
        self.scale = float(np.max(np.abs(self.labels), initial=0.0)) or 1.0
        #: Whether a neuron has the sign of a label, shape (n, m).
        self.own = np.where(self.labels[:, None] != 0, self.labels[:, None] * self.signs > 0, self.signs > 0)
        self._rises = Rises(len(self.labels))
        self._rows: dict[tuple[int, bytes], tuple[Array, Array, NDArray[np.bool_]]] = {}

    def _attainable(self, labels: Array) -> Array:
        """Labels, or 0 where no neuron has their sign."""
        return np.where(np.any(labels[:, None] * self.signs > 0, axis=1), labels, 0.0)

    def nothing_decided(self) -> Decided:
        """The choice of the root: what has one piece only is decided."""
        choice = np.zeros((len(self.labels), len(self.signs)), dtype=np.int8)
        alone = np.count_nonzero(self.own, axis=1) == 1
        choice[self.own & alone[:, None] & (self.labels != 0)[:, None]] = ACTIVE
        one_sign = len(set(self.signs)) == 1
        choice[~self.kept | (one_sign & (self.labels == 0))] = INACTIVE
        return choice

    def relax(self, choice: Decided, parent: Relaxed | None) -> Relaxed:
        """Bound the norm below a node from the decided pieces and, through multipliers, the undecided samples."""
        open_ = np.any((choice == UNDECIDED) & self.own, axis=1) & self.kept
        first = found = self._bounded(choice, open_)
        bound, heard = first.bound, open_
        for last in (False, True):
            # The undecided samples are too many to be active at once: multipliers without some, or all, may do better.
            weighty = heard & (found.shares > 0)
            if not np.any(weighty):
                break
            heard = heard & (found.shares < np.quantile(found.shares[weighty], 1 - DROPPED)) & (not last)
            found = self._bounded(choice, heard)
            bound = max(bound, found.bound)
        if parent is not None and parent.split is not None:
            stage = int(self._stage(parent.choice)[parent.split])
            self._rises.note(stage, parent.split, parent.bound, bound)
        split, nearest = self._split(choice, first), self.nearest(choice, first.primal)
        return Relaxed(choice, bound, first.rounding, nearest, split, np.zeros(0, dtype=bool))

    def _bounded(self, choice: Decided, heard: NDArray[np.bool_]) -> _Bounded:
        """The convex program with the undecided samples `heard`, active in all own neurons, and the bound it gives."""
        operator = self.problem.operator
        program = self._program(choice, heard)
        lifted = program.operator(operator)
        multipliers, proof = best_multipliers(lifted, program.constraints)
        multipliers = np.where(program.constraints.equal, multipliers, np.minimum(multipliers, 0.0))
        dual = program.dual(multipliers, len(choice))
        primal = pre_activations(self.problem, dual)
        excess, shares = self._excess(choice, dual, primal)
        met = proof.feasible
        # With no excess the program's own value is the bound.
        bound = proof.lower_bound if excess == 0.0 else self._bound(program, multipliers, dual, primal, excess)
        if not met and not np.any(heard):
            error = least_violation(lifted, program.constraints)
            bound = bound if error is None else max(bound, norm_demanded(lifted, program.constraints, error))
        elif not met:
            shares = np.where(heard, np.abs(self.labels), 0.0)
        rounding = lifted.square_error(multipliers) / proof.norm**2 if proof.norm > 0 else 0.0
        return _Bounded(bound, dual, primal, shares, rounding, met and excess == 0.0)

    def norm(self, choice: Decided, near: Relaxed | None) -> float:
        """The least norm in the given pieces; infinite where they cannot be met."""
        _, _, proof = self.decided(choice)
        return proof.norm if proof.feasible else math.inf

    def decided(self, choice: Decided) -> tuple[Lifted, Array, Evidence]:
        """Solve with all pieces decided: the constraints, their multipliers and the evidence for them."""
        program = self._program(choice, np.zeros(len(choice), dtype=bool))
        multipliers, proof = best_multipliers(program.operator(self.problem.operator), program.constraints)
        return program, multipliers, proof

    def pattern(self, choice: Decided) -> NDArray[np.bool_]:
        """Which neurons are active on which samples in these pieces, shape (m, n)."""
        return np.asarray(choice.T == ACTIVE)

    def pieces(self, node: Relaxed) -> Iterator[Decided]:
        """The pieces of the sample that a node splits, one of each kind that differs by equal neurons only."""
        assert node.split is not None
        row, own = node.choice[node.split], self.own[node.split]
        zero = self.labels[node.split] == 0
        first = bool(np.any(row[own] == UNDECIDED))
        stage = own if first else ~own
        for active in self._sets(node.choice, stage):
            child = row.copy()
            child[stage] = np.where(active[stage], ACTIVE, INACTIVE)
            if np.any(active) or not (zero or first):
                yield child
            elif zero and first:
                yield np.full_like(row, INACTIVE)

    def _sets(self, choice: Decided, stage: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
        """Subsets of the neurons `stage`, the first ones of each class of interchangeable neurons."""
        classes: dict[bytes, list[int]] = {}
        for k in np.flatnonzero(stage):
            classes.setdefault(choice[self.kept, k].tobytes(), []).append(int(k))
        members = list(classes.values())
        for counts in product(*(range(len(own), -1, -1) for own in members)):
            active = np.zeros(len(stage), dtype=bool)
            for own, size in zip(members, counts, strict=True):
                active[own[:size]] = True
            yield active

    def choice_near(self, primal: Array) -> Decided:
        """The pieces near to pre-activations of shape (m, n)."""
        return self.nearest(self.nothing_decided(), primal)

    def choice_of(self, pattern: NDArray[np.bool_], nearest: Decided) -> Decided:
        """The pieces in which the pattern, shape (m, n), fits labels; `nearest` where it fits none."""
        active = pattern.T
        fits = np.any(active & self.own, axis=1) | (self.labels == 0)
        # A label of 0 is fitted by neurons of both signs, or by none.
        idle = (self.labels == 0) & ~(np.any(active & self.own, axis=1) & np.any(active & ~self.own, axis=1))
        chosen = np.where(active & ~idle[:, None], ACTIVE, INACTIVE)
        return np.where((fits & self.kept)[:, None], chosen, nearest).astype(np.int8)

    def equal_shares(self) -> Decided:
        """Every label is shared by all neurons of its sign."""
        return np.where(self.own & ((self.labels != 0) & self.kept)[:, None], ACTIVE, INACTIVE).astype(np.int8)

    def nearest(self, choice: Decided, primal: Array) -> Decided:
        """The decided pieces, and for the other samples those near to the pre-activations, shape (m, n)."""
        full = choice.copy()
        for i in np.flatnonzero(np.any(choice == UNDECIDED, axis=1)):
            own, row, values = self.own[i], full[i], primal[:, i]
            others = ~own & ((row == ACTIVE) | ((row == UNDECIDED) & (values > 0)))
            if np.any(row[own] == UNDECIDED):
                mine = np.zeros_like(own)
                total = abs(float(self.labels[i])) + float(values[others].sum())
                mine[own] = _shares(values[own], total) > 0
            else:
                mine = own & (row == ACTIVE)
            active = mine | others
            if self.labels[i] == 0 and not (np.any(mine) and np.any(others)):
                active[:] = False
            full[i] = np.where(active, ACTIVE, INACTIVE)
        return full

    def _program(self, choice: Decided, heard: NDArray[np.bool_]) -> Lifted:
        """The constraints of the decided samples in a choice, and those of the undecided ones in `heard`."""
        parts, owners = [], []
        for i in np.flatnonzero(self.kept):
            if not heard[i] and np.any(choice[i][self.own[i]] == UNDECIDED):
                continue
            part = self._constraints(int(i), choice[i])
            parts.append(part)
            owners.append(np.full(len(part[1]), i))
        if not parts:
            none = Constraints(np.zeros(0), np.zeros(0, dtype=bool))
            return Lifted(np.zeros((0, len(self.signs))), np.zeros(0, dtype=np.intp), none)
        coefficients, targets, equal = (np.concatenate([part[j] for part in parts]) for j in range(3))
        return Lifted(coefficients, np.concatenate(owners), Constraints(targets, equal))

    def _constraints(self, sample: int, row: Decided) -> tuple[Array, Array, NDArray[np.bool_]]:
        """The constraints of one sample: coefficients, targets, and which are equalities."""
        key = sample, row.tobytes()
        if key not in self._rows:
            rows = self._rows_of(sample, row)
            coefficients = np.array([c for c, _, _ in rows]).reshape(len(rows), len(row))
            self._rows[key] = coefficients, np.array([t for _, t, _ in rows]), np.array([e for *_, e in rows], bool)
        return self._rows[key]

    def _rows_of(self, sample: int, row: Decided) -> list[Row]:
        own, label = self.own[sample], float(self.labels[sample])
        if not np.any(row == UNDECIDED):
            return piece(self.network, row == ACTIVE, label)
        first = bool(np.any(row[own] == UNDECIDED))
        if first and label == 0:
            return []
        active = own if first else own & (row == ACTIVE)
        if np.all(own):
            return [(tuple(active.astype(float)), abs(label), True)]
        others = np.flatnonzero(~own)
        sets = {(): None, tuple(others): None} | {(k,): None for k in others if not first}
        rows: list[Row] = []
        for chosen in sets:
            coefficients = -active.astype(float)
            coefficients[list(chosen)] = 1.0
            rows.append((tuple(coefficients), -abs(label), False))
        if not first:
            units = np.eye(len(row))
            alone = np.count_nonzero(active) == 1
            rows += [(tuple(-units[k]), 0.0, False) for k in np.flatnonzero(active) if not alone]
            rows += [(tuple(units[k]), 0.0, False) for k in np.flatnonzero(own & ~active)]
        return rows

    def _bound(self, program: Lifted, multipliers: Array, dual: Array, primal: Array, excess: float) -> float:
        """√(2(v − ½ Σ M²)) for the best multiple of the multipliers, v/√(Σ M²), less a margin for rounding."""
        targets, size = program.constraints.targets, len(multipliers)
        linear = float(multipliers @ targets) - size * EPS * float(np.abs(multipliers) @ np.abs(targets))
        error = program.operator(self.problem.operator).square_error(multipliers)
        square = float(np.sum(dual * primal)) + excess + 2.0 * error
        return max(0.0, linear) / math.sqrt(square) * (1.0 - 8 * EPS) if square > 0.0 else 0.0

    def _excess(self, choice: Decided, dual: Array, primal: Array) -> tuple[float, Array]:
        """Σ_k E_k, or more, and how much each sample has to do with it, shape (n,)."""
        undecided = (choice == UNDECIDED) & self.own & self.kept[:, None]
        total, shares = 0.0, np.zeros(len(choice))
        known: dict[bytes, tuple[float, Array]] = {}
        for k in range(len(self.signs)):
            rows = np.flatnonzero(undecided[:, k] & (dual[k] > 0))
            if len(rows):
                key = dual[k].tobytes()  # equal neurons have equal weights where they are not told apart
                if key not in known:
                    known[key] = excess_of(self.problem.operator, rows, dual[k, rows], primal[k, rows])
                total += known[key][0]
                shares[rows] += known[key][1]
        return total, shares

    def _split(self, choice: Decided, found: _Bounded) -> int | None:
        """The sample to be decided next; None where no undecided one misses its label and the bound is tight.

        Of the samples that miss theirs the one with the largest product of its load ‖x_i‖ max_k |α_{k,i}| and the mean
        rise of the bound that its splits have brought so far. Where none does, shares in the excess are the loads.
        """
        open_ = np.any(choice == UNDECIDED, axis=1) & self.kept
        missed = np.abs(self.network.output(found.primal) - self.labels)
        operator = self.problem.operator
        rounding = ROUNDING * np.sum([operator.image_error(own) for own in found.dual], axis=0)
        clear = open_ & (missed > rounding + MISSED * self.scale)
        loads = operator.roots * np.max(np.abs(found.dual), axis=0)
        if not np.any(found.dual):
            loads = missed
        if not np.any(clear):
            if found.tight or not np.any(open_):
                return None
            clear, loads = open_, found.shares
        score = loads * self._rises.expected(self._stage(choice))
        return int(np.argmax(np.where(clear, score, -1.0)))

    def _stage(self, choice: Decided) -> NDArray[np.intp]:
        """0 where the own neurons are undecided, else 1, shape (n,)."""
        return np.where(np.any((choice == UNDECIDED) & self.own, axis=1), np.intp(0), np.intp(1))


class _Bounded(NamedTuple):
    """A bound and the program behind it; `shares` in what keeps it from being tight, shape (n,)."""

    bound: float
    dual: Array
    primal: Array
    shares: Array
    rounding: float
    tight: bool


def _shares(values: Array, total: float) -> Array:
    """The point of {b ≥ 0, Σ b = total} nearest to `values`, total ≥ 0."""
    falling = np.sort(values)[::-1]
    means = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    count = int(np.flatnonzero(falling - means >= 0)[-1])
    return np.asarray(np.maximum(values - means[count], 0.0))


def many_minimum(
    problem: Problem, network: Network, *, state: State | None = None, budget: int = BUDGET
) -> MinimumNorm:
    """Find the minimum-norm global minimiser of a network of ReLU neurons with fixed signs.

    Parameters
    ----------
    problem : Problem
    network : Network
    state : State, optional
        The pieces of its pattern are tried as a solution: a warm start.
    budget : int
        Relaxations to solve at most.

    Returns
    -------
    MinimumNorm
        See :func:`relubias.references.outcome.record_of`.
    """
    tree = ManyTree(problem, network)
    top = tree.relax(tree.nothing_decided(), None)
    found = search(tree, top, budget=budget, candidates=_candidates(tree, top, state))
    if not found.closed and not found.interrupted and np.count_nonzero(tree.kept) <= FEW:
        load = shared_load(problem, network)
        if np.array_equal(load.labels, tree.labels):  # else none fit, and the two compromises differ
            bound = max(found.lower_bound, math.sqrt(load.lower_bound))
            found = replace(found, lower_bound=min(found.norm, bound))
    return record_of(tree, found)


def _candidates(tree: ManyTree, top: Relaxed, state: State | None) -> Iterator[Decided]:
    """Equal shares of all labels, the pattern of a state, and equal shares in the solution of a pair."""
    yield tree.equal_shares()
    if state is not None:
        yield tree.choice_of(state.pattern, top.nearest)
    if top.split is not None and len(set(tree.network.signs)) == 2:
        pair = pair_minimum(tree.problem, Network.pair(), budget=PAIRED)
        if pair.status is Optimality.INTERRUPTED:
            raise KeyboardInterrupt
        if pair.is_solution:
            yield tree.choice_of(pair.state.pattern[np.where(tree.signs > 0, 0, 1)], top.nearest)
