"""What the operator of K says about its own digits."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from relubias.linalg.factor import GramOperator


def with_condition(size: int, condition: float, seed: int) -> GramOperator:
    rotation = np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))[0]
    gram = (rotation * np.geomspace(1.0, 1.0 / condition, size)) @ rotation.T
    return GramOperator(0.5 * (gram + gram.T))


@pytest.mark.parametrize("condition", [1.0, 1e6, 1e11])
def test_a_regular_matrix_is_recognised_without_its_spectrum(condition: float) -> None:
    operator = with_condition(30, condition, seed=0)
    assert operator.is_regular
    assert "spectrum" not in operator.__dict__
    assert operator.rank == 30


@pytest.mark.parametrize("seed", range(20))
def test_regular_is_never_said_of_a_matrix_with_eigenvalues_below_the_cutoff(seed: int) -> None:
    operator = with_condition(30, 10.0 ** (12 + seed / 4), seed)
    assert not operator.is_regular or operator.spectrum[0] > operator.cutoff


@pytest.mark.parametrize("gram", [np.zeros((3, 3)), np.ones((3, 3))])
def test_singular_matrices_are_not_regular(gram: np.ndarray) -> None:
    assert not GramOperator(gram).is_regular


@pytest.mark.skipif(np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="no extended precision on this machine")
def test_the_wide_product_has_more_digits_than_the_plain_one() -> None:
    operator = with_condition(40, 1e10, seed=1)
    vector = np.linalg.eigh(operator.gram)[1][:, 0]
    exact = np.array(
        [sum(Fraction(a) * Fraction(b) for a, b in zip(row, vector, strict=True)) for row in operator.gram]
    )
    error = max(abs(Fraction(np.float64(w)) - e) for w, e in zip(operator.wide_matvec(vector), exact, strict=True))
    plain = max(abs(Fraction(p) - e) for p, e in zip(operator.matvec(vector), exact, strict=True))
    assert float(error) < float(plain) / 100


def test_the_wide_product_makes_no_wide_copy_of_the_matrix() -> None:
    operator = GramOperator(np.eye(2000))
    vector = np.arange(2000.0)
    tracemalloc.start()
    product = operator.wide_matvec(vector)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(product, vector)
    assert peak < 0.1 * operator.gram.nbytes
