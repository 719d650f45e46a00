"""A plain step of gradient descent against one product with K by BLAS, in place, on one thread.

Every sample is active, the dearest case: the step reads all of K, as the product does, and then has to look
for changes of sign. 20 000 calls a repeat, because one lasts about a microsecond.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Check, Row, race
from benchmarks.profiling import Job
from relubias import Network, Problem, starts
from relubias.dynamics.stepping import Iterate

GOAL = "at most 1.5 times a product with K"
SAMPLES, CALLS = 100, 20_000


def measure() -> Iterator[Row]:
    """Yield the row for n = 100."""
    (job,) = jobs()
    yield race(job.name, job.task, job.limit_name, job.limit, at_most=1.5, check=Check(deviation, 1e-12))


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


def jobs() -> Iterator[Job]:
    """Steps and products."""
    iterate = begun()
    gram, vector, product = iterate.operator.gram, iterate.dual[0].copy(), np.empty(SAMPLES)

    def steps() -> None:
        iterate.advance(CALLS, (np.inf, np.inf))
        assert not iterate.changes

    def products() -> None:
        for _ in range(CALLS):
            np.dot(gram, vector, out=product)

    yield Job(f"{CALLS} plain steps, n = {SAMPLES}", steps, "np.dot(K, alpha, out=…)", products)
