"""The minimum-norm program in the weights, in the hands of quadratic-programming packages at their default settings.

    min ½‖w‖²    s.t.  X₊w = y₊,  X₋w ≤ 0.

₊ stands for samples with a positive label and ₋ for the others. There are d unknowns, and packages for dense programs
are handed the identity as a d × d matrix. Every solver returns w.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.sparse

from benchmarks.rivals import package
from benchmarks.rivals.quadratic import Solver
from relubias.linalg.gram import Array


def cvxpy_with(solver: str) -> Solver:
    """The program as it is written down, modelled in cvxpy."""

    def solve(features: Array, labels: Array) -> Array:
        cp = package("cvxpy")
        weights = cp.Variable(features.shape[1])
        positive = labels > 0
        constraints = [features[positive] @ weights == labels[positive], features[~positive] @ weights <= 0]
        cp.Problem(cp.Minimize(cp.sum_squares(weights) / 2), constraints).solve(solver=solver)
        return np.asarray(weights.value)

    return solve


def nnls(features: Array, labels: Array) -> Array:
    """Lawson and Hanson in R^d: w = w₀ − P X₋ᵀx with x ≥ 0, w₀ the shortest fit of the positives, P ⊥ them."""
    positive = labels > 0
    basis, triangle = np.linalg.qr(features[positive].T)
    fit = basis @ scipy.linalg.solve_triangular(triangle.T, labels[positive], lower=True)
    others = features[~positive].T
    others = others - basis @ (basis.T @ others)
    # X₋(w₀ − P X₋ᵀx) ≤ 0 with least ‖P X₋ᵀx‖: the dual of a least-distance program.
    demand = features[~positive] @ fit
    target = np.linalg.lstsq(others.T, demand, rcond=None)[0]
    return np.asarray(fit - others @ scipy.optimize.nnls(others, target)[0])


def osqp(features: Array, labels: Array) -> Array:
    """Operator splitting, sparse."""
    solver = package("osqp").OSQP()
    d = features.shape[1]
    lower = np.where(labels > 0, labels, -np.inf)
    rows, identity = scipy.sparse.csc_matrix(features), scipy.sparse.identity(d, format="csc")
    solver.setup(identity, np.zeros(d), rows, lower, np.maximum(labels, 0.0), verbose=False)
    return np.asarray(solver.solve(raise_error=False).x)


def quadprog(features: Array, labels: Array) -> Array:
    """Goldfarb and Idnani, dense: the first columns of C are equations."""
    positive = labels > 0
    d, equations = features.shape[1], int(np.count_nonzero(positive))
    constraints = np.vstack([features[positive], -features[~positive]]).T
    right = np.concatenate([labels[positive], np.zeros(len(labels) - equations)])
    return np.asarray(package("quadprog").solve_qp(np.eye(d), np.zeros(d), constraints, right, equations)[0])


def piqp(features: Array, labels: Array) -> Array:
    """Proximal interior points, dense."""
    positive, d = labels > 0, features.shape[1]
    solver = package("piqp").DenseSolver()
    upper = np.zeros(int(np.count_nonzero(~positive)))
    solver.setup(np.eye(d), np.zeros(d), features[positive], labels[positive], features[~positive], None, upper)
    solver.solve()
    return np.asarray(solver.result.x)


def proxqp(features: Array, labels: Array) -> Array:
    """Proximal augmented Lagrangian, dense."""
    positive, d = labels > 0, features.shape[1]
    equations, others = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
    qp = package("proxsuite").proxqp.dense.QP(d, equations, others)
    lower, upper = np.full(others, -np.inf), np.zeros(others)
    qp.init(np.eye(d), np.zeros(d), features[positive], labels[positive], features[~positive], lower, upper)
    qp.solve()
    return np.asarray(qp.results.x)


def daqp(features: Array, labels: Array) -> Array:
    """A dual active-set method, dense; it works in the arrays that it is given, and 5 marks an equation."""
    d = features.shape[1]
    lower, upper = np.where(labels > 0, labels, -1e30), np.maximum(labels, 0.0)
    kind = np.where(labels > 0, 5, 0).astype(np.int32)
    return np.asarray(package("daqp").solve(np.eye(d), np.zeros(d), features.copy(), upper, lower, kind)[0])


#: Name, solver, and how far its w may be from ours, relative: what its default settings reach.
SPARSE: tuple[tuple[str, Solver, float], ...] = (
    ("cvxpy + OSQP", cvxpy_with("OSQP"), 1e-2),
    ("cvxpy + Clarabel", cvxpy_with("CLARABEL"), 1e-3),
    ("osqp", osqp, 1e-2),
    ("nnls of SciPy", nnls, 1e-9),
)

#: The same for packages that take a dense d × d matrix.
DENSE: tuple[tuple[str, Solver, float], ...] = (
    ("piqp", piqp, 1e-4),
    ("proxqp", proxqp, 1e-4),
    ("daqp", daqp, 1e-6),
    ("quadprog", quadprog, 1e-9),
)
