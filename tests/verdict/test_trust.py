"""Digits: what carries them is said, and a warning comes where there are few."""

from __future__ import annotations

from helpers import ill_conditioned, random_problem

from relubias import Problem, analyze


def said(problem: Problem) -> str:
    return "\n".join(analyze(problem).verdict)


def test_few_digits_are_a_warning() -> None:
    text = said(ill_conditioned())
    assert "about 7 digits can be trusted in the worst direction; steps of late changes" in text
    assert "can be trusted" not in said(random_problem(10, 100, seed=0))


def test_a_gram_matrix_alone_is_told_that_features_would_carry_more() -> None:
    problem = ill_conditioned()
    assert "the features themselves" not in said(problem)
    assert "the features themselves (Problem.from_features) would carry" in said(
        Problem.from_gram(problem.gram, problem.labels)
    )


def test_a_factor_of_the_features_is_named_where_it_takes_the_place_of_k() -> None:
    problem = ill_conditioned(condition=1e13)
    assert problem.operator.factor is not None
    assert "were computed from a factor of the features: about 9 digits can be trusted" in said(problem)
