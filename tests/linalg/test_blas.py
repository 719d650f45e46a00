"""Products are those of NumPy, for every layout of the arrays, and Gram products are symmetric to the last bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relubias.linalg.blas import Array, frobenius, gram_product, mirrored, product

LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "every other column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "every other row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "backwards": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
}
SIZES = st.integers(0, 7)


def matrix(rows: int, columns: int, seed: int, layout: str) -> Array:
    return LAYOUTS[layout](np.random.default_rng(seed).standard_normal((rows, columns)))


@given(SIZES, SIZES, SIZES, st.sampled_from([*LAYOUTS]), st.sampled_from([*LAYOUTS]))
def test_products_are_products(m: int, k: int, p: int, first: str, second: str) -> None:
    left, right = matrix(m, k, 0, first), matrix(k, p, 1, second)
    found = product(left, right)
    np.testing.assert_allclose(found, left @ right, rtol=1e-13, atol=1e-13)
    assert found.shape == (m, p)
    assert found.flags.c_contiguous
    np.testing.assert_allclose(product(left, np.arange(k, dtype=float)), left @ np.arange(k), rtol=1e-13, atol=1e-13)


@given(SIZES, SIZES, st.sampled_from([*LAYOUTS]))
def test_gram_products_are_symmetric_to_the_last_bit(m: int, k: int, layout: str) -> None:
    rows = matrix(m, k, 2, layout)
    before = rows.copy()
    found = gram_product(rows)
    np.testing.assert_allclose(found, rows @ rows.T, rtol=1e-13, atol=1e-13)
    assert np.array_equal(found, found.T)
    assert found.flags.c_contiguous
    assert np.array_equal(rows, before)


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 600])
def test_mirrored_is_the_same_on_both_sides_for_every_number_of_blocks(size: int) -> None:
    upper = np.triu(np.random.default_rng(0).standard_normal((size, size)))
    expected = upper + np.triu(upper, 1).T
    found = mirrored(upper)
    assert found is upper
    assert np.array_equal(found, expected)


def test_a_diagonal_whose_double_would_overflow_is_kept() -> None:
    largest = np.finfo(np.float64).max
    assert np.array_equal(mirrored(np.diag([largest, 1.0])), np.diag([largest, 1.0]))


@given(SIZES, SIZES)
def test_the_frobenius_norm_is_that_of_all_entries(m: int, k: int) -> None:
    rows = matrix(m, k, 3, "rows")
    assert frobenius(rows) == pytest.approx(float(np.linalg.norm(rows)), rel=1e-14)
