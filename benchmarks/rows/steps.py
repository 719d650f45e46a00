"""A plain step of gradient descent, n = 100 and d = 20 000, against the same step by other means.

All start in the same weights and have to agree on β = Xw after 200 steps, in which the negative labels go inactive.
Ours are plain steps: nothing is leapt over. They need K, which the loops over the weights do not; where a row says that
K is at hand, its product is not in our time. Two rows without a goal say what a step costs in a run of 10 000: with the
product and the start, and by the public function. scikit-learn's ``MLPRegressor`` cannot do this job: it always trains
a bias in each layer, so that no network without biases is among its models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks.harness import Check, Remark, Row, entrants, race
from benchmarks.profiling import Job
from benchmarks.rivals import training
from benchmarks.tasks.products import products
from relubias import Network, Problem, gradient_descent, starts
from relubias.dynamics.stepping import Iterate
from relubias.linalg.gram import Array

TOLERANCE = 1e-10
#: So many times as fast as PyTorch, as NumPy on the weights, and as NumPy given K.
PYTORCH, WEIGHTS, GIVEN_GRAM = 1000, 800, 5
GOAL = (
    f"β equal to {TOLERANCE:.0e}; {PYTORCH} times as fast as PyTorch, {WEIGHTS} times as NumPy, "
    f"{GIVEN_GRAM} times as NumPy given K, per step with K at hand"
)
N_SAMPLES, N_FEATURES = 100, 20_000
#: Steps that are compared, and steps that are timed; so small a step keeps everything moving for as long as that.
COMPARED, TIMED = 200, 10_000
#: Steps that loops over the weights are timed for.
FEW = 50

Steps = Callable[[int], Array]


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

    def ours(self, steps: int) -> Array:
        """β after so many plain steps."""
        iterate = self.begun.copy()
        iterate.advance(steps, (np.inf, np.inf))
        assert iterate.steps == steps
        return np.asarray(iterate.primal[0])

    def from_features(self, steps: int) -> Array:
        """The same with the Gram product and the start."""
        problem = Problem.from_features(self.features, self.labels)
        iterate = Iterate.begin(starts.all_active(problem, Network.single()), self.step_size)
        iterate.advance(steps, (np.inf, np.inf))
        return np.asarray(iterate.primal[0])

    def public(self, steps: int) -> Array:
        """The same by the public function, which may leap and looks for a limit."""
        network = self.start.network
        run = gradient_descent(self.problem, network, self.start, step_size=self.step_size, until=steps)
        return np.asarray(run.state.primal[0])

    def numpy_weights(self, steps: int) -> Array:
        """The same by the loop over the weights."""
        return self.features @ training.in_weights(self.features, self.labels, self.weights, self.step_size, steps)

    def numpy_gram(self, steps: int) -> Array:
        """The same by the loop given K."""
        return training.given_gram(self.gram, self.labels, self.primal, self.step_size, steps)

    def torch(self, steps: int) -> Array:
        """The same by PyTorch."""
        return self.features @ training.by_autograd(self.features, self.labels, self.weights, self.step_size, steps)

    def race(self, what: str, ours: Steps, name: str, rival: Steps, steps: int, *, at_most: float | None = None) -> Row:
        """Compare β, then time the rival for `steps` steps."""

        def deviation() -> float:
            return float(np.max(np.abs(ours(COMPARED) - rival(COMPARED)))) / float(np.abs(self.labels).max())

        return race(
            f"a step, {N_SAMPLES} x {N_FEATURES}, {what}",
            partial(ours, TIMED),
            name,
            partial(rival, steps),
            at_most=at_most,
            check=Check(deviation, TOLERANCE),
            factors=(1 / TIMED, 1 / steps),
        )


def measure() -> Iterator[Row | Remark]:
    """Yield one race for each way, and those without a goal."""
    one = Experiment()
    at_hand = partial(one.race, "K at hand", one.ours)
    whole = f"in {TIMED}, Gram product and start included"
    yield from entrants(
        [
            partial(at_hand, "PyTorch autograd", one.torch, FEW, at_most=1 / PYTORCH),
            partial(at_hand, "NumPy on the weights", one.numpy_weights, FEW, at_most=1 / WEIGHTS),
            partial(at_hand, "NumPy given K", one.numpy_gram, TIMED, at_most=1 / GIVEN_GRAM),
            partial(one.race, whole, one.from_features, "NumPy on the weights", one.numpy_weights, FEW),
            partial(
                one.race,
                f"gradient_descent(until={TIMED})",
                one.public,
                "NumPy on the weights",
                one.numpy_weights,
                FEW,
            ),
        ]
    )


def jobs() -> Iterator[Job]:
    """Steps against products with the columns of K that are active but for the first steps."""
    one = Experiment()
    yield Job(
        f"{TIMED} plain steps, n = {N_SAMPLES}",
        partial(one.ours, TIMED),
        f"{TIMED} products with the active columns of K, compiled",
        products(one.gram, one.ours(COMPARED) > 0, TIMED),
        "The distance is the look for changes of sign, and what our product is slower or faster than that of BLAS.",
    )
