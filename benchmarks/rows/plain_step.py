"""A plain step of gradient descent against one product with K by BLAS, in place, on one thread.

Every sample is active, the dearest case: the step reads all of K, as the product does, and then has to look
for changes of sign. 20 000 calls a repeat, because one lasts about a microsecond.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Row, race

SAMPLES, CALLS = 100, 20_000


def measure() -> Iterator[Row]:
    """Yield the row for n = 100."""
    from threadpoolctl import threadpool_limits

    from relubias import Network, Problem, starts
    from relubias.dynamics.stepping import Iterate

    features = np.random.default_rng(0).standard_normal((SAMPLES, 2_000))
    problem = Problem.from_features(features, np.ones(SAMPLES))
    # A tiny step keeps all samples active and moving for as long as is measured.
    start = starts.all_active(problem, Network.single(), scale=0.5)
    iterate = Iterate.begin(start, 1e-9 / problem.operator.largest)
    vector, product = start.dual[0].copy(), np.empty(SAMPLES)

    def steps() -> None:
        iterate.advance(CALLS, (np.inf, np.inf))

    def products() -> None:
        for _ in range(CALLS):
            np.dot(problem.gram, vector, out=product)

    with threadpool_limits(1):
        yield race(f"{CALLS} plain steps, n = {SAMPLES}", steps, "np.dot(K, alpha, out=…)", products, at_most=1.5)
    assert iterate.changes == 0
