"""How much Lagrange's bound may lose by samples that a neuron might do without. (Ours.)

A neuron with weights w = g + Σ_{i∈U} z_i x_i, z > 0, may drop any of the samples in U. Its length grows at most by

    ‖w − Σ u_i z_i x_i‖² − ‖w‖² = uᵀQu − 2 (z∘β)ᵀu,     u ∈ {0,1}^U,     Q = diag(z) K_UU diag(z),    β = X w,

and E is the greatest such growth; it is never below 0, the value at u = 0. For any diagonal Δ = diag δ ⪰ Q the function
uᵀ(Q − Δ)u + (δ − 2 z∘β)ᵀu is concave and equals it at the corners, so that it is below its tangent at 0, and

    E ≤ Σ_i (δ_i − 2 z_i β_i)₊.

Therefore E = 0 if δ = 2 z∘β will do,

    2 diag(β/z) ⪰ K_UU,

which nearly orthogonal samples fulfil by far: then β_i/z_i is near K_ii. Where it will not, δ is raised along the
lowest eigenvector of Δ − Q a few times, and then by the row sums Σ_j |N_ij| of what is still negative,
N = −(Δ − Q)₋, since a diagonal of row sums dominates N. For few samples all corners are tried as well.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.linalg.factor import EPS, GramOperator, spectral_error
from relubias.linalg.gram import Array

#: Up to so many samples all corners are tried.
CORNERS = 12
#: How often δ is raised at most.
RAISES = 12


def excess_of(operator: GramOperator, rows: NDArray[np.intp], weights: Array, images: Array) -> tuple[float, Array]:
    """Bound E = max_{u ∈ {0,1}^U} uᵀQu − 2 (z∘β)ᵀu from above; 0 where the criterion above proves it.

    Parameters
    ----------
    operator : GramOperator
    rows : ndarray of int, shape (r,)
        U.
    weights : ndarray, shape (r,)
        z > 0.
    images : ndarray, shape (r,)
        β on U.

    Returns
    -------
    excess : float
    shares : ndarray, shape (r,)
        How much each sample has to do with it.
    """
    matrix = operator.block(rows) * weights[:, None] * weights
    linear, square = 2.0 * weights * images, np.diagonal(matrix)
    # Entries of K are known to ε √(K_ii K_jj), and eigenvalues to a little more.
    blur = EPS * float(square.sum()) + 2.0 * spectral_error(len(rows)) * float(square.sum() + np.abs(linear).max())
    raised, shares = np.zeros(len(rows)), np.full(len(rows), math.inf)
    for _ in range(RAISES):
        values, vectors = scipy.linalg.eigh(np.diag(linear + raised) - matrix, check_finite=False)
        below = np.minimum(values - blur, 0.0)
        rest = np.abs((vectors * below) @ vectors.T).sum(axis=1)
        if float((raised + rest).sum()) < float(shares.sum()):
            shares = raised + rest
        if below[0] == 0.0:
            break
        lowest = vectors[:, 0] ** 2
        raised = raised - below[0] * lowest / float(lowest @ lowest)
    if not np.any(shares) or len(rows) > CORNERS:
        return float(shares.sum()), shares
    corners = _corners(len(rows))
    values = np.einsum("cr,cr->c", corners @ matrix, corners) - corners @ linear
    margin = 4 * EPS * len(rows) * (float(np.sqrt(square).sum()) ** 2 + float(np.abs(linear).sum()))
    most = max(0.0, float(values.max()) + margin)
    return (most, corners[int(np.argmax(values))]) if most < float(shares.sum()) else (float(shares.sum()), shares)


@lru_cache(maxsize=CORNERS)
def _corners(size: int) -> Array:
    """All u ∈ {0, 1}^size, shape (2^size, size)."""
    return np.array(list(product((0.0, 1.0), repeat=size)))
