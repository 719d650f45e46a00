"""The minimum-norm solution for 200 samples, 4000 features, half the labels negative, against two QP packages.

All solve the same dual problem in the Gram matrix, min ½ aᵀKa − y₊ᵀa with a_i ≤ 0 where y_i ≤ 0, and the
answers are compared before anything is timed (to 1e-3: at its default settings Clarabel has no more digits in a).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import scipy.sparse

import relubias
from benchmarks.harness import Row, race
from relubias.linalg.gram import Array

N_SAMPLES, N_FEATURES = 200, 4000


def measure() -> Iterator[Row]:
    """Yield one race for each package."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((N_SAMPLES, N_FEATURES))
    labels = rng.uniform(0.5, 2.0, N_SAMPLES) * np.where(np.arange(N_SAMPLES) % 2, 1.0, -1.0)
    gram = features @ features.T

    def ours() -> Array:
        # A fresh problem each time: what one solve leaves in it must not help the next.
        problem = relubias.Problem(gram=gram, labels=labels)
        return np.asarray(relubias.minimum_norm(problem, relubias.Network.single()).state.dual[0])

    for name, solve in (("quadprog", by_quadprog), ("clarabel", by_clarabel)):
        rival = partial(solve, gram, labels)
        np.testing.assert_allclose(ours(), rival(), atol=1e-3 * float(np.abs(ours()).max()))
        yield race("minimum norm, n = 200", ours, name, rival, at_most=1.0)


def by_quadprog(gram: Array, labels: Array) -> Array:
    """Solve with the active-set method of Goldfarb and Idnani: constraints are Cᵀa ≥ 0 with C = −1 on negatives."""
    import quadprog

    constraints = -np.eye(len(labels))[:, labels <= 0]
    bounds = np.zeros(constraints.shape[1])
    return np.asarray(quadprog.solve_qp(gram, np.maximum(labels, 0.0), constraints, bounds)[0])


def by_clarabel(gram: Array, labels: Array) -> Array:
    """Solve with an interior-point method: a + s = 0 with s ≥ 0 on negatives."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    rows = scipy.sparse.csc_array(np.eye(len(labels))[labels <= 0])
    quadratic = scipy.sparse.csc_array(np.triu(gram))
    cones = [clarabel.NonnegativeConeT(rows.shape[0])]
    linear = -np.maximum(labels, 0.0)
    solver = clarabel.DefaultSolver(quadratic, linear, rows, np.zeros(rows.shape[0]), cones, settings)
    return np.asarray(solver.solve().x)
