"""A plain step of gradient descent, n = 100 and d = 20 000, against the same step by other means.

All start in the same weights and have to agree on β = Xw after 200 steps, in which the negative labels go inactive.
Ours are plain steps: nothing is leapt over. scikit-learn's ``MLPRegressor`` cannot do this job: it always trains biases
and output weights too, divides the loss by the number of samples and reports no pre-activations; one neuron with a
fixed output weight is not among its models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks.harness import Check, Remark, Row, entrants, race
from benchmarks.profiling import Job
from benchmarks.rivals import training
from relubias import Network, Problem, starts
from relubias.dynamics.stepping import Iterate
from relubias.linalg.gram import Array

GOAL = "β equal to 1e-10; 1000 times as fast as PyTorch, 800 times as NumPy, 5 times as NumPy given K, per step"
N_SAMPLES, N_FEATURES = 100, 20_000
#: Steps that are compared, and steps that are timed; so small a step keeps everything moving for as long as that.
COMPARED, TIMED = 200, 10_000
TOLERANCE = 1e-10


class Experiment:
    """The problem, the start and the step."""

    def __init__(self) -> None:
        self.features = np.random.default_rng(0).standard_normal((N_SAMPLES, N_FEATURES))
        self.labels = np.where(np.arange(N_SAMPLES) % 2, 1.0, -1.0)
        self.problem = Problem.from_features(self.features, self.labels)
        self.gram = np.array(self.problem.gram)
        self.start = starts.all_active(self.problem, Network.single())
        self.weights, self.primal = self.start.weights()[0], self.start.primal[0].copy()
        self.step_size = 1e-3 / self.problem.operator.largest
        self.begun = Iterate.begin(self.start, self.step_size)

    def ours(self, steps: int = TIMED) -> Array:
        """β after so many plain steps."""
        iterate = self.begun.copy()
        iterate.advance(steps, (np.inf, np.inf))
        assert iterate.steps == steps
        return np.asarray(iterate.primal[0])

    def numpy_weights(self, steps: int) -> Array:
        """The same by the loop over the weights."""
        return self.features @ training.in_weights(self.features, self.labels, self.weights, self.step_size, steps)

    def numpy_gram(self, steps: int) -> Array:
        """The same by the loop given K."""
        return training.given_gram(self.gram, self.labels, self.primal, self.step_size, steps)

    def torch(self, steps: int) -> Array:
        """The same by PyTorch."""
        return self.features @ training.by_autograd(self.features, self.labels, self.weights, self.step_size, steps)

    def race(self, name: str, rival: Callable[[int], Array], steps: int, *, at_most: float) -> Row:
        """Compare β, then time the rival for `steps` steps."""

        def deviation() -> float:
            return float(np.max(np.abs(self.ours(COMPARED) - rival(COMPARED)))) / float(np.abs(self.labels).max())

        return race(
            f"a step, {N_SAMPLES} x {N_FEATURES}",
            self.ours,
            name,
            partial(rival, steps),
            at_most=at_most,
            check=Check(deviation, TOLERANCE),
            factors=(1 / TIMED, 1 / steps),
        )


def measure() -> Iterator[Row | Remark]:
    """Yield one race for each way."""
    one = Experiment()
    yield from entrants(
        [
            partial(one.race, "PyTorch autograd", one.torch, 50, at_most=1 / 1000),
            partial(one.race, "NumPy on the weights", one.numpy_weights, 50, at_most=1 / 800),
            partial(one.race, "NumPy given K", one.numpy_gram, TIMED, at_most=1 / 5),
        ]
    )


def jobs() -> Iterator[Job]:
    """Steps against products with K."""
    one = Experiment()
    product = np.empty(N_SAMPLES)

    def products() -> None:
        for _ in range(TIMED):
            np.dot(one.gram, one.primal, out=product)

    yield Job(f"{TIMED} plain steps, n = {N_SAMPLES}", one.ours, f"{TIMED} products K a", products)
