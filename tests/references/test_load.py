"""What one neuron of unit weights can carry: enumerated, bounded, and bounded whatever the multipliers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from helpers import Array
from scipy.optimize import nnls

from relubias import Problem
from relubias.linalg.factor import GramOperator
from relubias.references import load
from relubias.references.load import exact_loads, rough_load


def by_projection(features: Array, prices: Array) -> float:
    """The largest length of the projection of Σ_{i∈D} z_i x_i onto the cone of D, over all 2ⁿ patterns D."""
    best = 0.0
    for active in product([False, True], repeat=len(prices)):
        aim = features.T @ np.where(active, prices, 0.0)
        outward = -features.T * np.where(active, 1.0, -1.0)
        best = max(best, nnls(outward, aim, maxiter=1000)[1])
    return best


@pytest.mark.parametrize(("n", "d", "seed"), [(1, 1, 0), (3, 2, 1), (5, 3, 2), (6, 6, 3), (7, 12, 4)])
def test_it_is_the_longest_projection_onto_a_cone(n: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, prices = rng.standard_normal((n, d)), rng.standard_normal(n)
    operator = Problem.from_features(features, prices).operator
    for sign in (1, -1):
        expected = by_projection(features, sign * prices)
        found = exact_loads(operator, sign * prices)
        assert found.bound == pytest.approx(expected, rel=1e-6, abs=1e-6)
        assert found.bound >= expected * (1 - 1e-12)
        assert rough_load(operator, sign * prices) >= found.bounds.max() * (1 - 1e-12)


def test_some_neuron_carries_it() -> None:
    rng = np.random.default_rng(0)
    features, prices = rng.standard_normal((8, 12)), rng.standard_normal(8)
    found = exact_loads(Problem.from_features(features, prices).operator, prices)
    weights = features.T @ found.coefficients[int(np.argmax(found.bounds))]
    carried = prices @ np.maximum(features @ weights, 0.0) / np.linalg.norm(weights)
    assert carried == pytest.approx(found.bound, rel=1e-12)


def test_bounds_hold_whatever_the_multipliers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that are left unsolved weaken the bound and never lower it."""
    rng = np.random.default_rng(1)
    features, prices = rng.standard_normal((8, 5)), rng.standard_normal(8)
    operator = Problem.from_features(features, prices).operator
    best = exact_loads(operator, prices).bound
    monkeypatch.setattr(load, "_box_minima", lambda gram, fixed, free, ceiling: np.tile(0.3 * ceiling, (len(fixed), 1)))
    assert exact_loads(operator, prices).bound > best


def test_where_exchanges_do_not_end_an_active_set_method_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    features, prices = rng.standard_normal((9, 5)), rng.standard_normal(9)
    operator = Problem.from_features(features, prices).operator
    expected = exact_loads(operator, prices)
    monkeypatch.setattr(load, "EXCHANGES", 0)
    np.testing.assert_allclose(exact_loads(operator, prices).bounds, expected.bounds, atol=1e-6)


def test_orthogonal_rows_need_no_enumeration() -> None:
    operator = GramOperator(np.diag([1.0, 4.0, 0.25]))
    prices = np.array([3.0, -1.0, 2.0])
    assert rough_load(operator, prices) == pytest.approx(np.sqrt(9 + 1), rel=1e-13)
    assert exact_loads(operator, prices).bound == pytest.approx(np.sqrt(9 + 1), rel=1e-13)
    assert rough_load(operator, -np.abs(prices)) == 0.0
