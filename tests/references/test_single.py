"""The minimum-norm global minimiser of one neuron: against brute force, other packages and its own laws."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from relubias.errors import ArgumentError
from relubias.network import Network
from relubias.problem import Problem
from relubias.references import MinimumNorm, constrained, minimum_norm
from relubias.references.elimination import Multipliers
from relubias.references.single import constraints_of
from relubias.status import Optimality

SINGLE = Network.single()


def mixed_problem(n: int, d: int, seed: int = 0) -> Problem:
    """Gaussian features, half the labels negative."""
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(n) % 2, 1.0, -1.0) * rng.uniform(0.5, 2.0, n)
    return Problem.from_features(rng.standard_normal((n, d)), labels)


def brute_force(features: NDArray[np.float64], labels: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Search all sets of samples held at zero; None where no set gives weights that meet all constraints."""
    positive = np.flatnonzero(labels > 0)
    others = np.flatnonzero(labels <= 0)
    best: NDArray[np.float64] | None = None
    for count in range(len(others) + 1):
        for held in combinations(others, count):
            rows = [*positive, *held]
            wanted = np.concatenate([labels[positive], np.zeros(count)])
            weights = np.linalg.pinv(features[rows], rcond=1e-10) @ wanted if rows else np.zeros(features.shape[1])
            fits = np.all(np.abs(features[rows] @ weights - wanted) <= 1e-8) if rows else True
            shorter = best is None or np.linalg.norm(weights) < np.linalg.norm(best)
            if fits and np.all(features[others] @ weights <= 1e-8) and shorter:
                best = weights
    return best


def weights_of(star: MinimumNorm) -> NDArray[np.float64]:
    return np.asarray(star.state.weights()[0])


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 12))
@settings(max_examples=80)
def test_agrees_with_brute_force_over_all_active_sets(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    features, labels = rng.standard_normal((n, d)), rng.standard_normal(n)
    star = minimum_norm(Problem.from_features(features, labels), SINGLE)
    expected = brute_force(features, labels)
    if expected is None:
        assert star.status is Optimality.INFEASIBLE
        assert star.infeasible_rows
    else:
        assert star.status is Optimality.OPTIMAL
        np.testing.assert_allclose(weights_of(star), expected, atol=1e-7 * (1 + float(np.linalg.norm(expected))))


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 5))
@settings(max_examples=120)
def test_agrees_with_brute_force_where_rows_repeat_vanish_and_depend(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    features = rng.integers(-1, 2, (n, d)).astype(float)
    labels = rng.integers(-1, 3, n).astype(float)
    star = minimum_norm(Problem.from_features(features, labels), SINGLE)
    expected = brute_force(features, labels)
    assert star.status is (Optimality.INFEASIBLE if expected is None else Optimality.OPTIMAL)
    if expected is not None:
        np.testing.assert_allclose(weights_of(star), expected, atol=1e-7)


@pytest.mark.parametrize(
    ("n", "d"), [(50, 2000), (200, 4000), pytest.param(1000, 20000, marks=pytest.mark.slow), (60, 65)]
)
def test_residuals_are_at_rounding_on_gaussian_data(n: int, d: int) -> None:
    star = minimum_norm(mixed_problem(n, d), SINGLE)
    assert star.status is Optimality.OPTIMAL
    assert star.kkt.worst <= 1e-12
    assert 0 <= star.interval <= 1e-11 * star.norm


@pytest.mark.parametrize(("n", "d"), [(50, 2000), (200, 4000), pytest.param(1000, 20000, marks=pytest.mark.slow)])
def test_quadprog_finds_the_same_weights(n: int, d: int) -> None:
    quadprog = pytest.importorskip("quadprog")
    problem = mixed_problem(n, d)
    star = minimum_norm(problem, SINGLE)
    # In the variable β:  min ½ βᵀK⁻¹β  s.t.  β_P = y_P, −β_N ≥ 0.
    order = np.argsort(problem.labels <= 0, kind="stable")
    positive = int(np.count_nonzero(problem.labels > 0))
    sides = np.diag(np.where(np.arange(n) < positive, 1.0, -1.0))
    wanted = np.where(np.arange(n) < positive, problem.labels[order], 0.0)
    hessian = np.linalg.inv(problem.gram[np.ix_(order, order)])
    hessian = 0.5 * (hessian + hessian.T)
    scale = np.trace(hessian) / n
    primal = quadprog.solve_qp(hessian / scale, np.zeros(n), sides, wanted, meq=positive)[0]
    np.testing.assert_allclose(star.state.primal[0][order], primal, atol=1e-9)


@pytest.mark.parametrize(("n", "d"), [(50, 2000), (200, 4000), pytest.param(1000, 20000, marks=pytest.mark.slow)])
def test_clarabel_finds_the_same_weights_to_its_own_accuracy(n: int, d: int) -> None:
    """Clarabel.cpp#36: a status "optimal" with an error of 1e-4; ours must be the more accurate one."""
    clarabel = pytest.importorskip("clarabel")
    sparse = pytest.importorskip("scipy.sparse")
    problem = mixed_problem(n, d)
    star = minimum_norm(problem, SINGLE)
    positive = problem.labels > 0
    unit = np.trace(problem.gram) / n
    # min ½ aᵀKa − yᵀa  s.t.  a_N ≤ 0, in units in which K is near the identity.
    constraint = sparse.csc_matrix(np.eye(n)[~positive])
    settings_ = clarabel.DefaultSettings()
    settings_.verbose = False
    settings_.tol_gap_abs = settings_.tol_gap_rel = settings_.tol_feas = 1e-12
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(problem.gram / unit)),
        -np.where(positive, problem.labels, 0.0),
        constraint,
        np.zeros(constraint.shape[0]),
        [clarabel.NonnegativeConeT(constraint.shape[0])],
        settings_,
    )
    dual = np.array(solver.solve().x) / unit
    difference = dual - star.state.dual[0]
    assert np.sqrt(difference @ problem.gram @ difference) <= 1e-6 * star.norm


