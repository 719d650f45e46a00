"""Constraints on the pre-activations of one neuron, and how far a point is from optimal under them.

    min ½‖w‖²   s.t.   β_i = t_i (i ∈ P),   β_i ≤ t_i (i ∈ N),     β = X w

    dual:  max  tᵀa − ½ aᵀK a   s.t.   a_i ≤ 0 (i ∈ N),            w = Xᵀa

Of one neuron t = 0 on N; several neurons are one neuron on lifted samples (:mod:`relubias.references.lifting`), where
it need not be.

Entries of K are known to ε √(K_ii K_jj) only, so that (K a)_i is known to

    e_i = ε √K_ii Σ_j √K_jj |a_j|,

the *rounding floor* below which no residual means anything, and aᵀKa to e = ε (Σ_j √K_jj |a_j|)². Where a factor
of X stands behind the operator, one of the two sums is ‖Xᵀa‖ instead. Residuals themselves are accumulated in
extended precision, so their own rounding does not count beside that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.factor import EPS, GramOperator
from relubias.linalg.gram import Array
from relubias.references.record import KKT

#: Residuals up to this size, relative, make a solution optimal.
TOLERANCE = 1e-9
#: Residuals up to this size are those of the last digits of double precision.
LAST_DIGITS = 1e-14
#: Residuals above `TOLERANCE` count as rounding up to this multiple of the floor e …
ROUNDING = 4.0
#: … and never beyond this size: with so few digits left nothing is called optimal.
LARGEST_FLOOR = 1e-6
#: A lower bound that is farther below the norm than this, relative, belongs to no proof.
LARGEST_GAP = 1e-5


@dataclass(frozen=True, eq=False)
class Constraints:
    """β_i = t_i where `equal`, β_i ≤ t_i elsewhere; both of shape (n,)."""

    targets: Array
    equal: NDArray[np.bool_]

    @property
    def scale(self) -> float:
        """max|t|; 0 where nothing is to be fitted."""
        return float(np.abs(self.targets).max(initial=0.0))

    def violations(self, primal: Array) -> Array:
        """β_i − t_i where equal, (β_i − t_i)₊ elsewhere, shape (n,)."""
        return np.where(self.equal, primal - self.targets, np.maximum(primal - self.targets, 0.0))

    def nearest(self, primal: Array, dual: Array) -> Array:
        """Pre-activations that meet the constraints exactly: t where equal or a_i < 0, else min(β, t)."""
        return np.where(self.equal | (dual < 0), self.targets, np.minimum(primal, self.targets))


@dataclass(frozen=True, eq=False)
class Evidence:
    """Residuals of one point with its multipliers, and the level of rounding they are to be judged by.

    Attributes
    ----------
    kkt, floor : KKT
        `floor` has the part of each residual that the rounding of K alone explains.
    norm : float
        ‖w‖.
    lower_bound : float
        Lower bound on the least norm from the multipliers, those of the wrong sign set to 0.
    primal : ndarray, shape (n,)
        β.
    blur : float
        How much of ‖w‖² may be rounding, as a fraction; infinite where that is all there is.
    """

    kkt: KKT
    floor: KKT
    norm: float
    lower_bound: float
    primal: Array
    blur: float = 0.0

    @property
    def optimal(self) -> bool:
        """Whether every residual is at most 1e-9, or at a rounding level that leaves at least six digits.

        And whether the lower bound agrees with the norm to five: multipliers that are all rounding prove nothing.
        """
        pairs = zip(self.kkt.as_dict().values(), self.floor.as_dict().values(), strict=True)
        is_small = self.blur <= LARGEST_FLOOR and all(value <= _allowed(floor) for value, floor in pairs)
        return is_small and self.lower_bound >= (1 - LARGEST_GAP) * self.norm

    @property
    def feasible(self) -> bool:
        """Whether the constraints are met, by weights whose norm is known, by the measure of `optimal`."""
        return self.blur <= LARGEST_FLOOR and self.kkt.primal <= _allowed(self.floor.primal)

    @property
    def is_at_last_digits(self) -> bool:
        """Whether no residual is more than a few times what the rounding of K, or of its sums, explains."""
        return self.kkt.worst <= max(LAST_DIGITS, ROUNDING * self.floor.primal, ROUNDING * self.floor.complementarity)

    @property
    def at_rounding(self) -> bool:
        """Whether the verdict rests on the rounding level of K rather than on 1e-9."""
        return self.optimal and self.kkt.worst > TOLERANCE


def _allowed(floor: float) -> float:
    """Residuals up to this are accepted where rounding alone explains `floor`."""
    return max(TOLERANCE, min(ROUNDING * floor, LARGEST_FLOOR))


def evidence(
    operator: GramOperator,
    constraints: Constraints,
    dual: Array,
    *,
    image: NDArray[np.longdouble] | None = None,
    primal: Array | None = None,
    norm: float | None = None,
    distance: float = 0.0,
    mismatch: float = 0.0,
) -> Evidence:
    """Evaluate the optimality conditions from K.

    Parameters
    ----------
    operator : GramOperator
    constraints : Constraints
    dual : ndarray, shape (n,)
        Multipliers a; any.
    image : ndarray, shape (n,), optional
        K a, where it is known in extended precision already.
    primal : ndarray, shape (n,), optional
        β of the point; by default K a.
    norm : float, optional
        ‖w‖; by default ‖Xᵀa‖.
    distance : float
        ‖w − Xᵀa‖; 0 where w is Xᵀa.
    mismatch : float
        How far `primal` is from X w, in label units, where it was not computed from K here.

    Returns
    -------
    Evidence
    """
    if image is None:
        image = operator.wide_matvec(dual)
    beta = np.asarray(image, dtype=np.float64) if primal is None else primal
    size = math.sqrt(max(0.0, float(dual.astype(np.longdouble) @ image))) if norm is None else norm
    scale = constraints.scale or float(np.abs(beta).max(initial=0.0)) or 1.0
    others = ~constraints.equal
    lengths = operator.roots * np.abs(dual)
    rounding = operator.image_error(dual)
    wrong = float(lengths[others & (dual > 0)].max(initial=0.0))
    square = size**2 or 1.0
    kkt = KKT(
        primal=max(float(np.abs(constraints.violations(beta)).max(initial=0.0)), mismatch) / scale,
        dual=max(wrong / (float(lengths.max(initial=0.0)) or 1.0), distance / (size or 1.0)),
        complementarity=float(np.abs(dual * (beta - constraints.targets))[others].sum()) / square,
    )
    floor = KKT(
        primal=float(rounding.max(initial=0.0)) / scale,
        dual=0.0,
        complementarity=float((np.abs(dual) * rounding)[others].sum()) / square,
    )
    bound = _lower_bound(operator, constraints, dual, image if wrong == 0.0 else None)
    blur = 0.0
    if norm is None and constraints.scale > 0:
        blur = operator.square_error(dual) / size**2 if size > 0 else math.inf
    return Evidence(kkt, floor, size, bound, beta, blur)


def lower_bound(operator: GramOperator, constraints: Constraints, dual: Array) -> float:
    """Return a number that the least norm is not below: √(2 (tᵀa − ½aᵀKa)), less a margin for rounding.

    Multipliers of the wrong sign are set to 0 first.
    """
    return _lower_bound(operator, constraints, dual, None)


def norm_demanded(operator: GramOperator, constraints: Constraints, direction: Array) -> float:
    """Return a number that the norm of any weights that meet the constraints is not below, from one direction.

    It is the lower bound for the best multiple of the direction, multipliers of the wrong sign set to 0:
    tᵀa/‖Xᵀa‖. Where Xᵀa = 0 and tᵀa > 0 it would be infinite, and the constraints contradict each other
    (Farkas); but rounding leaves ‖Xᵀa‖² at ε (Σ √K_ii |a_i|)² with K alone, at ε² of it with a factor of X.
    """
    allowed = np.where(constraints.equal, direction, np.minimum(direction, 0.0))
    wide = allowed.astype(np.longdouble)
    linear = float(wide @ constraints.targets)
    reach = float(operator.roots @ np.abs(allowed))
    square = max(0.0, float(wide @ operator.wide_matvec(wide))) + operator.square_error(allowed) + (EPS * reach) ** 2
    if linear <= 0.0:
        return 0.0
    return linear / math.sqrt(square) if square > 0.0 else math.inf


def _lower_bound(
    operator: GramOperator, constraints: Constraints, dual: Array, image: NDArray[np.longdouble] | None
) -> float:
    """The bound, given K a where no multiplier has the wrong sign and K a is known already."""
    allowed = np.where(constraints.equal, dual, np.minimum(dual, 0.0))
    wide = allowed.astype(np.longdouble)
    if image is None:
        image = operator.wide_matvec(wide)
    targets = constraints.targets
    value = float(wide @ targets - wide @ image / 2)
    # Rounding of the entries of K, of the sums in extended precision, and of the last conversion.
    summation = len(dual) * float(np.finfo(np.longdouble).eps)
    sums = summation * float(np.abs(allowed) @ np.abs(targets))
    margin = operator.square_error(allowed) / 2 + sums + 4 * EPS * abs(value)
    return math.sqrt(2 * max(0.0, value - margin))
