"""Streams: the columns are those of the definition, in blocks, and no array of the size of X is ever held."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from helpers import assert_close

from relubias.errors import ArgumentError
from relubias.linalg.gram import Array, block_width, gram_of_blocks
from relubias.sampling.features import Gaussian, Rademacher
from relubias.sampling.spectra import Eigenvalues, Geometric, PowerLaw
from relubias.sampling.streaming import LARGEST_ARRAY, LONGEST_STREAM, assembled, drawn_blocks, require_holdable

N, D = 300, 2500  # three blocks of 873 columns, the last one short


def normal(generator: np.random.Generator, shape: tuple[int, int]) -> Array:
    return generator.standard_normal(shape)


def test_columns_are_root_eigenvalues_times_consecutive_numbers() -> None:
    eigenvalues = np.random.default_rng(1).uniform(size=D)
    blocks = list(drawn_blocks(normal, Eigenvalues(tuple(eigenvalues)), D, N, np.random.default_rng(0)))
    assert [block.shape[1] for block in blocks] == [block_width(N), block_width(N), D - 2 * block_width(N)]
    expected = np.sqrt(eigenvalues) * np.random.default_rng(0).standard_normal((D, N)).T
    features = assembled(iter(blocks), N, D)
    assert np.array_equal(features, expected)
    assert_close(gram_of_blocks(blocks, N)[0], expected @ expected.T, 1e-14)


def test_columns_of_zero_variance_are_zero() -> None:
    features = Gaussian(2000, spectrum=Geometric(0.5)).rows(2, 0)
    assert features.shape == (2, 2000)
    assert np.all(features[:, :1000] != 0)
    assert np.all(features[:, 1100:] == 0)


def test_memory_is_that_of_a_block_and_of_k_not_of_the_features() -> None:
    """K is 0.3 MB and a block 2 MB; X would be 80 MB."""
    law = Gaussian(50_000, spectrum=PowerLaw(0.5))
    law.gram(200, 0)
    tracemalloc.start()
    law.gram(200, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6 < 8 * 200 * 50_000


def test_endless_streams_are_refused_with_a_remedy() -> None:
    message = "200 rows of 10,000,000,000 features are 2.0e.12 numbers to draw.*blocks of at least 200 equal ones"
    for law in (Gaussian(10**10, spectrum=PowerLaw(1.0)), Rademacher(10**10)):
        with pytest.raises(ArgumentError, match=message):
            law.gram(200, 0)
    assert LONGEST_STREAM < 200 * 10**10


def test_features_too_large_to_hold_are_refused_before_they_are_drawn() -> None:
    with pytest.raises(ArgumentError, match="would take 1,600 GB; draw their Gram matrix alone"):
        Gaussian(10**9).rows(200, 0)
    require_holdable(1, LARGEST_ARRAY)
    with pytest.raises(ArgumentError, match="16 GB"):
        require_holdable(1, LARGEST_ARRAY + 1)