@pytest.mark.parametrize("factor", [1e-9, 1e-4, 1e4, 1e9])
def test_scaling_the_labels_scales_the_weights(factor: float) -> None:
    problem = mixed_problem(40, 60, seed=1)
    scaled = Problem.from_features(problem.features, factor * problem.labels)
    star, other = minimum_norm(problem, SINGLE), minimum_norm(scaled, SINGLE)
    assert other.status is Optimality.OPTIMAL
    np.testing.assert_allclose(weights_of(other) / factor, weights_of(star), atol=1e-10 * star.norm)
    assert other.lower_bound / factor == pytest.approx(star.lower_bound, rel=1e-10)


@pytest.mark.parametrize("factor", [1e-9, 1e-4, 1e4, 1e9])
def test_scaling_the_features_divides_the_weights(factor: float) -> None:
    problem = mixed_problem(40, 60, seed=1)
    scaled = Problem.from_features(factor * problem.features, problem.labels)
    star, other = minimum_norm(problem, SINGLE), minimum_norm(scaled, SINGLE)
    assert other.status is Optimality.OPTIMAL
    np.testing.assert_allclose(weights_of(other) * factor, weights_of(star), atol=1e-10 * star.norm)
    assert other.norm * factor == pytest.approx(star.norm, rel=1e-10)


def test_permuting_the_samples_and_rotating_the_features_changes_nothing_else() -> None:
    problem = mixed_problem(30, 50, seed=2)
    rng = np.random.default_rng(3)
    order, rotation = rng.permutation(30), np.linalg.qr(rng.standard_normal((50, 50)))[0]
    star = minimum_norm(problem, SINGLE)
    permuted = minimum_norm(Problem.from_features(problem.features[order], problem.labels[order]), SINGLE)
    rotated = minimum_norm(Problem.from_features(problem.features @ rotation, problem.labels), SINGLE)
    np.testing.assert_allclose(weights_of(permuted), weights_of(star), atol=1e-11 * star.norm)
    np.testing.assert_allclose(rotation @ weights_of(rotated), weights_of(star), atol=1e-11 * star.norm)


