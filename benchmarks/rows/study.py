"""One cell of a study, n = 100 and d = 100 000, against a script that does the same with PyTorch and OSQP.

Draw, train from the all-active start, find w*, measure ‖w − w*‖. The script is one plain loop: it trains by autograd
until the loss of the positive labels is below 1e-20, which is where a script can know that it has arrived, and solves
the dual program in Gram form by cvxpy and OSQP. Drawing is part of both: the script draws X, ours draws K, which has
the same law. The numbers are not the same then, so that the answers are compared on one matrix first, where ours too
starts from X. Where PyTorch is missing a NumPy loop takes its place, without a goal, since the goal is about PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import relubias
from benchmarks.harness import Check, Remark, Row, Skipped, race
from benchmarks.profiling import Job
from benchmarks.rivals import package, training
from benchmarks.rivals.quadratic import cvxpy_with
from benchmarks.tasks.cells import FLOOR, cell, floor
from benchmarks.tasks.training import NETWORK
from relubias.linalg.gram import Array

FASTER = 100
GOAL = f"{FASTER} times as fast as PyTorch with OSQP"
N_SAMPLES, N_FEATURES, REPEATS = 100, 100_000, 15
#: Where the script stops.
SMALL_LOSS = 1e-20

Loop = Callable[[Array, Array, Array, float, float], Array]


def drawn(seed: int) -> tuple[Array, Array]:
    """X and labels ±1."""
    features = np.random.default_rng(seed).standard_normal((N_SAMPLES, N_FEATURES))
    return features, np.where(np.arange(N_SAMPLES) % 2, 1.0, -1.0)


def script(train: Loop, seed: int) -> float:
    """Draw and do the whole job as people do it."""
    return gap_of(train, *drawn(seed))


def gap_of(train: Loop, features: Array, labels: Array) -> float:
    """‖w − w*‖ by training on the weights and a package for the reference."""
    gram = features @ features.T
    scale = float(np.trace(gram)) / len(labels)
    start = features.T @ np.linalg.solve(gram, np.full(len(labels), 1e-3))
    weights = train(features, labels, start, 0.5 / scale, SMALL_LOSS)
    star = features.T @ (cvxpy_with("OSQP")(gram / scale, labels) / scale)
    return float(np.linalg.norm(weights - star))


def ours_on(features: Array, labels: Array) -> float:
    """The same gap by relubias, given X."""
    problem = relubias.Problem.from_features(features, labels)
    start = relubias.starts.all_active(problem, NETWORK, scale=1e-3)
    step = 0.5 * N_SAMPLES / float(np.trace(problem.gram))
    run = relubias.gradient_descent(problem, NETWORK, start, step_size=step).require_limit()
    return relubias.gap(run, relubias.minimum_norm(problem, run.network)).absolute


def loop() -> tuple[str, Loop, float | None]:
    """PyTorch's loop with the goal, or NumPy's without one where it is missing, by name."""
    try:
        package("torch", extra="bench-torch")
    except Skipped:
        return "NumPy and OSQP", training.in_weights_to, None
    return "PyTorch and OSQP", training.by_autograd_to, 1 / FASTER


def measure() -> Iterator[Row | Remark]:
    """Yield the race, and what was not tested."""
    package("cvxpy")
    name, train, at_most = loop()

    def deviation() -> float:
        features, labels = drawn(0)
        right = ours_on(features, labels)
        return abs(gap_of(train, features, labels) - right) / right

    yield race(
        f"a cell of a study, {N_SAMPLES} x {N_FEATURES}, the draw included",
        partial(cell, N_SAMPLES, N_FEATURES),
        name,
        partial(script, train, 0),
        at_most=at_most,
        check=Check(deviation, 1e-6),
        repeats=REPEATS,
    )
    if at_most is None:
        yield Remark("PyTorch is not installed, so that the goal is not tested; --torch installs it.", is_failure=False)


def jobs() -> Iterator[Job]:
    """Our cell against what it cannot do without."""
    yield Job(
        f"a cell of a study, {N_SAMPLES} x {N_FEATURES}",
        partial(cell, N_SAMPLES, N_FEATURES),
        FLOOR,
        partial(floor, N_SAMPLES),
        "The distance is the spectrum, the proofs of the limit and of w*, and, at so small an n, calls of NumPy.",
    )
