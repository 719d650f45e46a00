"""The minimum-norm program in Gram form, in the hands of quadratic-programming packages at their default settings.

    min ½ aᵀKa − y₊ᵀa    s.t.  a₋ ≤ 0,        w = Xᵀa.

₊ stands for samples with a positive label and ₋ for the others. K comes scaled to a mean diagonal of 1, so that no
package is asked to be blind to units. A non-negative least-squares solver takes neither: in Gram form the free
block a₊ is eliminated by a Cholesky factor of K, the positives first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.sparse

from benchmarks.rivals import package
from relubias.linalg.gram import Array

Solver = Callable[[Array, Array], Array]


def cvxpy_with(solver: str) -> Solver:
    """Gram form, modelled in cvxpy."""

    def solve(gram: Array, labels: Array) -> Array:
        cp = package("cvxpy")
        dual = cp.Variable(len(labels))
        objective = cp.quad_form(dual, cp.psd_wrap(gram)) / 2 - np.maximum(labels, 0.0) @ dual
        cp.Problem(cp.Minimize(objective), [dual[labels <= 0] <= 0]).solve(solver=solver)
        return np.asarray(dual.value)

    return solve


def osqp(gram: Array, labels: Array) -> Array:
    """Operator splitting, sparse, with upper bounds 0 on negatives."""
    rows = scipy.sparse.csc_matrix(np.eye(len(labels))[labels <= 0])
    solver = package("osqp").OSQP()
    upper = np.zeros(rows.shape[0])
    quadratic = scipy.sparse.csc_matrix(np.triu(gram))
    solver.setup(quadratic, -np.maximum(labels, 0.0), rows, np.full(len(upper), -np.inf), upper, verbose=False)
    return np.asarray(solver.solve(raise_error=False).x)


def clarabel(gram: Array, labels: Array) -> Array:
    """Interior points: a + s = 0 with s ≥ 0 on negatives."""
    package_ = package("clarabel")
    settings = package_.DefaultSettings()
    settings.verbose = False
    rows = scipy.sparse.csc_array(np.eye(len(labels))[labels <= 0])
    quadratic = scipy.sparse.csc_array(np.triu(gram))
    cones = [package_.NonnegativeConeT(rows.shape[0])]
    linear = -np.maximum(labels, 0.0)
    solver = package_.DefaultSolver(quadratic, linear, rows, np.zeros(rows.shape[0]), cones, settings)
    return np.asarray(solver.solve().x)


def quadprog(gram: Array, labels: Array) -> Array:
    """The active-set method of Goldfarb and Idnani: Cᵀa ≥ 0 with C = −1 on negatives."""
    constraints = -np.eye(len(labels))[:, labels <= 0]
    solved = package("quadprog").solve_qp(gram, np.maximum(labels, 0.0), constraints, np.zeros(constraints.shape[1]))
    return np.asarray(solved[0])


def piqp(gram: Array, labels: Array) -> Array:
    """Proximal interior points, dense, with upper bounds 0 on negatives."""
    solver = package("piqp").DenseSolver()
    upper = np.where(labels <= 0, 0.0, np.inf)
    solver.setup(gram, -np.maximum(labels, 0.0), x_u=upper)
    solver.solve()
    return np.asarray(solver.result.x)


def proxqp(gram: Array, labels: Array) -> Array:
    """Proximal augmented Lagrangian, dense, with upper bounds 0 on negatives."""
    n = len(labels)
    qp = package("proxsuite").proxqp.dense.QP(n, 0, 0, True)
    lower, upper = np.full(n, -np.inf), np.where(labels <= 0, 0.0, np.inf)
    qp.init(gram, -np.maximum(labels, 0.0), None, None, None, None, None, lower, upper)
    qp.solve()
    return np.asarray(qp.results.x)


def daqp(gram: Array, labels: Array) -> Array:
    """A dual active-set method, with upper bounds 0 on negatives."""
    upper = np.where(labels <= 0, 0.0, 1e30)
    nothing = np.empty((0, len(labels)))
    # It works in the arrays that it is given.
    solved = package("daqp").solve(gram.copy(), -np.maximum(labels, 0.0), nothing, upper, np.full(len(labels), -1e30))
    return np.asarray(solved[0])


def nnls(gram: Array, labels: Array) -> Array:
    """Lawson and Hanson's active sets after elimination of the free block, through a Cholesky factor of K."""
    positive = labels > 0
    order = np.concatenate([np.flatnonzero(positive), np.flatnonzero(~positive)])
    n_positive = int(np.count_nonzero(positive))
    # K in this order is L Lᵀ. Its lower right corner is a factor of the Schur complement of the positives.
    lower = scipy.linalg.cholesky(gram[np.ix_(order, order)], lower=True)
    top, left, corner = (
        lower[:n_positive, :n_positive],
        lower[n_positive:, :n_positive],
        lower[n_positive:, n_positive:],
    )
    forward = scipy.linalg.solve_triangular(top, labels[positive], lower=True)
    # min ½‖cornerᵀ a₋‖² − (−left · forward)ᵀ a₋ with a₋ = −x, x ≥ 0
    target = scipy.linalg.solve_triangular(corner, left @ forward, lower=True)
    negatives = -scipy.optimize.nnls(np.ascontiguousarray(corner.T), target)[0]
    positives = scipy.linalg.solve_triangular(top.T, forward - left.T @ negatives)
    dual = np.empty(len(labels))
    dual[order] = np.concatenate([positives, negatives])
    return dual


#: Gram form: name, solver, and how far its w may be from ours, relative: what its default settings reach.
IN_GRAM_FORM: tuple[tuple[str, Solver, float], ...] = (
    ("cvxpy + OSQP", cvxpy_with("OSQP"), 1e-2),
    ("cvxpy + Clarabel", cvxpy_with("CLARABEL"), 1e-3),
    ("osqp", osqp, 1e-2),
    ("clarabel", clarabel, 1e-3),
    ("piqp", piqp, 1e-4),
    ("proxqp", proxqp, 1e-4),
    ("daqp", daqp, 1e-6),
    ("quadprog", quadprog, 1e-9),
    ("nnls of SciPy", nnls, 1e-9),
)
