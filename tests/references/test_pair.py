"""The minimum-norm global minimiser of a pair: against brute force over all pieces, and its own laws."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from helpers import Array, Half, least_norm, random_problem, real_data

from relubias import Network, Problem, certify, gap, gradient_descent, minimum_norm, read, starts
from relubias.errors import ArgumentError
from relubias.references import constrained, pair
from relubias.references.conditions import evidence
from relubias.state import State
from relubias.status import Optimality

PAIR = Network.pair()


def brute_force(features: Array, labels: Array) -> float:
    """The least norm over all 2ⁿ choices of a piece for each sample; infinite where none can be met."""
    zero = np.zeros(features.shape[1])
    choices: list[list[tuple[list[Half], list[Half]]]] = []
    for row, label in zip(features, labels, strict=True):
        own, other = np.append(row, zero), np.append(zero, row)
        if label < 0:
            own, other = other, own
        both: tuple[list[Half], list[Half]] = ([(own - other, abs(label))], [(-other, 0.0)])
        alone: tuple[list[Half], list[Half]] = ([(own, abs(label))], [(other, 0.0)])
        none: tuple[list[Half], list[Half]] = ([], [(own, 0.0), (other, 0.0)])
        choices.append([none if label == 0 else alone, both])
    return min(
        least_norm([e for p in picked for e in p[0]], [b for p in picked for b in p[1]], 2 * features.shape[1])
        for picked in product(*choices)
    )


@pytest.mark.parametrize("seed", range(50))
def test_agrees_with_brute_force_over_all_pieces(seed: int) -> None:
    """With zero labels in a third of the cases, duplicate rows in a quarter, and d < n in some."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 7)), int(rng.integers(2, 10))
    features, labels = rng.standard_normal((n, d)), rng.standard_normal(n)
    if seed % 3 == 0:
        labels[rng.integers(n)] = 0.0
    if seed % 4 == 0:
        features[-1], labels[-1] = features[0], labels[0]
    star = minimum_norm(Problem.from_features(features, labels), PAIR)
    expected = brute_force(features, labels)
    if np.isinf(expected):
        assert star.status is Optimality.INFEASIBLE
    else:
        assert star.status is Optimality.OPTIMAL
        assert star.norm == pytest.approx(expected, rel=1e-9)
        assert star.lower_bound <= star.norm
        assert star.relative_interval <= 1e-8
        np.testing.assert_allclose(star.state.predictions, labels, atol=1e-12)
        np.testing.assert_allclose(star.state.primal, star.weights() @ features.T, atol=1e-9)


@pytest.mark.parametrize(
    ("features", "labels"),
    [
        ([[0, 2], [-2, 0], [-2, -1]], [0, 2, 1]),
        ([[-1, 2], [2, 0], [2, 2]], [0, 0, -1]),
        ([[1, -1, 0], [1, -1, -2], [-2, -1, 0], [2, 0, 0]], [2, -2, 0, 0]),
    ],
)
def test_pieces_that_contradict_each_other_are_closed(features: list[list[int]], labels: list[int]) -> None:
    """Dependent rows, some of whose pieces cannot be met together."""
    rows, wanted = np.array(features, dtype=float), np.array(labels, dtype=float)
    star = minimum_norm(Problem.from_features(rows, wanted), PAIR)
    assert star.status is Optimality.OPTIMAL
    assert star.norm == pytest.approx(brute_force(rows, wanted), rel=1e-9)


def solved(n: int, d: int, seed: int) -> tuple[int, float]:
    """Nodes and relative interval of an optimal solution."""
    problem = random_problem(n, d, seed)
    star = minimum_norm(problem, PAIR)
    assert star.status is Optimality.OPTIMAL
    np.testing.assert_allclose(star.predictions, problem.labels, rtol=1e-12)
    return star.nodes, star.relative_interval


@pytest.mark.parametrize("n", [10, 50, 200])
def test_nearly_orthogonal_samples_need_no_branching(n: int) -> None:
    nodes, interval = solved(n, 100 * n, 0)
    assert nodes == 1
    assert interval <= 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 20, 50, 100, 200])
