"""Orthogonal rows: closed forms for every choice of signs, and the shared load that proves them."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import Array

from relubias import Network, Problem, analyze, gradient_flow, minimum_norm, starts
from relubias.references.equal_neurons import equal_neurons, orthogonal_minimum
from relubias.references.pair import pair_minimum
from relubias.references.shared import shared_load
from relubias.references.single import single_neuron
from relubias.status import Optimality


def orthogonal_rows(n: int, d: int, seed: int) -> tuple[Array, Array]:
    """Orthogonal rows of different lengths, labels of both signs."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.standard_normal((d, n)))
    labels = np.where(np.arange(n) % 2, 1.0, -1.0) * rng.uniform(0.5, 2.0, n)
    return basis.T * rng.uniform(0.5, 2.0, n)[:, None], labels


def closed_form(features: Array, labels: Array, signs: list[int]) -> float:
    """√(L₊²/p + L₋²/q) by the definition."""
    shares = labels**2 / np.sum(features**2, axis=1)
    return float(np.sqrt(sum(shares[s * labels > 0].sum() / signs.count(s) for s in {*signs})))


@pytest.mark.parametrize("signs", [[1, 1, -1], [1, 1], [-1, -1, -1], [1, -1, -1, 1, 1]])
@pytest.mark.parametrize("n", [1, 7, 40])
def test_the_global_minimum_of_any_signs_has_the_closed_form(signs: list[int], n: int) -> None:
    features, labels = orthogonal_rows(n, 60, n)
    star = minimum_norm(Problem.from_features(features, labels), Network.of_signs(signs))
    assert star.status is Optimality.OPTIMAL
    expected = closed_form(features, labels, signs)
    assert star.norm == pytest.approx(expected, rel=1e-13)
    assert expected * (1 - 1e-11) <= star.lower_bound <= expected * (1 + 1e-13)
    wanted = np.where(np.isin(np.sign(labels), signs), labels, 0.0)
    np.testing.assert_allclose(star.predictions, wanted, atol=1e-13)
    weights = star.weights()
    np.testing.assert_allclose(np.array(signs) @ np.maximum(weights @ features.T, 0.0), wanted, atol=1e-12)
    assert np.linalg.norm(weights) == pytest.approx(star.norm, rel=1e-12)


def test_it_agrees_with_one_neuron_and_with_a_pair() -> None:
    features, labels = orthogonal_rows(9, 14, 3)
    labels[2] = 0.0
    problem = Problem.from_features(features, labels)
    for network, other in ((Network.single(), single_neuron), (Network.pair(), pair_minimum)):
        star, closed = other(problem, network), orthogonal_minimum(problem, network)
        assert closed is not None
        assert closed.norm == pytest.approx(star.norm, rel=1e-12)
        np.testing.assert_allclose(closed.weights(), star.weights(), atol=1e-12)


def test_two_equal_signs_against_brute_force_over_who_fits_what() -> None:
    """Every label is fitted by one of two positive neurons, or by both with any split in eighths."""
    features, labels = orthogonal_rows(3, 5, 4)
    labels = np.abs(labels)
    star = minimum_norm(Problem.from_features(features, labels), Network.of_signs([1, 1]))
    best = np.inf
    for split in np.ndindex(9, 9, 9):
        first = np.array(split) / 8
        halves = [np.linalg.pinv(features) @ (part * labels) for part in (first, 1 - first)]
        best = min(best, float(np.linalg.norm(halves)))
    assert star.norm == pytest.approx(best, rel=1e-9)


def test_rows_that_are_not_orthogonal_have_no_closed_form() -> None:
    features, labels = orthogonal_rows(6, 9, 5)
    features[0] += 1e-8 * features[1]
    problem = Problem.from_features(features, labels)
    network = Network.of_signs([1, 1, -1])
    assert orthogonal_minimum(problem, network) is None
    closed = orthogonal_minimum(Problem.from_features(orthogonal_rows(6, 9, 5)[0], labels), network)
    assert closed is not None
    assert minimum_norm(problem, network).norm == pytest.approx(closed.norm, rel=1e-7)


