"""Features seen through blocks of columns: any blocks give the same columns, and a bad block is named."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from relubias.errors import DataError
from relubias.linalg import sources
from relubias.linalg.gram import Array, FeatureSource, column_blocks
from relubias.linalg.sources import ColumnBlocks, Joined, as_features, regrouped
from relubias.problem import Problem

X = np.random.default_rng(0).normal(size=(4, 30))


def blocks_of(*widths: int) -> Callable[[], Iterator[Array]]:
    """A function that yields X in blocks of these widths and the rest."""

    def make() -> Iterator[Array]:
        first = 0
        for width in (*widths, 30 - sum(widths)):
            yield X[:, first : first + width]
            first += width

    return make


@given(given=st.lists(st.integers(0, 40), max_size=8), width=st.integers(1, 50))
def test_regrouping_keeps_the_columns_and_gives_the_width_asked_for(given: list[int], width: int) -> None:
    whole = np.arange(3.0 * sum(given)).reshape(3, -1)
    edges = np.cumsum([0, *given])
    parts = (whole[:, first:last] for first, last in itertools.pairwise(edges))
    result = list(regrouped(parts, width))
    assert [block.shape[1] for block in result[:-1]] == [width] * max(0, len(result) - 1)
    np.testing.assert_array_equal(np.concatenate([np.empty((3, 0)), *result], axis=1), whole)
    assert all(block.shape[1] for block in result)


@pytest.mark.parametrize("width", [1, 4, 7, 30, 99])
@pytest.mark.parametrize("given", [(), (1, 1, 1), (7, 0, 20), (29,)])
def test_a_function_that_yields_blocks_is_the_matrix_they_make(given: tuple[int, ...], width: int) -> None:
    features = ColumnBlocks.of(blocks_of(*given))
    assert features.shape == (4, 30)
    for _ in range(2):
        np.testing.assert_array_equal(np.concatenate(list(column_blocks(features, width)), axis=1), X)


def test_a_block_may_be_overwritten_once_the_next_one_is_asked_for() -> None:
    def reuses_its_memory() -> Iterator[Array]:
        block = np.empty((4, 5))
        for first in range(0, 30, 5):
            block[:] = X[:, first : first + 5]
            yield block

    for width in (2, 5, 8):
        kept = list(column_blocks(ColumnBlocks.of(reuses_its_memory), width))
        np.testing.assert_array_equal(np.concatenate(kept, axis=1), X)


def test_a_large_block_is_converted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "block_width", lambda n_samples: 8)
    parts = list(sources.checked_blocks([X.astype(np.float32)]))
    assert [part.shape[1] for part in parts] == [8, 8, 8, 6]
    assert parts[0].dtype == np.float64


def test_blocks_may_be_sparse_or_whole_numbers() -> None:
    whole = np.arange(12).reshape(3, 4).astype(np.int8)
    features = ColumnBlocks.of(lambda: [scipy.sparse.coo_array(whole[:, :1]), whole[:, 1:].tolist()])
    np.testing.assert_array_equal(np.concatenate(list(column_blocks(features)), axis=1), whole)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (np.ones((3, 2)), r"block 2 of the features has shape \(3, 2\); a block has 4 rows, one a sample"),
        (np.ones(4), r"block 2 of the features has shape \(4,\)"),
        (np.ones((4, 2), dtype=complex), "block 2 of the features has dtype complex128"),
        ([["a"] * 2] * 4, "block 2 of the features has dtype <U1"),
        (np.where(np.arange(8) == 5, np.nan, 1.0).reshape(4, 2), "block 2 .* row 3, column 2 of the block is nan"),
        (np.array([[np.inf, 1]] * 4), r"block 2 .* row 1, column 1 of the block is inf.* \(3 more like it"),
    ],
)
def test_a_bad_block_is_named(bad: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        ColumnBlocks.of(lambda: iter([X, bad]))


def test_the_place_of_a_bad_entry_counts_the_parts_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "block_width", lambda n_samples: 8)
    bad = X.copy()
    bad[2, 20] = np.nan
    with pytest.raises(DataError, match="row 3, column 21 of the block is nan"):
        ColumnBlocks.of(lambda: iter([bad]))


def test_a_second_pass_must_give_the_same_number_of_columns() -> None:
    once = iter([X])
    features = ColumnBlocks.of(lambda: once)
    with pytest.raises(DataError, match="gave 0 columns, but the first gave 30; give a function that returns a fresh"):
        list(column_blocks(features))
    more = ColumnBlocks(lambda: iter([X, X]), (4, 30))
    with pytest.raises(DataError, match="gave more than 30 columns"):
        list(column_blocks(more))


@pytest.mark.parametrize("returned", [X, None, 3, scipy.sparse.csr_array(X)])
def test_a_function_must_return_an_iterator_of_blocks(returned: Any) -> None:
    with pytest.raises(DataError, match=f"returned {type(returned).__name__}; it must return an iterator"):
        ColumnBlocks.of(lambda: returned)


def test_a_function_without_blocks_has_no_shape() -> None:
    with pytest.raises(DataError, match="yields no block"):
        ColumnBlocks.of(lambda: iter([]))


def test_joined_matrices_are_side_by_side() -> None:
    joined = Joined((X[:, :10], scipy.sparse.csc_array(X[:, 10:11]), X[:, 11:]))
    assert joined.shape == (4, 30)
    np.testing.assert_array_equal(np.concatenate(list(column_blocks(joined, 4)), axis=1), X)


def test_all_kinds_of_features_are_recognised() -> None:
    assert as_features([[1, 2]]).shape == (1, 2)
    assert as_features(scipy.sparse.coo_array(X)).format == "csr"
    assert as_features(scipy.sparse.csc_array(X)).format == "csc"
    assert isinstance(as_features(blocks_of(3)), FeatureSource)
    joined = Joined((X,))
    assert as_features(joined) is joined
    with pytest.raises(DataError, match="an iterator can be passed over only once"):
        as_features(blocks_of(3)())
    for bad in (X.astype(complex), scipy.sparse.csr_array(X.astype(complex)), [["a"]], np.array([[None]])):
        with pytest.raises(DataError, match="features must be real numbers"):
            as_features(bad)
    with pytest.raises(DataError, match="two axes"):
        as_features(np.ones((2, 2, 2)))


def test_a_function_that_gives_other_numbers_the_second_time_is_refused() -> None:
    state = iter(range(10))

    def unstable() -> Iterator[Any]:
        yield np.random.default_rng(next(state)).normal(size=(5, 30))

    problem = Problem.from_features(unstable, np.ones(5))
    with pytest.raises(DataError, match=r"other numbers than the first: row \d"):
        problem.weights_of(np.ones((1, 5)))
    with pytest.raises(DataError, match="other numbers than the first"):
        list(ColumnBlocks.of(unstable).column_blocks(7))
