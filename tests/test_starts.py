"""Initial states and the refusal of those that can never move."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias import starts
from relubias.errors import ArgumentError, DataError, StartError
from relubias.network import Network
from relubias.population import Population
from relubias.problem import Problem

SINGLE = Network.single()


def gaussian_problem(n: int, d: int, seed: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    return Problem.from_features(rng.standard_normal((n, d)), rng.standard_normal(n))


def standardised(features: np.ndarray) -> np.ndarray:
    spread = features.std(axis=0)
    return np.asarray((features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def real(name: str) -> tuple[np.ndarray, np.ndarray]:
    folder = os.environ.get("RELUBIAS_DATA")
    if not folder:
        pytest.skip("RELUBIAS_DATA is not set, so the real data sets are not at hand")
    table = np.loadtxt(Path(folder) / f"{name}.csv.gz", delimiter=",", skiprows=1)
    return table[:, 1:], table[:, 0]


# All active


@pytest.mark.parametrize("network", [SINGLE, Network.single(sign=-1), Network.of_signs([1, 1, -1])])
def test_every_sample_starts_at_exactly_the_scale_in_every_neuron(network: Network) -> None:
    problem = gaussian_problem(20, 60)
    start = starts.all_active(problem, network, scale=0.25)
    np.testing.assert_array_equal(start.primal, np.full((network.n_neurons, 20), 0.25))
    np.testing.assert_allclose(start.dual @ problem.gram, start.primal, rtol=1e-12)
    assert start.orthogonal_norm == 0.0


@pytest.mark.parametrize("factor", [1e-9, 1.0, 1e9])
def test_the_default_scale_is_a_thousandth_of_the_labels(factor: float) -> None:
    problem = Problem.from_features(np.eye(2, 5), [3.0 * factor, -4.0 * factor])
    start = starts.all_active(problem, SINGLE)
    np.testing.assert_allclose(start.primal, 1e-3 * np.sqrt(12.5) * factor, rtol=1e-14)


def test_the_default_scale_is_1e_3_where_all_labels_are_zero() -> None:
    start = starts.all_active(Problem.from_features(np.eye(2, 5), [0.0, 0.0]), SINGLE)
    np.testing.assert_array_equal(start.primal, [[1e-3, 1e-3]])


def test_outside_the_range_the_shortest_weights_above_the_scale_are_taken() -> None:
    # One feature: x = 1, 2, so w = ε and β = (ε, 2ε).
    start = starts.all_active(Problem.from_features([[1.0], [2.0]], [1.0, -1.0]), SINGLE, scale=0.5)
    np.testing.assert_allclose(start.primal, [[0.5, 1.0]], rtol=1e-14)
    np.testing.assert_allclose(start.weights(), [[0.5]], rtol=1e-14)


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 8), st.booleans())
@settings(max_examples=150)
def test_it_exists_exactly_where_linear_programming_finds_one(seed: int, n: int, d: int, whole: bool) -> None:
    rng = np.random.default_rng(seed)
    features = rng.integers(-1, 2, (n, d)).astype(float) if whole else rng.standard_normal((n, d))
    problem = Problem.from_features(features, np.ones(n))
    exists = scipy.optimize.linprog(np.zeros(d), A_ub=-features, b_ub=-np.ones(n), bounds=(None, None)).status == 0
    if not exists:
        with pytest.raises(StartError, match="no weights make every sample active"):
            starts.all_active(problem, SINGLE)
        return
    start = starts.all_active(problem, SINGLE, scale=1.0)
    assert start.primal.min() >= 1.0
    np.testing.assert_allclose(features @ start.weights()[0], start.primal[0], atol=1e-7 * start.primal.max())
    # Shortest: w is a non-negative combination of the samples at the scale itself.
    at_scale = start.primal[0] <= 1.0 + 1e-7
    weights, _ = scipy.optimize.nnls(features[at_scale].T, start.weights()[0])
    if not np.all(at_scale):
        np.testing.assert_allclose(features[at_scale].T @ weights, start.weights()[0], atol=1e-6 * start.norm)


def test_centred_columns_are_refused_with_the_reason_and_the_remedy() -> None:
    problem = gaussian_problem(20, 60)
    centred = Problem.from_features(standardised(problem.features), problem.labels)
    with pytest.raises(StartError, match=r"columns are centred.*sum to zero.*use starts\.gaussian\(.*rng=0\)"):
        starts.all_active(centred, SINGLE)
    assert np.any(starts.gaussian(centred, SINGLE, rng=0).pattern)


def test_a_zero_row_is_refused_and_named() -> None:
    problem = Problem.from_features([[1.0, 0.0], [0.0, 0.0]], [1.0, 2.0], sample_names=["a", "b"])
    with pytest.raises(StartError, match=r"'b' is zero; use starts\.gaussian"):
        starts.all_active(problem, SINGLE)


def test_opposite_rows_are_refused_and_named() -> None:
    problem = Problem.from_features([[1.0, 1.0], [0.0, 1.0], [-2.0, -2.0]], [1.0, 2.0, 3.0])
    with pytest.raises(StartError, match="row 1, row 3 have a combination with positive coefficients that is zero"):
        starts.all_active(problem, SINGLE)


@pytest.mark.parametrize("name", ["yarn", "srbct_ews", "gasoline", "golub_leukemia", "riboflavin"])
def test_raw_real_data_can_all_be_active_and_standardised_data_cannot(name: str) -> None:
    features, labels = real(name)
    problem = Problem.from_features(features, labels)
    start = starts.all_active(problem, SINGLE)
    scale = 1e-3 * problem.label_scale
    np.testing.assert_array_equal(start.primal, np.full((1, len(labels)), scale))
    np.testing.assert_allclose(problem.gram @ start.dual[0], scale, rtol=1e-6)
    with pytest.raises(StartError, match="columns are centred"):
        starts.all_active(Problem.from_features(standardised(features), labels), SINGLE)


def test_a_condition_number_of_4e8_is_no_obstacle() -> None:
    rng = np.random.default_rng(1)
    problem = Problem.from_features(
        rng.standard_normal((28, 60)) * np.geomspace(1.0, 1e-8, 60), rng.standard_normal(28)
    )
    assert problem.facts.condition > 1e8
    start = starts.all_active(problem, SINGLE, scale=1.0)
    np.testing.assert_array_equal(start.primal, np.ones((1, 28)))
    np.testing.assert_allclose(problem.gram @ start.dual[0], 1.0, rtol=1e-6)


# Gaussian


def test_the_gaussian_start_has_covariance_scale_squared_k() -> None:
    problem = gaussian_problem(4, 6, seed=2)
    network = Network.of_signs([1] * 20_000)
    start = starts.gaussian(problem, network, scale=2.0, rng=3)
    expected = 4.0 * problem.gram / (np.trace(problem.gram) / 4)
    np.testing.assert_allclose(start.primal.T @ start.primal / 20_000, expected, atol=0.15)
    np.testing.assert_allclose(start.dual @ problem.gram, start.primal, atol=1e-10)
    assert start.orthogonal_norm == 0.0


def test_the_span_and_the_rest_have_the_norms_of_gaussian_weights() -> None:
    features = np.random.default_rng(4).standard_normal((4, 30))
    explicit = Problem.from_features(features, np.ones(4))
    implicit = Problem.from_gram(features @ features.T, np.ones(4), n_features=30)
    network = Network.of_signs([1] * 2000)
    deviation = 0.5 / np.sqrt(np.trace(explicit.gram) / 4)
    for problem in (explicit, implicit):
        start = starts.gaussian(problem, network, scale=0.5, rng=5, orthogonal=True)
        inside = (start.norms**2 - start.orthogonal_norms**2) / deviation**2
        outside = (start.orthogonal_norms / deviation) ** 2
        assert scipy.stats.kstest(inside, scipy.stats.chi2(4).cdf).pvalue > 1e-3
        assert scipy.stats.kstest(outside, scipy.stats.chi2(26).cdf).pvalue > 1e-3
        # One degree of freedom more would be seen.
        assert scipy.stats.kstest(outside, scipy.stats.chi2(27).cdf).pvalue < 1e-6


def test_the_explicit_part_outside_the_span_is_kept() -> None:
    problem = gaussian_problem(5, 40, seed=6)
    start = starts.gaussian(problem, SINGLE, rng=7, orthogonal=True)
    assert start.orthogonal is not None
    np.testing.assert_allclose(problem.features @ start.orthogonal[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(problem.features @ start.weights()[0], start.primal[0], rtol=1e-10)


def test_there_is_nothing_outside_the_span_where_the_samples_fill_the_space() -> None:
    features = np.random.default_rng(8).standard_normal((10, 4))
    problem = Problem.from_gram(features @ features.T, np.ones(10), n_features=4)
    assert starts.gaussian(problem, SINGLE, rng=9, orthogonal=True).orthogonal_norm == 0.0


def test_the_same_number_gives_the_same_start_and_a_generator_moves_on() -> None:
    problem = gaussian_problem(6, 20)
    first = starts.gaussian(problem, SINGLE, rng=1).primal
    generator = np.random.default_rng(1)
    np.testing.assert_array_equal(starts.gaussian(problem, SINGLE, rng=1).primal, first)
    np.testing.assert_array_equal(starts.gaussian(problem, SINGLE, rng=generator).primal, first)
    assert np.any(starts.gaussian(problem, SINGLE, rng=generator).primal != first)
    assert np.any(starts.gaussian(problem, SINGLE, rng=2).primal != first)


@pytest.mark.parametrize("rng", [None, "0", 1.5, True, -1, np.random.RandomState(0)])
def test_random_numbers_come_from_an_int_or_a_generator_only(rng: Any) -> None:
    with pytest.raises(ArgumentError, match="rng must be a non-negative int or a numpy Generator"):
        starts.gaussian(gaussian_problem(3, 9), SINGLE, rng=rng)


def test_the_part_outside_the_span_needs_the_number_of_features() -> None:
    with pytest.raises(ArgumentError, match="needs the number of features"):
        starts.gaussian(Problem.from_gram(np.eye(3), np.ones(3)), SINGLE, rng=0, orthogonal=True)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_the_scale_is_positive_and_finite(scale: float) -> None:
    problem = gaussian_problem(3, 9)
    with pytest.raises(ArgumentError, match="scale must be a positive finite number"):
        starts.all_active(problem, SINGLE, scale=scale)
    with pytest.raises(ArgumentError, match="scale must be a positive finite number"):
        starts.gaussian(problem, SINGLE, scale=scale, rng=0)


def test_scaling_the_features_leaves_the_pre_activations_of_a_gaussian_start() -> None:
    problem = gaussian_problem(6, 20)
    scaled = Problem.from_features(1e6 * problem.features, problem.labels)
    for orthogonal in (False, True):
        first = starts.gaussian(problem, SINGLE, rng=1, orthogonal=orthogonal)
        second = starts.gaussian(scaled, SINGLE, rng=1, orthogonal=orthogonal)
        np.testing.assert_allclose(second.primal, first.primal, rtol=1e-9)


# From weights and dual coefficients; starts that can never move


def test_given_weights_and_dual_coefficients_are_taken_as_they_are() -> None:
    problem = gaussian_problem(5, 20)
    dual = np.random.default_rng(1).standard_normal((2, 5))
    start = starts.from_dual(problem, Network.pair(), dual)
    again = starts.from_weights(problem, Network.pair(), dual @ problem.features)
    np.testing.assert_allclose(start.dual, dual, rtol=1e-14)
    np.testing.assert_allclose(again.dual, dual, rtol=1e-9)
    np.testing.assert_allclose(again.primal, start.primal, rtol=1e-9)


def test_zero_weights_are_refused_with_the_reason_and_the_remedy() -> None:
    """lucidrains/deep-cross-attention#2: a start at zero never moves."""
    problem = gaussian_problem(5, 20)
    message = r"zero weights can never move.*σ′\(0\) = 0.*starts\.all_active"
    with pytest.raises(StartError, match=message):
        starts.from_weights(problem, SINGLE, np.zeros(20))
    with pytest.raises(StartError, match=message):
        starts.from_dual(problem, SINGLE, np.zeros(5))


