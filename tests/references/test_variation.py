"""The minimum variation norm: against an independent convex program over all patterns, and its own laws."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from helpers import Array, real_data

from relubias import Network, Problem, analyze, certify, gap, gradient_flow, minimum_norm, read, starts
from relubias.errors import ArgumentError
from relubias.references.gauge import VARIATION, Gauge
from relubias.references.search import smallest_network
from relubias.references.variation import variation_norm
from relubias.state import State
from relubias.status import Optimality

BOTH = Network.of_signs([1, -1, 1, -1], train_output=True)


def over_all_patterns(features: Array, labels: Array, gauge: Gauge = VARIATION) -> float:
    """G over one neuron of each sign for each of the 2ⁿ patterns, by an interior-point method for cones."""
    cvxpy = pytest.importorskip("cvxpy")
    pytest.importorskip("clarabel")
    fitted, constraints, lengths = 0.0, [], {1: 0.0, -1: 0.0}
    for active in product([False, True], repeat=len(labels)):
        side = np.where(active, 1.0, -1.0)
        for sign in gauge.signs:
            vector = cvxpy.Variable(features.shape[1])
            constraints.append(cvxpy.multiply(side, features @ vector) >= 0)
            fitted = fitted + sign * cvxpy.multiply(np.array(active, dtype=float), features @ vector)
            lengths[sign] = lengths[sign] + cvxpy.norm(vector)
    constraints.append(fitted == labels)
    if gauge.shares is None:
        size = lengths[1] + lengths[-1]
    else:
        size = sum(cvxpy.square(lengths[s]) / p for s, p in zip((1, -1), gauge.shares, strict=True) if p)
    accuracy = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
    value = float(cvxpy.Problem(cvxpy.Minimize(size), constraints).solve(solver="CLARABEL", **accuracy))
    return value if gauge.shares is None else float(np.sqrt(value))


def draw(n: int, d: int, seed: int) -> tuple[Array, Array]:
    """Gaussian features and labels."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal(n)


