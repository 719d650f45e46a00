"""The cheap certificate: the pattern is frozen because the weights are already close enough to its own limit.

For a fixed pattern D with η λ_max(H) < 2, one step never increases the distance of W to the limit of that pattern,

    ‖W_{t+1} − W_∞(D)‖_F ≤ ‖W_t − W_∞(D)‖_F,      ‖W_t − W_∞(D)‖_F² = rᵀH⁺r,

and |Δβ_{k,i}| ≤ √K_ii ‖ΔW‖_F. So as soon as every β_{k,i}(∞) has the sign it should have and exceeds
√K_ii ‖W_t − W_∞(D)‖_F, no sign can ever change, and W_∞(D) is the limit. (Ours.)

**Rounding.** x ≈ H⁺r is refined with residuals e = r − Hx in extended precision. Then, with λ the smallest
positive eigenvalue of H,

    rᵀH⁺r = xᵀr + xᵀe + eᵀH⁺e ≤ xᵀr + |xᵀe| + ‖e‖²/λ,
    |β_i(∞) − computed| ≤ √K_ii ‖e‖/√λ + rounding of the last product.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.dynamics.leaping import Leap, curvature
from relubias.dynamics.stepping import Iterate
from relubias.linalg.factor import EPS
from relubias.linalg.gram import Array

_EXTENDED = np.longdouble
_EXTENDED_EPS = float(np.finfo(_EXTENDED).eps)


class PatternLimit(NamedTuple):
    """Where the present pattern leads if it never changes.

    Attributes
    ----------
    primal, dual : ndarray, shape (n_neurons, n_samples)
        β(∞) and α(∞).
    distance : float
        Upper bound of ‖W_t − W_∞‖_F.
    margin : ndarray, shape (n_neurons, n_samples)
        Bound for the rounding error of `primal`.
    frozen : ndarray of bool, shape (n_neurons, n_samples)
        Entries whose sign can never change.
    """

    primal: Array
    dual: Array
    distance: float
    margin: Array
    frozen: NDArray[np.bool_]


def limit_by_cholesky(iterate: Iterate) -> PatternLimit | None:
    """The limit of the present pattern from one Cholesky factorisation of H.

    Returns
    -------
    PatternLimit or None
        None where K is too near singular for a lower bound of the eigenvalues of H, or the step is not stable.
    """
    operator, active = iterate.operator, iterate.pattern
    smallest = float(operator.spectrum[0]) - operator.cutoff
    union = np.flatnonzero(active.any(axis=0))
    overlap = int(active.sum(axis=0).max(initial=0))
    if smallest <= 0.0 or iterate.step_size * overlap * operator.largest >= 2.0:
        return None
    try:
        factor = scipy.linalg.cho_factor(curvature(iterate, union, active), lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    return _limit(iterate, union, lambda b: scipy.linalg.cho_solve(factor, b, check_finite=False), smallest)


def limit_by_modes(iterate: Iterate, leap: Leap) -> PatternLimit:
    """The limit of the present pattern from the eigendecomposition that a leap at this very state has made."""
    vectors, values = leap.vectors, leap.eigenvalues
    blur = np.sqrt(len(leap.union)) * EPS * leap.largest
    smallest = max(float(values[0]) - blur, EPS * float(values[0]))
    singular = len(values) < len(leap.union)
    return _limit(
        iterate,
        leap.union,
        lambda b: vectors @ ((vectors.T @ b) / values),
        smallest,
        (lambda b: vectors @ (vectors.T @ b)) if singular else None,
    )


def _limit(
    iterate: Iterate,
    union: NDArray[np.intp],
    solve: Callable[[Array], Array],
    smallest: float,
    project: Callable[[Array], Array] | None = None,
) -> PatternLimit:
    """Solve H x = r on U, refine, and bound what is left; `project` maps to the range of a singular H."""
    operator, active = iterate.operator, iterate.pattern
    gram = operator.columns(union)
    masks = active[:, union]
    residual = iterate.residual[union]
    right = residual if project is None else project(residual)

    def products(x: Array) -> NDArray[np.longdouble]:
        return np.stack([_extended_product(gram, mask * x) for mask in masks])

    def defect(moved: NDArray[np.longdouble]) -> Array:
        together = sum(mask * row[union] for mask, row in zip(masks, moved, strict=True))
        left = np.asarray(right - together, dtype=np.float64)
        return left if project is None else project(left)

    x = solve(right)
    moved = products(x)
    for _ in range(2):
        x = x + solve(defect(moved))
        moved = products(x)
    error = defect(moved)
    scale = np.stack([np.abs(gram) @ (mask * np.abs(x)) for mask in masks])
    # What is left is known to the rounding of the extended product that computed it.
    left = float(np.linalg.norm(error)) + len(union) * _EXTENDED_EPS * float(np.linalg.norm(scale[:, union]))
    squared = float(x @ right) + float(np.linalg.norm(x)) * left + left**2 / smallest
    distance = float(np.sqrt(max(0.0, squared)))
    signs = iterate.signs[:, None]
    primal = np.asarray(iterate.primal - signs * moved, dtype=np.float64)
    dual = iterate.dual.copy()
    dual[:, union] -= signs * masks * x
    roots = np.sqrt(operator.diagonal)
    margin = roots * left / np.sqrt(smallest) + len(union) * _EXTENDED_EPS * scale + EPS * np.abs(primal)
    reach = roots * distance + margin
    frozen = np.where(active, primal > reach, primal <= -reach)
    return PatternLimit(primal, dual, distance, margin, frozen)


def _extended_product(matrix: Array, vector: Array) -> NDArray[np.longdouble]:
    """Return `matrix @ vector` with sums in extended precision, 256 rows at a time."""
    wide = vector.astype(_EXTENDED)
    return np.concatenate(
        [matrix[first : first + 256].astype(_EXTENDED) @ wide for first in range(0, len(matrix), 256)]
    )
