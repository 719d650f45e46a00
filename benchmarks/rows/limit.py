"""The exact limit of gradient descent, with its certificate.

Well conditioned data (100 × 100 000, in memory) take little more than their Gram matrix; the limit has to agree with
that of a thousand steps of the loop given K. Ill conditioned data (the near-infrared spectra of yarns, raw) take so
many steps that nobody waits for a loop: the rival's time is extrapolated from 20 000 steps to those after which β is
within 1e-6 of the largest label of the limit. Its answers are compared at a step that it can reach, and the limit with
the closed form on the samples that are active at the end. Ours starts from a new problem in every repeat.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

import relubias
from benchmarks.harness import Check, Row, race
from benchmarks.profiling import Job
from benchmarks.tasks.products import eigendecompositions
from benchmarks.tasks.real_data import YARN, real
from benchmarks.tasks.training import (
    NETWORK,
    as_new,
    limit,
    limit_of_new,
    off_by,
    off_closed_form,
    off_stepping,
    rival_after,
)
from relubias.linalg.gram import Array

WELL, ILL = 1.3, 1e-5
GOAL = (
    f"well conditioned: at most {WELL:g} times the Gram product; "
    f"ill conditioned: {1 / ILL:,.0f} times as fast as NumPy given K"
).replace(",", " ")
N_SAMPLES, N_FEATURES = 100, 100_000
#: Steps after which the loop is at the limit of well conditioned data.
ENOUGH = 1000
#: Steps that the rival is timed for, and after which its β is compared; how near the limit it has to come.
TIMED, NEAR = 20_000, 1e-6


def measure() -> Iterator[Row]:
    """Yield both races."""
    features, labels = wide()
    yield race(
        f"certified limit, {N_SAMPLES} x {N_FEATURES}, from X",
        partial(limit_of_features, features, labels),
        "X @ X.T alone",
        partial(product, features),
        at_most=WELL,
        check=Check(partial(off_long_stepping, features, labels), 1e-10),
        repeats=15,
    )
    problem = real(YARN)
    run = limit(as_new(problem))
    needed = steps_to_limit(run)
    yield race(
        "certified limit, yarn raw, given K",
        partial(limit_of_new, problem),
        f"NumPy given K, {needed:.1e} steps to within {NEAR:g}",
        partial(rival_after, run, TIMED),
        at_most=ILL,
        check=Check(lambda: max(off_stepping(run, TIMED), off_closed_form(run)), 1e-8),
        factors=(1.0, needed / TIMED),
        extrapolated=f"{TIMED} steps",
        repeats=15,
    )


def wide() -> tuple[Array, Array]:
    """Gaussian features and labels ±1."""
    features = np.random.default_rng(0).standard_normal((N_SAMPLES, N_FEATURES))
    return features, np.where(np.arange(N_SAMPLES) % 2, 1.0, -1.0)


def limit_of_features(features: Array, labels: Array) -> relubias.Run:
    """From X to the certified limit."""
    return limit(relubias.Problem.from_features(features, labels))


def off_long_stepping(features: Array, labels: Array) -> float:
    """How far the limit is from the loop after so many steps that it moves no more."""
    run = limit_of_features(features, labels)
    return off_by(run, run.state.primal[0], rival_after(run, ENOUGH))


def product(features: Array) -> Array:
    """Return K."""
    return features @ features.T


def steps_to_limit(run: relubias.Run) -> int:
    """The step from which β is within `NEAR` of the largest label of the limit; found by exact runs to single steps."""
    low, high = 1, 10**17
    while high > 1.01 * low:
        middle = int((low * high) ** 0.5) + 1
        there = relubias.gradient_descent(run.problem, NETWORK, run.start, step_size=run.step_size, until=middle)
        far = off_by(run, there.state.primal[0], run.state.primal[0]) > NEAR
        low, high = (middle, high) if far else (low, middle)
    return high


def jobs() -> Iterator[Job]:
    """Against the Gram product, and against one eigendecomposition of K for each pattern that the run passes."""
    features, labels = wide()
    yield Job(
        f"certified limit, {N_SAMPLES} x {N_FEATURES}, from X",
        partial(limit_of_features, features, labels),
        "the product X Xᵀ",
        partial(product, features),
        "The distance is the check of K, its spectrum, and the certificate.",
    )
    problem = real(YARN)
    patterns = limit(as_new(problem)).pattern_changes + 1
    yield Job(
        "certified limit, yarn raw",
        partial(limit_of_new, problem),
        f"{patterns} eigendecompositions of K, one a pattern",
        eigendecompositions(np.array(problem.gram), patterns),
        "The distance is the search for the step of the next change, and the proof that there is none before.",
    )
