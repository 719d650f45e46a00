"""How far gradient descent with small steps, and the minimum-norm solution, are from the limit of the flow."""

from __future__ import annotations

import numpy as np
import pytest
from flow_cases import unit_trace_problem

from relubias import Network, gap, gradient_descent, gradient_flow, minimum_norm, starts

ONE = Network.single()
STEPS = np.array([1e-3, 1e-4, 1e-5])


@pytest.mark.slow
def test_descent_tends_to_the_flow_with_order_one_in_the_step() -> None:
    orders = []
    for n, d in ((20, 200), (50, 1000)):
        for seed in range(5):
            problem = unit_trace_problem(n, d, seed)
            start = starts.all_active(problem, ONE)
            limit = gradient_flow(problem, ONE, start).require_limit().state
            errors = []
            for eta in STEPS:
                state = gradient_descent(problem, ONE, start, step_size=float(eta)).require_limit().state
                errors.append(float(problem.operator.lengths(state.dual - limit.dual)[0]))
            orders.append(float(np.polyfit(np.log(STEPS), np.log(errors), 1)[0]))
    assert min(orders) >= 0.9
    assert max(orders) <= 1.15
    assert np.mean(orders) == pytest.approx(1.0, abs=0.05)


@pytest.mark.slow
def test_the_order_would_not_be_one_towards_another_point() -> None:
    """The negative control: the distance of descent from w* does not vanish with the step."""
    problem = unit_trace_problem(20, 200, 0)
    start, star = starts.all_active(problem, ONE), minimum_norm(problem, ONE)
    errors = [gap(gradient_descent(problem, ONE, start, step_size=float(eta)), star).absolute for eta in STEPS]
    assert abs(np.polyfit(np.log(STEPS), np.log(errors), 1)[0]) < 0.5


@pytest.mark.parametrize(("d", "most"), [(200, 2e-2), (500, 4e-3), (1000, 2e-3)])
def test_the_limit_of_the_flow_is_near_the_minimum_norm(d: int, most: float) -> None:
    """n = 50, labels ±1, all 20 seeds; descent with c = η tr K/n = ½ is ten times as far."""
    relative = []
    for seed in range(20):
        problem = unit_trace_problem(50, d, seed, sizes=False)
        run = gradient_flow(problem, ONE, starts.all_active(problem, ONE)).require_limit()
        relative.append(gap(run, minimum_norm(problem, ONE)).relative)
    assert np.median(np.array(relative, dtype=float)) <= most
    stepped = gradient_descent(problem, ONE, starts.all_active(problem, ONE), step_size=0.5)
    assert (gap(stepped, minimum_norm(problem, ONE)).relative or 0.0) > 10 * most
