"""A plain step of gradient descent against one product with K by BLAS, in place, on one thread.

Every sample is active, the dearest case: the step reads all of K, as the product does, and then has to look
for changes of sign. 20 000 calls a repeat, because one lasts about a microsecond.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.harness import Check, Row, race
from benchmarks.profiling import Job
from benchmarks.tasks.products import products
from relubias import Network, Problem, starts
from relubias.dynamics.stepping import Iterate

AT_MOST = 1.5
GOAL = f"at most {AT_MOST:g} times a product with K"
SAMPLES, CALLS = 100, 20_000


def measure() -> Iterator[Row]:
    """Yield the row for n = 100."""
    iterate = begun()
    gram, vector, product = iterate.operator.gram, iterate.dual[0].copy(), np.empty(SAMPLES)

    def by_numpy() -> None:
        for _ in range(CALLS):
            np.dot(gram, vector, out=product)

    name, check = f"{CALLS} plain steps, n = {SAMPLES}", Check(deviation, 1e-12)
    yield race(name, partial(steps, iterate), "np.dot(K, alpha, out=…)", by_numpy, at_most=AT_MOST, check=check)


def begun() -> Iterate:
    """Gradient descent with a step so tiny that all samples stay active and moving for as long as is measured."""
    features = np.random.default_rng(0).standard_normal((SAMPLES, 2_000))
    problem = Problem.from_features(features, np.ones(SAMPLES))
    return Iterate.begin(starts.all_active(problem, Network.single(), scale=0.5), 1e-9 / problem.operator.largest)


def deviation() -> float:
    """How far the first step is from β − η K (β − y), which it is while all samples are active."""
    iterate = begun()
    expected = iterate.primal[0] - iterate.step_size * (iterate.operator.gram @ (iterate.primal[0] - iterate.labels))
    iterate.advance(1, (np.inf, np.inf))
    return float(np.max(np.abs(iterate.primal[0] - expected)))


def steps(iterate: Iterate) -> None:
    """Take them; nothing changes sign."""
    iterate.advance(CALLS, (np.inf, np.inf))
    assert not iterate.changes


def jobs() -> Iterator[Job]:
    """Steps against products that are called from compiled code."""
    iterate = begun()
    yield Job(
        f"{CALLS} plain steps, n = {SAMPLES}",
        partial(steps, iterate),
        f"{CALLS} products K a, compiled",
        products(iterate.operator.gram, np.ones(SAMPLES, dtype=bool), CALLS),
        "The distance is the look for changes of sign, and what our own product is slower or faster than that of BLAS.",
    )