def test_copies_count_once_and_conflicts_are_named() -> None:
    features, labels = orthogonal_rows(5, 8, 6)
    network = Network.of_signs([1, 1, -1])
    once = minimum_norm(Problem.from_features(features, labels), network)
    twice = Problem.from_features(np.vstack([features, features[:2]]), np.r_[labels, labels[:2]])
    assert minimum_norm(twice, network).norm == pytest.approx(once.norm, rel=1e-12)
    more = np.vstack([features, features[1], 0 * features[0]])
    star = minimum_norm(Problem.from_features(more, np.r_[labels, labels[1] + 1, 3.0]), network)
    assert star.status is Optimality.INFEASIBLE
    assert star.infeasible_rows == (1, 5, 6)
    assert star.predictions[[1, 5]] == pytest.approx(labels[1] + 0.5)


def test_an_analysis_of_many_neurons_takes_it() -> None:
    problem = Problem.from_features(*orthogonal_rows(6, 9, 7))
    network = Network.of_signs([1, 1, -1])
    report = analyze(problem, network, starts.disjoint(problem, network), of="global")
    assert report.reference is not None
    assert report.gap is not None
    assert (report.reference.of, report.reference.status) == ("global", Optimality.OPTIMAL)
    assert report.gap.absolute > 0


@pytest.mark.parametrize("seed", range(6))
def test_the_shared_load_is_below_every_network_that_training_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = Problem.from_features(rng.standard_normal((6, 60)), rng.standard_normal(6))
    network = Network.of_signs([1, 1, -1, -1])
    load = shared_load(problem, network)
    assert load.load * (1 - 2e-8) <= load.lower_bound <= load.load
    run = gradient_flow(problem, network, starts.all_active(problem, network))
    assert np.all(run.interpolated)
    assert load.lower_bound <= run.state.norm**2 * (1 + 1e-9)


def test_equal_neurons_reach_the_shared_load_of_nearly_orthogonal_rows() -> None:
    rng = np.random.default_rng(0)
    problem = Problem.from_features(rng.standard_normal((10, 5000)), rng.standard_normal(10))
    network = Network.of_signs([1, 1, 1, -1])
    load = shared_load(problem, network)
    assert load.reached
    star = equal_neurons(problem, network, load)
    assert star.status is Optimality.OPTIMAL
    np.testing.assert_allclose(star.predictions, problem.labels, atol=1e-12)
    weights = star.weights()
    assert np.sum(weights**2) == pytest.approx(load.load, rel=1e-9)
    np.testing.assert_allclose(
        np.array(network.signs) @ np.maximum(weights @ np.asarray(problem.features).T, 0.0), problem.labels, atol=1e-9
    )


def test_for_a_pair_it_is_a_bound_and_often_the_minimum() -> None:
    reached = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        problem = Problem.from_features(rng.standard_normal((7, 40)), rng.standard_normal(7))
        load, star = shared_load(problem, Network.pair()), minimum_norm(problem, Network.pair())
        assert load.lower_bound <= star.norm**2 * (1 + 1e-9)
        if load.reached:
            reached += 1
            assert load.load == pytest.approx(star.norm**2, rel=1e-8)
    assert reached >= 2


@pytest.mark.parametrize("seed", [9, 14])
def test_rows_of_very_different_lengths_are_searched_where_the_closed_form_proves_too_little(seed: int) -> None:
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.standard_normal((5, 5)))
    features, labels = basis.T * 10.0 ** rng.uniform(-3, 3, 5)[:, None], rng.standard_normal(5)
    problem, signs = Problem.from_features(features, labels), [1, 1, -1]
    network = Network.of_signs(signs)
    closed, star = orthogonal_minimum(problem, network), minimum_norm(problem, network)
    assert closed is not None
    assert closed.status is Optimality.BUDGET
    assert star.status is Optimality.OPTIMAL
    assert star.norm == pytest.approx(closed_form(features, labels, signs), rel=1e-7)
