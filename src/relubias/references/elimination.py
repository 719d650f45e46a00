"""The minimum-norm weights under constraints, through their multipliers.

    max_a  tᵀa − ½ aᵀK a     s.t.   a_N ≤ 0

The multipliers of the equalities are free and are eliminated by a Schur complement. With K_PP = L Lᵀ,
W = L⁻¹K_PN and b = −a_N ≥ 0 what is left is a program with signs only,

    min_{b ≥ 0} ½ bᵀS b − qᵀb,      S = K_NN − WᵀW,   q = Wᵀ L⁻¹ t_P − t_N,

and then a_P = L⁻ᵀ(L⁻¹t_P + W b). Rows of P that depend on others are left out: whether they agree with them
shows in the residuals. The same blocks solve K_FF a_F = t_F on F = P ∪ {b > 0}, and iterative refinement
with residuals in extended precision takes the solution to the last digits that K has.

Cost: about one Cholesky factorisation of K for the blocks, and a fraction of one for the pivoting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.block_pivoting import non_negative_minimum
from relubias.linalg.cholesky import EPS, Cholesky, cholesky
from relubias.linalg.factor import GramOperator
from relubias.linalg.gram import Array
from relubias.references.conditions import Constraints

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

    def support(self, passive: NDArray[np.bool_]) -> tuple[_Blocks, Cholesky]:
        """The same blocks with the signed rows restricted to independent passive ones, and the factor of their S."""
        rows = np.flatnonzero(passive)
        schur = self.schur[np.ix_(rows, rows)]
        inner = cholesky(schur)
        if not inner.complete:
            rows, schur = rows[inner.kept], schur[np.ix_(inner.kept, inner.kept)]
            inner = cholesky(schur)
        return _Blocks(self.equal, self.signed[rows], self.factor, self.half[:, rows], schur), inner


def multipliers(
    operator: GramOperator, constraints: Constraints, *, binding: NDArray[np.bool_] | None = None
) -> Array | None:
    """Return multipliers a, shape (n,), with a_N ≤ 0 exactly.

    They are those of the minimum-norm weights where there are any, up to the digits of K, and a candidate to be
    judged by its residuals in any case. None where the inequalities seem to contradict the equalities. `binding`, shape
    (n,), is a first guess of the inequalities that hold with equality.
    """
    units = operator.units
    targets = constraints.targets / units
    largest = float(np.abs(targets).max())
    if largest == 0.0:
        return np.zeros(operator.n_samples)
    scale = float(np.exp2(np.round(np.log2(largest))))
    targets = targets / scale
    blocks = _eliminate(operator, constraints.equal, units)
    half_target = blocks.factor.half_solve(targets[blocks.equal])
    guess = None if binding is None else binding[blocks.signed]
    program = non_negative_minimum(blocks.schur, half_target @ blocks.half - targets[blocks.signed], passive=guess)
    if not program.bounded:
        return None
    start = np.zeros(operator.n_samples)
    support, inner = blocks.support(program.passive)
    if len(support.signed) < np.count_nonzero(program.passive):
        # Dependent rows share the load in more than one way; keep the one that has the right signs.
        start[blocks.signed] = -program.solution
        start[blocks.equal] = blocks.factor.half_solve_transposed(half_target + blocks.half @ program.solution)
    scaled = _refined(operator, support, inner, targets, units, start)
    return np.asarray(np.where(constraints.equal, scaled, np.minimum(scaled, 0.0)) * (scale / units))


def _eliminate(operator: GramOperator, equal: NDArray[np.bool_], units: Array) -> _Blocks:
    nonzero = operator.diagonal > 0
    first, second = np.flatnonzero(equal & nonzero), np.flatnonzero(~equal & nonzero)
    factor = cholesky(operator.block(first) / units[first] / units[first][:, None])
    first = first[factor.kept]
    half = factor.half_solve(operator.block(first, second) / units[second] / units[first][:, None])
    schur = operator.block(second) / units[second] / units[second][:, None]
    schur -= half.T @ half
    # A row whose remainder is rounding lies in the span of P: its β is already decided.
    undecided = np.flatnonzero(np.diagonal(schur) > (operator.n_samples + 16) * EPS)
    if len(undecided) < len(second):
        second, half, schur = second[undecided], half[:, undecided], schur[np.ix_(undecided, undecided)]
    return _Blocks(first, second, factor, half, schur)


def _refined(
    operator: GramOperator, blocks: _Blocks, inner: Cholesky, targets: Array, units: Array, start: Array
) -> Array:
    """Correct `start` on F = (equal, signed) until (K a)_F = t_F to the last digit; return a, shape (n,).

    Each correction shrinks the residual by about the same factor, so that the last one need not be looked at; `inner`
    is the factor of S.
    """
    support = np.concatenate([blocks.equal, blocks.signed])

    def residual(values: NDArray[np.longdouble]) -> Array:
        image = operator.wide_matvec(values / units) / units
        return np.asarray((targets - image)[support], dtype=np.float64)

    current = start.astype(np.longdouble)
    rest = residual(current) if np.any(start) else targets[support]
    best, smallest = current, float(np.max(np.abs(rest), initial=0.0))
    is_last = False
    for _ in range(REFINEMENTS):
        first = blocks.factor.half_solve(rest[: len(blocks.equal)])
        second = inner.solve(rest[len(blocks.equal) :] - first @ blocks.half)
        first = blocks.factor.half_solve_transposed(first - blocks.half @ second)
        current = current.copy()
        current[support] += np.concatenate([first, second])
        if is_last:
            return np.asarray(current, dtype=np.float64)
        rest = residual(current)
        size = float(np.max(np.abs(rest), initial=0.0))
        if not size < smallest / 2:
            break
        is_last = size * (size / smallest) <= EPS / 2
        best, smallest = current, size
        if size <= EPS:
            break
    return np.asarray(best, dtype=np.float64)
