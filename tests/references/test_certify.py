"""Certificates for candidates from anywhere."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from relubias import starts
from relubias.errors import ArgumentError
from relubias.network import Network
from relubias.problem import Problem
from relubias.references import certify, minimum_norm
from relubias.state import State

SINGLE = Network.single()


def mixed_problem(n: int, d: int, seed: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    return Problem.from_features(rng.standard_normal((n, d)), np.where(np.arange(n) % 2, 1.0, -1.0))


def limit_of_gradient_descent(problem: Problem) -> State:
    """Ten thousand plain steps from a small all-active start; the slow obvious way."""
    features, labels = problem.features, problem.labels
    weights = np.linalg.pinv(features) @ np.full(problem.n_samples, 1e-3)
    step = 1.0 / np.linalg.eigvalsh(problem.gram)[-1]
    for _ in range(10_000):
        primal = features @ weights
        weights = weights - step * features.T @ ((primal > 0) * (np.maximum(primal, 0.0) - labels))
    return State.from_weights(problem, SINGLE, weights)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("n", "d"), [(40, 400), (40, 45), (40, 30)])
def test_our_own_solution_is_certified_through_its_weights(sign: int, n: int, d: int) -> None:
    rng = np.random.default_rng(1)
    features = rng.standard_normal((n, d))
    teacher = features @ rng.standard_normal(d)
    problem = Problem.from_features(features, sign * np.where(teacher > 0, teacher, -1.0))
    network = Network.single(sign=sign)
    star = minimum_norm(problem, network)
    for state in (star.state, State.from_weights(problem, network, star.state.weights())):
        proof = certify(problem, network, state)
        assert proof.optimal
        assert proof.feasible
        assert proof.kkt.worst <= 1e-9
        assert proof.norm == pytest.approx(star.norm, rel=1e-9)
        assert abs(proof.interval) <= 1e-9 * star.norm
        assert "this is the minimum-norm global minimiser" in proof.message


def test_raw_dual_coefficients_in_another_gauge_are_certified_too() -> None:
    rng = np.random.default_rng(2)
    features = rng.standard_normal((12, 40))
    features -= features.mean(axis=0)
    problem = Problem.from_features(features, np.where(np.arange(12) % 3, 1.0, -1.0))
    star = minimum_norm(problem, SINGLE)
    shifted = star.state.dual[0] + 5.0  # the vector of ones is in the kernel of K
    assert certify(problem, SINGLE, State.from_dual(problem, SINGLE, shifted)).optimal


def test_a_limit_of_gradient_descent_is_feasible_but_not_optimal() -> None:
    problem = mixed_problem(20, 200)
    star, state = minimum_norm(problem, SINGLE), limit_of_gradient_descent(problem)
    proof = certify(problem, SINGLE, state)
    assert proof.feasible
    assert not proof.optimal
    assert proof.norm > 1.0001 * star.norm
    assert proof.lower_bound == pytest.approx(star.norm, rel=1e-10)
    assert f"{100 * (proof.norm / star.norm - 1):.2g} % above the lower bound" in proof.message


def test_weights_that_miss_a_label_are_not_feasible_and_the_sample_is_named() -> None:
    problem = mixed_problem(20, 200)
    star = minimum_norm(problem, SINGLE)
    primal = star.state.primal[0].copy()
    primal[7] += 0.01
    primal[4] = 0.002
    weights = np.linalg.pinv(problem.features) @ primal
    proof = certify(problem, SINGLE, State.from_weights(problem, SINGLE, weights))
    assert not proof.feasible
    assert not proof.optimal
    assert proof.misfit == pytest.approx(0.01, rel=1e-6)
    assert proof.excess == pytest.approx(0.002, rel=1e-6)
    assert proof.worst_sample == 7
    assert "row 8 should be fitted and is off by 0.01" in proof.message


def test_an_error_of_1e_4_under_the_status_optimal_is_found() -> None:
    """Clarabel.cpp#36, cvxpy#1489: solvers call a point optimal that is off by 1e-4."""
    problem = mixed_problem(20, 200)
    star = minimum_norm(problem, SINGLE)
    noise = np.random.default_rng(3).standard_normal(20)
    dual = star.state.dual[0] * (1 + 1e-4 * noise)
    proof = certify(problem, SINGLE, State.from_dual(problem, SINGLE, dual))
    assert not proof.optimal
    assert 1e-5 <= proof.kkt.worst <= 1e-2