def test_a_start_without_an_active_sample_is_refused() -> None:
    problem = gaussian_problem(5, 20)
    asleep = np.linalg.solve(problem.gram, -np.ones(5))
    with pytest.raises(StartError, match="this start can never move"):
        starts.from_dual(problem, SINGLE, asleep)
    with pytest.raises(StartError, match="this start can never move"):
        starts.from_weights(problem, SINGLE, asleep @ problem.features)
    # One neuron that is awake is enough.
    starts.from_dual(problem, Network.pair(), np.stack([asleep, -asleep]))


def test_a_gaussian_start_that_can_never_move_is_refused() -> None:
    problem = Problem.from_gram([[1.0]], [1.0])
    asleep = [seed for seed in range(20) if np.random.default_rng(seed).standard_normal() < 0]
    assert 0 < len(asleep) < 20
    for seed in range(20):
        if seed in asleep:
            with pytest.raises(StartError, match="another seed"):
                starts.gaussian(problem, SINGLE, rng=seed)
        else:
            assert np.all(starts.gaussian(problem, SINGLE, rng=seed).pattern)


def test_samples_that_are_all_zero_cannot_be_learned() -> None:
    problem = Problem.from_features(np.zeros((3, 4)), [1.0, 2.0, 3.0])
    with pytest.raises(StartError, match="row 1 is zero"):
        starts.all_active(problem, SINGLE)
    with pytest.raises(StartError, match="all samples are zero"):
        starts.gaussian(problem, SINGLE, rng=0)


