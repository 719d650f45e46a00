"""Best-first branch and bound over the pieces in which samples are fitted.

A node decides the piece of some samples; of the others it knows a convex relaxation, whose value bounds the norm of
every solution below the node. The node of least bound comes first. One undecided sample is split into its pieces,
and a node is closed where its bound reaches the best solution found, or where nothing is left to split. Then

    least norm ∈ [min over all closed and open nodes of their bounds, best solution],

whenever the search stops. Bounds are those of :mod:`relubias.references.conditions`: they hold for any multipliers and
with the rounding of K against them. For the decision to close, this margin of rounding is forgiven, since no
amount of splitting makes up for it; it stays in the interval.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

#: A node is closed where its bound is below the best norm by at most this fraction.
CLOSED = 1e-11
#: Rounding that is forgiven in that decision, at most, as a fraction.
LARGEST_ROUNDING = 1e-6

#: Where no solution is known, bounds this many times that of the root say that there is none.
HOPELESS = 1e5

#: The piece of each sample, shape (n,); 0 where it is undecided.
Choice = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The relaxation of one node.

    Attributes
    ----------
    choice : ndarray, shape (n,)
        What the node decides.
    bound : float
        No solution below the node has a smaller norm; infinite where there is none.
    rounding : float
        How much of the bound its margin for rounding may have taken, as a fraction.
    nearest : ndarray, shape (n,)
        The decided pieces, and the nearest ones to the relaxation for the other samples.
    split : int or None
        The sample to be decided next; None where the relaxation violates nothing beyond rounding.
    binding : ndarray of bool
        The constraints that hold with equality, in the order of the tree that made it: where children start.
    """

    choice: Choice
    bound: float
    rounding: float
    nearest: Choice
    split: int | None
    binding: NDArray[np.bool_]


class Tree(Protocol):
    """What is searched."""

    def relax(self, choice: Choice, parent: Relaxed | None) -> Relaxed:
        """Solve the relaxation of a node, from the one above it."""

    def norm(self, choice: Choice, near: Relaxed | None) -> float:
        """The least norm with all pieces decided; infinite where they cannot be met."""

    def pieces(self, sample: int) -> Iterable[int]:
        """The pieces of a sample."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a search has found.

    Attributes
    ----------
    choice : ndarray, shape (n,), or None
        The pieces of the best solution; None where no solution was found.
    norm : float
        Its norm; infinite where there is none.
    lower_bound : float
        No solution has a smaller norm.
    nodes : int
        Relaxations solved; 1 where nothing was split.
    closed : bool
        Whether all nodes are closed; else the budget is spent.
    root : Relaxed
        The relaxation with nothing decided.
    """

    choice: Choice | None
    norm: float
    lower_bound: float
    nodes: int
    closed: bool
    root: Relaxed


def search(tree: Tree, root: Relaxed, *, budget: int, candidates: Iterable[Choice] = ()) -> Found:
    """Search a tree until every node is closed, or `budget` relaxations have been solved.

    Parameters
    ----------
    tree : Tree
    root : Relaxed
        The relaxation with nothing decided.
    budget : int
    candidates : iterable of ndarray, shape (n,)
        Choices that may be good, such as that of a trained network.
    """
    order = count()
    best = _Best(tree, HOPELESS * root.bound)
    nodes, floor = 1, math.inf
    for candidate in (root.nearest, *candidates):
        best.offer(candidate, root)
    queue = [(root.bound, next(order), root)]
    while queue:
        node = queue[0][2]
        if best.closes(node) or node.split is None:
            floor = min(floor, node.bound)
            heapq.heappop(queue)
            continue
        pieces = list(tree.pieces(node.split))
        if nodes + len(pieces) > budget:
            break
        heapq.heappop(queue)
        for piece in pieces:
            choice = node.choice.copy()
            choice[node.split] = piece
            child = tree.relax(choice, node)
            nodes += 1
            bound = max(child.bound, node.bound)
            if math.isfinite(child.bound):
                best.offer(child.nearest, child)
            heapq.heappush(queue, (bound, next(order), replace(child, bound=bound)))
    lower = min([floor, best.norm, *(entry[0] for entry in queue)])
    return Found(best.choice, best.norm, lower, nodes, not queue, root)


class _Best:
    """The best solution so far; the same choice is never solved twice."""

    def __init__(self, tree: Tree, hopeless: float) -> None:
        self._tree, self._hopeless = tree, hopeless
        self._seen: set[bytes] = set()
        self.norm = math.inf
        self.choice: Choice | None = None

    def offer(self, choice: Choice, near: Relaxed) -> None:
        key = choice.tobytes()
        if key in self._seen:
            return
        self._seen.add(key)
        norm = self._tree.norm(choice, near)
        if norm < self.norm:
            self.norm, self.choice = norm, choice

    def closes(self, node: Relaxed) -> bool:
        """Whether nothing below the node can be better than the best by more than rounding."""
        if self.choice is None:
            return math.isinf(node.bound) or node.bound > self._hopeless > 0
        forgiven = CLOSED + min(node.rounding, LARGEST_ROUNDING)
        return node.bound >= self.norm * (1.0 - forgiven)
