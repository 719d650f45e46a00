"""Preprocessing against its formulas written out, and at the ends of the range of floating-point numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias.errors import ArgumentError, DataError
from relubias.files.preprocess import preprocess_features
from relubias.linalg.gram import BLOCK_ENTRIES, Array
from relubias.linalg.preprocessed import constant_columns


def whole(features: Any, how: str) -> Array:
    """The preprocessed features as one array."""
    return np.asarray(preprocess_features(features, how), dtype=np.float64)


def slow(features: Array, how: str) -> Array:
    """The definitions, number by number, with exactly rounded sums."""
    n, d = features.shape
    result = [[float(v) for v in row] for row in features]
    if how in ("centre", "standardise"):
        for j in range(d):
            mean = math.fsum(features[:, j]) / n
            deviations = [features[i, j] - mean for i in range(n)]
            sd = math.sqrt(math.fsum(v * v for v in deviations) / n)
            for i in range(n):
                result[i][j] = deviations[i] / sd if how == "standardise" else deviations[i]
    if how == "unit-rows":
        for i in range(n):
            norm = math.sqrt(math.fsum(v * v for v in features[i]))
            result[i] = [v / norm for v in result[i]]
    return np.array(result)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("how", ["none", "centre", "standardise", "unit-rows"])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 12), d=st.integers(1, 9))
def test_the_formulas_hold(how: str, order: Any, seed: int, n: int, d: int) -> None:
    features = np.random.default_rng(seed).normal(size=(n, d)) + 3.0
    before = features.copy()
    np.testing.assert_allclose(
        whole(np.asarray(features, order=order), how), slow(features, how), rtol=1e-12, atol=1e-13
    )
    np.testing.assert_array_equal(features, before)


@pytest.mark.parametrize("how", ["centre", "standardise", "unit-rows"])
@pytest.mark.parametrize("shape", [(3, BLOCK_ENTRIES), (20_000, 30), (400, 700)])
def test_blocks_join_without_a_seam(how: str, shape: tuple[int, int]) -> None:
    features = np.random.default_rng(5).normal(size=shape)
    result = whole(features, how)
    if how == "unit-rows":
        np.testing.assert_allclose(np.linalg.norm(result, axis=1), 1.0, rtol=1e-14)
    else:
        np.testing.assert_allclose(result.mean(axis=0), 0.0, atol=1e-13)
    if how == "standardise":
        np.testing.assert_allclose(result.std(axis=0), 1.0, rtol=1e-12)


def test_american_spellings_are_the_same_thing() -> None:
    features = np.random.default_rng(0).normal(size=(5, 3))
    for ours, theirs in (("centre", "center"), ("standardise", "standardize")):
        np.testing.assert_array_equal(whole(features, ours), whole(features, theirs))


@pytest.mark.parametrize("power", [-1000, -500, 0, 500, 1020])
def test_standardised_columns_do_not_depend_on_their_unit(power: int) -> None:
    features = np.random.default_rng(0).uniform(-1, 1, size=(6, 4))
    reference = whole(features, "standardise")
    np.testing.assert_array_equal(whole(np.ldexp(features, power), "standardise"), reference)
    rows = whole(np.ldexp(features, power), "unit-rows")
    np.testing.assert_array_equal(rows, whole(features, "unit-rows"))


def test_a_small_spread_around_a_large_mean_is_kept() -> None:
    features = 1e8 + np.array([[-1.0], [0.0], [1.0]]) * 2.0**-20
    np.testing.assert_allclose(whole(features, "standardise")[:, 0], [-(1.5**0.5), 0, 1.5**0.5], rtol=1e-15)


def test_means_are_zero_to_the_rounding_of_the_deviations_not_of_the_entries() -> None:
    features = 1e6 + np.random.default_rng(4).normal(size=(1000, 5))
    result = whole(features, "centre")
    means = [math.fsum(column) / 1000 for column in result.T]
    assert max(map(abs, means)) < 1e-15  # the rounding of the entries is 1e-10


def test_the_largest_numbers_are_not_constant() -> None:
    assert constant_columns(np.array([[1.7e308, 1.7e308], [-1.7e308, 1.7e308]])).tolist() == [1]


@pytest.mark.parametrize("how", ["centre", "standardise"])
@pytest.mark.parametrize("value", [0.0, 0.1, -7.3, 1e300, 1e-300])
def test_a_column_that_differs_by_rounding_only_becomes_zero(how: str, value: float) -> None:
    column = np.full(7, value)
    column[3] = np.nextafter(value, np.inf) if value else 0.0
    features = np.column_stack([column, np.arange(7.0)])
    result = whole(features, how)
    assert not result[:, 0].any()
    assert result[:, 1].any()
    assert constant_columns(features).tolist() == [0]


def test_a_zero_sample_stays_zero() -> None:
    result = whole([[0.0, 0.0], [3.0, 4.0]], "unit-rows")
    assert result.tolist() == [[0.0, 0.0], [0.6, 0.8]]


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ArgumentError, match="preprocess is 'scale'; it can be none, centre, standardise or unit-rows"):
        whole(np.eye(2), "scale")


@pytest.mark.parametrize("shape", [(3,), (0, 2), (2, 0)])
def test_features_have_two_axes_and_something_on_them(shape: tuple[int, ...]) -> None:
    for how in ("none", "centre"):
        with pytest.raises(DataError, match=rf"shape \({', '.join(map(str, shape))}"):
            preprocess_features(np.ones(shape), how)


def test_without_preprocessing_features_are_themselves() -> None:
    features = np.ones((2, 3))
    assert preprocess_features(features, "none") is features


def test_what_is_preprocessed_is_not_preprocessed_again() -> None:
    with pytest.raises(DataError, match="already 'centre'"):
        preprocess_features(preprocess_features(np.eye(2), "centre"), "unit-rows")
