"""The minimum-norm global minimiser of any fixed signs: against brute force over all patterns, and its own laws."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from helpers import Array, Half, least_norm, random_problem, signed_labels
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias import Network, Problem, certify, gap, gradient_descent, minimum_norm, starts
from relubias.errors import ArgumentError
from relubias.linalg.factor import GramOperator
from relubias.references import constrained, excess, many, searched
from relubias.references.branching import BUDGET, Relaxed
from relubias.references.conditions import evidence
from relubias.references.excess import excess_of
from relubias.references.many import ManyTree
from relubias.references.pattern import pattern_minimum
from relubias.references.shared import shared_load
from relubias.state import State
from relubias.status import Optimality

NETWORKS = [(1, 1), (1, 1, -1), (1, -1, -1), (-1, -1), (1, 1, -1, -1), (1, 1, 1), (-1, 1, 1)]


def pieces(row: Array, label: float, signs: Array) -> list[tuple[list[Half], list[Half]]]:
    """Every pattern of one sample in which its label (0 where no neuron has its sign) can be fitted."""
    found: list[tuple[list[Half], list[Half]]] = []
    for active in product((False, True), repeat=len(signs)):
        inside = np.array(active)
        target = label if np.any(signs * label > 0) else 0.0
        fits = np.any(inside & (signs * label > 0)) if target else len(set(signs[inside])) != 1
        if fits:
            sides = np.asarray(np.kron(np.where(inside, signs, 0.0), row), dtype=float)
            equal = [(sides, target)] if inside.any() else []
            walls = np.diag(np.where(inside, -1.0, 1.0))
            below = [(np.asarray(np.kron(wall, row), dtype=float), 0.0) for wall in walls]
            found.append((equal, below))
    return found


def brute_force(features: Array, labels: Array, signs: tuple[int, ...]) -> float:
    """The least norm over all patterns; infinite where none can be met."""
    choices = [pieces(row, label, np.array(signs, float)) for row, label in zip(features, labels, strict=True)]
    return min(
        least_norm([e for p in picked for e in p[0]], [b for p in picked for b in p[1]], len(signs) * len(features.T))
        for picked in product(*choices)
    )


def case(seed: int) -> tuple[Array, Array, tuple[int, ...]]:
    """At most ten pre-activations; zero labels, duplicate rows, d < n and labels of one sign among the cases."""
    rng = np.random.default_rng(seed)
    signs = NETWORKS[seed % len(NETWORKS)]
    n, d = int(rng.integers(2, min(5, 10 // len(signs)) + 1)), int(rng.integers(1, 8))
    features, labels = rng.standard_normal((n, d)), rng.standard_normal(n)
    if seed % 3 == 0:
        labels[rng.integers(n)] = 0.0
    if seed % 4 == 0:
        features[-1], labels[-1] = features[0], labels[0]
    if seed % 5 == 0:
        features = np.abs(features)
    if seed % 11 == 0:
        labels = np.abs(labels)
    return features, labels, signs


@pytest.mark.parametrize("seed", range(70))
def test_agrees_with_brute_force_over_all_patterns(seed: int) -> None:
    features, labels, signs = case(seed)
    network = Network.of_signs(signs)
    star = minimum_norm(Problem.from_features(features, labels), network)
    expected = brute_force(features, labels, signs)
    if np.isinf(expected):
        assert star.status is Optimality.INFEASIBLE
        return
    assert star.status is Optimality.OPTIMAL
    assert star.norm == pytest.approx(expected, rel=1e-9)
    assert star.lower_bound <= star.norm
    assert star.relative_interval <= 1e-8
    wanted = np.where(np.any(labels[:, None] * np.array(signs) > 0, axis=1), labels, 0.0)
    np.testing.assert_allclose(star.predictions, wanted, atol=1e-12)
    np.testing.assert_allclose(star.state.primal, star.weights() @ features.T, atol=1e-9 * max(1.0, expected))


@pytest.mark.parametrize(
    ("features", "labels", "signs"),
    [
        ([[0, 1], [0, -1], [2, 0]], [2, 1, 2], (1, 1)),
        ([[-2, 2], [-1, 0], [-2, -2]], [2, -1, 1], (1, 1)),
        ([[0, -2], [2, 0], [-1, -1], [2, 1]], [-1, 1, -2, -2], (-1, -1)),
        ([[2, 1], [-1, 0], [1, 0]], [1, 1, 1], (1, 1, 1)),
        ([[1, 0], [-1, 0], [2, 0]], [1, 1, 2], (1, 1, -1)),
    ],
)
def test_pieces_that_contradict_each_other_are_closed(features: Array, labels: Array, signs: tuple[int, ...]) -> None:
    """Opposite and dependent rows: no neuron is active on both of two opposite samples."""
    features, labels = np.array(features, dtype=float), np.array(labels, dtype=float)
    star = minimum_norm(Problem.from_features(features, labels), Network.of_signs(signs))
    assert star.status is Optimality.OPTIMAL
    assert star.norm == pytest.approx(brute_force(features, labels, signs), rel=1e-9)


@pytest.mark.parametrize("budget", [1, 4, 12])
def test_a_bound_is_never_above_brute_force_whatever_the_budget(budget: int) -> None:
    for seed in range(0, 70, 2):
        features, labels, signs = case(seed)
        expected = brute_force(features, labels, signs)
        star = minimum_norm(Problem.from_features(features, labels), Network.of_signs(signs), budget=budget)
        assert star.nodes <= budget
        assert star.lower_bound <= expected * (1 + 1e-9)
        if np.isfinite(expected):
            assert star.norm >= expected * (1 - 1e-9)


def test_two_equal_neurons_can_do_better_than_equal_shares_and_than_any_partition() -> None:
    """K = [[1, −2], [−2, 16]], y = (2, 1): the first sample in both neurons, the second in one.

    ‖W‖² is 37/14; equal shares need 73/24, the best partition 65/16, which has one sample in each neuron.
    """
    problem, network = Problem.from_gram([[1.0, -2.0], [-2.0, 16.0]], [2.0, 1.0]), Network.of_signs([1, 1])
    star = minimum_norm(problem, network)
    assert star.norm**2 == pytest.approx(37 / 14, rel=1e-12)
    assert sorted(star.state.pattern.sum(axis=1)) == [1, 2]
    shared = pattern_minimum(problem, network, np.ones((2, 2), dtype=bool))
    assert shared.norm**2 == pytest.approx(73 / 24, rel=1e-12)
    assert shared.norm**2 == pytest.approx(minimum_norm(problem, Network.single()).norm ** 2 / 2, rel=1e-12)
    partitions = (np.array([own, ~np.array(own)]) for own in product((False, True), repeat=2))
    assert min(pattern_minimum(problem, network, p).norm for p in partitions) ** 2 == pytest.approx(65 / 16, rel=1e-12)


@pytest.mark.parametrize(("p", "q"), [(2, 2), (3, 1), (1, 3), (4, 2)])
def test_equal_neurons_divide_the_squared_norm_of_orthogonal_samples(p: int, q: int) -> None:
    labels = np.array([1.0, -2.0, 0.5, 0.0, 1.5, -1.0])
    problem = Problem.from_gram(np.diag([1.0, 2.0, 0.5, 1.0, 3.0, 1.0]), labels)
    pair = minimum_norm(problem, Network.pair())
    star = minimum_norm(problem, Network.of_signs([1] * p + [-1] * q))
    squares = pair.state.norms**2
    assert (star.status, star.nodes) == (Optimality.OPTIMAL, 1)
    assert star.norm**2 == pytest.approx(squares[0] / p + squares[1] / q, rel=1e-12)
    np.testing.assert_allclose(star.state.norms, np.repeat(np.sqrt(squares) / [p, q], [p, q]), rtol=1e-12)


@pytest.mark.parametrize("signs", [(1, 1), (1, 1, -1, -1), (1, 1, 1, -1, -1, -1), (1, 1, -1)])
def test_nearly_orthogonal_samples_need_no_branching(signs: tuple[int, ...]) -> None:
    problem = random_problem(100, 10_000, 0)
    star = minimum_norm(problem, Network.of_signs(signs))
    assert (star.status, star.nodes) == (Optimality.OPTIMAL, 1)
    assert star.relative_interval <= 1e-12
    np.testing.assert_allclose(star.predictions, np.where(len(set(signs)) == 1, np.maximum(problem.labels, 0.0),
                               problem.labels), atol=1e-12)  # fmt: skip


def test_a_tenth_as_many_samples_as_features_are_closed_within_a_hundred_nodes() -> None:
    star = minimum_norm(random_problem(100, 1000, 0), Network.of_signs([1, 1, -1, -1]), budget=100)
    assert star.status is Optimality.OPTIMAL
    assert star.relative_interval <= 1e-8


@pytest.mark.parametrize(("n", "signs"), [(6, (1, 1)), (8, (1, 1)), (10, (1, 1)), (6, (1, 1, -1)), (5, (1, 1, -1, -1))])
def test_few_samples_are_closed_in_as_many_dimensions(n: int, signs: tuple[int, ...]) -> None:
    for seed in range(3):
        star = minimum_norm(random_problem(n, n, seed), Network.of_signs(signs), budget=2000)
        assert star.status is Optimality.OPTIMAL


def test_a_budget_leaves_an_interval_that_holds_the_least_norm() -> None:
    problem, network = random_problem(8, 8, 1), Network.of_signs([1, 1, -1])
    whole, some = minimum_norm(problem, network), minimum_norm(problem, network, budget=20)
    assert whole.status is Optimality.OPTIMAL
    assert some.status is Optimality.BUDGET
    assert some.nodes <= 20 < whole.nodes
    assert 0 < some.lower_bound < whole.norm <= some.norm * (1 + 1e-12)
    assert f"between {some.lower_bound:.10g} and {some.norm:.10g}" in some.message
    np.testing.assert_allclose(some.predictions, problem.labels, rtol=1e-12)


def test_what_is_found_at_the_root_is_no_longer_than_the_shared_solution_of_a_pair() -> None:
    """Samples that are alike, where equal shares of all labels are longer than that."""
    signs = np.array([1, 1, 1, -1, -1])
    for n, d in [(12, 20), (20, 40)]:
        rng = np.random.default_rng(1)
        problem = Problem.from_features(np.abs(rng.normal(size=(n, d))), signed_labels(n, rng))
        squares = minimum_norm(problem, Network.pair(), budget=many.PAIRED).state.norms ** 2
        star = minimum_norm(problem, Network.of_signs(signs.tolist()), budget=1)
        assert star.norm**2 <= (squares[0] / 3 + squares[1] / 2) * (1 + 1e-12)
        shared = pattern_minimum(problem, star.network, signs[:, None] * problem.labels > 0)
        assert shared.norm**2 > squares[0] / 3 + squares[1] / 2


def test_large_networks_have_a_small_budget_and_an_interval_soon() -> None:
    problem, network = random_problem(100, 150, 0), Network.of_signs([1] * 10 + [-1] * 10)
    assert searched.usual_budget(problem, network) == searched.FEWEST
    assert searched.usual_budget(random_problem(8, 8, 0), Network.of_signs([1, 1])) == BUDGET
    star = minimum_norm(problem, network)
    assert star.status is Optimality.BUDGET
    assert star.nodes <= searched.FEWEST
    assert 0 < star.lower_bound < star.norm < np.inf


def test_where_the_budget_is_spent_on_few_samples_the_shared_load_is_a_bound() -> None:
    problem, network = random_problem(6, 6, 0), Network.of_signs([1, 1, -1])
    least = minimum_norm(problem, network)
    some = minimum_norm(problem, network, budget=2)
    load = shared_load(problem, network)
    assert least.status is Optimality.OPTIMAL
    assert some.status is Optimality.BUDGET
    assert some.lower_bound == pytest.approx(np.sqrt(load.lower_bound), rel=1e-12)
    assert 0.99 * least.norm < some.lower_bound <= least.norm


def test_the_shared_load_of_other_labels_is_no_bound() -> None:
    """Opposite rows on three lines: negative labels, which two positive neurons leave at 0, are not clipped there."""
    rng, lines = np.random.default_rng(0), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    features = np.zeros((10, 6))
    features[:6, :2], features[6:] = np.vstack([lines, -lines]), rng.standard_normal((4, 6))
    features[6:, :2] *= 0.1
    labels = np.array([-30.0, -30.0, 0.0, 0.0, 0.0, 0.0, *rng.uniform(0.5, 1.0, 4)])
    network = Network.of_signs([1, 1])
    least = minimum_norm(Problem.from_features(features, np.maximum(labels, 0.0)), network)
    assert least.status is Optimality.OPTIMAL
    assert minimum_norm(Problem.from_features(features, labels), network, budget=1).lower_bound <= least.norm


def test_a_bound_is_a_bound_whatever_the_multipliers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spoilt multipliers weaken the bound; they never move it above the least norm, nor make anything optimal."""
    problem, network = random_problem(6, 12, 0), Network.of_signs([1, 1, -1])
    least = minimum_norm(problem, network).norm
    honest = constrained.best_multipliers

    def spoilt(*args: object, **options: object) -> tuple[Array, object]:
        dual, _ = honest(*args, **options)  # type: ignore[arg-type]
        dual = dual * np.linspace(0.7, 1.3, len(dual))
        return dual, evidence(args[0], args[1], dual)  # type: ignore[arg-type]

    monkeypatch.setattr(many, "best_multipliers", spoilt)
    star = minimum_norm(problem, network, budget=200)
    assert star.status is not Optimality.OPTIMAL
    assert 0 < star.lower_bound < least


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 8), width=st.integers(1, 16), corners=st.booleans())
def test_the_excess_is_that_of_the_worst_corner_or_more(seed: int, size: int, width: int, corners: bool) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((size, width))
    weights, images = rng.uniform(0.1, 2.0, size), rng.normal(0.5, 1.0, size)
    matrix = rows @ rows.T * weights[:, None] * weights
    all_corners = np.array(list(product((0.0, 1.0), repeat=size)))
    exact = float(np.max(np.sum(all_corners @ matrix * all_corners, axis=1) - 2 * all_corners @ (weights * images)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(excess, "CORNERS", 12 if corners else 0)
        found, shares = excess_of(GramOperator(rows @ rows.T), np.arange(size), weights, images)
    assert found >= exact * (1 - 1e-12)
    assert shares.shape == (size,)
    if corners:
        assert found == pytest.approx(exact, abs=1e-12 * np.abs(matrix).sum())


def test_the_excess_of_nearly_orthogonal_samples_is_nothing_and_that_of_images_too_small_is_not() -> None:
    gram = random_problem(50, 5000, 0).gram
    weights = np.full(50, 1e-3)
    nothing, _ = excess_of(GramOperator(gram), np.arange(50), weights, gram @ weights)
    assert nothing == 0.0
    something, shares = excess_of(GramOperator(gram), np.arange(50), weights, gram @ weights * np.repeat([1, 0.3], 25))
    assert something > 0.0
    assert shares[25:].sum() > 0.9 * shares.sum()


@pytest.mark.parametrize("signs", [(1, 1, -1), (1, 1, -1, -1)])
def test_pieces_that_differ_by_equal_neurons_are_searched_once(signs: tuple[int, ...]) -> None:
    """By Burnside's count at the root, and without any symmetry once the neurons are told apart."""
    problem = Problem.from_features(np.eye(3), [1.0, -1.0, 0.0])
    tree = ManyTree(problem, Network.of_signs(signs))
    top = tree.relax(tree.nothing_decided(), None)

    def own_sets(choice: Array, sample: int) -> int:
        node = Relaxed(choice.astype(np.int8), 0.0, 0.0, top.nearest, sample, top.binding)
        return len(list(tree.pieces(node)))

    choice = tree.nothing_decided().astype(float)
    assert own_sets(choice, 0) == 2  # both, or one of the two
    choice[1] = [1, -1] + [1] * (len(signs) - 2)
    assert own_sets(choice, 0) == 3
    assert own_sets(choice, 2) == 4


@pytest.mark.parametrize("signs", [(1, 1, -1), (1, -1, -1), (1, 1)])
def test_the_order_of_neurons_and_the_names_of_signs_do_not_matter(signs: tuple[int, ...]) -> None:
    problem = random_problem(5, 6, 3)
    star = minimum_norm(problem, Network.of_signs(signs))
    turned = minimum_norm(problem, Network.of_signs(signs[::-1]))
    assert turned.norm == pytest.approx(star.norm, rel=1e-10)
    mirrored = Problem.from_gram(problem.gram, -problem.labels)
    assert minimum_norm(mirrored, Network.of_signs([-s for s in signs])).norm == pytest.approx(star.norm, rel=1e-10)


@pytest.mark.parametrize(("stretch", "units"), [(1e9, 1.0), (1e-9, 1.0), (1.0, 1e9), (1.0, 1e-9)])
def test_the_solution_scales_with_features_and_labels(stretch: float, units: float) -> None:
    problem, network = random_problem(6, 9, 3), Network.of_signs([1, 1, -1])
    star = minimum_norm(problem, network)
    other = minimum_norm(Problem.from_gram(problem.gram * stretch**2, problem.labels * units), network)
    assert other.status is star.status is Optimality.OPTIMAL
    assert other.norm == pytest.approx(star.norm * units / stretch, rel=1e-9)


def test_more_neurons_need_no_larger_norm() -> None:
    problem = random_problem(5, 5, 0)
    norms = [minimum_norm(problem, Network.of_signs(signs)).norm for signs in ([1, -1], [1, 1, -1], [1, 1, -1, -1])]
    assert norms == sorted(norms, reverse=True)


def test_labels_that_no_neuron_can_have_are_predicted_as_zero() -> None:
    problem = random_problem(6, 12, 0)
    star = minimum_norm(problem, Network.of_signs([-1, -1]))
    assert star.status is Optimality.OPTIMAL
    np.testing.assert_allclose(star.predictions, np.minimum(problem.labels, 0.0), atol=1e-12)
    nothing = minimum_norm(Problem.from_features(np.eye(3), [1.0, 0.0, 2.0]), Network.of_signs([-1, -1]))
    assert (nothing.norm, nothing.lower_bound, nothing.nodes) == (0.0, 0.0, 1)


def test_conflicting_duplicates_and_zero_rows_are_named_but_not_labels_of_an_absent_sign() -> None:
    features = np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]])
    star = minimum_norm(Problem.from_features(features, [1.0, 2.0, -1.0, 0.5, 1.0]), Network.of_signs([1, 1]))
    assert star.status is Optimality.INFEASIBLE
    assert star.infeasible_rows == (0, 1, 3)
    np.testing.assert_allclose(star.predictions, [1.5, 1.5, 0.0, 0.0, 1.0], atol=1e-14)
    assert star.norm == pytest.approx(np.sqrt((1.5**2 + 1.0) / 2))