def orthogonal_rows(n: int, d: int, seed: int) -> tuple[Array, Array]:
    """Orthogonal rows of different lengths, labels of both signs."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.standard_normal((d, n)))
    labels = np.where(np.arange(n) % 2, 1.0, -1.0) * rng.uniform(0.5, 2.0, n)
    return basis.T * rng.uniform(0.5, 2.0, n)[:, None], labels


@pytest.mark.parametrize(
    ("n", "d", "seed"), [(1, 3, 0), (2, 2, 1), (3, 2, 2), (3, 5, 3), (4, 3, 4), (4, 8, 5), (5, 3, 6), (5, 7, 7)]
)
def test_agrees_with_a_convex_program_over_all_patterns(n: int, d: int, seed: int) -> None:
    features, labels = draw(n, d, seed)
    if seed in (3, 6):
        labels[1] = 0.0
    star = minimum_norm(Problem.from_features(features, labels), BOTH, of="variation")
    assert star.status is Optimality.OPTIMAL
    assert star.norm == pytest.approx(over_all_patterns(features, labels), rel=1e-6)
    assert star.lower_bound <= star.norm
    np.testing.assert_allclose(star.state.predictions, labels, atol=1e-12)


@pytest.mark.parametrize("shares", [(2, 3), (1, 1), (3, 0)])
def test_the_shared_load_agrees_with_a_convex_program_over_all_patterns(shares: tuple[int, int]) -> None:
    features, labels = draw(4, 6, 11)
    labels = np.abs(labels) if shares[1] == 0 else labels
    found = smallest_network(Problem.from_features(features, labels).operator, labels, Gauge(shares))
    assert found.proven
    assert found.size == pytest.approx(over_all_patterns(features, labels, Gauge(shares)), rel=1e-6)


@pytest.mark.parametrize("seed", range(25))
def test_few_samples_are_closed(seed: int) -> None:
    """Fewer features than samples in half of the cases, zero labels in a third, and labels of one sign in a few."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 15)), int(rng.integers(3, 20))
    features, labels = rng.standard_normal((n, d)), rng.standard_normal(n)
    if seed % 3 == 0:
        labels[rng.integers(n)] = 0.0
    if seed % 7 == 0:
        labels = -np.abs(labels)
    star = minimum_norm(Problem.from_features(features, labels), BOTH, of="variation")
    assert star.status is Optimality.OPTIMAL
    assert star.relative_interval <= 1e-8
    np.testing.assert_allclose(star.predictions, labels, atol=1e-11)
    weights, outer = star.weights(), star.state.output_weights
    np.testing.assert_allclose(outer @ np.maximum(weights @ features.T, 0.0), labels, atol=1e-8)
    np.testing.assert_allclose(np.abs(outer), np.linalg.norm(weights, axis=1), rtol=1e-7)
    assert variation_norm(star.state) == pytest.approx(star.norm, rel=1e-9)
    assert star.norm == pytest.approx((np.sum(weights**2) + np.sum(outer**2)) / 2, rel=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_no_random_network_that_fits_is_smaller_than_the_bound(seed: int) -> None:
    """Output weights solve for the labels, given first layers of which some lie near that of the solution."""
    features, labels = draw(6, 4 + seed, seed)
    star = minimum_norm(Problem.from_features(features, labels), BOTH, of="variation")
    rng, own = np.random.default_rng(seed), star.weights()
    smallest = np.inf
    for noise in np.geomspace(1e-6, 10.0, 40):
        near = own + noise * rng.standard_normal(own.shape)
        first = np.concatenate([near, noise * rng.standard_normal((12, features.shape[1]))])
        images = np.maximum(first @ features.T, 0.0)
        outer = np.linalg.lstsq(images.T, labels)[0]
        if np.abs(outer @ images - labels).max() < 1e-10:
            smallest = min(smallest, float(np.abs(outer) @ np.linalg.norm(first, axis=1)))
    assert star.lower_bound <= smallest < np.inf


def test_orthogonal_samples_have_the_closed_form_and_the_search_agrees() -> None:
    features, labels = orthogonal_rows(8, 12, 0)
    problem = Problem.from_features(features, labels)
    shares = labels**2 / np.diagonal(problem.gram)
    closed = np.sqrt(shares[labels > 0].sum()) + np.sqrt(shares[labels < 0].sum())
    star = minimum_norm(problem, BOTH, of="variation")
    assert star.status is Optimality.OPTIMAL
    assert star.norm == pytest.approx(closed, rel=1e-14)
    assert closed * (1 - 1e-12) <= star.lower_bound <= closed
    assert smallest_network(problem.operator, labels, VARIATION).size == pytest.approx(closed, rel=1e-9)
    np.testing.assert_allclose(np.sort(star.state.norms), np.sort(np.abs(star.state.output_weights)), rtol=1e-12)


def test_the_flow_of_both_layers_from_a_vanishing_aligned_start_tends_to_it() -> None:
    problem = Problem.from_features(*orthogonal_rows(6, 10, 1))
    least = minimum_norm(problem, BOTH, of="variation").norm
    excess = []
    for scale in (1e-1, 1e-3, 1e-6):
        run = gradient_flow(problem, BOTH, starts.balanced(problem, BOTH, scale=scale, aligned=True, rng=0))
        assert np.all(run.interpolated)
        excess.append(variation_norm(run.state) / least - 1)
    assert excess[0] > 1e-3
    assert excess[0] > excess[1] > excess[2] - 1e-8
    assert abs(excess[2]) < 0.03


def test_copies_count_once_and_conflicts_are_named() -> None:
    features, labels = draw(5, 8, 0)
    once = minimum_norm(Problem.from_features(features, labels), BOTH, of="variation")
    more = np.vstack([features, features[:2], 3 * features[2:3]])
    twice = Problem.from_features(more, np.r_[labels, labels[:2], 3 * labels[2]])
    star = minimum_norm(twice, BOTH, of="variation")
    assert star.status is Optimality.OPTIMAL
    assert star.norm == pytest.approx(once.norm, rel=1e-9)
    np.testing.assert_allclose(star.predictions, twice.labels, atol=1e-10)
    more = np.vstack([features, features[0], 0 * features[0]])
    clash = Problem.from_features(more, np.r_[labels, labels[0] + 1, 1.0])
    star = minimum_norm(clash, BOTH, of="variation")
    assert star.status is Optimality.INFEASIBLE
    assert star.infeasible_rows == (0, 5, 6)
    assert star.predictions[[0, 5]] == pytest.approx(labels[0] + 0.5, abs=1e-9)
    assert star.predictions[6] == 0.0


def test_opposite_rows_on_few_lines_cannot_fit_all_labels() -> None:
    """Three lines in the plane: σ(u₁) − σ(−u₁) + σ(u₂) − σ(−u₂) = σ(u₁ + u₂) − σ(−u₁ − u₂) for all u."""
    lines = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    features = np.vstack([lines, -lines])
    fits = np.array([1.0, 2.0, 4.0, 0.5, 0.5, 2.0])
    star = minimum_norm(Problem.from_features(features, fits), BOTH, of="variation")
    assert star.status is Optimality.OPTIMAL
    star = minimum_norm(Problem.from_features(features, fits + np.eye(6)[0]), BOTH, of="variation")
    assert star.status is Optimality.INFEASIBLE
    np.testing.assert_allclose(star.predictions, fits + np.array([5, -1, 1, 1, 1, -1]) / 6, atol=1e-10)


def test_labels_of_zero_need_nothing() -> None:
    star = minimum_norm(Problem.from_features(draw(4, 6, 0)[0], np.zeros(4)), BOTH, of="variation")
    assert (star.status, star.norm, star.lower_bound, star.state.norm) == (Optimality.OPTIMAL, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_it_is_as_many_units_as_the_labels_and_one_over_those_of_the_features(factor: float) -> None:
    features, labels = draw(6, 9, 3)
    star = minimum_norm(Problem.from_features(features, labels), BOTH, of="variation")
    wide = minimum_norm(Problem.from_features(factor * features, labels), BOTH, of="variation")
    tall = minimum_norm(Problem.from_features(features, factor * labels), BOTH, of="variation")
    assert wide.norm * factor == pytest.approx(star.norm, rel=1e-9)
    assert tall.norm / factor == pytest.approx(star.norm, rel=1e-9)


def test_more_samples_have_an_interval_that_closes_as_they_become_orthogonal() -> None:
    widths = []
    for d in (10**2, 10**4, 10**6):
        rng = np.random.default_rng(0)
        noise = rng.standard_normal((20, 20))
        gram = np.eye(20) + (noise + noise.T) / np.sqrt(2 * d) / 2
        star = minimum_norm(Problem.from_gram(gram, rng.standard_normal(20)), BOTH, of="variation")
        assert star.status is Optimality.BUDGET
        assert "at most 16 samples" in star.message
        widths.append(star.relative_interval)
    assert widths[0] > widths[1] > widths[2] > 0
    assert widths[2] < 0.02


def test_the_estimate_of_many_samples_holds_what_the_search_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem.from_features(*draw(10, 60, 5))
    exact = minimum_norm(problem, BOTH, of="variation")
    monkeypatch.setattr("relubias.references.any_number.MOST", 5)
    rough = minimum_norm(problem, BOTH, of="variation")
    assert rough.lower_bound <= exact.lower_bound <= exact.norm <= rough.norm * (1 + 1e-12)
    assert rough.relative_interval > 1e-3


def test_dependent_rows_of_many_samples_have_a_bound_from_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    features, labels = draw(20, 5, 0)
    star = minimum_norm(Problem.from_features(features, labels), BOTH, of="variation")
    assert (star.status, star.norm) == (Optimality.BUDGET, np.inf)
    assert "more than 16 samples" in star.message
    assert "singular" not in star.message
    assert star.lower_bound == pytest.approx(np.max(np.abs(labels) / np.linalg.norm(features, axis=1)), rel=1e-12)
    few = Problem.from_features(features[:8, :3], labels[:8])
    exact = minimum_norm(few, BOTH, of="variation")
    monkeypatch.setattr("relubias.references.any_number.MOST", 5)
    assert 0 < minimum_norm(few, BOTH, of="variation").lower_bound <= exact.norm < np.inf


def test_an_analysis_of_both_layers_compares_variation_norms(tmp_path: object) -> None:
    problem = Problem.from_features(*orthogonal_rows(4, 6, 2))
    start = starts.balanced(problem, BOTH, scale=1e-2, aligned=True, rng=0)
    report = analyze(problem, BOTH, start)
    assert report.reference is not None
    assert (report.reference.of, report.gap) == ("variation", None)
    above = 100 * (variation_norm(report.run.state) / report.reference.norm - 1)
    assert any(f"{above:.3g} % above the least one of networks of any number" in text for text in report.verdict)
    with pytest.raises(ArgumentError, match="compare Σ"):
        gap(report.run, report.reference)
    again = type(report).load(report.save(f"{tmp_path}/saved.npz"))
    assert again.reference is not None
    assert again.verdict == report.verdict
    np.testing.assert_array_equal(again.reference.state.output_weights, report.reference.state.output_weights)
    assert again.reference.network.train_output


def test_it_is_refused_where_output_weights_are_fixed() -> None:
    problem = Problem.from_features(*draw(4, 6, 0))
    with pytest.raises(ArgumentError, match="train_output=True"):
        minimum_norm(problem, Network.pair(), of="variation")
    with pytest.raises(ArgumentError, match="train_output=True"):
        analyze(problem, Network.pair(), of="variation")
    with pytest.raises(ArgumentError, match="built for the ReLU"):
        minimum_norm(problem, Network.pair(activation="tanh", train_output=True), of="variation")


def test_any_state_has_a_variation_norm() -> None:
    problem = Problem.from_features(*draw(4, 6, 0))
    weights, outer = np.random.default_rng(0).standard_normal((4, 6)), np.array([2.0, -1.0, 0.5, -3.0])
    state = State.from_weights(problem, BOTH, weights, outer=outer)
    assert variation_norm(state) == pytest.approx(float(np.abs(outer) @ np.linalg.norm(weights, axis=1)), rel=1e-12)


def test_candidates_are_certified_or_refused_with_the_excess() -> None:
    problem = Problem.from_features(*draw(5, 8, 2))
    star = minimum_norm(problem, BOTH, of="variation")
    proof = certify(problem, star.network, star.state, of="variation")
    assert proof.optimal
    assert proof.norm == pytest.approx(proof.lower_bound, rel=1e-8)
    longer = State.from_weights(problem, star.network, 1.1 * star.weights(), outer=star.state.output_weights)
    assert not certify(problem, star.network, longer, of="variation").feasible
    first = np.vstack([star.weights(), [np.ones(8), np.ones(8)]])
    outer = np.r_[star.state.output_weights, 1.0, -1.0]
    idle = Network.of_signs([*star.network.signs, 1, -1], train_output=True)
    proof = certify(problem, idle, State.from_weights(problem, idle, first, outer=outer), of="variation")
    assert (proof.feasible, proof.optimal) == (True, False)
    above = 100 * (2 * np.sqrt(8)) / star.norm
    assert f"{above:.2g} % above the lower bound" in proof.message
    with pytest.raises(ArgumentError, match="choose one of: global, variation"):
        certify(problem, idle, longer, of="pattern")
    with pytest.raises(ArgumentError, match="train_output=True"):
        certify(problem, Network.pair(), starts.all_active(problem, Network.pair()), of="variation")


@pytest.mark.parametrize("seed", range(4))
def test_prices_are_a_proof_by_themselves(seed: int) -> None:
    """zᵀy is the bound, and no unit vector, of many and of those nearby that carry most, carries more than 1."""
    features, labels = draw(6, 5, seed)
    proof = smallest_network(Problem.from_features(features, labels).operator, labels, VARIATION)
    assert proof.prices @ labels == pytest.approx(proof.lower_bound, rel=1e-12)
    rng, best = np.random.default_rng(seed), 0.0
    vectors = np.concatenate([rng.standard_normal((20_000, 5)), proof.duals @ features])
    for _ in range(30):
        carried = np.maximum(vectors @ features.T, 0.0) @ proof.prices / np.linalg.norm(vectors, axis=1)
        best = max(best, float(np.abs(carried).max()))
        leaders = vectors[np.argsort(-np.abs(carried))[:200]]
        vectors = np.repeat(leaders, 5, axis=0) * (1 + 0.05 * rng.standard_normal((1000, 5)))
    assert 0.99 < best <= 1 + 1e-12


def test_no_more_neurons_than_samples_and_signs_are_needed() -> None:
    features, labels = draw(12, 3, 5)
    assert len(smallest_network(Problem.from_features(features, labels).operator, labels, VARIATION).signs) <= 14


@pytest.mark.parametrize("centre", [False, True])
def test_twelve_spectra_are_closed(centre: bool) -> None:
    whole = read(real_data("yarn.csv.gz"), target="y")
    features, labels = np.asarray(whole.features)[:24:2], whole.labels[:24:2]
    if centre:
        features, labels = features - features.mean(axis=0), labels - labels.mean()
    star = minimum_norm(Problem.from_features(features, labels), BOTH, of="variation")
    assert star.status is Optimality.OPTIMAL
    np.testing.assert_allclose(star.predictions, labels, atol=1e-9 * np.abs(labels).max())
