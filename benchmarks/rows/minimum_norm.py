"""The minimum-norm solution, half the labels negative, against quadratic-programming packages at default settings.

n = 200 and 1000 here, n = 2000 in :mod:`benchmarks.rows.minimum_norm_large`; d = 20 n and 2 n. In Gram form all solve
the dual program in the n multipliers, given K. Ours gets a problem that has been validated, which the packages do not
ask for, and a new one in each repeat, so that nothing which one solve leaves behind helps the next. At n = 200 the
program is also solved in the weights, as it is written down. A rival's weights have to agree with ours to what its
default settings reach, and ours have to meet the optimality conditions to 1e-12, before anything is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import scipy.linalg

import relubias
from benchmarks.harness import Check, Remark, Row, WrongAnswer, entrants, race
from benchmarks.profiling import Job
from benchmarks.rivals.quadratic import IN_GRAM_FORM, IN_THE_WEIGHTS, Solver
from relubias.linalg.gram import Array

GOAL = "faster than every rival in Gram form, KKT residuals at most 1e-12"
SIZES, RATIOS = (200, 1000), (20, 2)
LABELS = "signs 0.5..2"
KKT_AT_MOST = 1e-12
#: Seconds for one race: the slow packages get one repeat or two.
PATIENCE = 2.5
NETWORK = relubias.Network.single()


class Program:
    """A drawn problem, as often as needed, and what the rivals are given of it."""

    def __init__(self, n_samples: int, n_features: int, *, features: bool = False) -> None:
        self.name = f"w*, n = {n_samples}, d = {n_features}"
        self.drawn = relubias.sampling.gaussian(
            n_samples=n_samples, n_features=n_features, labels=LABELS, features=features, rng=0
        )
        self.labels = np.array(self.drawn.labels)
        self.scale = float(np.trace(self.drawn.gram)) / n_samples
        self.gram = np.array(self.drawn.gram) / self.scale
        self._fresh: list[relubias.Problem] = []

    def prepare(self, count: int) -> None:
        """Have so many new problems ready."""
        self._fresh = [self.new() for _ in range(count)]

    def new(self) -> relubias.Problem:
        """The same problem, in the same memory, of which nothing is known but that K is positive definite."""
        problem = relubias.Problem(gram=self.drawn.gram, labels=self.labels)
        assert problem.operator.is_regular  # as `Problem.from_gram` finds out when it validates K
        return problem

    def ours(self) -> relubias.MinimumNorm:
        """Solve a new one."""
        return relubias.minimum_norm(self._fresh.pop() if self._fresh else self.new(), NETWORK)

    def solution(self) -> Array:
        """Our multipliers, in units in which the mean diagonal of K is 1.

        Raises
        ------
        WrongAnswer
            If their KKT residuals are not small enough.
        """
        star = self.ours()
        if not star.kkt.worst <= KKT_AT_MOST:
            raise WrongAnswer(f"the KKT residuals of relubias are {star.kkt.worst:.1e}.")
        return np.asarray(star.state.dual[0] * self.scale)

    def off_by(self, dual: Array) -> float:
        """How far the weights of these multipliers are from ours, relative."""
        right = self.solution()
        difference = dual - right
        return float(np.sqrt(difference @ self.gram @ difference / (right @ self.gram @ right)))

    def race(self, name: str, solve: Solver, tolerance: float, *, repeats: int = 9) -> Row:
        """Compare the answers, then race in Gram form."""
        rival = partial(solve, self.gram, self.labels)
        check = Check(lambda: self.off_by(rival()), tolerance)
        self.prepare(repeats + 1)
        return race(self.name, self.ours, name, rival, at_most=1.0, repeats=repeats, check=check, patience=PATIENCE)

    def race_in_weights(self, name: str, solve: Solver, tolerance: float, *, repeats: int = 5) -> Row:
        """Compare the answers, then race against a program in d unknowns, which may take its time."""
        features = np.array(self.drawn.features) / np.sqrt(self.scale)
        rival = partial(solve, features, self.labels)

        def deviation() -> float:
            right = features.T @ self.solution()
            return float(np.linalg.norm(rival() - right) / np.linalg.norm(right))

        self.prepare(repeats + 1)
        return race(
            self.name,
            self.ours,
            f"{name}, in the weights",
            rival,
            repeats=repeats,
            check=Check(deviation, tolerance),
            patience=PATIENCE,
        )


def factorise(gram: Array) -> None:
    """Factor K as fast as LAPACK does, in a copy whose columns are contiguous."""
    scipy.linalg.lapack.dpotrf(gram.T, lower=1, clean=0)


def measure() -> Iterator[Row | Remark]:
    """Yield the races by size; those in the weights for the smallest."""
    for n_samples in SIZES:
        for ratio in RATIOS:
            smallest = n_samples == SIZES[0]
            one = Program(n_samples, ratio * n_samples, features=smallest)
            races: list[Callable[[], Row]] = [partial(one.race, *rival) for rival in IN_GRAM_FORM]
            if smallest:
                races += [partial(one.race_in_weights, *rival) for rival in IN_THE_WEIGHTS]
            yield from entrants(races)


def jobs() -> Iterator[Job]:
    """Each size against one factorisation of K."""
    for n_samples in SIZES:
        one = Program(n_samples, RATIOS[0] * n_samples)
        one.prepare(300_000 // n_samples)
        yield Job(one.name, one.ours, "one Cholesky factorisation of K", partial(factorise, one.gram))
