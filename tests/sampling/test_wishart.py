"""Bartlett's triangle: its entries, its product, and the moments of what it draws."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from helpers import assert_close

from relubias.sampling.wishart import bartlett_factor, triangular_product, wishart


@pytest.mark.parametrize("n", [1, 2, 3, 17])
def test_the_product_is_that_of_the_triangle_with_its_transpose(n: int) -> None:
    lower = np.tril(np.random.default_rng(n).normal(size=(n, n)))
    product = triangular_product(lower)
    assert_close(product, lower @ lower.T, 1e-15 * n)
    assert np.array_equal(product, product.T)
    assert product.flags.c_contiguous


@pytest.mark.parametrize("n", [1, 5])
def test_the_product_leaves_its_factor_alone(n: int) -> None:
    lower = np.tril(np.random.default_rng(0).normal(size=(n, n)))
    before = lower.copy()
    triangular_product(lower)
    assert np.array_equal(lower, before)


def test_the_triangle_has_chi_on_its_diagonal_and_normal_numbers_below() -> None:
    """Each entry over 2000 draws, in law; the level is divided among the entries."""
    rng = np.random.default_rng(1)
    degrees = np.array([9.0, 8.0, 7.0, 6.0])
    factors = np.array([bartlett_factor(degrees, rng) for _ in range(2000)])
    assert np.all(factors[:, np.triu(np.ones((4, 4), bool), 1)] == 0)
    laws = {
        (i, j): scipy.stats.chi(degrees[i]) if i == j else scipy.stats.norm() for i in range(4) for j in range(i + 1)
    }
    values = {place: scipy.stats.kstest(factors[:, *place], law.cdf).pvalue for place, law in laws.items()}
    assert min(values.values()) > 0.01 / len(laws)
    # a diagonal that is off by one degree of freedom would be seen
    assert scipy.stats.kstest(factors[:, 2, 2], scipy.stats.chi(8.0).cdf).pvalue < 1e-6


def test_a_single_row_has_a_chi_squared_length() -> None:
    rng = np.random.default_rng(2)
    lengths = [wishart(1, 3, rng)[0, 0] for _ in range(2000)]
    assert scipy.stats.kstest(lengths, scipy.stats.chi2(3).cdf).pvalue > 0.01


@pytest.mark.parametrize("d", [40, 10**6, 10**15])
def test_lengths_and_inner_products_have_their_moments(d: int) -> None:
    """E K_ii = d with variance 2d, E K_ij = 0 and E K_ij² = d: over the entries of one draw, within four deviations."""
    n = 40
    gram = wishart(n, d, np.random.default_rng(d % 1000))
    assert abs(np.mean(np.diag(gram)) / d - 1) < 4 * np.sqrt(2 / (n * d))
    products = gram[np.triu_indices(n, 1)] / np.sqrt(d)
    assert abs(np.mean(products)) < 4 / np.sqrt(len(products))
    # Var K_ij² = 2d² + 6d, and what pairs with a sample in common add to it is of order n³ d
    spread = np.sqrt((2 + 6 / d) / len(products) + 8 / (n * d))
    assert abs(np.mean(products**2) - 1) < 4 * spread
    assert np.std(np.diag(gram)) == pytest.approx(np.sqrt(2 * d), rel=0.5)
