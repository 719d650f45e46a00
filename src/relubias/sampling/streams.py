"""Independent streams of random numbers from one ``rng`` argument.

A seed is the root of a tree of streams. Draws take children on a branch of their own, one for the features and one for
the labels: a Gaussian start made with the same number, and what a user's own generator of that seed draws or spawns,
are independent of the problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relubias.arguments import generator_of
from relubias.errors import ArgumentError

#: The branch of a seed that draws live on; children that NumPy spawns are counted from 0 and do not come near.
_BRANCH = 0x72656C75

#: A source of random numbers, or None where nothing is random.
Rng = int | np.integer[Any] | np.random.Generator | None


def streams(rng: Rng, count: int) -> list[np.random.Generator]:
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
        root = np.random.SeedSequence(int(rng), spawn_key=(_BRANCH,))
    return [np.random.default_rng(child) for child in root.spawn(count)]


def seed_in_words(rng: Rng) -> str:
    """Return ``, seed 3`` where the source is a seed."""
    return f", seed {rng}" if isinstance(rng, int | np.integer) else ""
