"""The minimum-norm weights under constraints from a factor of X, where K has too few digits.

With K = L Lᵀ and u = Lᵀa the coordinates of the weights, on F = P ∪ {binding inequalities},

    min ‖u‖  s.t.  L_F u = t_F:      L_Fᵀ = Q R,    u = Q R⁻ᵀ t_F,    a_F = R⁻¹ R⁻ᵀ t_F.

u and β = L u have the digits of X. The multipliers a can be so large that K a says nothing in float64; they serve
for their signs and for the lower bound t_Pᵀa_P − ½‖Lᵀa‖² only, where their size is harmless. What rounding of X
explains of β is e_i = ε √K_ii ‖u‖.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.linalg.factor import EPS
from relubias.linalg.factored import FactorOperator
from relubias.linalg.gram import Array
from relubias.references.conditions import Candidate, Constraints, evidence
from relubias.references.elimination import row_units
from relubias.references.reduction import binding_inequalities


def factored_candidate(operator: FactorOperator, constraints: Constraints) -> Candidate | None:
    """Solve through the factor; None where the inequalities contradict the equalities."""
    binding = binding_inequalities(operator, constraints)
    if binding is None:
        return None
    dual, weights = _least_norm(operator, constraints, constraints.equal | binding)
    dual = np.where(constraints.equal, dual, np.minimum(dual, 0.0))
    primal = operator.factor @ weights
    proof = evidence(operator, constraints, dual, primal=primal, norm=float(np.linalg.norm(weights)))
    return Candidate(dual, primal, proof)


def _least_norm(operator: FactorOperator, constraints: Constraints, fixed: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Multipliers and weight coordinates of min ‖u‖ with L u = t on the rows `fixed` that are independent."""
    units = row_units(operator)
    members = np.flatnonzero(fixed)
    rows = operator.factor[members] / units[members, None]
    targets = np.where(constraints.equal, constraints.targets, 0.0)[members] / units[members]
    orthogonal, triangle, pivots = scipy.linalg.qr(rows.T, pivoting=True, mode="economic")
    diagonal = np.abs(np.diagonal(triangle))
    rank = int(np.count_nonzero(diagonal > max(rows.shape) * EPS * np.max(diagonal, initial=0.0)))
    triangle, kept = triangle[:rank, :rank], pivots[:rank]
    inner = scipy.linalg.solve_triangular(triangle, targets[kept], trans=1)
    weights = orthogonal[:, :rank] @ inner
    # One step of refinement: the residual of the fit is computed from the rows themselves.
    inner += scipy.linalg.solve_triangular(triangle, targets[kept] - rows[kept] @ weights, trans=1)
    dual = np.zeros(operator.n_samples)
    dual[members[kept]] = scipy.linalg.solve_triangular(triangle, inner) / units[members[kept]]
    return dual, orthogonal[:, :rank] @ inner
