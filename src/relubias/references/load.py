"""The largest load that one neuron of unit weights can carry, for prices z of the samples. (Ours.)

    M₊(z) = max_{‖u‖ ≤ 1} Σ_i z_i σ(x_iᵀu),        M₋(z) = M₊(−z).

Whatever network fits the labels, with neurons of total length S₊ = Σ_{a_k>0} |a_k|‖w_k‖ and S₋ likewise, satisfies

    zᵀy = Σ_k a_k Σ_i z_i σ(x_iᵀw_k) ≤ M₊(z) S₊ + M₋(z) S₋,

so that prices bound the length of all of them from below. Let P and N be the samples of positive and of negative
price. Where z_i > 0, z_i σ(b) = max(0, z_i b): the maximum may choose the set A ⊂ P that is active. Where z_i < 0,
z_i σ(b) = min_{0 ≤ μ_i ≤ |z_i|} −μ_i b. With A given the function is concave in u, and minimum and maximum change
places:

    M₊(z) = max_{A ⊂ P}  min_{0 ≤ μ ≤ |z_N|}  ‖X_Aᵀz_A − X_Nᵀμ‖.

Two things follow. Only the 2^|P| subsets of P are to be enumerated, each a small quadratic program in a box, and *any*
μ in the box gives an upper bound for its A, so that the largest of these bounds M₊(z) however badly it was solved. And
μ = 0 in all of them gives, without any enumeration,

    M₊(z)² ≤ max_{A ⊂ P} z_AᵀK z_A ≤ Σ_{i,j ∈ P} z_i z_j max(K_ij, 0),

which is exact for orthogonal rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.factor import EPS, GramOperator
from relubias.linalg.gram import Array

#: Exchanges of blocks before a program is left to an active-set method.
EXCHANGES = 25
#: Curvature added to the programs, in units in which K_ii = 1: for singular K.
RIDGE = 1e-14
#: Programs solved at once.
BATCH = 4096


@dataclass(frozen=True, eq=False)
class Loads:
    """What neurons of unit weights can carry at most, one entry for each set A that was enumerated.

    Attributes
    ----------
    bound : float
        M₊(z) is not above this, rounding of K included.
    bounds : ndarray, shape (2^|P|,)
        Upper bounds for each A; rounding is not included.
    coefficients : ndarray, shape (2^|P|, n)
        κ with bounds ‖Xᵀκ‖: the direction Xᵀκ of the best u for each A.
    """

    bound: float
    bounds: Array
    coefficients: Array


def rough_load(operator: GramOperator, prices: Array) -> float:
    """Return an upper bound of M₊(z) without enumeration, rounding of K included."""
    own = np.flatnonzero(prices > 0)
    positive = prices[own]
    square = float(positive @ np.maximum(operator.block(own), 0.0) @ positive) if len(own) else 0.0
    return _safe_root(operator, square, np.maximum(prices, 0.0))


def exact_loads(operator: GramOperator, prices: Array) -> Loads:
    """Return M₊(z) and what each set A can carry, by enumeration.

    Parameters
    ----------
    operator : GramOperator
        Of rows that are not zero.
    prices : ndarray, shape (n,)
        z.
    """
    own, other = np.flatnonzero(prices > 0), np.flatnonzero(prices < 0)
    units = operator.roots
    gram = operator.gram / units / units[:, None]
    scaled = prices * units
    coefficients = np.zeros((2 ** len(own), len(prices)))
    for begin in range(0, len(coefficients), BATCH):
        chunk = coefficients[begin : begin + BATCH]
        members = (np.arange(begin, begin + len(chunk))[:, None] >> np.arange(len(own))) & 1
        chunk[:, own] = members * scaled[own]
        chunk[:, other] = -_box_minima(gram, chunk, other, -scaled[other])
    coefficients /= units
    bounds = operator.lengths(coefficients)
    # The rounding of each is at most that of the largest coefficients.
    bound = _safe_root(operator, float(bounds.max()) ** 2, np.abs(coefficients).max(axis=0))
    return Loads(bound, bounds, coefficients)


def _safe_root(operator: GramOperator, square: float, dual: Array) -> float:
    """√(square + margin) for a square aᵀK a, or one of smaller coefficients than a, summed in float64."""
    reach = float(operator.roots @ np.abs(dual))
    if operator.factor is None:
        margin = (len(dual) + 4) * EPS * reach**2
    else:  # each entry of Lᵀa is a sum with the rounding of its terms
        margin = 2 * (len(dual) + 4) * EPS * reach * np.sqrt(square) + ((len(dual) + 4) * EPS * reach) ** 2
    return float(np.sqrt(square + margin)) * (1 + 4 * EPS)


def _box_minima(gram: Array, fixed: Array, free: NDArray[np.intp], ceiling: Array) -> Array:
    """Minimise ½ μᵀK_FF μ − qᵀμ over 0 ≤ μ ≤ ceiling for q = K_F a, one program for each row a of `fixed`.

    Block pivoting with three states for each entry: 0, free, at the ceiling. All that are on the wrong side change;
    what has not come to an end after some exchanges is handed to an active-set method.
    """
    if not len(free):
        return np.zeros((len(fixed), 0))
    block = gram[np.ix_(free, free)] + RIDGE * np.eye(len(free))
    target = fixed @ gram[:, free]
    state = np.zeros(target.shape, dtype=np.int8)
    solution, open_ = np.zeros_like(target), np.arange(len(target))
    rounding = 16 * EPS * len(free) * (1.0 + float(np.abs(target).max(initial=0.0)) + float(ceiling.max()))
    for _ in range(EXCHANGES):
        own = state[open_]
        top = np.where(own == 1, ceiling, 0.0)
        inner = own == 2
        right = np.where(inner, target[open_] - top @ block, top)
        pair = inner[:, :, None] & inner[:, None, :]
        matrix = np.where(pair, block, np.eye(len(free)))
        value = np.linalg.solve(matrix, right[:, :, None])[:, :, 0]
        slope = value @ block - target[open_]
        changed = own.copy()
        changed[inner & (value < 0)] = 0
        changed[inner & (value > ceiling)] = 1
        changed[(own == 0) & (slope < -rounding)] = 2
        changed[(own == 1) & (slope > rounding)] = 2
        solution[open_] = np.clip(value, 0.0, ceiling)
        wrong = np.any(changed != own, axis=1)
        state[open_] = changed
        open_ = open_[wrong]
        if not len(open_):
            return solution
    from scipy.optimize import lsq_linear  # slow to import, and rarely needed

    lower = np.linalg.cholesky(block)
    for row in open_:
        aim = np.linalg.solve(lower, target[row])
        found = lsq_linear(lower.T, aim, (0.0, ceiling), method="bvls", tol=1e-14)
        solution[row] = np.clip(found.x, 0.0, ceiling)
    return solution
