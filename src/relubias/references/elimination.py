"""The minimum-norm weights under constraints, through their multipliers.

    max_a  tᵀa − ½ aᵀK a     s.t.   a_N ≤ 0

The multipliers of the equalities are free and are eliminated by a Schur complement. With K_PP = L Lᵀ,
W = L⁻¹K_PN and b = −a_N ≥ 0 what is left is a program with signs only,

    min_{b ≥ 0} ½ bᵀS b − qᵀb,      S = K_NN − WᵀW,   q = Wᵀ L⁻¹ t_P − t_N,

and then a_P = L⁻ᵀ(L⁻¹t_P + W b). Rows of P that depend on others are left out: whether they agree with them
shows in the residuals. The same blocks solve K_FF a_F = t_F on F = P ∪ {b > 0}, and iterative refinement
with residuals in extended precision takes the solution to the last digits that K has.

Where K was proven regular by a factor with the rows of P ahead (:mod:`relubias.linalg.ordered`), its blocks are these
up to a small δ, and what they leave is refined away as well. Where a sign depends on δ the residuals show it.

The proof needs K a in extended precision too. It is known for the a′ whose residual was looked at last, and

    K a = K a′ + K (a − a′),

where the second product is so small that double precision will do.

Cost: about one Cholesky factorisation of K for the blocks, and a fraction of one for the pivoting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.blas import gram_product
from relubias.linalg.block_pivoting import NonNegativeMinimum, non_negative_minimum
from relubias.linalg.cholesky import EPS, Cholesky, cholesky
from relubias.linalg.factor import GramOperator
from relubias.linalg.gram import Array
from relubias.linalg.ordered import OrderedFactor
from relubias.references.conditions import Constraints

#: A correction up to this size, relative, may be multiplied by K in double precision: the rounding of extended
#: precision is as much finer.
SMALL = float(np.finfo(np.longdouble).eps / np.finfo(np.float64).eps)
#: Steps of iterative refinement at most; each halves the residual at least, or is the last.
REFINEMENTS = 12

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class _Blocks:
    """K_PP = L Lᵀ on independent rows `equal`, W = L⁻¹K_PN and S for the rows `signed`, in scaled units."""

    equal: Index
    signed: Index
    factor: Cholesky
    half: Array
    schur: Array

    def support(self, program: NonNegativeMinimum) -> _Support:
        """Restrict the signed rows to independent passive ones."""
        rows, inner = np.flatnonzero(program.passive), program.factor
        if inner is None:
            inner = cholesky(self.schur[np.ix_(rows, rows)])
            if not inner.complete:
                rows = rows[inner.kept]
                inner = cholesky(self.schur[np.ix_(rows, rows)])
        return _Support(self.equal, self.signed[rows], self.factor, self.half[:, rows], inner)


@dataclass(frozen=True, eq=False)
class _Support:
    """The factors of K on F = (equal, signed): K_PP = L Lᵀ, W = L⁻¹K_PN, and the factor of S."""

    equal: Index
    signed: Index
    factor: Cholesky
    half: Array
    inner: Cholesky

    def solve(self, right: Array) -> Array:
        """Return a_F with K_FF a_F = b."""
        first = self.factor.half_solve(right[: len(self.equal)])
        second = self.inner.solve(right[len(self.equal) :] - first @ self.half)
        return np.concatenate([self.factor.half_solve_transposed(first - self.half @ second), second])


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Multipliers a with a_N ≤ 0 exactly, shape (n,), and K a in extended precision where it is known already."""

    dual: Array
    image: NDArray[np.longdouble] | None = None


