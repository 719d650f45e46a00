"""Preprocessing block by block: the same for every kind of features, nothing densified, new points treated alike."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from relubias.linalg import gram as gram_module
from relubias.linalg.gram import Array, column_blocks, gram_matrix
from relubias.linalg.preprocessed import Preprocessed, constant_columns
from relubias.linalg.sources import ColumnBlocks, Joined

HOWS = ["centre", "standardise", "unit-rows"]


def counts(n: int = 6, d: int = 40) -> Array:
    """Sparse counts with an empty and a constant column and an empty sample where there can be one."""
    rng = np.random.default_rng(3)
    values = rng.integers(0, 5, (n, d)) * (rng.random((n, d)) < 0.4)
    values[2] = 0
    values[:, 4] = 0
    return values.astype(np.float64)


def by_definition(values: Array, how: str) -> Array:
    if how == "unit-rows":
        norms = np.linalg.norm(values, axis=1, keepdims=True)
        return values / np.where(norms == 0, 1, norms)
    centred = values - values.mean(axis=0)
    deviation = values.std(axis=0)
    return np.asarray(centred / np.where(deviation == 0, 1, deviation) if how == "standardise" else centred)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("entries", [12, 2**21])
def test_every_kind_of_features_is_preprocessed_alike(
    how: str, entries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gram_module, "BLOCK_ENTRIES", entries)
    values = counts()
    np.save(tmp_path / "x.npy", values.astype(np.float32))
    kinds: list[Any] = [
        values,
        values.astype(np.int8),
        np.asfortranarray(values),
        np.load(tmp_path / "x.npy", mmap_mode="r"),
        scipy.sparse.csr_array(values.astype(np.uint8)),
        scipy.sparse.csc_matrix(values),
        Joined((values[:, :7], values[:, 7:])),
        ColumnBlocks.of(lambda: iter([values[:, :9], scipy.sparse.csr_array(values[:, 9:])])),
    ]
    expected = by_definition(values, how)
    for features in kinds:
        preprocessed = Preprocessed.of(features, how)
        assert preprocessed.features is features
        assert preprocessed.shape == values.shape
        np.testing.assert_allclose(np.asarray(preprocessed), expected, rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(np.concatenate(list(column_blocks(preprocessed, 7)), axis=1), expected, atol=1e-14)
        np.testing.assert_allclose(gram_matrix(preprocessed), expected @ expected.T, rtol=1e-13, atol=1e-12)


@pytest.mark.parametrize("how", ["centre", "standardise"])
def test_new_points_get_the_shift_and_scale_of_the_samples(how: str) -> None:
    values = counts()
    new = np.random.default_rng(1).normal(size=(3, 40))
    deviation = values.std(axis=0)
    expected = new - values.mean(axis=0)
    if how == "standardise":
        expected /= np.where(deviation == 0, 1, deviation)
    expected[:, deviation == 0] = 0.0
    treated = Preprocessed.of(scipy.sparse.csr_array(values), how).prepare(new)
    np.testing.assert_allclose(np.asarray(treated), expected, rtol=1e-14, atol=1e-14)


def test_new_points_get_norm_one_by_their_own_norm() -> None:
    new = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 0.0]])
    treated = Preprocessed.of(np.eye(2) * 7, "unit-rows").prepare(new)
    assert np.asarray(treated).tolist() == [[0.6, 0.8], [0.0, 0.0], [1.0, 0.0]]


def test_the_features_are_not_changed() -> None:
    values = counts()
    before = values.copy()
    for how in HOWS:
        for block in column_blocks(Preprocessed.of(values, how)):
            block[:] = 99.0
    np.testing.assert_array_equal(values, before)


def test_constant_columns_are_known() -> None:
    values = counts()
    values[:, 11] = -2.5
    expected = np.flatnonzero(np.ptp(values, axis=0) == 0).tolist()
    assert 4 in expected
    assert 11 in expected
    for features in (values, scipy.sparse.csr_array(values), scipy.sparse.csc_matrix(values)):
        assert Preprocessed.of(features, "centre").constant.tolist() == expected
        assert Preprocessed.of(features, "standardise").constant.tolist() == expected
        assert constant_columns(features).tolist() == expected
    assert Preprocessed.of(values, "unit-rows").constant.tolist() == []


def test_the_whole_array_is_made_on_demand_only() -> None:
    preprocessed = Preprocessed.of(counts(), "centre")
    assert np.asarray(preprocessed, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="making one is a copy"):
        np.array(preprocessed, copy=False)


@pytest.mark.parametrize("how", HOWS)
def test_a_wide_sparse_matrix_is_preprocessed_without_a_dense_copy(how: str) -> None:
    n, d = 40, 400_000
    features = scipy.sparse.random_array((n, d), density=1e-3, format="csr", rng=np.random.default_rng(0))
    tracemalloc.start()
    try:
        gram_matrix(Preprocessed.of(features, how))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < n * d * 8 / 1.5
