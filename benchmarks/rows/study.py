"""One cell of a study, n = 100 and d = 100 000, against a script that does the same with PyTorch and OSQP.

Draw, train from the all-active start, find w*, measure ‖w − w*‖. The script draws X, trains by autograd until the loss
of the positive labels is below 1e-20, which is where a script can know that it has arrived, and solves the dual program
in Gram form by cvxpy and OSQP. Both draw the same law, but not the same numbers, so that the answers are compared on
one matrix first: ours then starts from that X. Where PyTorch is missing a NumPy loop takes its place, and its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import relubias
from benchmarks.harness import Check, Row, Skipped, race
from benchmarks.profiling import Job
from benchmarks.rivals import package, training
from benchmarks.rivals.quadratic import cvxpy_with
from benchmarks.rows.dimension import cell
from relubias.linalg.gram import Array

GOAL = "100 times as fast as PyTorch with OSQP"
N_SAMPLES, N_FEATURES = 100, 100_000
#: Steps between two looks at the loss, and where the script stops.
LOOK, SMALL_LOSS = 10, 1e-20

Loop = Callable[[Array, Array, Array, float, int], Array]


def drawn(seed: int) -> tuple[Array, Array]:
    """X and labels ±1."""
    return np.random.default_rng(seed).standard_normal((N_SAMPLES, N_FEATURES)), np.where(
        np.arange(N_SAMPLES) % 2, 1.0, -1.0
    )


def script(train: Loop, seed: int) -> float:
    """Draw and do the whole job as people do it."""
    return gap_of(train, *drawn(seed))


def gap_of(train: Loop, features: Array, labels: Array) -> float:
    """‖w − w*‖ by training on the weights and a package for the reference."""
    gram = features @ features.T
    scale = float(np.trace(gram)) / len(labels)
    weights = features.T @ np.linalg.solve(gram, np.full(len(labels), 1e-3))
    positive = labels > 0
    loss = np.inf
    while loss > SMALL_LOSS:
        weights = train(features, labels, weights, 0.5 / scale, LOOK)
        loss = float(np.sum(np.square(np.maximum(features[positive] @ weights, 0.0) - labels[positive])))
    star = features.T @ (cvxpy_with("OSQP")(gram / scale, labels) / scale)
    return float(np.linalg.norm(weights - star))


def ours_on(features: Array, labels: Array) -> float:
    """The same gap by relubias, given X."""
    problem = relubias.Problem.from_features(features, labels)
    start = relubias.starts.all_active(problem, relubias.Network.single(), scale=1e-3)
    step = 0.5 * N_SAMPLES / float(np.trace(problem.gram))
    run = relubias.gradient_descent(problem, relubias.Network.single(), start, step_size=step).require_limit()
    return relubias.gap(run, relubias.minimum_norm(problem, run.network)).absolute


def loop() -> tuple[str, Loop]:
    """PyTorch's loop, or NumPy's where it is missing, by name."""
    try:
        package("torch", extra="bench-torch")
    except Skipped:
        return "NumPy and OSQP (PyTorch is not installed)", training.in_weights
    return "PyTorch and OSQP", training.by_autograd


def measure() -> Iterator[Row]:
    """Yield the race."""
    package("cvxpy")
    name, train = loop()

    def deviation() -> float:
        features, labels = drawn(0)
        right = ours_on(features, labels)
        return abs(gap_of(train, features, labels) - right) / right

    yield race(
        f"a cell of a study, {N_SAMPLES} x {N_FEATURES}",
        partial(cell, N_SAMPLES, N_FEATURES),
        name,
        partial(script, train, 0),
        at_most=1 / 100,
        check=Check(deviation, 1e-6),
        repeats=5,
    )


def jobs() -> Iterator[Job]:
    """Our cell against the Gram product that a script needs."""
    features, _ = drawn(0)
    yield Job(
        f"a cell of a study, {N_SAMPLES} x {N_FEATURES}",
        partial(cell, N_SAMPLES, N_FEATURES),
        "the product X Xᵀ",
        partial(np.dot, features, features.T),
    )
