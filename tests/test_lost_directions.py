"""What K has lost and the features still have: a small direction, samples apart by less than K can tell."""

from __future__ import annotations

import numpy as np
import pytest

from relubias import Network, Problem, State, analyze, certify, minimum_norm, starts
from relubias.errors import ArgumentError
from relubias.linalg.factor import GramOperator

ONE = Network.single()


def one_small_direction(size: float = 3e-8, n: int = 10, d: int = 40) -> Problem:
    """Singular values 1, …, 1 and one small one, whose square is below the cutoff of K."""
    rng = np.random.default_rng(0)
    left, right = np.linalg.qr(rng.normal(size=(n, n)))[0], np.linalg.qr(rng.normal(size=(d, n)))[0]
    values = np.ones(n)
    values[-1] = size
    return Problem.from_features((left * values) @ right.T, np.where(np.arange(n) % 2, 1.0, -1.0))


def nearly_equal_pair(n: int, d: int) -> Problem:
    """Rows 2 and 4 are 1e-9 apart, relative, with different labels; rows 1 and 5 coincide."""
    rng = np.random.default_rng(1)
    features = rng.normal(size=(n, d))
    features[3] = features[1] + 1e-9 * rng.normal(size=d)
    features[4] = features[0]
    return Problem.from_features(features, np.arange(1.0, n + 1))


def test_a_direction_below_the_cutoff_of_k_is_found_in_the_features() -> None:
    problem = one_small_direction()
    assert GramOperator(problem.gram).rank == 9
    assert problem.facts.backing == "the features"
    assert problem.facts.rank == 10
    assert problem.facts.condition == pytest.approx(1 / 9e-16, rel=1e-6)
    star = minimum_norm(problem, ONE)
    assert star.status == "optimal"
    assert np.abs(problem.features @ star.state.weights()[0] - star.state.primal[0]).max() < 1e-7


def test_features_of_low_rank_keep_their_rank_with_the_factor() -> None:
    rng = np.random.default_rng(2)
    features = rng.normal(size=(12, 4)) @ rng.normal(size=(4, 30))
    centred = rng.normal(size=(12, 30))
    centred -= centred.mean(axis=0)
    assert Problem.from_features(features, np.ones(12)).facts.rank == 4
    assert Problem.from_features(centred, np.ones(12)).facts.rank == 11


def test_a_tall_problem_of_full_rank_needs_no_factor() -> None:
    tall = Problem.from_features(np.random.default_rng(3).normal(size=(30, 5)), np.ones(30))
    assert tall.facts.backing == "the Gram matrix"
    assert tall.facts.rank == 5


@pytest.mark.parametrize(("n", "d"), [(8, 40), (8, 2)])
def test_samples_that_differ_in_the_tenth_digit_do_not_coincide(n: int, d: int) -> None:
    assert nearly_equal_pair(n, d).facts.duplicates == ((0, 4),)


def test_the_gram_matrix_alone_cannot_tell_them() -> None:
    problem = nearly_equal_pair(8, 40)
    assert Problem.from_gram(problem.gram, problem.labels).facts.duplicates == ((0, 4), (1, 3))


@pytest.mark.parametrize("seed", range(5))
def test_the_rank_of_some_samples_is_that_of_their_features(seed: int) -> None:
    """Six of ten samples span three dimensions; noise of K in the others is above the cutoff of the factor."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(10, 40))
    features[:6] = rng.normal(size=(6, 3)) @ rng.normal(size=(3, 40))
    problem = Problem.from_features(features, np.ones(10))
    operator = problem.operator
    assert operator.factor is not None
    assert operator.rank_of(np.arange(6)) == 3
    assert operator.rank_of(np.arange(3, 8)) == 5
    assert operator.rank_of(np.arange(0)) == 0
    assert GramOperator(problem.gram).rank_of(np.arange(6)) == 3


def test_the_number_of_free_directions_counts_no_noise() -> None:
    rng = np.random.default_rng(4)
    features = rng.normal(size=(8, 3)) @ rng.normal(size=(3, 40))
    labels = features @ rng.normal(size=40)
    problem = Problem.from_features(features * np.sign(labels)[:, None], np.abs(labels))
    text = "\n".join(analyze(problem).verdict)
    assert "37 directions of the 40 being free at w*" in text


def test_a_condition_is_proven_without_a_spectrum() -> None:
    problem = Problem.from_features(np.random.default_rng(5).normal(size=(20, 60)), np.ones(20))
    starts.all_active(problem, ONE)
    assert "spectrum" not in problem.operator.__dict__
    assert "eigensystem" not in problem.operator.__dict__


@pytest.mark.parametrize("condition", [1e9, 9e9, 1.1e10, 1e11])
def test_the_proof_and_the_spectrum_agree_on_the_condition(condition: float) -> None:
    rotation = np.linalg.qr(np.random.default_rng(6).normal(size=(20, 20)))[0]
    gram = (rotation * np.geomspace(1.0, 1 / condition, 20)) @ rotation.T
    assert GramOperator(0.5 * (gram + gram.T)).is_conditioned(1e10) == (condition <= 1e10)


def test_pre_activations_of_other_weights_are_not_certified() -> None:
    """A state that claims to fit all labels with zero weights."""
    problem = one_small_direction(1e-6)
    assert problem.operator.factor is not None
    targets = np.maximum(problem.labels, 0.0)
    fooled = State(problem, ONE, np.zeros((1, 10)), targets[None, :], np.zeros(1))
    proof = certify(problem, ONE, fooled)
    assert not proof.optimal
    assert not proof.feasible
    assert "are not those of its weights: they differ by 1 in label units" in proof.message
    assert certify(problem, ONE, minimum_norm(problem, ONE).state).optimal


def test_a_disjoint_start_needs_a_side_that_is_inactive() -> None:
    problem = Problem.from_features(np.eye(3, 5), [1.0, 2.0, 3.0])
    network = Network.single(activation="tanh")
    with pytest.raises(ArgumentError, match="every sample moves every neuron, so that no start is disjoint"):
        starts.disjoint(problem, network)