def test_pre_activations_that_do_not_belong_to_the_weights_are_found() -> None:
    problem = mixed_problem(20, 200)
    star = minimum_norm(problem, SINGLE)
    claimed = State(problem, SINGLE, 0.9 * star.state.dual, star.state.primal, np.zeros(1))
    assert not certify(problem, SINGLE, claimed).optimal


def test_a_part_outside_the_span_counts_in_the_norm_and_forbids_optimality() -> None:
    problem = mixed_problem(20, 200)
    star = minimum_norm(problem, SINGLE)
    outside = np.linalg.svd(problem.features)[2][-1]
    state = State.from_weights(problem, SINGLE, star.state.weights()[0] + 0.5 * outside)
    proof = certify(problem, SINGLE, state)
    assert proof.feasible
    assert not proof.optimal
    assert proof.norm == pytest.approx(np.hypot(star.norm, 0.5), rel=1e-9)
    assert proof.kkt.dual == pytest.approx(0.5 / proof.norm, rel=1e-6)
    assert proof.lower_bound == pytest.approx(star.norm, rel=1e-10)


def test_nearly_the_least_norm_is_told_apart_from_well_above_it() -> None:
    problem = mixed_problem(20, 200)
    star = minimum_norm(problem, SINGLE)
    outside = np.linalg.svd(problem.features)[2][-1]
    state = State.from_weights(problem, SINGLE, star.state.weights()[0] + 1e-4 * star.norm * outside)
    proof = certify(problem, SINGLE, state)
    assert not proof.optimal
    assert "meets the lower bound to six digits, but the residuals" in proof.message


def test_weights_that_are_never_active_are_the_least_only_if_they_are_zero() -> None:
    problem = Problem.from_features(np.eye(2, 4), [-1.0, -2.0])
    assert certify(problem, SINGLE, State.from_weights(problem, SINGLE, np.zeros(4))).optimal
    proof = certify(problem, SINGLE, State.from_weights(problem, SINGLE, [-1.0, 0.0, 0.0, 0.0]))
    assert proof.feasible
    assert not proof.optimal
    assert proof.lower_bound == 0.0
    assert "is above the lower bound 0" in proof.message


def test_nothing_is_optimal_where_nothing_is_feasible() -> None:
    problem = Problem.from_gram([[1.0, 1.0], [1.0, 1.0]], [1.0, 3.0])
    star = minimum_norm(problem, SINGLE)
    proof = certify(problem, SINGLE, star.state)
    assert not proof.optimal
    assert not proof.feasible
    assert np.isfinite(proof.lower_bound)


def test_a_state_of_its_own_and_fixed_signs_are_needed() -> None:
    problem, other = mixed_problem(6, 10), mixed_problem(6, 10, seed=1)
    state = State.from_dual(problem, SINGLE, np.ones(6))
    trained = Network.of_signs([1, 1], train_output=True)
    with pytest.raises(ArgumentError, match="trained too"):
        certify(problem, trained, State.from_dual(problem, trained, np.ones((2, 6))))
    with pytest.raises(ArgumentError, match="another problem or network"):
        certify(other, SINGLE, state)
    with pytest.raises(ArgumentError, match="another problem or network"):
        certify(problem, Network.single(sign=-1), state)


@pytest.mark.parametrize("name", ["yarn", "srbct_ews", "gasoline", "golub_leukemia"])
def test_solutions_on_real_data_are_certified(name: str) -> None:
    folder = os.environ.get("RELUBIAS_DATA")
    if not folder:
        pytest.skip("RELUBIAS_DATA is not set, so the real data sets are not at hand")
    table = np.loadtxt(Path(folder) / f"{name}.csv.gz", delimiter=",", skiprows=1)
    problem = Problem.from_features(table[:, 1:], table[:, 0])
    assert certify(problem, SINGLE, minimum_norm(problem, SINGLE).state).optimal


@pytest.mark.parametrize("budget", [0, -1, 1.5, float("nan"), True])
def test_a_budget_that_is_no_positive_whole_number_is_refused(budget: int) -> None:
    problem = mixed_problem(4, 8)
    for network in (Network.single(), Network.pair()):
        state = starts.all_active(problem, network)
        with pytest.raises(ArgumentError, match="positive whole number of convex programs"):
            certify(problem, network, state, budget=budget)
