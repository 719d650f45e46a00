"""The reduced problem and the elimination must find the same weights."""

from __future__ import annotations

import numpy as np
import pytest

from relubias.network import Network
from relubias.problem import Problem
from relubias.references import constrained, minimum_norm
from relubias.references.conditions import Constraints, evidence
from relubias.references.elimination import multipliers
from relubias.references.reduction import reduced_multipliers
from relubias.status import Optimality


def setting(n: int, d: int, seed: int) -> tuple[Problem, Constraints]:
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n, d))
    primal = features @ rng.standard_normal(d)
    problem = Problem.from_features(features, np.where(primal > 0, primal, -1.0))
    return problem, Constraints(np.maximum(primal, 0.0), primal > 0)


@pytest.mark.parametrize("seed", range(10))
def test_agrees_with_elimination_on_regular_data(seed: int) -> None:
    problem, constraints = setting(20, 30, seed)
    first, second = multipliers(problem.operator, constraints), reduced_multipliers(problem.operator, constraints)
    assert first is not None
    assert second is not None
    np.testing.assert_allclose(second, first, atol=1e-10 * np.abs(first).max())


@pytest.mark.parametrize("seed", [13, 14, 50, 60, 87])
def test_solves_what_elimination_cannot(seed: int) -> None:
    """Almost as many equalities as features: what is left for the inequalities has rank one to three."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((40, 20))
    primal = features @ rng.standard_normal(20)
    constraints = Constraints(np.maximum(primal, 0.0), primal > 0)
    problem = Problem.from_features(features, constraints.targets)
    dual = reduced_multipliers(problem.operator, constraints)
    assert dual is not None
    assert evidence(problem.operator, constraints, dual).optimal


def test_contradictions_give_none() -> None:
    # One feature: β₁ = 1 forces β₂ = 2 > 0.
    problem = Problem.from_features([[1.0], [2.0]], [1.0, -1.0])
    constraints = Constraints(np.array([1.0, 0.0]), np.array([True, False]))
    assert reduced_multipliers(problem.operator, constraints) is None


def test_a_candidate_without_proof_has_the_status_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """An uncertified solution is never returned as optimal, whoever computed it."""
    monkeypatch.setattr(constrained, "multipliers", lambda operator, constraints: np.full(operator.n_samples, 0.01))
    rng = np.random.default_rng(0)
    problem = Problem.from_features(rng.standard_normal((6, 12)), [1.0, 2.0, -1.0, 1.0, -1.0, 1.0])
    star = minimum_norm(problem, Network.single())
    assert star.status is Optimality.BUDGET
    assert star.kkt.worst > 1e-3
    assert "could be proven optimal" in star.message
    assert star.infeasible_rows == ()
    assert 0 <= star.lower_bound <= star.norm
