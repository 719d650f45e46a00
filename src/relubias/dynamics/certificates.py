"""The cheap certificate: the pattern is frozen because the weights are already close enough to its own limit.

For a fixed pattern D with η λ_max(H) < 2, one step never increases the distance of W to the limit of that pattern,

    ‖W_{t+1} − W_∞(D)‖_F ≤ ‖W_t − W_∞(D)‖_F,      ‖W_t − W_∞(D)‖_F² = rᵀH⁺r,

and |Δβ_{k,i}| ≤ √K_ii ‖ΔW‖_F. So as soon as every β_{k,i}(∞) has the sign it should have and exceeds
√K_ii ‖W_t − W_∞(D)‖_F, no sign can ever change, and W_∞(D) is the limit. (Ours.)

**Rounding.** x ≈ H⁺r is refined with residuals e = r − Hx in extended precision. Then, with λ the smallest
positive eigenvalue of H,

    rᵀH⁺r = xᵀr + xᵀe + eᵀH⁺e ≤ xᵀr + |xᵀe| + ‖e‖²/λ,
    |β_i(∞) − computed| ≤ √K_ii ‖e‖/√λ + rounding of the last product.

Where H is singular, e has another part, δ/λ ‖r⊥‖: by so much the computed modes may lean towards the kernel, in
which the residual r⊥ stays for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.dynamics.leaping import INFINITY, Leap
from relubias.dynamics.stepping import Iterate
from relubias.linalg.factor import EPS
from relubias.linalg.gram import Array

_EXTENDED_EPS = float(np.finfo(np.longdouble).eps)
#: Steps of iterative refinement.
REFINEMENTS = 2


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


def limit_by_cholesky(iterate: Iterate, *, promising: bool = False) -> PatternLimit | None:
    """The limit of the present pattern from one Cholesky factorisation of H.

    Parameters
    ----------
    promising : bool
        Give up before the refinement where it could not make the pattern frozen.

    Returns
    -------
    PatternLimit or None
        None where K is too near singular for a lower bound of the eigenvalues of H, the step is not stable, or the
        limit is not `promising` though it should be.
    """
    operator, slopes = iterate.operator, iterate.slopes
    # λ_min(K) and λ_max(K) times the least and the largest of these bound the eigenvalues of H.
    overlaps = np.square(slopes, dtype=np.float64).sum(axis=0)
    overlap = float(overlaps.max(initial=0.0))
    smallest = float(operator.spectrum[0]) - operator.cutoff
    if smallest <= 0.0 or iterate.step_size * overlap * (operator.largest + operator.cutoff) >= 2.0:
        return None
    union, matrix = operator.curvature(slopes)
    smallest *= float(overlaps[union].min())
    try:
        factor = scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None

    def solve(right: Array) -> Array:
        return np.asarray(scipy.linalg.cho_solve(factor, right, check_finite=False))

    if promising and _is_hopeless(iterate, union, solve):
        return None
    return _limit(iterate, union, solve, smallest)


def _is_hopeless(iterate: Iterate, union: NDArray[np.intp], solve: Callable[[Array], Array]) -> bool:
    """Whether some entry is farther from being frozen than rounding explains, at a small part of the whole cost.

    The same test without refinement and margins, with half the reach: most certificates that fail, fail here.
    """
    if not iterate.kinked:
        return False
    residual = iterate.residual[union]
    moved = np.zeros(iterate.operator.n_samples)
    moved[union] = solved = solve(residual)
    primal = iterate.primal - iterate.signs[:, None] * iterate.operator.matvec((iterate.slopes * moved).T).T
    reach = 0.5 * np.sqrt(iterate.operator.diagonal * max(0.0, float(solved @ residual)))
    return bool(np.any(np.where(iterate.pattern, primal <= reach, primal > -reach)))


def limit_by_modes(iterate: Iterate, leap: Leap) -> PatternLimit:
    """The limit of the present pattern from the eigendecomposition that a leap at this very state has made."""
    modes = leap.modes
    vectors, values = modes.vectors, modes.values
    lost = float(np.linalg.norm(leap.lost))
    root = np.sqrt(modes.smallest)
    if iterate.operator.factor is not None:
        # H⁺r itself has too many digits to be told apart; the modes have what counts, its image.
        blurred = modes.blur / root * lost + len(modes.union) * EPS * float(np.linalg.norm(iterate.residual))
        distance = float(np.linalg.norm(leap.coefficients / np.sqrt(values)) * (1 + modes.blur / root) + blurred / root)
        primal, margin = leap.primal_at(INFINITY), leap.margin(INFINITY)
        return PatternLimit(
            primal, leap.dual_at(INFINITY), distance, margin, _frozen(iterate, primal, distance, margin)
        )
    singular = len(values) < len(modes.union)
    return _limit(
        iterate,
        modes.union,
        lambda b: vectors @ ((vectors.T @ b) / values),
        modes.smallest,
        (lambda b: vectors @ (vectors.T @ b)) if singular else None,
        tilt=modes.blur / modes.smallest * lost if singular else 0.0,
    )


def _limit(
    iterate: Iterate,
    union: NDArray[np.intp],
    solve: Callable[[Array], Array],
    smallest: float,
    project: Callable[[Array], Array] | None = None,
    tilt: float = 0.0,
) -> PatternLimit:
    """Solve H x = r on U, refine, and bound what is left.

    `project` maps to the range of a singular H, and `tilt` bounds what it may mistake of the residual.
    """
    operator, slopes = iterate.operator, iterate.slopes
    residual = iterate.residual[union]
    right = residual if project is None else project(residual)

    def spread(x: Array) -> Array:
        everywhere = np.zeros(operator.n_samples)
        everywhere[union] = x
        return np.asarray(slopes * everywhere)

    def products(x: Array) -> NDArray[np.longdouble]:
        return np.stack([operator.wide_matvec(part) for part in spread(x)])

    def defect(moved: NDArray[np.longdouble]) -> Array:
        left = np.asarray(right - (slopes * moved).sum(axis=0)[union], dtype=np.float64)
        return left if project is None else project(left)

    x = solve(right)
    moved = products(x)
    for _ in range(REFINEMENTS):
        x = x + solve(defect(moved))
        moved = products(x)
    # What is left is known to the rounding of the extended product that computed it.
    rounding = len(union) * _EXTENDED_EPS * operator.matvec_bound(spread(x))
    left = float(np.linalg.norm(defect(moved))) + float(np.linalg.norm(rounding)) + tilt
    squared = float(x @ right) + float(np.linalg.norm(x)) * left + left**2 / smallest
    distance = float(np.sqrt(max(0.0, squared)))
    signs = iterate.signs[:, None]
    primal = np.asarray(iterate.primal - signs * moved, dtype=np.float64)
    dual = iterate.dual.copy()
    dual -= signs * spread(x)
    roots = operator.roots
    margin = roots * left / np.sqrt(smallest) + rounding + EPS * np.abs(primal)
    return PatternLimit(primal, dual, distance, margin, _frozen(iterate, primal, distance, margin))


def agrees(limit: PatternLimit, leap: Leap, at_rest: NDArray[np.intp]) -> bool:
    """Whether the signs of the limit are those of the pattern beyond rounding, entries at rest left aside."""
    if not leap.kinked:
        return True
    certain = np.where(leap.active, limit.primal > limit.margin, limit.primal <= -limit.margin)
    certain.ravel()[at_rest] = True
    return bool(certain.all())


def _frozen(iterate: Iterate, primal: Array, distance: float, margin: Array) -> NDArray[np.bool_]:
    if not iterate.kinked:
        return np.ones(primal.shape, dtype=bool)
    reach = np.sqrt(iterate.operator.diagonal) * distance + margin
    return np.where(iterate.pattern, primal > reach, primal <= -reach)
