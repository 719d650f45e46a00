"""Late events of a flow, its stable step, orders of rounding noise, signs of trained output weights."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relubias import Network, Problem, compare, gradient_descent, gradient_flow, starts

ONE = Network.single()


@pytest.mark.parametrize("until", [1.0, 1e8, 1e15, 1e18])
def test_an_event_of_the_flow_is_where_it_is_however_late_the_flow_ends(until: float) -> None:
    """x = 2, y = −1, β(0) = 1: β̇ = −4(β + 1), so that β = 2e^(−4t) − 1 is zero at t = ln 2/4."""
    problem = Problem.from_features(np.diag([1.0, 2.0]), [1.0, -1.0])
    run = gradient_flow(problem, ONE, starts.from_weights(problem, ONE, [[0.5, 0.5]]), until=until)
    assert run.events["time"][0] == pytest.approx(math.log(2) / 4, rel=1e-14)


def test_the_stable_step_of_a_flow_counts_the_slope_below_the_kink() -> None:
    problem = Problem.from_features(np.diag([1.0, 3.0]), [1.0, -1.0])
    leaky = Network.single(activation="leaky-relu:0.5")
    start = starts.gaussian(problem, leaky, rng=0)
    flow, descent = gradient_flow(problem, leaky, start), gradient_descent(problem, leaky, start)
    assert np.array_equal(flow.state.pattern, descent.state.pattern)
    assert flow.stable_step == pytest.approx(descent.stable_step)
    assert flow.stable_step == pytest.approx(2 / (9 * 0.25))


def test_distances_of_rounding_size_have_no_order() -> None:
    rng = np.random.default_rng(0)
    problem = Problem.from_features(rng.normal(size=(8, 40)), rng.normal(size=8))
    same = compare(problem, Network.single(activation="identity"))
    assert max(row.to_flow for row in same.rows) < 1e-9
    assert same.order is None


def test_the_sign_of_a_neuron_is_that_of_its_trained_output_weight() -> None:
    problem = Problem.from_features(np.eye(3, 6), [-1.0, -2.0, -0.5])
    network = Network.single(train_output=True)
    start = starts.from_weights(problem, network, [[0.5, 0.5, 0.5, 0.0, 0.0, 0.0]], outer=[0.01])
    run = gradient_descent(problem, network, start, step_size=0.02, until=2000)
    assert run.state.output_weights[0] < 0
    assert run.signs == (-1,)
    assert network.signs == (1,)
