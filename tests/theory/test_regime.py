"""The regime n ≪ d₂ is recognised, refused or left open, with reasons."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from helpers import nearly_equal_rows, random_problem
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias import sampling
from relubias.population import Population
from relubias.problem import Problem
from relubias.theory.regime import ALIKE, INSIDE, OUTSIDE, Membership, Regime, regime


def gaussian(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize(
    ("n", "d", "expected"),
    [
        (20, 20_000, Membership.INSIDE),
        (20, 400, Membership.UNDECIDED),
        (20, 15, Membership.OUTSIDE),
        (20, 20, Membership.OUTSIDE),
    ],
)
def test_isotropic_data_are_judged_by_their_number_of_features(n: int, d: int, expected: Membership) -> None:
    found = regime(random_problem(n, d, seed=2))
    assert found.verdict is expected
    assert found.ratio is not None
    assert found.ratio.low <= n / d <= found.ratio.high


def test_many_features_with_one_dominating_direction_are_outside() -> None:
    features = gaussian(20, 20_000) + 5.0
    found = regime(Problem.from_features(features, np.ones(20)))
    assert found.verdict is Membership.OUTSIDE
    assert "as much as a label or more" in found.reasons[0]


def test_inside_says_that_d_infinity_cannot_be_told() -> None:
    assert "d_∞ cannot be told from 20 samples" in regime(random_problem(20, 20_000, seed=1)).reasons[0]


def test_the_interference_is_what_the_other_samples_do_to_a_prediction() -> None:
    """√(n/d₂) label sizes: measured as the off-diagonal part of K y over ‖λ‖₁, for labels of size 1."""
    n, d = 100, 10_000
    features = gaussian(n, d)
    labels = np.sign(gaussian(1, n, seed=2)[0])
    problem = Problem.from_features(features, labels)
    moved = (problem.gram - np.diag(np.diagonal(problem.gram))) @ labels / d
    ratio = regime(problem).ratio
    assert ratio is not None
    assert np.sqrt(np.mean(moved**2)) == pytest.approx(math.sqrt(ratio.value), rel=0.2)


def test_orthogonal_samples_are_the_limiting_case() -> None:
    found = regime(Problem.from_gram(np.diag([1.0, 2.0, 3.0, 4.0, 5.0]), np.ones(5)))
    assert found.verdict is Membership.INSIDE
    assert "exactly orthogonal" in found.reasons[0]


def test_three_samples_decide_nothing() -> None:
    found = regime(random_problem(3, 1000, seed=0))
    assert (found.verdict, found.ratio) == (Membership.UNDECIDED, None)


def test_coinciding_samples_leave_it_undecided_and_are_named() -> None:
    features = gaussian(20, 20_000)
    features[4] = features[11]
    found = regime(Problem.from_features(features, np.ones(20)))
    assert found.verdict is Membership.UNDECIDED
    assert any("row 5 and row 12" in reason for reason in found.reasons)


def test_nearly_equal_samples_are_named_with_their_cosine() -> None:
    reasons = " ".join(regime(nearly_equal_rows()).reasons)
    assert re.search(r"cosine between two samples is 1 − [2-5]e-10 \(row 4 and row 8\)", reasons)


def test_independent_samples_of_the_regime_are_never_called_alike() -> None:
    for seed in range(5):
        cosine = random_problem(50, 5_000, seed).facts.largest_cosine
        assert cosine is not None
        assert cosine.value < ALIKE / 2


def test_what_the_theorems_leave_out_is_said() -> None:
    features = gaussian(12, 6)
    features[3] = features[0] + features[1]
    labels = np.where(np.arange(12) < 2, 0.0, 1.0)
    reasons = " ".join(regime(Problem.from_features(features, labels)).reasons)
    assert "2 of 12 labels are 0" in reasons
    assert "K has rank 6 for 12 nonzero samples" in reasons
    assert "no more features (6) than samples (12)" in reasons


def test_a_gram_matrix_alone_says_that_the_number_of_features_is_unknown() -> None:
    problem = random_problem(10, 100, seed=3)
    reasons = regime(Problem.from_gram(problem.gram, problem.labels)).reasons
    assert any("number of features is not known" in reason for reason in reasons)


def test_the_json_has_no_infinities() -> None:
    gram = np.eye(5)
    gram[0, 1] = gram[1, 0] = 0.5
    values = regime(Problem.from_gram(gram, np.ones(5))).as_dict()
    assert values["n_over_d2"]["value"] > 0
    assert all(value is None or math.isfinite(value) for value in values["n_over_d2"].values())


@given(st.integers(0, 10**6), st.integers(-9, 9))
@settings(max_examples=25)
def test_the_verdict_does_not_depend_on_the_unit_of_the_features_or_the_order(seed: int, exponent: int) -> None:
    rng = np.random.default_rng(seed)
    features = gaussian(8, int(rng.integers(8, 2000)), seed)
    order = rng.permutation(8)
    one = regime(Problem.from_features(features, np.ones(8)))
    other = regime(Problem.from_features(10.0**exponent * features[order], np.ones(8)))
    assert one.verdict is other.verdict
    assert one.ratio is not None
    assert other.ratio is not None
    assert other.ratio.value == pytest.approx(one.ratio.value, rel=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 200))
def test_effective_dimensions_are_ordered_as_the_docstring_says(seed: int, d: int) -> None:
    spectrum = np.random.default_rng(seed).pareto(1.0, d) + 1e-3
    d2 = spectrum.sum() ** 2 / np.square(spectrum).sum()
    dinf = spectrum.sum() / spectrum.max()
    assert math.sqrt(d2) <= dinf * (1 + 1e-12)
    assert dinf <= d2 * (1 + 1e-12)
    assert d2 <= d * (1 + 1e-12)
    assert INSIDE < OUTSIDE


def drawn_from(n: int, population: Population, features: np.ndarray) -> Regime:
    return regime(Problem.from_features(features, np.ones(n), population=population))


@pytest.mark.parametrize(
    ("d2", "dinf", "expected"),
    [
        (20_000.0, 20_000.0, Membership.INSIDE),
        (2_000.0, 200.0, Membership.INSIDE),
        (2_000.0, 199.0, Membership.UNDECIDED),
        (1_999.0, 1_000.0, Membership.UNDECIDED),
        (21.0, 21.0, Membership.UNDECIDED),
        (400.0, 20.0, Membership.OUTSIDE),
        (20.0, 20.0, Membership.OUTSIDE),
    ],
)
def test_known_dimensions_decide_without_an_estimate(d2: float, dinf: float, expected: Membership) -> None:
    found = drawn_from(20, Population(20_000.0, d2, dinf, sub_gaussian=True, independent=True), gaussian(20, 20_000))
    assert found.verdict is expected
    assert found.ratio == (20 / d2, 20 / d2, 20 / d2, 1.0)
    assert found.leading == 20 / dinf
    assert found.reasons[0].startswith("The samples were drawn from a known distribution: n/d₂ = ")
    assert found.as_dict()["n_over_dinf"] == 20 / dinf


def test_without_a_known_distribution_d_infinity_is_not_known() -> None:
    assert regime(random_problem(20, 200, seed=1)).as_dict()["n_over_dinf"] is None


def test_rows_that_are_not_independent_are_not_believed_to_be_inside() -> None:
    """A common part of all rows leaves the covariance of each row as it was, and K tells."""
    rows = np.sqrt(0.9) * gaussian(20, 20_000) + np.sqrt(0.1) * gaussian(1, 20_000, seed=1)
    found = drawn_from(20, Population(20_000.0, 20_000.0, 20_000.0), rows)
    assert found.verdict is Membership.UNDECIDED
    assert "K shows a far smaller d₂" in found.reasons[0]


@pytest.mark.parametrize(
    ("sub_gaussian", "independent", "message"),
    [
        (False, True, "heavier tails than the sub-Gaussian ones"),
        (True, False, "its rows depend on each other"),
        (False, False, "its rows depend on each other, .* and its components have heavier tails"),
        (None, True, "it is not said whether"),
        (True, None, "it is not said whether"),
    ],
)
def test_a_distribution_that_the_theorems_do_not_assume_is_not_inside(
    sub_gaussian: bool | None, independent: bool | None, message: str
) -> None:
    dimensions = (20_000.0, 20_000.0, 20_000.0)
    found = drawn_from(20, Population(*dimensions, sub_gaussian, independent), gaussian(20, 20_000))
    assert found.verdict is Membership.UNDECIDED
    assert re.search(message, found.reasons[0])
    assert drawn_from(20, Population(*dimensions, True, True), gaussian(20, 20_000)).verdict is Membership.INSIDE


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("gaussian", Membership.INSIDE),
        ("rademacher", Membership.INSIDE),
        ("sparse-signs density=0.1", Membership.INSIDE),
        ("sparse-signs density=0.002", Membership.UNDECIDED),
        ("student-t degrees=5", Membership.UNDECIDED),
        ("log-normal sigma=0.5", Membership.UNDECIDED),
        ("equicorrelated correlation=0.01", Membership.UNDECIDED),
    ],
)
def test_draws_are_inside_only_where_the_theorems_are_about_their_law(line: str, expected: Membership) -> None:
    kind, *rest = line.split()
    problem = sampling.draw(" ".join([kind, "n=20 d=20000", *rest]), rng=0)
    assert regime(problem).verdict is expected


def test_features_without_variance_are_outside() -> None:
    found = drawn_from(20, Population(math.inf, 20_000.0, 20_000.0), gaussian(20, 20_000))
    assert found.verdict is Membership.OUTSIDE
    assert "variance is infinite" in found.reasons[0]