def test_a_negative_neuron_is_the_mirror_of_a_positive_one() -> None:
    problem = mixed_problem(30, 50, seed=4)
    mirrored = Problem.from_features(problem.features, -problem.labels)
    star = minimum_norm(mirrored, Network.single(sign=-1))
    np.testing.assert_array_equal(star.state.primal, minimum_norm(problem, SINGLE).state.primal)
    np.testing.assert_allclose(star.predictions, np.minimum(mirrored.labels, 0.0), atol=0)


def test_the_solution_predicts_positive_labels_exactly_and_nothing_elsewhere() -> None:
    problem = mixed_problem(50, 200, seed=5)
    star = minimum_norm(problem, SINGLE)
    np.testing.assert_array_equal(star.predictions, np.maximum(problem.labels, 0.0))
    np.testing.assert_allclose(problem.gram @ star.state.dual[0], star.state.primal[0], atol=1e-12)
    assert np.any(star.state.primal[0] == 0.0)


def test_the_lower_bound_is_below_and_the_norm_above_what_exact_arithmetic_gives() -> None:
    # K = [[2, 1], [1, 2]], y = (3, −1): unconstrained β₂ = 3/2 > 0, so β = (3, 0), a = (2, −1), ‖w‖² = 6.
    star = minimum_norm(Problem.from_gram([[2.0, 1.0], [1.0, 2.0]], [3.0, -1.0]), SINGLE)
    assert star.lower_bound <= np.sqrt(6.0) <= star.norm + 1e-15
    assert star.norm == pytest.approx(np.sqrt(6.0), rel=1e-15)
    assert star.lower_bound == pytest.approx(np.sqrt(6.0), rel=1e-13)
    np.testing.assert_allclose(star.state.dual, [[2.0, -1.0]], rtol=1e-15)


@pytest.mark.parametrize("labels", [[-1.0, -2.0, 0.0], [0.0, 0.0, 0.0]])
def test_without_positive_labels_the_solution_is_exactly_zero(labels: list[float]) -> None:
    features = np.random.default_rng(6).standard_normal((3, 8))
    star = minimum_norm(Problem.from_features(features, labels), SINGLE)
    assert star.status is Optimality.OPTIMAL
    assert star.norm == star.lower_bound == star.interval == 0.0
    assert not np.any(star.state.dual)
    assert not np.any(star.state.primal)
    assert "w = 0" in star.message


def test_without_other_labels_it_is_the_linear_interpolator() -> None:
    rng = np.random.default_rng(7)
    problem = Problem.from_features(rng.standard_normal((20, 50)), rng.uniform(1, 2, 20))
    star, linear = minimum_norm(problem, SINGLE), minimum_norm(problem, SINGLE, of="linear")
    np.testing.assert_array_equal(star.state.dual, linear.state.dual)
    np.testing.assert_allclose(weights_of(star), np.linalg.pinv(problem.features) @ problem.labels, rtol=1e-9)


@pytest.mark.parametrize(("label", "norm"), [(3.0, 1.5), (-3.0, 0.0), (0.0, 0.0)])
def test_one_sample(label: float, norm: float) -> None:
    star = minimum_norm(Problem.from_gram([[4.0]], [label]), SINGLE)
    assert star.status is Optimality.OPTIMAL
    assert star.norm == norm


def test_a_zero_row_with_a_positive_label_is_infeasible_and_named() -> None:
    features = np.vstack([np.eye(3, 5), np.zeros((1, 5))])
    star = minimum_norm(Problem.from_features(features, [1.0, 2.0, -1.0, 3.0], sample_names=list("abcd")), SINGLE)
    assert star.status is Optimality.INFEASIBLE
    assert star.infeasible_rows == (3,)
    assert "'d' is zero" in star.message
    np.testing.assert_allclose(star.state.primal, [[1.0, 2.0, 0.0, 0.0]], atol=1e-14)
    assert np.isfinite(star.norm)
    assert star.norm == pytest.approx(np.sqrt(5.0))


