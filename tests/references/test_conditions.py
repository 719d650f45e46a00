"""Residuals, rounding floor and lower bound, from their formulas."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias.linalg.factor import EPS, GramOperator
from relubias.references.conditions import (
    LARGEST_FLOOR,
    TOLERANCE,
    Constraints,
    Evidence,
    evidence,
    lower_bound,
    norm_demanded,
)
from relubias.references.elimination import multipliers
from relubias.references.record import KKT


def setting(seed: int, n: int = 6) -> tuple[GramOperator, Constraints, np.random.Generator]:
    rng = np.random.default_rng(seed)
    features, labels = rng.standard_normal((n, 3 * n)), rng.standard_normal(n)
    labels[0] = abs(labels[0])
    return GramOperator(features @ features.T), Constraints(np.maximum(labels, 0.0), labels > 0), rng


@pytest.mark.parametrize("seed", range(5))
def test_residuals_are_those_of_the_docstring(seed: int) -> None:
    operator, constraints, rng = setting(seed)
    gram, dual = operator.gram, rng.standard_normal(6)
    equal, others = constraints.equal, ~constraints.equal
    found = evidence(operator, constraints, dual, distance=0.25)
    primal, norm = gram @ dual, np.sqrt(dual @ gram @ dual)
    lengths = np.sqrt(np.diagonal(gram)) * dual
    misfit = np.abs(primal - constraints.targets)[equal].max()
    excess = np.maximum(primal[others], 0).max(initial=0.0)
    wrong = np.maximum(lengths[others], 0).max(initial=0.0) / np.abs(lengths).max()
    assert found.norm == pytest.approx(norm)
    assert found.kkt.primal == pytest.approx(max(misfit, excess) / constraints.targets.max())
    assert found.kkt.dual == pytest.approx(max(wrong, 0.25 / norm))
    assert found.kkt.complementarity == pytest.approx(np.abs(dual * primal)[others].sum() / norm**2)
    floor = EPS * np.sqrt(np.diagonal(gram)) * np.abs(lengths).sum()
    assert found.floor.primal == pytest.approx(floor.max() / constraints.targets.max())
    assert found.kkt.worst == max(found.kkt.as_dict().values())


def test_a_stated_mismatch_is_part_of_the_primal_residual() -> None:
    operator, constraints, _ = setting(0)
    met = constraints.nearest(-np.ones(6), np.zeros(6))
    found = evidence(operator, constraints, np.zeros(6), primal=met, norm=1.0, mismatch=0.5)
    assert found.kkt.primal == pytest.approx(0.5 / constraints.scale)


@given(st.integers(0, 10**6))
@settings(max_examples=100)
def test_no_feasible_weights_are_shorter_than_the_lower_bound(seed: int) -> None:
    operator, constraints, rng = setting(seed)
    bound = lower_bound(operator, constraints, rng.standard_normal(6) * rng.choice([0.01, 0.1, 1.0]))
    feasible = np.where(constraints.equal, constraints.targets, -rng.exponential(0.1, 6))
    assert bound <= np.sqrt(feasible @ np.linalg.solve(operator.gram, feasible))


def test_the_lower_bound_is_sharp_at_the_right_multipliers() -> None:
    operator = GramOperator(np.array([[2.0, 1.0], [1.0, 2.0]]))
    constraints = Constraints(np.array([3.0, 0.0]), np.array([True, False]))
    assert lower_bound(operator, constraints, np.array([2.0, -1.0])) == pytest.approx(np.sqrt(6.0), rel=1e-14)
    # The wrong sign is set to zero first: a = (2, 0) gives 2·3 − ½·8 = 2.
    assert lower_bound(operator, constraints, np.array([2.0, 1.0])) == pytest.approx(2.0, rel=1e-14)


@given(st.integers(0, 10**6))
@settings(max_examples=100)
def test_no_direction_demands_more_than_feasible_weights_have(seed: int) -> None:
    operator, constraints, rng = setting(seed)
    feasible = np.where(constraints.equal, constraints.targets, -rng.exponential(0.1, 6))
    norm = np.sqrt(feasible @ np.linalg.solve(operator.gram, feasible))
    direction = rng.standard_normal(6)
    demanded = norm_demanded(operator, constraints, direction)
    assert demanded <= norm
    # It is the lower bound of the best multiple of the direction.
    best = max(lower_bound(operator, constraints, factor * direction) for factor in np.geomspace(1e-5, 1e2, 2000))
    assert demanded == pytest.approx(best, rel=1e-3)


def test_a_contradiction_demands_weights_as_long_as_rounding_can_tell() -> None:
    constraints = Constraints(np.array([1.0, 3.0]), np.array([True, True]))
    assert norm_demanded(GramOperator(np.ones((2, 2))), constraints, np.array([-1.0, 1.0])) == pytest.approx(
        EPS**-0.5, rel=0.01
    )
    assert norm_demanded(GramOperator(np.zeros((2, 2))), constraints, np.array([0.0, 1.0])) == np.inf
    assert norm_demanded(GramOperator(np.ones((2, 2))), constraints, np.array([1.0, -1.0])) == 0.0


def test_the_nearest_point_meets_the_constraints() -> None:
    constraints = Constraints(np.array([2.0, 0.0, 0.0, 0.0]), np.array([True, False, False, False]))
    primal, dual = np.array([1.9, 1e-17, -1e-17, -3.0]), np.array([1.0, -1.0, -1.0, 0.0])
    np.testing.assert_array_equal(constraints.nearest(primal, dual), [2.0, 0.0, 0.0, -3.0])
    assert not np.any(constraints.violations(constraints.nearest(primal, dual)))


@pytest.mark.parametrize("seed", range(20))
def test_the_lower_bound_holds_for_every_gram_matrix_within_rounding(seed: int) -> None:
    """At the multipliers of the solution, in exact arithmetic, for the entries of K moved by ε √(K_ii K_jj)."""
    operator, constraints, _ = setting(seed)
    found = multipliers(operator, constraints)
    assert found is not None
    dual = found.dual
    exact = [Fraction(float(a)) for a in dual]
    lengths = [Fraction(float(v)) for v in np.sqrt(operator.diagonal)]
    quadratic = sum(
        exact[i] * exact[j] * Fraction(float(operator.gram[i, j])) for i in range(len(dual)) for j in range(len(dual))
    )
    shift = Fraction(EPS) * sum(abs(a) * length for a, length in zip(exact, lengths, strict=True)) ** 2
    linear = sum(Fraction(float(t)) * a for t, a in zip(constraints.targets, exact, strict=True))
    worst = 2 * linear - quadratic - shift
    bound = lower_bound(operator, constraints, dual)
    assert Fraction(bound) ** 2 <= worst
    assert float(worst) - bound**2 <= 1e-14 * float(worst) + float(shift)


@pytest.mark.parametrize(
    ("residual", "floor", "optimal"),
    [
        (TOLERANCE, 0.0, True),
        (1.1 * TOLERANCE, 0.0, False),
        (3e-8, 1e-8, True),
        (5e-8, 1e-8, False),
        (LARGEST_FLOOR, 1.0, True),
        (1.1 * LARGEST_FLOOR, 1.0, False),
    ],
)
def test_optimal_means_1e_9_or_a_rounding_level_with_six_digits(residual: float, floor: float, optimal: bool) -> None:
    found = Evidence(KKT(residual, 0.0, 0.0), KKT(floor, 0.0, 0.0), 1.0, 1.0, np.zeros(1))
    assert found.optimal is optimal
    assert found.at_rounding is (optimal and residual > TOLERANCE)
