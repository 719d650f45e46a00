"""Features drawn column by column and never held: X = [X_1 | X_2 | …] in blocks of a fixed number of entries.

Column j of X is √λ_j z_j with z_j of shape (N,), so that K = Σ_j λ_j z_j z_jᵀ. The width of a block depends on N
alone: with it, and with one number of BLAS threads, the order of the sums and so the bits of K are those of the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from relubias.errors import ArgumentError
from relubias.linalg.gram import Array, block_width
from relubias.sampling.spectra import Spectrum

#: More numbers than this are not drawn: it would take hours.
LONGEST_STREAM = 10**12
#: More numbers than this are not held: they would take 16 GB.
LARGEST_ARRAY = 2 * 10**9

#: Draws independent standardised numbers into an array of the given shape.
Draw = Callable[[np.random.Generator, tuple[int, int]], Array]


def drawn_blocks(
    draw: Draw, spectrum: Spectrum, n_features: int, n_rows: int, generator: np.random.Generator
) -> Iterator[Array]:
    """Yield the columns of X in order in blocks of shape (n_rows, width), up to the last λ_j that is not zero.

    Raises
    ------
    ArgumentError
        If more than `LONGEST_STREAM` numbers would have to be drawn.
    """
    numbers = n_rows * spectrum.support(n_features)
    if numbers > LONGEST_STREAM:
        raise ArgumentError(
            f"{n_rows:,} rows of {n_features:,} features are {numbers:.1e} numbers to draw, and at most "
            f"{LONGEST_STREAM:.0e} are drawn; take Gaussian features whose eigenvalues come in blocks of at least "
            f"{n_rows:,} equal ones, which cost nothing, or fewer features."
        )
    return _blocks(draw, spectrum, n_features, n_rows, generator)


def _blocks(
    draw: Draw, spectrum: Spectrum, n_features: int, n_rows: int, generator: np.random.Generator
) -> Iterator[Array]:
    for eigenvalues in spectrum.blocks(n_features, block_width(n_rows)):
        # a row here is a column of X: its numbers follow one another, so that they are the same in any block
        columns = draw(generator, (len(eigenvalues), n_rows))
        columns *= np.sqrt(eigenvalues)[:, None]
        yield columns.T


def assembled(blocks: Iterator[Array], n_rows: int, n_features: int) -> Array:
    """Return the blocks side by side as X; the columns after them are zero."""
    features, first = np.zeros((n_rows, n_features)), 0
    for block in blocks:
        features[:, first : first + block.shape[1]] = block
        first += block.shape[1]
    return features


def require_holdable(n_rows: int, n_features: int) -> None:
    """Refuse an explicit draw that would not fit in memory.

    Raises
    ------
    ArgumentError
        If X has more than `LARGEST_ARRAY` entries.
    """
    if n_rows * n_features > LARGEST_ARRAY:
        raise ArgumentError(
            f"{n_rows:,} rows of {n_features:,} features would take {8e-9 * n_rows * n_features:,.0f} GB; draw their "
            "Gram matrix alone, which needs no features, or take fewer of them."
        )
