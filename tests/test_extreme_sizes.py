"""Sizes of features and labels: none changes an answer, and what double precision cannot take is refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from helpers import random_problem

from relubias import DataError, Network, Problem, analyze, minimum_norm
from relubias.status import Optimality

SIZES = (-160, -150, -110, -75, -50, -10, 0, 10, 50, 75, 110, 150, 160)


def scaled(features: float, labels: float) -> Problem:
    problem = random_problem(6, 30, seed=1)
    assert problem.features is not None
    return Problem.from_features(problem.features * features, problem.labels * labels)


@pytest.mark.parametrize("network", [Network.single(), Network.pair()])
def test_an_analysis_is_refused_or_blind_to_units(network: Network) -> None:
    right = analyze(scaled(1.0, 1.0), network)
    assert right.gap is not None
    taken = 0
    for features, labels in product(SIZES, SIZES):
        if features > 150:
            with pytest.raises(DataError, match="so large that their inner products overflow"):
                scaled(10.0**features, 10.0**labels)
            continue
        problem = scaled(10.0**features, 10.0**labels)
        if not problem.is_in_range:
            with pytest.raises(DataError, match="leave the range of double precision; multiply"):
                analyze(problem, network)
            continue
        found = analyze(problem, network)
        taken += 1
        assert found.run.certified
        assert found.reference is not None
        assert found.gap is not None
        assert found.reference.status is Optimality.OPTIMAL
        assert found.gap.relative == pytest.approx(right.gap.relative, rel=1e-6)
    assert taken >= 30


def test_rows_of_very_different_lengths_end() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        rows = rng.standard_normal((4, 6)) * 10.0 ** rng.uniform(-100, 61, (4, 1))
        problem = Problem.from_features(rows, rng.standard_normal(4))
        if problem.is_in_range:
            minimum_norm(problem, Network.single())
            continue
        with pytest.raises(DataError, match="leave the range"):
            minimum_norm(problem, Network.single())


@pytest.mark.parametrize("labels", [[0.0, 0.0], [1e-300, 0.0], [1.0, 1.0]])
def test_samples_that_are_all_zero_are_judged_by_their_labels(labels: list[float]) -> None:
    assert Problem.from_features(np.zeros((2, 3)), labels).is_in_range is (max(labels) != 1e-300)
