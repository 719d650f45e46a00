"""The searches for the global minimum of two and more neurons, within a time that a person will wait.

Nearly orthogonal samples are closed at the root; those of a pair up to n/d = 4/5 within a few nodes. Many neurons on
samples that are not have an interval after their budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import relubias
from benchmarks.harness import Row, WrongAnswer, ceiling
from benchmarks.profiling import Job
from benchmarks.tasks.programs import factorise
from relubias.status import Optimality

GOAL = (
    "a pair within 1 s at n/d = 1/100 and at n = 16, d = 20, within 60 s at n = 50, d = 100; "
    "four neurons at n/d = 1/100 within 5 s; the interval of twenty neurons within 60 s"
)
#: Positive and negative neurons, n, d, how the search has to end, and the seconds that it may take.
SEARCHES = (
    (1, 1, 200, 20_000, Optimality.OPTIMAL, 1.0),
    (1, 1, 16, 20, Optimality.OPTIMAL, 1.0),
    (1, 1, 50, 100, Optimality.OPTIMAL, 60.0),
    (2, 2, 100, 10_000, Optimality.OPTIMAL, 5.0),
    (10, 10, 100, 150, Optimality.BUDGET, 60.0),
)

Search = tuple[int, int, int, int, Optimality, float]


def measure() -> Iterator[Row]:
    """Yield one ceiling for each search."""
    for one in SEARCHES:
        yield ceiling(name_of(one), task(one), at_most=one[-1])


def name_of(one: Search) -> str:
    """Say what is searched."""
    positive, negative, n_samples, n_features, status, _ = one
    neurons = "pair" if (positive, negative) == (1, 1) else f"{positive + negative} neurons"
    what = "global w*" if status is Optimality.OPTIMAL else "interval of w*"
    return f"{what}, {neurons}, n = {n_samples}, d = {n_features}"


def task(one: Search) -> Callable[[], relubias.MinimumNorm]:
    """Draw the problem, and return what searches; it starts from a new problem each time."""
    positive, negative, n_samples, n_features, status, _ = one
    drawn = relubias.sampling.gaussian(n_samples=n_samples, n_features=n_features, labels="signs 0.5..2", rng=0)
    network = relubias.Network.of_signs([1] * positive + [-1] * negative)

    def search() -> relubias.MinimumNorm:
        star = relubias.minimum_norm(relubias.Problem(gram=drawn.gram, labels=drawn.labels), network)
        if star.status is not status or not 0 < star.lower_bound <= star.norm:
            raise WrongAnswer(f"the search ended as {star.status}, not as {status}.")
        return star

    return search


def jobs() -> Iterator[Job]:
    """Each search against one factorisation of K."""
    for one in SEARCHES:
        search = task(one)
        remark = "The distance is the programs of the nodes, and the two proofs of the last one."
        yield Job(
            name_of(one), search, "one Cholesky factorisation of K", partial(factorise, search().problem.gram), remark
        )
