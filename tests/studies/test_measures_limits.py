"""Measures of the flow from the same start, of first steps and of label norms, against what the records say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relubias.comparison import gap
from relubias.dynamics.flow import gradient_flow
from relubias.studies.measured import Measured
from relubias.studies.measures import measure
from relubias.studies.settings import Settings


def cell(**changes: Any) -> Measured:
    """Twenty samples and a few test points in 800 dimensions."""
    tables: dict[str, Any] = {
        "problem": {
            "kind": "random",
            "n_samples": 20,
            "labels": "signs 0.5..2",
            "features": {"kind": "gaussian", "n_features": 800},
        },
        "start": {"scale": 1e-6},
        "dynamics": {"step_size": "0.5/trace"},
    }
    return Measured(Settings.of(tables | changes), 3)


def test_the_gap_of_the_flow_stands_beside_that_of_descent() -> None:
    both = cell()
    values, notes = measure(both, ("gap.relative", "flow.gap", "flow.positive_fitted", "flow.distance"))
    flow = gradient_flow(both.problem, both.network, both.start)
    assert values["flow.gap"] == pytest.approx(gap(flow, both.reference).relative)
    assert values["flow.positive_fitted"] == np.mean(flow.interpolated[both.problem.labels > 0])
    assert values["gap.relative"] == pytest.approx(both.gap.relative)
    assert values["gap.relative"] > 10 * values["flow.gap"]  # type: ignore[operator]
    assert notes == {}


def test_the_gap_of_a_flow_is_its_own() -> None:
    values, notes = measure(cell(dynamics={"kind": "flow"}), ("gap.relative", "flow.gap", "flow.distance"))
    assert values["flow.gap"] == values["gap.relative"]
    assert notes == {"flow.distance": "the run is a flow itself"}


@pytest.mark.parametrize("name", ["squared", "huber", "log-cosh"])
def test_a_first_step_moves_negative_labels_by_the_slope_of_the_loss(name: str) -> None:
    found = cell(dynamics={"step_size": "0.5/trace", "loss": name})
    values, _ = measure(found, ("law.first_step", "problem.negative_norm"))
    negative = found.problem.labels[found.problem.labels < 0]
    sizes = {"squared": -negative, "huber": np.minimum(-negative, 1.0), "log-cosh": np.tanh(-negative)}[name]
    assert values["law.first_step"] == pytest.approx(0.5 * np.linalg.norm(sizes) / np.sqrt(800))
    assert values["problem.negative_norm"] == pytest.approx(np.linalg.norm(negative))


def test_a_first_step_is_that_of_one_neuron_of_descent() -> None:
    for found in (cell(dynamics={"kind": "flow"}), cell(network={"signs": "+,-"})):
        assert "one neuron" in measure(found, ("law.first_step",))[1]["law.first_step"]


def test_predicting_nothing_has_the_mean_square_of_the_test_labels_for_its_error() -> None:
    problem = {
        "kind": "random",
        "n_samples": 20,
        "n_test": 7,
        "labels": "teacher linear",
        "features": {"kind": "gaussian", "n_features": 800},
    }
    found = cell(problem=problem)
    test = found.problem.test
    assert test is not None
    assert measure(found, ("zero.test_error",))[0]["zero.test_error"] == pytest.approx(np.mean(test.labels**2))
    assert measure(cell(), ("zero.test_error",))[1] == {"zero.test_error": "the problem has no test points"}
