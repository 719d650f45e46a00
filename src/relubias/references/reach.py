"""Which labels a network of any number of neurons can fit, and what is to be fitted in place of others. (Ours.)

The vectors f = (f(x_1), …, f(x_n)) of all networks are the linear space

    R = range(X) + span{(‖x_i‖)_{i∈ℓ}, 0 elsewhere : lines ℓ},

ℓ the sets of rows on a common line through 0. For z is orthogonal to all vectors σ(Xu) exactly if the function
Σ z_i σ(x_iᵀu) = ½ Σ z_i |x_iᵀu| + ½ zᵀXu of u vanishes: it must have no kink, Σ_{i∈ℓ} z_i‖x_i‖ = 0 for each line, and
what is then left is linear, Xᵀz = 0. So R is everything unless rows are zero, coincide up to a positive factor, or are
dependent and on few lines. Other labels are replaced by the nearest ones in R, which minimise the loss: coinciding
rows get the mean of theirs, zero rows get 0.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.linalg.factor import EPS, GramOperator, null_level
from relubias.linalg.factored import FactorOperator
from relubias.linalg.gram import Array
from relubias.problem import Problem

#: Labels nearer to R than this fraction of the largest one are in it.
INSIDE = 1e-10


def reachable(problem: Problem, signs: Collection[int] = (1, -1)) -> tuple[Array, NDArray[np.bool_]]:
    """The labels that least squares asks of any number of neurons, and which samples suffice to say so.

    Parameters
    ----------
    problem : Problem
    signs : collection of int
        The signs that neurons have. Labels of another sign are best predicted 0. With one sign only, and opposite rows
        on few lines, what remains need not be within reach of that sign.

    Returns
    -------
    labels : ndarray, shape (n,)
        y itself where it can be fitted.
    kept : ndarray of bool, shape (n,)
        Not the zero rows, and the first of those that coincide.
    """
    labels, kept = problem.labels.copy(), sufficient(problem)
    if problem.operator.rank == problem.n_samples or not np.any(labels):
        return wanted(labels, signs), kept
    nonzero = problem.operator.diagonal > 0
    labels[~nonzero] = 0.0
    units = np.sqrt(np.where(nonzero, problem.operator.diagonal, 1.0))
    cosines = problem.operator.gram / units / units[:, None]
    lines = (1.0 - np.abs(cosines) <= 16 * EPS) & nonzero
    together = np.flatnonzero(lines.sum(axis=1) > 1)  # e_i is in R where row i is alone on its line
    if len(together):
        rows = cosines if problem.operator.factor is None else problem.operator.factor / units[:, None]
        spanning = units[together, None] * np.concatenate([rows[together], lines[np.ix_(together, together)]], axis=1)
        basis, values, _ = scipy.linalg.svd(spanning, full_matrices=False)
        basis = basis[:, values > null_level(max(spanning.shape)) * values.max(initial=0.0)]
        nearest = basis @ (basis.T @ labels[together])
        moved = np.abs(nearest - labels[together]) > INSIDE * np.abs(labels).max(initial=0.0)
        labels[together] = np.where(moved, nearest, labels[together])
    return wanted(labels, signs), kept


def sufficient(problem: Problem) -> NDArray[np.bool_]:
    """Which samples suffice to say what is to be fitted: not the zero rows, and the first of those that coincide."""
    kept = np.array(problem.operator.diagonal > 0)
    for group in problem.facts.duplicates:
        kept[list(group[1:])] = False
    return kept


def wanted(labels: Array, signs: Collection[int]) -> Array:
    """The labels, those of a sign without neurons replaced by 0."""
    return np.where(np.any([sign * labels > 0 for sign in signs], axis=0), labels, 0.0)


def restricted(operator: GramOperator, rows: NDArray[np.intp]) -> GramOperator:
    """The operator of some of the samples."""
    gram = operator.block(rows)
    return GramOperator(gram) if operator.factor is None else FactorOperator(gram, operator.factor[rows])
