"""The record of a minimum-norm solution survives being taken apart."""

from __future__ import annotations

import json

import numpy as np
import pytest

from relubias.network import Network
from relubias.problem import Problem
from relubias.references import MinimumNorm, minimum_norm


@pytest.mark.parametrize("of", ["global", "linear"])
@pytest.mark.parametrize("labels", [[1.0, -2.0, 3.0], [1.0, 2.0, -3.0]])
def test_parts_rebuild_the_record(of: str, labels: list[float]) -> None:
    features = np.array([[1.0, 0.0, 0.5], [0.3, 1.0, 0.0], [1.0, 0.0, 0.5]])
    problem = Problem.from_features(features, labels)
    star = minimum_norm(problem, Network.single(), of=of)
    arrays, meta = star.to_parts()
    again = MinimumNorm.from_parts(problem, arrays, json.loads(json.dumps(meta)))
    np.testing.assert_array_equal(again.state.dual, star.state.dual)
    np.testing.assert_array_equal(again.state.primal, star.state.primal)
    for name in (
        "network",
        "of",
        "status",
        "message",
        "norm",
        "lower_bound",
        "interval",
        "kkt",
        "infeasible_rows",
        "nodes",
    ):
        assert getattr(again, name) == getattr(star, name), name
