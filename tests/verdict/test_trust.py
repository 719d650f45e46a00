"""Digits: what carries them is said, and a warning comes where there are few."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from helpers import ill_conditioned, random_problem

from relubias import Analysis, Descent, Problem, analyze, sampling


def said(problem: Problem) -> str:
    return "\n".join(analyze(problem, dynamics=Descent(until=10)).verdict)


def test_few_digits_are_a_warning() -> None:
    text = said(ill_conditioned())
    assert "about 7 digits can be trusted in the worst direction; steps of late changes" in text
    assert "can be trusted" not in said(random_problem(10, 100, seed=0))


def test_a_gram_matrix_alone_is_told_that_features_would_carry_more() -> None:
    problem = ill_conditioned(condition=1e13)
    advice = "the features themselves (Problem.from_features) would carry"
    assert advice in said(Problem.from_gram(problem.gram, problem.labels))
    assert advice not in said(problem)
    enough = ill_conditioned()
    assert advice not in said(Problem.from_gram(enough.gram, enough.labels)), "features would not be used there"


def test_a_stated_distribution_is_not_taken_for_granted() -> None:
    drawn = sampling.gaussian(n_samples=10, n_features=10**6, rng=0)
    assert "in the regime of the paper's theorems, if the distribution is the one that is stated" in said(drawn)
    assert "in the regime of the paper's theorems, as far as d₂ tells" in said(replace(drawn, population=None))


def test_what_is_said_of_digits_comes_back_from_disk(tmp_path: Path) -> None:
    analysis = analyze(ill_conditioned(condition=1e13), dynamics=Descent(until=10))
    again = Analysis.load(analysis.save(tmp_path / "analysis.npz"))
    assert again.verdict == analysis.verdict


def test_a_factor_of_the_features_is_named_where_it_takes_the_place_of_k() -> None:
    problem = ill_conditioned(condition=1e13)
    assert problem.operator.factor is not None
    assert "were computed from a factor of the features: about 9 digits can be trusted" in said(problem)
