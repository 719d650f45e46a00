"""Minimum-norm programs, half the labels negative, and the races for their solution.

Ours and the rivals get the same two things: K and the labels, of which nothing has been computed. "K as it is" is
`minimum_norm`, which proves what it answers and K regular; with "K checked" our time has `Problem.from_gram` in it as
well, which copies K and looks for entries that are not finite, asymmetry and negative eigenvalues. No package does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import scipy.linalg

import relubias
from benchmarks.harness import Check, Row, WrongAnswer, race
from benchmarks.rivals.quadratic import Solver
from benchmarks.tasks.optimality import on_active_set, residual, residual_of_weights
from benchmarks.tasks.training import NETWORK
from relubias.linalg.gram import Array

LABELS = "signs 0.5..2"
KKT_AT_MOST = 1e-12
#: Seconds for one race: the slowest package takes five, and gets three repeats.
PATIENCE = 12.0
#: The goal: ours over the rival's time, and the same in words.
FASTER = 1.0
IN_WORDS = f"faster than every rival in Gram form, given K; KKT residuals at most {KKT_AT_MOST:.0e}"

Solution = Callable[[], relubias.MinimumNorm]


class Program:
    """K in units in which its mean diagonal is 1, and the labels.

    Parameters
    ----------
    n_samples, n_features : int
    features : bool
        Whether to draw the features too, for who solves the program in the weights.
    """

    def __init__(self, n_samples: int, n_features: int, *, features: bool = False) -> None:
        drawn = relubias.sampling.gaussian(
            n_samples=n_samples, n_features=n_features, labels=LABELS, features=features, rng=0
        )
        scale = float(np.trace(drawn.gram)) / n_samples
        self.name = f"w*, n = {n_samples}, d = {n_features}"
        self.labels = np.array(drawn.labels)
        self.gram = np.array(drawn.gram) / scale
        self.features = np.array(drawn.features) / np.sqrt(scale) if features else None

    def ours(self) -> relubias.MinimumNorm:
        """From K and the labels to the solution and its proof."""
        return relubias.minimum_norm(relubias.Problem(gram=self.gram, labels=self.labels), NETWORK)

    def ours_checked(self) -> relubias.MinimumNorm:
        """The same with what is checked of a K from outside."""
        return relubias.minimum_norm(relubias.Problem.from_gram(self.gram, self.labels), NETWORK)

    def solution(self, ours: Solution | None = None) -> Array:
        """Our multipliers.

        Raises
        ------
        WrongAnswer
            If their residuals, recomputed here, are not small enough.
        """
        dual = np.asarray((ours or self.ours)().state.dual[0])
        found = residual(self.gram, self.labels, dual)
        if not found <= KKT_AT_MOST:
            raise WrongAnswer(f"the KKT residual of relubias is {found:.1e}, more than {KKT_AT_MOST:g}.")
        return dual

    def off_by(self, dual: Array, ours: Solution | None = None) -> float:
        """How far the weights of these multipliers are from ours, relative."""
        right = self.solution(ours)
        difference = dual - right
        return float(np.sqrt(difference @ self.gram @ difference / (right @ self.gram @ right)))

    def race(self, name: str, solve: Solver, tolerance: float, *, checked: bool = False, repeats: int = 9) -> Row:
        """Compare the answers, then race in Gram form: to be faster is the goal, unless K is checked as well."""
        rival = partial(solve, self.gram, self.labels)
        answer = cache(rival)  # some take seconds
        ours = self.ours_checked if checked else self.ours
        return race(
            self._named(checked),
            ours,
            name,
            rival,
            at_most=None if checked else FASTER,
            repeats=repeats,
            check=Check(lambda: self.off_by(answer(), ours), tolerance),
            residuals=lambda: self._residuals(ours, answer()),
            patience=PATIENCE,
        )

    def race_in_weights(self, name: str, solve: Solver, tolerance: float, *, repeats: int = 5) -> Row:
        """Compare the answers, then race against a program in d unknowns, which may take its time."""
        assert self.features is not None
        features, labels = self.features, self.labels
        rival = partial(solve, features, labels)
        answer = cache(rival)

        def deviation() -> float:
            right = features.T @ self.solution()
            return float(np.linalg.norm(answer() - right) / np.linalg.norm(right))

        def residuals() -> tuple[float, float]:
            return residual(self.gram, labels, self.solution()), residual_of_weights(features, labels, answer())

        return race(
            self._named(False),
            self.ours,
            f"{name}, in the weights",
            rival,
            repeats=repeats,
            check=Check(deviation, tolerance),
            residuals=residuals,
            patience=PATIENCE,
        )

    def race_factorisation(self, *, at_most: float | None = None, checked: bool = False, repeats: int = 5) -> Row:
        """Against one Cholesky factorisation of K; the answer is held against the closed form on its active set."""
        ours = self.ours_checked if checked else self.ours

        def closed_form() -> Array:
            return on_active_set(self.gram, self.labels, self.solution(ours))

        return race(
            self._named(checked),
            ours,
            "one Cholesky factorisation of K",
            partial(factorise, self.gram),
            at_most=at_most,
            repeats=repeats,
            check=Check(lambda: self.off_by(closed_form(), ours), 1e-10),
            residuals=lambda: self._residuals(ours, closed_form()),
        )

    def _named(self, checked: bool) -> str:
        return f"{self.name}, {'K checked' if checked else 'K as it is'}"

    def _residuals(self, ours: Solution, dual: Array) -> tuple[float, float]:
        """Those of ours and of these multipliers."""
        return residual(self.gram, self.labels, self.solution(ours)), residual(self.gram, self.labels, dual)


def factorise(gram: Array) -> None:
    """Factor K as fast as LAPACK does, in a copy whose columns are contiguous."""
    scipy.linalg.lapack.dpotrf(gram.T, lower=1, clean=0)