def test_weights_need_features_and_the_right_shape() -> None:
    with pytest.raises(DataError, match="Gram matrix but no features"):
        starts.from_weights(Problem.from_gram(np.eye(3), np.ones(3)), SINGLE, np.ones(5))
    with pytest.raises(ArgumentError, match="must have shape"):
        starts.from_weights(gaussian_problem(3, 9), SINGLE, np.ones(8))
    with pytest.raises(ArgumentError, match="must have shape"):
        starts.from_dual(gaussian_problem(3, 9), Network.pair(), np.ones(3))


def test_disjoint_samples_take_turns_among_the_neurons_of_their_sign() -> None:
    problem = Problem.from_gram(np.eye(5), [1.0, -1.0, 2.0, 3.0, 0.0])
    start = starts.disjoint(problem, Network.of_signs([1, -1, 1]), scale=0.1, depth=0.5)
    expected = [[0.1, -0.5, -0.5, 0.1, -0.5], [-0.5, 0.1, -0.5, -0.5, -0.5], [-0.5, -0.5, 0.1, -0.5, -0.5]]
    assert np.allclose(start.primal, expected)
    assert np.allclose(start.dual, expected)


def test_a_partition_of_ones_own_is_taken_and_checked() -> None:
    problem = Problem.from_gram(np.eye(3), [1.0, -1.0, 2.0])
    network = Network.of_signs([1, -1, 1])
    start = starts.disjoint(problem, network, depth=0.5, partition=[2, 1, 2])
    assert np.array_equal(start.pattern, [[False] * 3, [False, True, False], [True, False, True]])
    with pytest.raises(ArgumentError, match="row 2 to a neuron whose sign"):
        starts.disjoint(problem, network, depth=0.5, partition=[0, 0, 2])
    with pytest.raises(ArgumentError, match="3 whole numbers"):
        starts.disjoint(problem, network, depth=0.5, partition=[0, 1])
    with pytest.raises(ArgumentError, match="from 0 to 2"):
        starts.disjoint(problem, network, depth=0.5, partition=[0, 1, 3])