@pytest.mark.parametrize("label", [0.0, -2.0])
def test_a_zero_row_with_another_label_constrains_nothing(label: float) -> None:
    features = np.vstack([np.eye(3, 5), np.zeros((1, 5))])
    star = minimum_norm(Problem.from_features(features, [1.0, 2.0, -1.0, label]), SINGLE)
    assert star.status is Optimality.OPTIMAL
    assert star.norm == pytest.approx(np.sqrt(5.0), rel=1e-15)


def with_duplicates(labels: tuple[float, float]) -> Problem:
    """Eight samples of which 2 and 5 coincide, with the given labels."""
    rng = np.random.default_rng(8)
    features, y = rng.standard_normal((8, 30)), np.array([1.0, -1.0] * 4)
    features[5] = features[2]
    y[[2, 5]] = labels
    return Problem.from_features(features, y)


@pytest.mark.parametrize("labels", [(1.0, 1.0), (-1.0, -1.0), (-1.0, -3.0), (0.0, -1.0)])
def test_consistent_duplicates_are_solved(labels: tuple[float, float]) -> None:
    """scikit-learn PR 30040: duplicate rows make solves fail."""
    problem = with_duplicates(labels)
    star = minimum_norm(problem, SINGLE)
    assert star.status is Optimality.OPTIMAL
    keep = np.arange(8) != 5
    alone = minimum_norm(Problem.from_features(problem.features[keep], problem.labels[keep]), SINGLE)
    np.testing.assert_allclose(weights_of(star), weights_of(alone), atol=1e-12 * alone.norm)
    # The dual is the one of least length, which treats both alike.
    assert star.state.dual[0, 2] == pytest.approx(star.state.dual[0, 5], abs=1e-14)


@pytest.mark.parametrize(("labels", "middle"), [((1.0, 3.0), 2.0), ((1.0, -1.0), 0.5), ((2.0, 0.0), 1.0)])
def test_conflicting_duplicates_are_infeasible_and_named(labels: tuple[float, float], middle: float) -> None:
    star = minimum_norm(with_duplicates(labels), SINGLE)
    assert star.status is Optimality.INFEASIBLE
    assert star.infeasible_rows == (2, 5)
    assert "row 3, row 6" in star.message
    np.testing.assert_allclose(star.state.primal[0, [2, 5]], middle, rtol=1e-9)


def test_centred_features_with_positive_labels_only_cannot_be_fitted() -> None:
    rng = np.random.default_rng(9)
    features = rng.standard_normal((10, 40))
    problem = Problem.from_features(features - features.mean(axis=0), np.full(10, 2.0))
    star = minimum_norm(problem, SINGLE)
    assert star.status is Optimality.INFEASIBLE
    assert star.infeasible_rows == tuple(range(10))
    assert "and 5 more" in star.message


def test_centred_features_with_mixed_labels_are_solved() -> None:
    problem = mixed_problem(40, 100, seed=10)
    features = problem.features - problem.features.mean(axis=0)
    star = minimum_norm(Problem.from_features(features, problem.labels), SINGLE)
    assert star.status is Optimality.OPTIMAL
    assert star.kkt.worst <= 1e-12


def test_fewer_features_than_samples_are_solved_where_a_teacher_exists() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        features = rng.standard_normal((40, 20))
        teacher = features @ rng.standard_normal(20)
        labels = np.where(teacher > 0, teacher, -rng.random(40))
        star = minimum_norm(Problem.from_features(features, labels), SINGLE)
        assert star.status is Optimality.OPTIMAL
        assert star.kkt.worst <= 1e-9


