"""What cannot be used is refused before anything is computed, with the place and the remedy."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from relubias import Problem
from relubias.errors import ArgumentError, DataError
from relubias.linalg.sources import ColumnBlocks
from relubias.linalg.validation import MOST_SAMPLES, as_labels, names_of, not_finite_error


def tall(kind: str) -> Any:
    n = MOST_SAMPLES + 1
    if kind == "array":
        return np.zeros((n, 1), dtype=np.int8)
    if kind == "sparse":
        return scipy.sparse.csr_array((n, 5))
    if kind == "function":
        return lambda: iter([np.zeros((n, 1))])
    return iter([np.zeros((n, 1))])


@pytest.mark.parametrize("kind", ["array", "sparse", "function", "iterator"])
def test_too_many_samples_are_refused_before_the_gram_matrix_is_allocated(kind: str) -> None:
    features, labels = tall(kind), np.ones(MOST_SAMPLES + 1)
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"20001 samples, so that K would take 3.2 GB; .* transpose the data"):
            Problem.from_features(features, labels)
        assert tracemalloc.get_traced_memory()[1] < 1e7
    finally:
        tracemalloc.stop()


def test_labels_may_be_a_row_or_a_column() -> None:
    for labels in ([1, 2], [[1, 2]], [[1], [2]], np.array([1, 2], dtype=">i2")):
        assert as_labels(labels, 2).tolist() == [1.0, 2.0]
        assert as_labels(labels).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("labels", [3.0, [], [[1, 2], [3, 4]]])
def test_labels_of_another_shape_are_refused(labels: Any) -> None:
    with pytest.raises(DataError, match="one number a sample"):
        as_labels(labels)
    with pytest.raises(DataError, match="there are 3 samples, but the labels have shape"):
        as_labels(labels, 3)


def test_labels_are_finite_numbers() -> None:
    with pytest.raises(DataError, match=r"labels: entry 1 is nan, not a finite number \(1 more like it\)"):
        as_labels([1, np.nan, np.inf])
    with pytest.raises(DataError, match="labels must be real numbers; the dtype is <U1"):
        as_labels(["a"])


def test_the_first_bad_entry_is_named_and_the_others_are_counted() -> None:
    values = np.ones((3, 4))
    values[2, 1] = values[1, 1] = np.nan
    values[0, 3] = np.inf
    for features in (values, scipy.sparse.csr_array(values), values.astype(np.float16)):
        with pytest.raises(DataError, match=r"row 1, column 4 is inf|row 2, column 2 is nan.*\(2 more like it\)"):
            Problem.from_features(features, [1, 2, 3])
    message = str(not_finite_error(values, ["a", "b", "c", "d"]))
    assert "features: row 1, column 'd' is inf" in message


def test_features_that_are_finite_but_too_large_are_told_so() -> None:
    large = np.full((2, 2), 1e200)
    for features in (large, ColumnBlocks.of(lambda: iter([large])), lambda: iter([large]), iter([large])):
        with pytest.raises(DataError, match="inner products overflow; divide them by a constant"):
            Problem.from_features(features, [1, 2])


def test_names_are_as_many_as_needed() -> None:
    assert names_of([1, "b"], 2, "names") == ("1", "b")  # type: ignore[list-item]  # numbers become text
    assert names_of(None, 2, "names") is None
    with pytest.raises(ArgumentError, match="names has 1 entries, but 2 are needed"):
        names_of(["a"], 2, "names")
