"""The pre-activations that violate the constraints least, where no weights meet all of them.

    min_{β ∈ range K}  Σ_{i∈P} (β_i − t_i)² + Σ_{i∈N} (β_i − t_i)₊²

With s ≥ 0 for t − β on N the target z = (t_P, t_N − s) has a distance from range K that its component Π z in
the kernel shows, and it is a non-negative least-squares problem to make it small:

    min_{s ≥ 0} ‖Vᵀ t − V_Nᵀ s‖,      V an orthonormal basis of the kernel, Π = V Vᵀ,

and e = Π z, unique, holds all violations: β_i = t_i − e_i on P and (β_i − t_i)₊ = (−e_i)₊ on N. e = 0 exactly
where some weights meet all constraints.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.block_pivoting import bounded_nnls, non_negative_minimum
from relubias.linalg.factor import EPS, GramOperator
from relubias.linalg.gram import Array
from relubias.references.conditions import Constraints

#: Violations up to this fraction of max|t| are rounding: eigenvectors of K at 0 are no more precise.
TOLERANCE = 1e-7
#: Components in the kernel up to this size are those of a row outside it.
ROUNDING = 1e-10


def least_violation(operator: GramOperator, constraints: Constraints) -> Array | None:
    """Return e, shape (n,), of least ‖e‖ such that some weights meet the constraints shifted by e.

    None where it could not be found with certainty.
    """
    values, vectors = operator.eigensystem
    kernel = vectors[:, values <= operator.cutoff]
    others = np.flatnonzero(~constraints.equal)
    target = constraints.targets.copy()
    design, right = kernel[others].T.copy(), kernel.T @ target
    # Rows outside the kernel, and demands orthogonal to a row, are zero but for the rounding of eigenvectors.
    design[:, np.linalg.norm(design, axis=0) <= ROUNDING] = 0.0
    reach = design.T @ right
    noise = operator.n_samples * EPS * float(np.linalg.norm(target))
    reach[np.abs(reach) <= noise] = 0.0
    program = non_negative_minimum(design.T @ design, reach)
    absent = program.solution if program.bounded else bounded_nnls(design, right)
    if absent is None:
        return None
    # No solver's report is used: the slope must not point inwards anywhere, nor differ from 0 where s > 0.
    slope = design.T @ (design @ absent - right)
    wrong = np.where(absent > 0, np.abs(slope), np.maximum(-slope, 0.0))
    if float(np.max(wrong, initial=0.0)) > TOLERANCE * constraints.scale:
        return None
    target[others] -= absent
    return np.asarray(kernel @ (kernel.T @ target))


def compromise(constraints: Constraints, error: Array) -> tuple[Constraints, NDArray[np.bool_]]:
    """Return constraints that the least violation e meets, and which samples it violates, as a mask.

    A violated inequality becomes an equality at the value it is stuck at.
    """
    small = TOLERANCE * constraints.scale
    violated = np.where(constraints.equal, np.abs(error), -error) > small
    targets = np.where(constraints.equal | violated, constraints.targets - error, constraints.targets)
    return Constraints(targets, constraints.equal | violated), violated
