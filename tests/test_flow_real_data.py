"""Gradient flow on real data: exact limits after some hundred events, where descent changes its pattern 1e5 times."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import assert_close, real_data

from relubias import Network, gradient_descent, gradient_flow, read, starts, step_sizes

ONE = Network.single()


@pytest.mark.parametrize(
    ("name", "preprocess", "centre_labels", "events", "unfitted"),
    [
        ("yarn", "none", False, 10, 0),
        ("gasoline", "none", True, 73, 0),
        ("riboflavin", "none", True, 97, 1),
        ("golub_leukemia", "standardise", False, 55, 0),
    ],
)
def test_the_flow_has_an_exact_limit(
    name: str, preprocess: str, centre_labels: bool, events: int, unfitted: int
) -> None:
    problem = read(real_data(f"{name}.csv.gz"), target="y", preprocess=preprocess, centre_labels=centre_labels)
    if preprocess == "standardise":
        start = starts.gaussian(problem, ONE, scale=1e-3, rng=0)
    else:
        start = starts.all_active(problem, ONE, scale=1e-3)
    run = gradient_flow(problem, ONE, start).require_limit()
    assert len(run.events) == pytest.approx(events, rel=0.1)
    assert np.sum((problem.labels > 0) & ~run.interpolated) == unfitted
    assert np.all(run.events["unique"])


def test_descent_on_yarn_tends_to_the_flow_with_the_step() -> None:
    problem = read(real_data("yarn.csv.gz"), target="y")
    start = starts.all_active(problem, ONE, scale=1e-3)
    flow = gradient_flow(problem, ONE, start).require_limit()
    stable = step_sizes.stable(problem, ONE)
    errors = []
    for fraction in (1.0, 0.1):
        run = gradient_descent(problem, ONE, start, step_size=fraction * stable).require_limit()
        assert_close(run.stabilised_at * run.step_size, flow.stabilised_at, relative=1e-3)  # type: ignore[operator]
        errors.append(float(problem.operator.lengths(run.state.dual - flow.state.dual)[0]))
    assert errors[1] == pytest.approx(0.1 * errors[0], rel=0.05)
