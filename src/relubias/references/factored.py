"""The minimum-norm weights under constraints from a factor of X, where K has too few digits.

With K = L Lᵀ and u = Lᵀa the coordinates of the weights, on F = P ∪ {binding inequalities},

    min ‖u‖  s.t.  L_F u = t_F:      L_Fᵀ = Q R,    u = Q R⁻ᵀ t_F,    a_F = R⁻¹ R⁻ᵀ t_F.

The binding ones come from a least-distance problem: with L_Pᵀ = Q R on independent rows, u = u₀ + Z v splits into
the least norm for the equalities and an orthonormal basis Z of what they leave free,

    min ‖v‖   s.t.   −L_N Z v ≥ L_N u₀ − t_N.

u and β = L u have the digits of X. The multipliers a can be so large that K a says nothing in float64; they serve
for their signs and for the lower bound tᵀa − ½‖Lᵀa‖² only, where their size is harmless. What rounding of X
explains of β is e_i = ε √K_ii ‖u‖.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.linalg.block_pivoting import least_distance
from relubias.linalg.factor import EPS
from relubias.linalg.factored import FactorOperator
from relubias.linalg.gram import Array
from relubias.references.conditions import Constraints, Evidence, evidence


def factored_multipliers(operator: FactorOperator, constraints: Constraints) -> tuple[Array, Evidence] | None:
    """Solve through the factor; None where the inequalities contradict the equalities."""
    binding = _binding(operator, constraints)
    if binding is None:
        return None
    dual, weights = _least_norm(operator, constraints, constraints.equal | binding)
    dual = np.where(constraints.equal, dual, np.minimum(dual, 0.0))
    primal = operator.factor @ weights
    proof = evidence(operator, constraints, dual, primal=primal, norm=float(np.linalg.norm(weights)))
    return dual, proof


def _level(operator: FactorOperator) -> float:
    """What is up to this size, relative, is rounding of L: dependent rows of X do not stay so to the last digit."""
    return (operator.n_samples + 16) * EPS


def _least_norm(operator: FactorOperator, constraints: Constraints, fixed: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Multipliers and weight coordinates of min ‖u‖ with L u = t on the rows `fixed` that are independent."""
    units = operator.units
    members = np.flatnonzero(fixed)
    rows = operator.factor[members] / units[members, None]
    targets = constraints.targets[members] / units[members]
    orthogonal, triangle, pivots = scipy.linalg.qr(rows.T, pivoting=True, mode="economic")
    diagonal = np.abs(np.diagonal(triangle))
    rank = int(np.count_nonzero(diagonal > _level(operator) * np.max(diagonal, initial=0.0)))
    triangle, kept = triangle[:rank, :rank], pivots[:rank]
    inner = scipy.linalg.solve_triangular(triangle, targets[kept], trans=1)
    weights = orthogonal[:, :rank] @ inner
    # One step of refinement: the residual of the fit is computed from the rows themselves.
    inner += scipy.linalg.solve_triangular(triangle, targets[kept] - rows[kept] @ weights, trans=1)
    dual = np.zeros(operator.n_samples)
    dual[members[kept]] = scipy.linalg.solve_triangular(triangle, inner) / units[members[kept]]
    return dual, orthogonal[:, :rank] @ inner


def _binding(operator: FactorOperator, constraints: Constraints) -> NDArray[np.bool_] | None:
    """Return which inequalities hold with equality, shape (n,); None where they contradict the equalities."""
    units = operator.units
    rows = operator.factor / units[:, None]
    equal, others = np.flatnonzero(constraints.equal), np.flatnonzero(~constraints.equal)
    orthogonal, triangle, pivots = scipy.linalg.qr(rows[equal].T, pivoting=True)
    diagonal = np.abs(np.diagonal(triangle))
    rank = int(np.count_nonzero(diagonal > _level(operator) * np.max(diagonal, initial=0.0)))
    demands = (constraints.targets / units)[equal][pivots[:rank]]
    start = orthogonal[:, :rank] @ scipy.linalg.solve_triangular(triangle[:rank, :rank], demands, trans=1)
    factor, target = -rows[others] @ orthogonal[:, rank:], rows[others] @ start - (constraints.targets / units)[others]
    # Rows that the equalities decide leave only rounding behind.
    factor[np.linalg.norm(factor, axis=1) <= _level(operator)] = 0.0
    target[np.abs(target) <= _level(operator) * float(np.linalg.norm(start))] = 0.0
    solution, bounded = least_distance(factor, target)
    if solution is None or not bounded:
        return None
    binding = np.zeros(operator.n_samples, dtype=bool)
    binding[others[solution > 0]] = True
    return binding
