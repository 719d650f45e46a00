"""The minimum-norm weights under constraints for singular K, in coordinates of its range.

With K = V Λ Vᵀ on the eigenvalues above rounding and G = V Λ^½ (n, r), weights in the span are u ∈ R^r:

    β = G u,   ‖w‖ = ‖u‖,       min ‖u‖   s.t.   G_P u = t_P,   G_N u ≤ 0.

A pivoted QR factorisation G_Pᵀ = Q R of independent rows splits u = u₀ + Z v, with u₀ of least norm for the
equalities and Z an orthonormal basis of what they leave free. What is left is a least-distance problem,

    min ‖v‖   s.t.   −G_N Z v ≥ G_N u₀.

No Schur complement is formed, so its rank shows to ε and not to √ε. It costs an eigendecomposition.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.linalg.block_pivoting import least_distance
from relubias.linalg.factor import EPS, GramOperator
from relubias.linalg.gram import Array
from relubias.references.conditions import Constraints
from relubias.references.elimination import multipliers, row_units


def reduced_multipliers(operator: GramOperator, constraints: Constraints) -> Array | None:
    """Return multipliers a, shape (n,), with a_N ≤ 0; None where the inequalities contradict the equalities.

    The set of binding inequalities comes from the reduced problem, their multipliers are refined with K.
    """
    binding = binding_inequalities(operator, constraints)
    return None if binding is None else multipliers(operator, constraints, binding=binding)


def binding_inequalities(operator: GramOperator, constraints: Constraints) -> NDArray[np.bool_] | None:
    """Return which inequalities hold with equality, shape (n,); None where they contradict the equalities."""
    units = row_units(operator)
    rows = operator.root / units[:, None]
    equal, others = np.flatnonzero(constraints.equal), np.flatnonzero(~constraints.equal)
    orthogonal, triangle, pivots = scipy.linalg.qr(rows[equal].T, pivoting=True)
    diagonal = np.abs(np.diagonal(triangle))
    rank = int(np.count_nonzero(diagonal > max(rows.shape) * EPS * np.max(diagonal, initial=0.0)))
    demands = (constraints.targets / units)[equal][pivots[:rank]]
    start = orthogonal[:, :rank] @ scipy.linalg.solve_triangular(triangle[:rank, :rank], demands, trans=1)
    factor, target = -rows[others] @ orthogonal[:, rank:], rows[others] @ start
    # Rows that the equalities decide leave only rounding behind.
    factor[np.linalg.norm(factor, axis=1) <= max(rows.shape) * EPS] = 0.0
    target[np.abs(target) <= max(rows.shape) * EPS * float(np.linalg.norm(start))] = 0.0
    solution, bounded = least_distance(factor, target)
    if solution is None or not bounded:
        return None
    binding = np.zeros(operator.n_samples, dtype=bool)
    binding[others[solution > 0]] = True
    return binding