def test_twenty_seeds_at_a_hundredth_need_no_branching_and_at_a_tenth_few_nodes(n: int) -> None:
    for seed in range(20):
        nodes, interval = solved(n, 100 * n, seed)
        assert (nodes, interval <= 1e-9) == (1, True)
        assert solved(n, 10 * n, seed)[0] <= 50


@pytest.mark.parametrize(("n", "d"), [(16, 20), (30, 60), (50, 100)])
@pytest.mark.parametrize("seed", range(20))
def test_problems_of_half_as_many_samples_as_features_are_closed_within_a_few_nodes(n: int, d: int, seed: int) -> None:
    nodes, interval = solved(n, d, seed)
    assert 0 < nodes <= 26
    assert interval <= 1e-8


@pytest.mark.parametrize(
    ("name", "centre", "nodes"),
    [("yarn", False, 1000), ("yarn", True, 200), ("riboflavin", True, 3000), ("golub_leukemia", False, 600)],
)
def test_real_data_are_closed(name: str, centre: bool, nodes: int) -> None:
    star = minimum_norm(read(real_data(f"{name}.csv.gz"), target="y", centre_labels=centre), PAIR)
    assert star.status is Optimality.OPTIMAL
    assert star.relative_interval <= 1e-8
    assert 1 < star.nodes <= nodes
    np.testing.assert_allclose(star.predictions, star.problem.labels, atol=1e-9 * np.abs(star.problem.labels).max())


def test_a_budget_leaves_an_interval_that_holds_the_least_norm() -> None:
    problem = random_problem(50, 100, 0)
    whole, part = minimum_norm(problem, PAIR), minimum_norm(problem, PAIR, budget=3)
    assert whole.nodes > 3
    assert (part.status, part.nodes) == (Optimality.BUDGET, 3)
    assert part.lower_bound < whole.norm <= part.norm * (1 + 1e-12)
    assert f"between {part.lower_bound:.10g} and {part.norm:.10g}" in part.message
    np.testing.assert_allclose(part.predictions, problem.labels, rtol=1e-12)


