"""The Gram matrix of 100 samples with 100 000 features, checked, against the bare product X Xᵀ."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

import relubias
from benchmarks.harness import Check, Row, Task, race
from benchmarks.profiling import Job
from relubias.linalg.gram import Array

AT_MOST = 1.3
GOAL = f"at most {AT_MOST:g} times the bare product"
N_SAMPLES, N_FEATURES = 100, 100_000


def measure() -> Iterator[Row]:
    """Yield the race for float64, and for float32, where the rival too has to answer in float64."""
    double, single, labels = data()
    for features, rival in ((double, "X @ X.T"), (single, "X @ X.T as float64")):
        ours, theirs = partial(relubias.Problem.from_features, features, labels), partial(product, features)

        def deviation(ours: Task = ours, theirs: Task = theirs) -> float:
            right = theirs()
            return float(np.max(np.abs(ours().gram - right)) / np.max(np.abs(right)))

        check = Check(deviation, 1e-12)
        yield race(f"from_features {features.dtype}", ours, rival, theirs, at_most=AT_MOST, peak=True, check=check)


def data() -> tuple[Array, NDArray[np.float32], Array]:
    """Gaussian features in both precisions, and labels."""
    rng = np.random.default_rng(0)
    double = rng.standard_normal((N_SAMPLES, N_FEATURES))
    return double, double.astype(np.float32), rng.standard_normal(N_SAMPLES)


def product(features: NDArray[np.floating]) -> Array:
    """Return X Xᵀ in float64, with a converted copy of X where X is not float64."""
    converted = features.astype(np.float64, copy=False)
    return converted @ converted.T


def jobs() -> Iterator[Job]:
    """Against the bare product."""
    double, _, labels = data()
    ours, theirs = partial(relubias.Problem.from_features, double, labels), partial(product, double)
    remark = "Nothing is left but the product."
    yield Job(f"from_features, {N_SAMPLES} x {N_FEATURES}", ours, "the product X Xᵀ", theirs, remark)