def test_a_state_is_a_warm_start() -> None:
    problem, network = random_problem(8, 8, 1), Network.of_signs([1, 1, -1])
    star, cold = minimum_norm(problem, network), minimum_norm(problem, network, budget=1)
    warm = minimum_norm(problem, network, state=star.state, budget=1)
    assert warm.norm == pytest.approx(star.norm, rel=1e-12)
    assert cold.norm > 1.01 * star.norm
    disjoint = starts.disjoint(problem, network)
    given_partition = minimum_norm(problem, network, of="partition", state=disjoint)
    run = gradient_descent(problem, network, disjoint, budget=1e6)
    for state in (disjoint, run.state):
        assert minimum_norm(problem, network, state=state, budget=1).norm <= given_partition.norm * (1 + 1e-12)


def test_a_candidate_of_many_neurons_is_certified_or_measured() -> None:
    problem, network = random_problem(5, 6, 3), Network.of_signs([1, 1, -1])
    star = minimum_norm(problem, network)
    swapped = State.from_weights(problem, network, star.weights()[[1, 0, 2]])
    proof = certify(problem, network, swapped)
    assert proof.optimal
    assert proof.kkt.worst <= 1e-9
    assert not gap(swapped, star).absolute > 1e-9 * star.norm
    parts = np.maximum(problem.labels, 0.0), 0 * problem.labels, np.maximum(-problem.labels, 0.0)
    alone = State.from_dual(problem, network, [np.linalg.solve(problem.gram, part) for part in parts])
    longer = certify(problem, network, alone)
    assert longer.feasible
    assert not longer.optimal
    assert longer.norm > (1 + 1e-6) * longer.shortest
    assert longer.shortest == pytest.approx(star.norm)
    wrong = certify(problem, network, State.from_dual(problem, network, np.zeros((3, 5))))
    assert not wrong.feasible
    assert wrong.misfit == pytest.approx(np.abs(problem.labels).max())


def test_gaps_are_those_of_the_matched_equal_neurons() -> None:
    problem = Problem.from_features([[1.0, 0.0], [-2.0, np.sqrt(12.0)]], [2.0, 1.0])
    network = Network.of_signs([1, 1])
    star = minimum_norm(problem, network)
    moved = star.weights()[::-1] * [[1.001], [1.0]]
    distance = gap(State.from_weights(problem, network, moved), star)
    assert distance.partners == (1, 0)
    np.testing.assert_allclose(distance.per_neuron, [1e-3 * star.state.norms[1], 0.0], atol=1e-12)


def test_only_relu_networks_of_fixed_signs_have_a_global_reference() -> None:
    problem = random_problem(4, 8, 0)
    with pytest.raises(ArgumentError, match="built for the ReLU, not for 'absolute'"):
        minimum_norm(problem, Network.of_signs([1, 1], activation="absolute"))
    with pytest.raises(ArgumentError, match="trained too"):
        minimum_norm(problem, Network.of_signs([1, 1], train_output=True))
