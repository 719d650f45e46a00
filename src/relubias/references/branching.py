"""Best-first branch and bound over the pieces in which samples are fitted.

A node decides the piece of some samples; of the others it knows a convex relaxation, whose value bounds the norm of
every solution below the node. The node of least bound comes first. One undecided sample is split into its pieces,
and a node is closed where its bound reaches the best solution found, or where nothing is left to split. Then

    least norm ∈ [min over all closed and open nodes of their bounds, best solution],

whenever the search stops: a node leaves the queue only when its children are in it, so that this holds at an
interrupt too, which ends the search as a spent budget does. Bounds are those of
:mod:`relubias.references.conditions`: they hold for any multipliers and with the rounding of K against them. For the
decision to close, this margin of rounding is forgiven, since no amount of splitting makes up for it; it stays in the
interval.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.gram import Array

#: A node is closed where its bound is below the best norm by at most this fraction.
CLOSED = 1e-11
#: Rounding that is forgiven in that decision, at most, as a fraction.
LARGEST_ROUNDING = 1e-6

#: Relaxations solved at most, where nothing else is asked for.
BUDGET = 10_000

#: Where no solution is known, bounds this many times that of the root say that there is none.
HOPELESS = 1e5

#: The piece of each sample, one entry or row a sample in the code of the tree; 0 where it is undecided.
Choice = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The relaxation of one node.

    Attributes
    ----------
    choice : ndarray, shape (n, …)
        What the node decides.
    bound : float
        No solution below the node has a smaller norm; infinite where there is none.
    rounding : float
        How much of the bound its margin for rounding may have taken, as a fraction.
    nearest : ndarray, shape (n, …)
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

    def pieces(self, node: Relaxed) -> Iterable[Any]:
        """The pieces of the sample that a node splits, each an entry or row of a choice.

        Every solution below the node is in one of them, or has a solution of the same norm that is.
        """


@dataclass(frozen=True, eq=False)
class Found:
    """What a search has found.

    Attributes
    ----------
    choice : ndarray, shape (n, …), or None
        The pieces of the best solution; None where no solution was found.
    norm : float
        Its norm; infinite where there is none.
    lower_bound : float
        No solution has a smaller norm.
    nodes : int
        Relaxations solved; 1 where nothing was split.
    closed : bool
        Whether all nodes are closed; else the budget is spent, or the search was interrupted.
    interrupted : bool
        Whether the user stopped it.
    root : Relaxed
        The relaxation with nothing decided.
    """

    choice: Choice | None
    norm: float
    lower_bound: float
    nodes: int
    closed: bool
    interrupted: bool
    root: Relaxed


def search(tree: Tree, root: Relaxed, *, budget: int, candidates: Iterable[Choice] = ()) -> Found:
    """Search a tree until every node is closed, or `budget` relaxations have been solved, or the user interrupts.

    Parameters
    ----------
    tree : Tree
    root : Relaxed
        The relaxation with nothing decided.
    budget : int
    candidates : iterable of ndarray, shape (n, …)
        Choices that may be good, such as that of a trained network.
    """
    hunt = _Hunt(tree, root)
    interrupted = False
    try:
        for candidate in (root.nearest, *candidates):
            hunt.offer(candidate, root)
        while hunt.queue and hunt.advance(budget):
            pass
    except KeyboardInterrupt:
        interrupted = True
    return Found(
        choice=hunt.best[1],
        norm=hunt.best[0],
        lower_bound=min([hunt.floor, hunt.best[0], *(entry[0] for entry in hunt.queue)]),
        nodes=hunt.nodes,
        closed=not hunt.queue,
        interrupted=interrupted,
        root=root,
    )


class _Hunt:
    """A search under way: open nodes, the least bound of the closed ones, and the best solution so far.

    An interrupt may come between any two statements; whatever is open or closed is in `queue` or `floor` at any time.
    """

    def __init__(self, tree: Tree, root: Relaxed) -> None:
        self._tree, self._hopeless = tree, HOPELESS * root.bound
        self._order = count()
        self._seen: set[bytes] = set()
        self.best: tuple[float, Choice | None] = (math.inf, None)
        self.nodes, self.floor = 1, math.inf
        self.queue = [(root.bound, next(self._order), root)]

    def advance(self, budget: int) -> bool:
        """Close or split the node of least bound; False where the budget does not reach for it."""
        node = self.queue[0][2]
        if self._closes(node) or node.split is None:
            self.floor = min(self.floor, node.bound)
            heapq.heappop(self.queue)
            return True
        pieces = list(islice(self._tree.pieces(node), budget))
        if self.nodes + len(pieces) > budget:
            return False
        for piece in pieces:
            choice = node.choice.copy()
            choice[node.split] = piece
            child = self._tree.relax(choice, node)
            self.nodes += 1
            bound = max(child.bound, node.bound)
            if math.isfinite(child.bound):
                self.offer(child.nearest, child)
            heapq.heappush(self.queue, (bound, next(self._order), replace(child, bound=bound)))
        heapq.heappop(self.queue)  # the node itself: no child has a smaller bound, nor came before it
        return True

    def offer(self, choice: Choice, near: Relaxed) -> None:
        """Solve with all pieces decided, and keep what is better; the same choice is never solved twice."""
        key = choice.tobytes()
        if key in self._seen:
            return
        norm = self._tree.norm(choice, near)
        self._seen.add(key)
        if norm < self.best[0]:
            self.best = norm, choice

    def _closes(self, node: Relaxed) -> bool:
        """Whether nothing below the node can be better than the best by more than rounding."""
        norm, choice = self.best
        if choice is None:
            return math.isinf(node.bound) or node.bound > self._hopeless > 0
        return node.bound >= norm * (1.0 - CLOSED - min(node.rounding, LARGEST_ROUNDING))


class Rises:
    """By how much the splits of each sample have raised bounds, relative, in either stage."""

    def __init__(self, n_samples: int) -> None:
        self._sums, self._counts = np.zeros((2, n_samples)), np.zeros((2, n_samples))

    def note(self, stage: int, sample: int, before: float, after: float) -> None:
        """One child of a split; what doubles the bound, or closes the child, counts as 1."""
        self._sums[stage, sample] += min(1.0, max(0.0, after / before - 1.0)) if before > 0 else float(after > 0)
        self._counts[stage, sample] += 1

    def expected(self, stage: NDArray[np.intp]) -> Array:
        """The mean rise of each sample, shape (n,); as if it had had two children with the mean rise of all."""
        columns = np.arange(len(stage))
        overall = (float(self._sums.sum()) + 1e-3) / (float(self._counts.sum()) + 1.0)
        return (self._sums[stage, columns] + 2.0 * overall) / (self._counts[stage, columns] + 2.0)
