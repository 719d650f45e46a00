"""Facts are those of their definitions, and the interval of d₂ covers the d₂ that the samples were drawn with."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import scipy.stats
from helpers import ill_conditioned, random_problem

from relubias import Problem
from relubias.facts import duplicate_groups, estimate_d2, largest_cosine
from relubias.linalg.gram import Array

SPECTRUM = np.geomspace(1.0, 0.02, 300)
D2 = float(SPECTRUM.sum() ** 2 / np.square(SPECTRUM).sum())


def gaussian_gram(n: int, rng: np.random.Generator) -> Array:
    features = rng.normal(size=(n, len(SPECTRUM))) * np.sqrt(SPECTRUM)
    return np.asarray(features @ features.T)


def covered(value: float, draws: int) -> int:
    """In how many draws the interval of 95 % holds the value."""
    rng = np.random.default_rng(0)
    estimates = [estimate_d2(gaussian_gram(20, rng)) for _ in range(draws)]
    return sum(estimate is not None and estimate.low <= value <= estimate.high for estimate in estimates)


def test_the_interval_of_d2_covers_the_truth_as_often_as_it_says() -> None:
    """Fewer than the first value happen once in a thousand times where the coverage is at least 90 %."""
    least = int(scipy.stats.binom.ppf(1e-3, 200, 0.90))
    assert covered(D2, 200) >= least
    assert covered(2.0 * D2, 200) < least / 4
    assert covered(0.5 * D2, 200) < least / 4


def test_d2_is_estimated_from_its_definition_and_the_jackknife_leaves_out_one_sample_at_a_time() -> None:
    gram = gaussian_gram(9, np.random.default_rng(1))

    def by_loops(rows: list[int]) -> float:
        pairs = [gram[i, j] ** 2 for i in rows for j in rows if i != j]
        return float(np.mean([gram[i, i] for i in rows]) ** 2 / np.mean(pairs))

    everything = list(range(9))
    left_out = np.array([by_loops([i for i in everything if i != k]) for k in everything])
    spread = np.sqrt(8 / 9 * np.sum((left_out - left_out.mean()) ** 2))
    half = scipy.stats.t.ppf(0.9, 8) * spread
    estimate = estimate_d2(gram, confidence=0.8)
    assert estimate is not None
    value = by_loops(everything)
    assert estimate == pytest.approx((value, value - half, value + half, 0.8))


def test_d2_has_no_unit() -> None:
    gram = gaussian_gram(8, np.random.default_rng(2))
    assert estimate_d2(gram) == pytest.approx(estimate_d2(gram * 1e-200), rel=1e-12)


def test_d2_of_too_few_or_zero_samples_is_unknown_and_of_orthogonal_ones_unbounded() -> None:
    assert estimate_d2(np.eye(3)) is None
    assert estimate_d2(np.zeros((6, 6))) is None
    orthogonal = estimate_d2(np.eye(6))
    assert orthogonal is not None
    assert orthogonal[:3] == (np.inf, np.inf, np.inf)


def test_coinciding_samples_are_grouped_and_conflicts_are_those_with_other_labels() -> None:
    rng = np.random.default_rng(3)
    features = rng.normal(size=(9, 30))
    features[4], features[7] = features[1], features[1]
    features[8] = features[2]
    labels = np.array([1.0, 2, 3, 4, 2, 5, 6, -2, 3])
    for kind in (features, scipy.sparse.csr_array(features)):
        facts = Problem.from_features(kind, labels).facts
        assert facts.duplicates == ((1, 4, 7), (2, 8))
        assert facts.conflicts == ((1, 4, 7),)
        assert facts.rank == 6


def test_proportional_and_nearly_equal_samples_are_no_duplicates() -> None:
    features = np.random.default_rng(4).normal(size=(4, 30))
    features[1] = 2.0 * features[0]
    features[3] = features[2] + 1e-6 * np.random.default_rng(5).normal(size=30)
    assert duplicate_groups(features @ features.T) == ()


def test_zero_rows_are_listed_and_are_no_duplicates() -> None:
    features = np.random.default_rng(6).normal(size=(6, 10))
    features[[2, 5]] = 0.0
    facts = Problem.from_features(features, np.ones(6)).facts
    assert facts.zero_rows == (2, 5)
    assert facts.duplicates == ()
    assert facts.rank == 4


def test_the_largest_cosine_is_that_of_the_two_most_alike_samples() -> None:
    features = np.random.default_rng(7).normal(size=(7, 20))
    features[5] = 3.0 * features[1] + 0.1 * features[2]
    features[3] = 0.0
    gram = features @ features.T
    pairs = {
        (i, j): gram[i, j] / np.sqrt(gram[i, i] * gram[j, j])
        for i in range(7)
        for j in range(i + 1, 7)
        if 3 not in (i, j)
    }
    cosine = largest_cosine(gram)
    assert cosine is not None
    assert (cosine.first, cosine.second) == max(pairs, key=lambda pair: pairs[pair]) == (1, 5)
    assert cosine.value == pytest.approx(pairs[1, 5], rel=1e-14)
    assert largest_cosine(np.diag([1.0, 0.0])) is None


def test_labels_are_counted_by_sign() -> None:
    problem = Problem.from_features(np.eye(6), [1, -1, 0, 2, 0, 3])
    assert problem.facts.label_counts == {"positive": 3, "negative": 1, "zero": 2}


def test_digits_are_those_of_the_gram_matrix_or_of_the_features_behind_it() -> None:
    fair = ill_conditioned(condition=1e6).facts
    assert fair.backing == "the Gram matrix"
    assert fair.condition == pytest.approx(1e6, rel=1e-6)
    assert fair.digits == pytest.approx(15.65 - 6, abs=0.01)
    poor = ill_conditioned(condition=1e14).facts
    assert poor.backing == "the features"
    assert poor.digits == pytest.approx(15.65 - 7, abs=0.01)


def test_facts_are_json_able_without_nan_or_infinity() -> None:
    values = Problem.from_features(np.eye(5), np.ones(5)).facts.as_dict()
    assert values["d2_estimate"]["value"] is None
    assert values["rank"] == 5
    assert random_problem(6, 20, seed=0).facts.as_dict()["d2_estimate"]["value"] > 0


def test_a_problem_of_zeros_has_rank_zero() -> None:
    facts = Problem.from_features(np.zeros((5, 3)), np.ones(5)).facts
    assert (facts.rank, facts.zero_rows, facts.largest_cosine) == (0, (0, 1, 2, 3, 4), None)
    assert facts.d2_estimate is None