def multipliers(
    operator: GramOperator,
    constraints: Constraints,
    *,
    binding: NDArray[np.bool_] | None = None,
    factor: OrderedFactor | None = None,
) -> Multipliers | None:
    """Find the multipliers a.

    They are those of the minimum-norm weights where there are any, up to the digits of K, and a candidate to be judged
    by its residuals in any case. None where the inequalities seem to contradict the equalities. `binding`, shape (n,),
    is a first guess of the inequalities that hold with equality. With a `factor` of K − δ I that has the equalities
    ahead no other is needed; a sign that depends on δ may then be wrong, which the residuals show.
    """
    units = operator.units
    targets = constraints.targets / units
    largest = float(np.abs(targets).max())
    if largest == 0.0:
        return Multipliers(np.zeros(operator.n_samples))
    scale = float(np.exp2(np.round(np.log2(largest))))
    targets = targets / scale
    blocks = _eliminate(operator, constraints.equal, units) if factor is None else _blocks_of(factor, units)
    half_target = blocks.factor.half_solve(targets[blocks.equal])
    guess = None if binding is None else binding[blocks.signed]
    program = non_negative_minimum(blocks.schur, half_target @ blocks.half - targets[blocks.signed], passive=guess)
    if not program.bounded:
        return None
    support, start = blocks.support(program), np.zeros(operator.n_samples)
    if factor is not None or len(support.signed) < np.count_nonzero(program.passive):
        # This is the answer up to δ; and dependent rows share the load in more ways than this, whose signs are right.
        start[blocks.signed] = -program.solution
        start[blocks.equal] = blocks.factor.half_solve_transposed(half_target + blocks.half @ program.solution)
    scaled, seen, image = _refined(operator, support, targets, units, start)
    scaled = np.where(constraints.equal, scaled, np.minimum(scaled, 0.0))
    dual = scaled * (scale / units)  # units and scale are powers of two
    moved = np.asarray(scaled - seen, dtype=np.float64)
    if not float(np.abs(moved).max()) <= SMALL * float(np.abs(scaled).max()):
        return Multipliers(dual)
    image = image + operator.matvec(moved / units) / units
    return Multipliers(dual, np.asarray(image * (units * scale), dtype=np.longdouble))


def _blocks_of(factor: OrderedFactor, units: Array) -> _Blocks:
    head, half, schur = factor.blocks(units)
    return _Blocks(factor.front, factor.rest, Cholesky(len(head), np.arange(len(head)), head), half, schur)


def _eliminate(operator: GramOperator, equal: NDArray[np.bool_], units: Array) -> _Blocks:
    nonzero = operator.diagonal > 0
    first, second = np.flatnonzero(equal & nonzero), np.flatnonzero(~equal & nonzero)
    inverse = 1.0 / units  # exact, since these are powers of two

    def scaled(rows: Index, columns: Index) -> Array:
        block = operator.block(rows, columns)
        block *= inverse[columns]
        block *= inverse[rows][:, None]
        return block

    factor = cholesky(scaled(first, first))
    first = first[factor.kept]
    half = factor.half_solve(scaled(second, first).T)  # the order of entries that BLAS wants, since K is symmetric
    schur = scaled(second, second)
    schur -= gram_product(half.T)
    # A row whose remainder is rounding lies in the span of P: its β is already decided.
    undecided = np.flatnonzero(schur.diagonal() > (operator.n_samples + 16) * EPS)
    if len(undecided) < len(second):
        second, half, schur = second[undecided], half[:, undecided], schur[np.ix_(undecided, undecided)]
    return _Blocks(first, second, factor, half, schur)


def _refined(
    operator: GramOperator, support: _Support, targets: Array, units: Array, start: Array
) -> tuple[Array, NDArray[np.longdouble], NDArray[np.longdouble]]:
    """Correct `start` on F = (equal, signed) until (K a)_F = t_F to the last digit.

    Return a, the a′ whose residual was looked at last, and K a′, each of shape (n,). Each correction shrinks the
    residual by about the same factor, so that the last one need not be looked at.
    """
    rows = np.concatenate([support.equal, support.signed])

    def image_of(values: NDArray[np.longdouble]) -> NDArray[np.longdouble]:
        return operator.wide_matvec(values / units) / units

    current = start.astype(np.longdouble)
    seen, image = current, image_of(current) if start.any() else np.zeros_like(current)
    rest = np.asarray((targets - image)[rows], dtype=np.float64)
    best, smallest = current, float(np.abs(rest).max(initial=0.0))
    is_last = smallest * smallest <= EPS / 2  # the residual of a = 0 is about 1
    for _ in range(REFINEMENTS):
        if smallest <= EPS:
            break
        current = current.copy()
        current[rows] += support.solve(rest)
        if is_last:
            best = current
            break
        seen, image = current, image_of(current)
        rest = np.asarray((targets - image)[rows], dtype=np.float64)
        size = float(np.abs(rest).max(initial=0.0))
        if not size < smallest / 2:
            break
        is_last = size * (size / smallest) <= EPS / 2
        best, smallest = current, size
    return np.asarray(best, dtype=np.float64), seen, image
