"""A factor of X keeps the digits that K loses."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import assert_close, ill_conditioned, random_problem
from hypothesis import given
from hypothesis import strategies as st

from relubias.linalg.factor import GramOperator
from relubias.linalg.factored import FactorOperator
from relubias.linalg.gram import column_blocks
from relubias.linalg.lq import lower_factor
from relubias.problem import Problem


@given(n=st.integers(1, 12), d=st.integers(1, 60), width=st.integers(1, 20), seed=st.integers(0, 99))
def test_the_factor_gives_the_gram_matrix_whatever_the_blocks(n: int, d: int, width: int, seed: int) -> None:
    features = np.random.default_rng(seed).normal(size=(n, d))
    factor = lower_factor(column_blocks(features, width), n)
    assert factor.shape == (n, min(n, d))
    assert_close(factor @ factor.T, features @ features.T, relative=1e-13)


def test_singular_values_survive_that_the_gram_matrix_loses() -> None:
    problem = ill_conditioned(condition=1e20)
    expected = np.geomspace(1.0, 1e-10, 28)[::-1]
    factored = FactorOperator(problem.gram, lower_factor(column_blocks(problem.features), 28))
    assert_close(np.log(np.sqrt(factored.spectrum)), np.log(expected), relative=1e-6)
    assert factored.rank == 28
    assert GramOperator(problem.gram).rank < 28, "K alone does not show them"


def test_the_factor_stands_in_only_where_digits_are_lost_and_features_are_at_hand() -> None:
    assert random_problem(20, 60, seed=0).facts.backing == "the Gram matrix"
    assert ill_conditioned(condition=1e9).facts.backing == "the Gram matrix"
    lost = ill_conditioned(condition=1e14)
    assert lost.facts.backing == "the features"
    assert lost.facts.digits == pytest.approx(-np.log10(np.finfo(float).eps * 1e7), abs=0.1)
    alone = Problem.from_gram(lost.gram, lost.labels)
    assert alone.facts.backing == "the Gram matrix"
    assert alone.facts.digits < 2.5


@pytest.mark.parametrize("active", [[[1, 1, 0, 1, 1, 0]], [[1, 1, 0, 0, 1, 0], [0, 1, 1, 0, 0, 1]]])
def test_both_operators_agree_on_a_well_conditioned_problem(active: list[list[int]]) -> None:
    problem = random_problem(6, 20, seed=1)
    plain = problem.operator
    factored = FactorOperator(problem.gram, lower_factor(column_blocks(problem.features), 6))
    vector = np.arange(6.0) - 2
    assert_close(factored.matvec(vector), plain.matvec(vector), relative=1e-13)
    assert_close(factored.wide_matvec(vector), plain.wide_matvec(vector), relative=1e-13)
    assert_close(factored.lengths(vector[None]), plain.lengths(vector[None]), relative=1e-13)
    assert_close(factored.pseudo_solve(vector), plain.pseudo_solve(vector), relative=1e-11)
    pattern = np.array(active, dtype=bool)
    one, other = plain.pattern_modes(pattern), factored.pattern_modes(pattern)
    assert np.array_equal(one.union, other.union)
    assert_close(other.values, one.values, relative=1e-12)
    # Eigenvectors have a sign of their own; functions of H do not.
    for weight in (np.ones_like(one.values), 1 / one.values):
        assert_close((other.images * weight) @ other.vectors.T, (one.images * weight) @ one.vectors.T, relative=1e-11)
    assert other.smallest <= other.values[0]
    assert other.largest == pytest.approx(one.largest)
