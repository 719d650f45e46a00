"""Negative controls break the one assumption that they are made to break."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import assert_close

from relubias.sampling.features import Equicorrelated, Gaussian, Subspace
from relubias.sampling.spectra import PowerLaw


@pytest.mark.parametrize("rho", [0.0, 0.3, 1.0])
def test_rows_have_the_correlation_that_was_asked_for_and_their_own_covariance(rho: float) -> None:
    """E K = ‖λ‖₁ ((1 − ρ) I + ρ 11ᵀ), for K with and without features."""
    law = Equicorrelated(50, rho, spectrum=PowerLaw(0.5))
    expected = law.population.trace * ((1 - rho) * np.eye(4) + rho)
    rng = np.random.default_rng(0)
    assert_close(np.mean([law.gram(4, rng) for _ in range(2000)], axis=0), expected, 0.03)
    assert_close(np.mean([X @ X.T for X in (law.rows(4, rng) for _ in range(2000))], axis=0), expected, 0.03)


def test_inner_products_of_rows_have_the_size_that_the_law_says() -> None:
    """E (x_iᵀx_j)² = (1 + ρ²)‖λ‖₂² + ρ²‖λ‖₁²; that of independent rows is off by far."""
    law = Equicorrelated(50, 0.4, spectrum=PowerLaw(0.5))
    rng = np.random.default_rng(0)
    size = np.sqrt(np.mean([law.gram(2, rng)[0, 1] ** 2 for _ in range(4000)]))
    assert size == pytest.approx(law.product_scale, rel=0.03)
    assert size > 2 * Gaussian(50, spectrum=PowerLaw(0.5)).product_scale


def test_rows_are_said_to_be_independent_where_they_are() -> None:
    assert [Equicorrelated(9, rho).population.independent for rho in (0.0, 1e-9, 0.5)] == [True, False, False]
    assert Subspace(9, 2).population.independent


def test_without_correlation_they_are_gaussian_rows_and_with_all_of_it_one_row() -> None:
    assert_close(Equicorrelated(30, 0.0).gram(5, 1), Gaussian(30).gram(5, 1), 1e-14)
    one = Equicorrelated(30, 1.0)
    assert_close(one.rows(5, 1), np.tile(one.rows(5, 1)[:1], (5, 1)), 1e-14)
    gram = one.gram(5, 1)
    assert_close(gram, np.full((5, 5), gram[0, 0]), 1e-14)


def test_k_of_equicorrelated_rows_is_that_of_the_square_root_of_their_correlation() -> None:
    """R^½ by an eigendecomposition, on the same Gaussian K."""
    n, rho = 6, 0.35
    values, vectors = np.linalg.eigh((1 - rho) * np.eye(n) + rho)
    root = (vectors * np.sqrt(values)) @ vectors.T
    assert_close(Equicorrelated(40, rho).gram(n, 2), root @ Gaussian(40).gram(n, 2) @ root, 1e-14)
    assert_close(Equicorrelated(40, rho).rows(n, 2), root @ Gaussian(40).rows(n, 2), 1e-14)


def test_rows_of_a_subspace_span_it_and_no_more() -> None:
    features = Subspace(200, 7).rows(30, 0)
    values = np.linalg.svd(features, compute_uv=False)
    assert values[6] > 0.1 * values[0]
    assert values[7] < 1e-12 * values[0]
    assert np.count_nonzero(features) == features.size
    assert np.mean(np.square(features).sum(axis=1)) == pytest.approx(200, rel=0.4)


def test_the_subspace_is_another_one_each_time() -> None:
    one, other = Subspace(20, 2).rows(2, 0), Subspace(20, 2).rows(2, 1)
    assert np.linalg.matrix_rank(np.vstack([one, other])) == 4
