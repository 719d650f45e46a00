"""Limits so small that rounding may have made them, judged by the recursion in exact arithmetic of 200 bits."""

import numpy as np
import pytest
from helpers import random_problem
from numpy.typing import NDArray

from relubias import Network, Problem, Run, Status, gradient_descent, starts

BITS = 200
Array = NDArray[np.float64]


def exact(run: Run, steps: int) -> tuple[Array, NDArray[np.int_]]:
    """β and the step of each entry's last change after so many steps from the run's start, in fixed point."""

    def fixed(value: float) -> int:
        numerator, denominator = float(value).as_integer_ratio()
        return (numerator << BITS) // denominator

    gram = [[fixed(value) for value in row] for row in run.problem.gram]
    labels, step = [fixed(value) for value in run.problem.labels], fixed(run.step_size)
    primal = [[fixed(value) for value in row] for row in run.start.primal]
    signs, n = run.network.signs, len(labels)
    last = np.zeros(run.start.primal.shape, dtype=int)
    for t in range(1, steps + 1):
        missed = [sum(s * max(own[i], 0) for s, own in zip(signs, primal, strict=True)) - labels[i] for i in range(n)]
        moves = [(step * value) >> BITS for value in missed]
        for k, own in enumerate(primal):
            active = [j for j in range(n) if own[j] > 0]
            after = [own[i] - signs[k] * (sum(gram[i][j] * moves[j] for j in active) >> BITS) for i in range(n)]
            last[k, [i for i in range(n) if (after[i] > 0) != (own[i] > 0)]] = t
            primal[k] = after
    return np.array([[value / (1 << BITS) for value in own] for own in primal]), last


def trained(seed: int) -> Run:
    """Three neurons on a few samples with labels of whole numbers."""
    rng = np.random.default_rng(seed)
    n, d, m = int(rng.integers(2, 7)), int(rng.integers(1, 9)), int(rng.integers(2, 4))
    features = rng.integers(-3, 4, (n, d)).astype(float)
    labels = rng.integers(-2, 3, n).astype(float)
    network = Network.of_signs([int(sign) for sign in rng.choice([1, -1], m)])
    problem = Problem.from_features(features, labels)
    return gradient_descent(problem, network, starts.gaussian(problem, network, rng=seed, scale=0.3), budget=2e4)


@pytest.mark.parametrize("seed", [404, 1748])
def test_a_sign_that_rounding_made_is_not_certified(seed: int) -> None:
    run = trained(seed)
    assert run.status is Status.CERTIFIED_DEGENERATE
    ((neuron, sample),) = run.at_zero
    primal, last = exact(run, 2 * run.steps)
    assert abs(run.state.primal[neuron, sample]) < 1e-12
    assert abs(primal[neuron, sample]) < 1e-40
    # When the rounded run stopped to change this sign says nothing about exact training.
    assert last[neuron, sample] != run.last_change[neuron, sample]
    others = np.delete(np.arange(primal.size), neuron * primal.shape[1] + sample)
    np.testing.assert_allclose(run.state.primal.ravel()[others], primal.ravel()[others], rtol=0, atol=1e-10)


def test_a_small_limit_that_a_short_run_knows_is_certified() -> None:
    run = gradient_descent(
        problem := random_problem(40, 400, seed=1), Network.pair(), starts.all_active(problem, Network.pair())
    )
    smallest = np.unravel_index(np.argmin(np.abs(run.state.primal)), run.state.primal.shape)
    primal, last = exact(run, 500)
    assert run.status is Status.CERTIFIED
    assert 0 < abs(run.state.primal[smallest]) < 1e-11
    assert run.state.primal[smallest] == pytest.approx(primal[smallest], rel=1e-2)
    np.testing.assert_array_equal(run.last_change, last)
