"""Independent streams of random numbers from one ``rng`` argument.

A seed is the root of a tree of streams. Draws take its children, one for the features and one for the labels, and
leave the stream of the seed itself alone: a Gaussian start made with the same number is independent of the problem.
"""

from __future__ import annotations

import numpy as np

from relubias.arguments import generator_of
from relubias.errors import ArgumentError


def streams(rng: int | np.random.Generator | None, count: int) -> list[np.random.Generator]:
    """Return `count` independent generators; a Generator given as `rng` moves on, so that the next draw is another.

    Raises
    ------
    ArgumentError
        If `rng` is None, or neither a non-negative int nor a Generator.
    """
    if rng is None:
        raise ArgumentError("a draw needs rng, a non-negative int or a numpy Generator.")
    generator = generator_of(rng)
    if isinstance(rng, np.random.Generator):
        # its own numbers, not its seed: two generators with one seed may have come to different places
        root = np.random.SeedSequence(generator.integers(2**32, size=8, dtype=np.uint64).tolist())
    else:
        root = np.random.SeedSequence(int(rng))
    return [np.random.default_rng(child) for child in root.spawn(count)]
