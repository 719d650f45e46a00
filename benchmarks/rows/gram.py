"""The Gram matrix of 100 samples with 100 000 features, checked, against the bare product X Xᵀ."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

import relubias
from benchmarks.harness import Row, race
from relubias.linalg.gram import Array


def measure() -> Iterator[Row]:
    """Yield the race for float64, and for float32, where the rival too has to answer in float64."""
    rng = np.random.default_rng(0)
    double = rng.standard_normal((100, 100_000))
    single = double.astype(np.float32)
    labels = rng.standard_normal(100)

    for features, rival in ((double, "X @ X.T"), (single, "X @ X.T as float64")):
        ours, theirs = partial(relubias.Problem.from_features, features, labels), partial(product, features)
        yield race(f"from_features {features.dtype}", ours, rival, theirs, at_most=1.3, peak=True)


def product(features: NDArray[np.floating]) -> Array:
    """Return X Xᵀ in float64, with a converted copy of X where X is not float64."""
    converted = features.astype(np.float64, copy=False)
    return converted @ converted.T