@pytest.mark.parametrize("seed", [13, 14, 50, 60, 87])
def test_almost_as_many_positive_labels_as_features_leave_a_program_of_small_rank(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((40, 20))
    teacher = features @ rng.standard_normal(20)
    star = minimum_norm(Problem.from_features(features, np.where(teacher > 0, teacher, -rng.random(40))), SINGLE)
    assert star.status is Optimality.OPTIMAL


@pytest.mark.parametrize(
    ("seed", "longest"),
    [
        (143, 1),
        (1381, 1),
        (1496, 1),
        (2164, 1),
        (2218, 1),
        (2584, 1),
        (3025, 1),
        (3258, 1),
        (177, 3),
        (2148, 3),
        (8840, 3),
    ],
)
def test_sparse_whole_numbers_are_solved(seed: int, longest: int) -> None:
    """Zero, equal and dependent rows all at once; each of these seeds was a failure of an earlier method."""
    rng = np.random.default_rng(seed)
    features = (rng.random((30, 25)) < 0.1).astype(float)
    if longest > 1:
        features *= rng.integers(1, longest + 1, (30, 1))
    teacher = features @ rng.integers(-2, 3, 25)
    star = minimum_norm(Problem.from_features(features, np.maximum(teacher, 0.0)), SINGLE)
    assert star.status is Optimality.OPTIMAL
    np.testing.assert_allclose(np.maximum(features @ weights_of(star), 0.0), np.maximum(teacher, 0.0), atol=1e-8)


@pytest.mark.parametrize("decades", [5, 6, 7])
def test_what_can_be_met_is_never_called_infeasible_for_want_of_digits(decades: int) -> None:
    """Fewer features than samples, K singular beyond rounding, labels that a teacher with large weights fits."""
    for seed in range(15):
        rng = np.random.default_rng(seed)
        features = rng.standard_normal((60, 30)) * np.logspace(0, -decades, 30)
        teacher = features @ (rng.standard_normal(30) * np.logspace(0, decades, 30))
        star = minimum_norm(Problem.from_features(features, np.where(teacher > 0, teacher, -1.0)), SINGLE)
        assert star.status is not Optimality.INFEASIBLE
        assert star.status is Optimality.BUDGET or star.kkt.worst <= 1e-6
        assert np.isfinite(star.norm)


def test_conflicts_are_seen_beside_a_nearly_singular_rest() -> None:
    rng = np.random.default_rng(13)
    features = rng.standard_normal((40, 20)) * np.logspace(0, -5, 20)
    features[1] = features[0]
    teacher = features @ rng.standard_normal(20)
    labels = np.where(teacher > 0, teacher, -1.0)
    labels[:2] = 1.0, 3.0
    star = minimum_norm(Problem.from_features(features, labels), SINGLE)
    assert star.status is Optimality.INFEASIBLE
    assert {0, 1} <= set(star.infeasible_rows)


def test_a_candidate_without_proof_has_the_status_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever computed it: an uncertified solution is never returned as optimal."""
    monkeypatch.setattr(
        constrained, "multipliers", lambda operator, *_, **__: Multipliers(np.full(operator.n_samples, -0.01))
    )
    star = minimum_norm(mixed_problem(6, 12), SINGLE)
    assert star.status is Optimality.BUDGET
    assert star.kkt.worst > 1e-3
    assert "could be proven optimal" in star.message
    assert "above 1e-9 and above the rounding level" in star.message
    assert star.infeasible_rows == ()
    assert 0 <= star.lower_bound <= star.norm


def test_nearly_conflicting_duplicates_are_never_called_optimal_without_digits() -> None:
    """Two rows at cosine 1 − 1e-15 with opposite labels: K alone cannot tell whether they differ."""
    rng = np.random.default_rng(11)
    features = rng.standard_normal((10, 30))
    features[1] = features[0] + 3e-8 * rng.standard_normal(30)
    labels = np.array([1.0, 3.0] + [1.0, -1.0] * 4)
    problem = Problem.from_features(features, labels)
    assert minimum_norm(problem, SINGLE).status is Optimality.OPTIMAL, "the features can"
    star = minimum_norm(Problem.from_gram(problem.gram, labels), SINGLE)
    assert star.status is not Optimality.OPTIMAL
    assert np.isfinite(star.norm)


def test_a_condition_number_of_4e8_keeps_nine_digits() -> None:
    rng = np.random.default_rng(12)
    features = rng.standard_normal((28, 60)) @ np.diag(np.geomspace(1.0, 1e-7, 60))
    star = minimum_norm(Problem.from_features(features, rng.choice([-1.0, 1.0], 28)), SINGLE)
    assert star.problem.facts.condition > 1e8
    assert star.status is Optimality.OPTIMAL
    assert star.kkt.worst <= 1e-9
    assert 0 <= star.interval <= 1e-6 * star.norm


def test_the_global_reference_is_for_the_relu() -> None:
    problem = mixed_problem(4, 8)
    absolute = Network.single(activation="absolute")
    with pytest.raises(ArgumentError, match="built for the ReLU, not for 'absolute'"):
        minimum_norm(problem, absolute)


def test_an_unknown_kind_lists_those_there_are() -> None:
    with pytest.raises(
        ArgumentError, match=r"of='best' is not known; choose one of: global, pattern, partition, linear, variation\."
    ):
        minimum_norm(mixed_problem(4, 8), SINGLE, of="best")


@pytest.mark.parametrize("name", ["yarn", "srbct_ews", "gasoline", "golub_leukemia"])
@pytest.mark.parametrize("centred", [False, True])
def test_real_data_are_solved(name: str, centred: bool) -> None:
    folder = os.environ.get("RELUBIAS_DATA")
    if not folder:
        pytest.skip("RELUBIAS_DATA is not set, so the real data sets are not at hand")
    table = np.loadtxt(Path(folder) / f"{name}.csv.gz", delimiter=",", skiprows=1)
    labels = table[:, 0] - (table[:, 0].mean() if centred else 0.0)
    star = minimum_norm(Problem.from_features(table[:, 1:], labels), SINGLE)
    assert star.status is Optimality.OPTIMAL
    # srbct has condition 1.6e11: rounding the multipliers alone leaves a few 1e-9 there, and the message says so.
    assert star.kkt.worst <= (1e-8 if name == "srbct_ews" else 1e-9)
    assert ("rounding level" in star.message) == (star.kkt.worst > 1e-9)
    assert 0 <= star.interval <= 1e-6 * star.norm


@pytest.mark.parametrize("of", ["global", "linear"])
@pytest.mark.parametrize(
    ("features", "labels"),
    [
        ([[-3.0, 6, 6, 6, -6, -6], [-1, 2, 2, 2, -2, -2]], [20.536827369960783, 6.845609123320262]),
        ([[1.0, 2, -2, 0, -1, 1, 2], [1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1]], [5.0, 4.0, 4.0]),
    ],
)
def test_rows_in_proportion_are_one_constraint(features: list[list[float]], labels: list[float], of: str) -> None:
    """To the last digit the rows of the factor are independent, and solving for both gives weights twice as long."""
    star = minimum_norm(Problem.from_features(features, labels), Network.single(), of=of)
    shortest = np.linalg.lstsq(np.array(features), np.array(labels), rcond=1e-10)[0]
    assert star.status is Optimality.OPTIMAL
    assert star.norm == pytest.approx(np.linalg.norm(shortest), rel=1e-12)
    assert star.lower_bound == pytest.approx(star.norm, rel=1e-12)


def test_multipliers_that_are_rounding_prove_nothing() -> None:
    problem = mixed_problem(6, 40)
    _, proof = constrained.best_multipliers(problem.operator, constraints_of(problem, SINGLE))
    assert proof.optimal
    assert not replace(proof, lower_bound=0.999 * proof.lower_bound).optimal


@pytest.mark.parametrize(("value", "told"), [(1.363e8, "1.3e+08"), (0.999, "0.99"), (2.0, "2"), (0.0, "0")])
def test_a_bound_that_is_told_is_still_one(value: float, told: str) -> None:
    assert constrained.rounded_down(value) == told
    assert float(told) <= value
