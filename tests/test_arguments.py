"""Numbers and sources of random numbers among arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relubias.arguments import generator_of
from relubias.errors import ArgumentError


def test_a_seed_makes_a_fresh_generator_and_a_generator_goes_on() -> None:
    assert generator_of(3).random() == generator_of(np.int64(3)).random() == np.random.default_rng(3).random()
    generator = np.random.default_rng(3)
    assert generator_of(generator) is generator


@pytest.mark.parametrize("rng", [None, -1, 1.5, True, "7", np.random.RandomState(0)])
def test_anything_else_is_no_source_of_random_numbers(rng: Any) -> None:
    with pytest.raises(ArgumentError, match="rng must be a non-negative int or a numpy Generator"):
        generator_of(rng)
