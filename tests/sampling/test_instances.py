"""Classic instances are what they say, to the digit, and show what they are known for."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers import assert_close, gram_descent

from relubias import Descent, Network, Status, analyze, gradient_descent, minimum_norm, sampling, starts
from relubias.errors import ArgumentError
from relubias.status import Optimality

ONE = Network.single()


def test_orthogonal_rows_do_not_interfere() -> None:
    problem = sampling.orthogonal(n_samples=4, squared_norms=(1.0, 2.0, 3.0, 5.0), rng=0)
    np.testing.assert_array_equal(problem.gram, np.diag([1.0, 2.0, 3.0, 5.0]))
    explicit = sampling.orthogonal(n_samples=4, squared_norms=(1.0, 2.0, 3.0, 5.0), features=True, rng=0)
    assert_close(explicit.gram, problem.gram, 1e-15)
    np.testing.assert_array_equal(explicit.labels, problem.labels)
    assert sampling.orthogonal(n_samples=3, squared_norms=2.0, rng=0).gram.tolist() == np.diag([2.0] * 3).tolist()


@pytest.mark.parametrize("cosine", [-0.25, -0.1, 0.0, 0.3, 0.999, 1.0])
def test_coherent_rows_have_one_cosine(cosine: float) -> None:
    problem = sampling.coherent(n_samples=5, cosine=cosine, rng=0)
    expected = np.full((5, 5), cosine) + (1 - cosine) * np.eye(5)
    assert_close(problem.gram, expected, 1e-15)
    assert_close(sampling.coherent(n_samples=5, cosine=cosine, features=True, rng=0).gram, expected, 1e-14)


@pytest.mark.parametrize("cosine", [-0.26, 1.01, float("nan")])
def test_impossible_cosines_are_refused(cosine: float) -> None:
    with pytest.raises(ArgumentError, match=r"cosine of 5 rows must be from -0\.25"):
        sampling.coherent(n_samples=5, cosine=cosine, rng=0)


def test_duplicates_are_recognised_and_conflicts_cannot_be_interpolated() -> None:
    same = sampling.duplicates(n_samples=6, copies=2, labels="signs fraction=1", rng=0)
    assert same.facts.duplicates == ((0, 4, 5),)
    assert same.facts.conflicts == ()
    assert minimum_norm(same, ONE).status is Optimality.OPTIMAL
    other = sampling.duplicates(n_samples=6, copies=2, conflicting=True, labels="signs fraction=1", rng=0)
    assert other.facts.conflicts == ((0, 4, 5),)
    assert minimum_norm(other, ONE, of="linear").status is Optimality.INFEASIBLE


@pytest.mark.parametrize(("gamma", "third"), [(1, -0.0400359), (2, -0.1103563), (5, -0.2091538), (20, -0.2302369)])
def test_vardi_and_shamir_end_where_no_function_of_the_minimisers_says(gamma: float, third: float) -> None:
    problem = sampling.vardi_shamir(gamma=gamma)
    start = starts.from_weights(problem, ONE, np.full(3, 1e-3))
    analysis = analyze(problem, ONE, start, dynamics=Descent(step_size=1e-4))
    assert analysis.run.status is Status.CERTIFIED
    assert analysis.reference is not None
    np.testing.assert_allclose(analysis.run.state.weights()[0], [5.0, -1.0, third], atol=1e-6)
    np.testing.assert_allclose(analysis.reference.state.weights()[0], [5.0, -1.0, 0.0], atol=1e-9)
    assert analysis.reference.status is Optimality.OPTIMAL
    assert "The limit is not the minimum-norm solution (global)." in analysis.verdict


def test_where_the_limit_is_the_minimum_norm_solution_the_verdict_says_so() -> None:
    problem = sampling.orthogonal(n_samples=6, labels="signs fraction=1", rng=0)
    assert "The limit is the minimum-norm solution (global)." in analyze(problem).verdict


def test_lemma_5_fails_without_its_hypotheses() -> None:
    problem = sampling.lemma5_counterexample()
    assert_close(problem.gram, [[1, 0, -0.9], [0, 1, 0.3], [-0.9, 0.3, 1]], 1e-15)
    start = starts.all_active(problem, ONE, scale=1e-3)
    run = gradient_descent(problem, ONE, start, step_size=0.5, until=1)
    assert start.pattern[0, 2]
    assert problem.labels[2] > 0
    assert not run.state.pattern[0, 2]
    slow, _ = gram_descent(problem.gram, problem.labels, np.full(3, 1e-3), 0.5, 1)
    assert_close(run.state.primal[0], slow, 1e-13)


@pytest.mark.parametrize(("angle", "cosine"), [(0, 1.0), (60, 0.5), (90, 0.0), (180, -1.0)])
def test_two_samples_are_at_their_angle(angle: float, cosine: float) -> None:
    problem = sampling.two_samples(angle=angle, labels=(2.0, -1.0), norms=(1.0, 3.0))
    assert_close(problem.gram, [[1.0, 3 * cosine], [3 * cosine, 9.0]], 1e-15)
    assert problem.labels.tolist() == [2.0, -1.0]


def test_right_angles_are_exact() -> None:
    assert sampling.two_samples(angle=90).gram[0, 1] == 0.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sampling.orthogonal(n_samples=0, rng=0), "n_samples must be a whole number from 1"),
        (lambda: sampling.orthogonal(n_samples=2, squared_norms=(1.0,), rng=0), "1 squared_norms are given for 2"),
        (
            lambda: sampling.orthogonal(n_samples=2, squared_norms=-1.0, rng=0),
            "squared_norms must be a positive finite number",
        ),
        (lambda: sampling.orthogonal(n_samples=2), "a draw needs rng"),
        (lambda: sampling.orthogonal(n_samples=2, labels="teacher", rng=0), "no teachers among them"),
        (lambda: sampling.orthogonal(n_samples=10**9, rng=0), "1,000,000,000 rows, whose inner products would take"),
        (lambda: sampling.coherent(n_samples=10**6, cosine=0.1, rng=0), "at most 20,000 are drawn"),
        (lambda: sampling.duplicates(n_samples=10**6, rng=0), "at most 20,000 are drawn"),
        (lambda: sampling.duplicates(n_samples=1, rng=0), "duplicates need n_samples of at least 2"),
        (lambda: sampling.orthogonal(n_samples=2, squared_norms=1e-320, rng=0), "squared_norms must be a positive"),
        (lambda: sampling.vardi_shamir(gamma=1e200), "gamma must be a positive finite number from 1e-75 to"),
        (lambda: sampling.vardi_shamir(gamma=10**400), "gamma must be a positive finite number"),
        (lambda: sampling.vardi_shamir(gamma="1"), "gamma must be a positive finite number"),  # type: ignore[arg-type]
        (lambda: sampling.vardi_shamir(gamma=10**5000), "it is a number of thousands of digits"),
        (lambda: sampling.duplicates(n_samples=10**5000, rng=0), "it is a number of thousands of digits"),
        (
            lambda: sampling.two_samples(angle=1, labels=(1e300, -1.0)),
            "each of labels must be 0, or of a magnitude from",
        ),
        (lambda: sampling.duplicates(n_samples=4, conflicting=1, rng=0), "conflicting must be true or false; it is 1"),  # type: ignore[arg-type]
        (lambda: sampling.coherent(n_samples=3, cosine=10**400, rng=0), "cosine of 3 rows must be from"),
        (lambda: sampling.duplicates(n_samples=3, copies=3, rng=0), "copies must be a whole number from 1 to 2"),
        (lambda: sampling.vardi_shamir(gamma=0), "gamma must be a positive finite number"),
        (lambda: sampling.two_samples(angle=float("inf")), "angle must be a finite number"),
        (lambda: sampling.two_samples(angle=1, norms=(1.0, 0.0)), "norms must be a positive finite number"),
        (lambda: sampling.two_samples(angle=1, labels=(1.0,)), "labels of two samples must be two"),  # type: ignore[arg-type]
    ],
)
def test_instances_that_do_not_exist_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()


def test_given_labels_need_no_random_numbers() -> None:
    assert sampling.orthogonal(n_samples=2, labels=[1.0, -3.0]).labels.tolist() == [1.0, -3.0]


def test_what_is_drawn_names_its_labels_and_its_seed() -> None:
    assert sampling.orthogonal(n_samples=3, rng=7).source == "exactly orthogonal rows, labels by signs, seed 7"
    assert sampling.duplicates(n_samples=3, rng=8).source.endswith("labels by signs, seed 8")
    assert sampling.coherent(n_samples=2, cosine=0.5, labels=[1.0, 2.0], rng=7).source.endswith("labels by given")


def test_huge_and_exact_numbers_are_numbers() -> None:
    """As a whole number of any size, or as a fraction, they are not what NumPy computes with."""
    assert sampling.draw("two-samples angle=1e20", rng=0).n_samples == 2
    assert sampling.VardiShamir(Fraction(1, 2)) == sampling.VardiShamir(0.5)  # type: ignore[arg-type]
    assert sampling.VardiShamir(Fraction(1, 2)).draw().gram[2, 2] == 0.5  # type: ignore[arg-type]


def test_a_truth_value_of_numpy_is_one() -> None:
    conflicting: Any = np.bool_(True)
    sampler = sampling.Duplicates(4, 2, conflicting)
    assert sampling.from_toml(sampling.to_toml(sampler)) == sampler == sampling.Duplicates(4, 2, True)


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_labels_at_the_ends_of_the_range_are_trained_on(unit: float) -> None:
    """The limit is proportional to the labels, over three hundred orders of magnitude."""
    shown, usual = (analyze(sampling.two_samples(angle=60, labels=(y, -y))).run.state for y in (unit, 1.0))
    np.testing.assert_allclose(shown.dual / unit, usual.dual, rtol=1e-9, atol=1e-12)