def test_disjoint_starts_that_do_not_exist_are_refused() -> None:
    problem = Problem.from_gram(np.eye(3), [1.0, -1.0, 2.0])
    with pytest.raises(StartError, match="no negative neuron"):
        starts.disjoint(problem, Network.single(), depth=0.5)
    with pytest.raises(StartError, match="give depth"):
        starts.disjoint(problem, Network.pair())
    with pytest.raises(ArgumentError, match="depth must be"):
        starts.disjoint(problem, Network.pair(), depth=-1.0)
    duplicates = Problem.from_features(np.ones((2, 3)), [1.0, -1.0])
    with pytest.raises(StartError, match="rank 1 for 2 samples"):
        starts.disjoint(duplicates, Network.pair(), depth=0.5)


def test_the_default_depth_uses_the_dimension_that_the_samples_were_drawn_with() -> None:
    problem = gaussian_problem(20, 60)
    drawn = dataclasses.replace(problem, population=Population(60.0, 500.0, 60.0))
    start = starts.disjoint(drawn, Network.pair())
    depth = 3 * np.sqrt(20 / 500.0) * np.abs(problem.labels).max()
    assert -start.primal.min() == pytest.approx(depth)
    assert starts.disjoint(problem, Network.pair()).primal.min() != pytest.approx(-depth)