def test_a_bound_is_a_bound_whatever_the_multipliers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spoilt multipliers weaken the bound; they never move it above the least norm, nor make anything optimal."""
    problem = random_problem(8, 16, 0)
    least = minimum_norm(problem, PAIR).norm
    honest = constrained.best_multipliers

    def spoilt(*args: object, **options: object) -> tuple[Array, object]:
        dual, _ = honest(*args, **options)  # type: ignore[arg-type]
        dual = dual * np.linspace(0.7, 1.3, len(dual))
        return dual, evidence(args[0], args[1], dual)  # type: ignore[arg-type]

    monkeypatch.setattr(pair, "best_multipliers", spoilt)
    star = minimum_norm(problem, PAIR, budget=200)
    assert star.status is Optimality.BUDGET
    assert 0 < star.lower_bound < least


def test_the_pattern_of_a_run_is_a_warm_start_that_costs_no_node() -> None:
    problem = random_problem(30, 60, 1)
    run = gradient_descent(problem, PAIR, starts.all_active(problem, PAIR))
    cold, warm = minimum_norm(problem, PAIR), minimum_norm(problem, PAIR, state=run.state)
    assert warm.norm == pytest.approx(cold.norm, rel=1e-12)
    assert warm.nodes <= cold.nodes


def test_signs_may_come_in_either_order() -> None:
    problem = random_problem(12, 24, 3)
    star, mirrored = minimum_norm(problem, PAIR), minimum_norm(problem, Network.of_signs([-1, 1]))
    assert mirrored.norm == pytest.approx(star.norm, rel=1e-12)
    np.testing.assert_allclose(mirrored.state.primal[::-1], star.state.primal, atol=1e-12)


@pytest.mark.parametrize(("stretch", "units"), [(1e9, 1.0), (1e-9, 1.0), (1.0, 1e9), (1.0, 1e-9)])
def test_the_solution_scales_with_features_and_labels(stretch: float, units: float) -> None:
    problem = random_problem(12, 24, 3)
    star = minimum_norm(problem, PAIR)
    assert problem.features is not None
    other = minimum_norm(Problem.from_gram(problem.gram * stretch**2, problem.labels * units), PAIR)
    assert (other.status, other.nodes) == (star.status, star.nodes)
    assert other.norm == pytest.approx(star.norm * units / stretch, rel=1e-9)


def test_labels_of_zero_alone_have_the_solution_zero() -> None:
    star = minimum_norm(Problem.from_features(np.eye(3), np.zeros(3)), PAIR)
    assert (star.status, star.norm, star.lower_bound, star.nodes) == (Optimality.OPTIMAL, 0.0, 0.0, 1)
    assert "w = 0, exactly" in star.message


def test_conflicting_duplicates_and_zero_rows_are_named_and_the_compromise_is_that_of_least_squares() -> None:
    features = np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]])
    star = minimum_norm(Problem.from_features(features, [1.0, 2.0, -1.0, 0.5]), PAIR)
    assert star.status is Optimality.INFEASIBLE
    assert star.infeasible_rows == (0, 1, 3)
    assert "row 1, row 2, row 4" in star.message
    np.testing.assert_allclose(star.predictions, [1.5, 1.5, -1.0, 0.0], atol=1e-14)
    assert star.norm == pytest.approx(np.hypot(1.5, 1.0))
    assert star.kkt.primal == pytest.approx(0.5 / 1.5)
    with pytest.raises(ArgumentError, match="no reference to compare with"):
        gap(State.from_dual(star.problem, PAIR, np.zeros((2, 4))), star)


def test_too_few_dimensions_are_infeasible_and_said_with_the_norm_that_is_excluded() -> None:
    rng = np.random.default_rng(3)
    star = minimum_norm(Problem.from_features(rng.standard_normal((6, 1)), [1.0, -1.0, 2.0, 1.0, -2.0, 0.5]), PAIR)
    assert star.status is Optimality.INFEASIBLE
    assert "no weights" in star.message
    assert "rank 1 for 6 samples" in star.message
    assert not star.is_solution


def test_a_spent_budget_without_a_solution_has_an_infinite_norm() -> None:
    rng = np.random.default_rng(0)
    star = minimum_norm(Problem.from_features(rng.standard_normal((20, 6)), rng.standard_normal(20)), PAIR, budget=20)
    assert star.status is Optimality.BUDGET
    assert star.norm == np.inf
    assert np.isinf(star.relative_interval)
    assert 0 < star.lower_bound < np.inf
    assert "found within" in star.message
    with pytest.raises(ArgumentError, match="no reference to compare with"):
        gap(star.state, star)


def test_a_budget_is_a_positive_number_of_programs() -> None:
    with pytest.raises(ArgumentError, match="budget=0 is not a positive whole number"):
        minimum_norm(random_problem(4, 8, 0), PAIR, budget=0)


def test_the_solution_is_certified_and_others_are_measured() -> None:
    problem = random_problem(20, 60, 0)
    star = minimum_norm(problem, PAIR)
    proof = certify(problem, PAIR, State.from_weights(problem, PAIR, star.weights()))
    assert proof.optimal
    assert proof.kkt.worst <= 1e-9
    linear = np.linalg.solve(problem.gram, problem.labels)
    split = np.maximum(problem.labels, 0.0), np.maximum(-problem.labels, 0.0)
    alone = State.from_dual(problem, PAIR, [np.linalg.solve(problem.gram, part) for part in split])
    longer = certify(problem, PAIR, alone)
    assert longer.feasible
    assert not longer.optimal
    assert longer.norm > longer.lower_bound
    assert "not shown to be the one of least norm" in longer.message
    wrong = certify(problem, PAIR, State.from_dual(problem, PAIR, [linear, 0 * linear]))
    assert not wrong.feasible
    assert wrong.misfit == pytest.approx(np.max(-problem.labels))
    assert problem.sample(int(np.argmin(problem.labels))) in wrong.message


def test_the_optimum_of_a_pattern_is_not_taken_for_the_global_one() -> None:
    problem = random_problem(30, 60, 1)
    apart = np.where([problem.labels > 0, problem.labels < 0], 1.0, -1.0)
    state = State.from_dual(problem, PAIR, np.linalg.solve(problem.gram, apart.T).T)
    given = minimum_norm(problem, PAIR, of="partition", state=state)
    proof = certify(problem, PAIR, given.state)
    assert given.status is Optimality.OPTIMAL
    assert proof.feasible
    assert not proof.optimal
    assert proof.norm == pytest.approx(given.norm)
    assert given.norm > (1 + 1e-6) * proof.shortest


@pytest.mark.parametrize("stretch", [1.0, 1e9])
def test_coefficients_that_cancel_to_rounding_prove_nothing(stretch: float) -> None:
    """Two rows differ by 1e-7: some pieces are met by coefficients whose norm, √(aᵀKa), is rounding alone."""
    features = np.array(
        [
            [-1.02149736, -0.0711664974, -0.122178684],
            [-1.02149727, -0.0711663526, -0.122178622],
            [1.57205145, -2.61696602, 0.656909718],
            [-0.0664035447, -1.20109606, 0.0462736377],
            [1.12647474, 1.05627421, 0.500978297],
        ]
    )
    labels = np.array([0.0, 0.0, -1.67932031, -1.24868632, 0.0])
    star = minimum_norm(Problem.from_features(features * stretch, labels), Network.pair())
    assert star.status is Optimality.OPTIMAL
    assert star.norm * stretch == pytest.approx(brute_force(features, labels), rel=1e-6)


@pytest.mark.parametrize("network", [Network.single(), Network.pair(), Network.of_signs([1, 1])])
def test_labels_missed_by_more_than_rounding_are_not_fitted(network: Network) -> None:
    star = minimum_norm(Problem.from_features([[1.0], [1.0 + 1e-6]], [1.0, 1.0]), network)
    assert star.status is Optimality.INFEASIBLE
    assert not star.is_solution
    assert np.abs(star.predictions - 1.0).max() > 3e-7


@pytest.mark.parametrize(
    ("seed", "status"), [(0, Optimality.INFEASIBLE), (9, Optimality.BUDGET), (23, Optimality.BUDGET)]
)
def test_nothing_is_called_infeasible_that_may_need_less_than_ten_times_the_norm(seed: int, status: str) -> None:
    """Two of five rows in space are alike to 1e-7: nothing is solved within the digits, and not all is out of reach."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((5, 3))
    features[1] = features[0] + 1e-7 * rng.standard_normal(3)
    star = minimum_norm(Problem.from_features(features, rng.standard_normal(5)), Network.pair())
    assert star.status is status
    assert not star.is_solution
    if status is Optimality.INFEASIBLE:
        assert float(star.message.split("norm below ")[1].split()[0]) > 10 * star.norm
    else:
        assert np.isinf(star.norm)
        assert 0 < star.lower_bound < np.inf


def test_a_tie_that_rounding_breaks_does_not_make_a_pair_infeasible() -> None:
    """Three rows of rank two whose labels one neuron fits: the relaxation at the root is the solution."""
    features = np.array([[0.0, 1.0, -1.0, 2.0], [-1.0, 1.0, 2.0, 1.0], [-0.01, 1.01, -0.98, 2.01]])
    labels = np.array([0.9131597838749925, 2.4628937248976497, 0.9377887211239686])
    for problem in (Problem.from_gram(features @ features.T, labels), Problem.from_features(features, labels)):
        single, pair = (minimum_norm(problem, network) for network in (Network.single(), Network.pair()))
        assert single.status is pair.status is Optimality.OPTIMAL
        assert pair.norm == pytest.approx(single.norm, rel=1e-9)
