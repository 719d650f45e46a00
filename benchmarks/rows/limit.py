"""The exact limit of gradient descent, with its certificate.

Well conditioned data (100 × 100 000, in memory) take little more than their Gram matrix. Ill conditioned data (the
near-infrared spectra of yarns, raw) take so many steps that nobody waits for a loop: the rival's time is that of one
step times the steps after which β is within 1e-6 of the largest label of the limit, and its answers are compared at a
step that it can reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

import relubias
from benchmarks.harness import Check, Row, race
from benchmarks.profiling import Job
from benchmarks.rivals import training
from benchmarks.rows.real_data import real
from relubias.linalg.gram import Array

GOAL = "well conditioned: at most 1.3 times the Gram product; ill conditioned: 100 000 times as fast as NumPy given K"
NETWORK = relubias.Network.single()
#: Steps that the rival is timed for, and after which its β is compared; how near the limit it has to come.
TIMED, NEAR = 20_000, 1e-6


def measure() -> Iterator[Row]:
    """Yield both races."""
    features, labels = wide()
    ours = partial(limit_of_features, features, labels)
    rival = partial(product, features)
    yield race("certified limit, 100 x 100000, from X", ours, "X @ X.T alone", rival, at_most=1.3)

    problem = real("yarn.csv.gz")
    run = limit(problem)
    needed = steps_to_limit(run)
    yield race(
        "certified limit, yarn raw, given K",
        partial(limit, problem),
        f"NumPy given K, {needed:.1e} steps to within {NEAR:g}",
        partial(rival_after, run, TIMED),
        at_most=1e-5,
        check=Check(partial(deviation, run, TIMED), 1e-8),
        factors=(1.0, needed / TIMED),
    )


def wide() -> tuple[Array, Array]:
    """Gaussian features, 100 × 100 000, and labels ±1."""
    return np.random.default_rng(0).standard_normal((100, 100_000)), np.where(np.arange(100) % 2, 1.0, -1.0)


def limit_of_features(features: Array, labels: Array) -> relubias.Run:
    """From X to the certified limit."""
    return limit(relubias.Problem.from_features(features, labels))


def limit(problem: relubias.Problem, *, step_size: float | None = None) -> relubias.Run:
    """From the all-active start, or the Gaussian one where that is impossible, to the certified limit."""
    return relubias.gradient_descent(problem, NETWORK, start_of(problem), step_size=step_size).require_limit()


def start_of(problem: relubias.Problem) -> relubias.State:
    """The start that an analysis takes."""
    try:
        return relubias.starts.all_active(problem, NETWORK)
    except relubias.errors.StartError:
        return relubias.starts.gaussian(problem, NETWORK, rng=0)


def product(features: Array) -> Array:
    """Return K."""
    return features @ features.T


def steps_to_limit(run: relubias.Run) -> int:
    """The step from which β is within `NEAR` of the largest label of the limit; found by exact runs to single steps."""
    scale = NEAR * float(np.abs(run.problem.labels).max())
    low, high = 1, 10**17
    while high > 1.01 * low:
        middle = int((low * high) ** 0.5) + 1
        there = relubias.gradient_descent(run.problem, NETWORK, run.start, step_size=run.step_size, until=middle)
        far = float(np.max(np.abs(there.state.primal - run.state.primal))) > scale
        low, high = (middle, high) if far else (low, middle)
    return high


def rival_after(run: relubias.Run, steps: int) -> Array:
    """β of the loop given K after so many steps from the start of a run."""
    gram = np.array(run.problem.gram)
    return training.given_gram(gram, run.problem.labels, run.start.primal[0].copy(), run.step_size, steps)


def deviation(run: relubias.Run, steps: int) -> float:
    """How far the loop is from an exact run to this step, in units of the largest label."""
    there = relubias.gradient_descent(run.problem, NETWORK, run.start, step_size=run.step_size, until=steps)
    difference = np.max(np.abs(there.state.primal[0] - rival_after(run, steps)))
    return float(difference) / float(np.abs(run.problem.labels).max())


def jobs() -> Iterator[Job]:
    """Both limits: against the Gram product, and against one eigendecomposition of K."""
    features, labels = wide()
    yield Job(
        "certified limit, 100 x 100000, from X",
        partial(limit_of_features, features, labels),
        "the product X Xᵀ",
        partial(product, features),
    )
    problem = real("yarn.csv.gz")
    gram = np.array(problem.gram)
    yield Job(
        "certified limit, yarn raw",
        partial(limit, problem),
        "one eigendecomposition of K",
        partial(np.linalg.eigh, gram),
    )
