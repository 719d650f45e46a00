"""K and the other products with X equal their definitions for every kind of features, and no kind is densified."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias.linalg import gram as gram_module
from relubias.linalg.gram import column_blocks, cross_product, gram_matrix, gram_of_blocks, row_combinations
from relubias.linalg.sources import ColumnBlocks, Joined

DTYPES = ["f2", "f4", ">f4", "f8", ">f8", "i1", "u1", "i2", "i8", "u8", "?", "g"]


def integers(shape: tuple[int, int], seed: int = 0) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Small whole numbers, half of them zero: every dtype holds them, and products of them are exact."""
    rng = np.random.default_rng(seed)
    return (rng.integers(0, 100, shape) * (rng.random(shape) < 0.5)).astype(np.int8)


@pytest.fixture(params=["one block", "many blocks"])
def _blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "many blocks":
        monkeypatch.setattr(gram_module, "BLOCK_ENTRIES", 21)


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_real_dtype_and_layout_gives_the_exact_gram_matrix(dtype: str, tmp_path: Path) -> None:
    wide = integers((7, 26)).astype(dtype)
    values = np.ascontiguousarray(wide[:, ::2])
    exact = values.astype(int) @ values.astype(int).T
    np.save(tmp_path / "x.npy", values)
    layouts = {
        "C": values,
        "Fortran": np.asfortranarray(values),
        "every other column": wide[:, ::2],
        "reversed": values[::-1, ::-1][::-1, ::-1][:, ::-1],
        "memory map": np.load(tmp_path / "x.npy", mmap_mode="r"),
        "function": ColumnBlocks.of(lambda: iter([values[:, :3], values[:, 3:]])),
        "joined": Joined((values[:, :5], values[:, 5:])),
    }
    for name, features in layouts.items():
        gram = gram_matrix(features)
        assert gram.dtype == np.float64
        assert gram.flags.c_contiguous
        np.testing.assert_array_equal(gram, exact, err_msg=name)


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize("cost", [0, 1e9])
@pytest.mark.parametrize("kind", ["csr_array", "csc_array", "csr_matrix", "csc_matrix"])
@pytest.mark.parametrize("dtype", ["i1", "u1", "?", "f4", "f8"])
def test_sparse_products_do_not_overflow(dtype: str, kind: str, cost: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of int8 beyond 127 need float64, whether the product is sparse or goes through dense blocks."""
    monkeypatch.setattr(gram_module, "SPARSE_COST", cost)
    values = integers((7, 13)).astype(dtype)
    features = getattr(scipy.sparse, kind)(values)
    exact = values.astype(int) @ values.astype(int).T
    np.testing.assert_array_equal(gram_matrix(features), exact)
    np.testing.assert_array_equal(cross_product(features, features), exact)
    np.testing.assert_array_equal(cross_product(values, features), exact)
    coefficients = np.arange(14.0).reshape(2, 7)
    np.testing.assert_array_equal(row_combinations(coefficients, features), coefficients @ values.astype(float))
    assert features.dtype == np.dtype(dtype)


def test_sparse_entries_given_twice_are_added_in_float64() -> None:
    parts = (np.array([100, 100, 3], dtype=np.int8), np.array([0, 0, 1]), np.array([0, 2, 3]))
    features = scipy.sparse.csr_array(parts, shape=(2, 2))
    assert gram_matrix(features).tolist() == [[40_000.0, 0.0], [0.0, 9.0]]
    assert np.concatenate(list(column_blocks(features)), axis=1).tolist() == [[200.0, 0.0], [0.0, 3.0]]


@settings(max_examples=50)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 600), widths=st.lists(st.integers(0, 30), min_size=1))
def test_accumulation_over_blocks_is_the_sum_of_their_products(seed: int, n: int, widths: list[int]) -> None:
    rng = np.random.default_rng(seed)
    blocks = [np.asarray(rng.normal(size=(n, width)), order=rng.choice(["C", "F"])) for width in widths]
    gram, n_features = gram_of_blocks(iter(blocks), n)
    whole = np.concatenate(blocks, axis=1)
    assert n_features == whole.shape[1]
    np.testing.assert_allclose(gram, whole @ whole.T, atol=1e-12 * max(1, n_features))
    np.testing.assert_array_equal(gram, gram.T)


def test_overflow_gives_infinities_without_a_warning() -> None:
    for features in (
        np.full((2, 2), 1e200),
        np.full((2, 2), np.longdouble("1e200")),
        scipy.sparse.csr_array(np.eye(2) * 1e200),
    ):
        assert np.isinf(gram_matrix(features)[0, 0])


def test_a_wide_sparse_matrix_is_never_densified() -> None:
    features = scipy.sparse.random_array((50, 400_000), density=1e-3, format="csr", rng=np.random.default_rng(0))
    dense = 50 * 400_000 * 8
    tracemalloc.start()
    try:
        gram_matrix(features)
        for _ in column_blocks(features):
            pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < dense / 3
