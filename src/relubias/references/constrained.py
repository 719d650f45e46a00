"""From constraints to a record: solve, prove, or say why not.

1. Multipliers by elimination (:mod:`relubias.references.elimination`). If their residuals, recomputed from K, are
   small enough the solution is *optimal*.
2. Else the least violation of the constraints decides whether they can be met at all
   (:mod:`relubias.references.violation`). If not, the problem is *infeasible*: the rows are named, and the state
   is the compromise of least violation and, among those, of least norm. The violation of a problem that can be
   met is not exactly 0 where K is nearly singular. So it counts only if it proves that weights that meet the
   constraints would have to be ten times as long as the compromise, or longer.
3. Else the status is *budget*: the best candidate is kept with its residuals and its interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.factor import GramOperator
from relubias.linalg.factored import FactorOperator
from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.problem import Problem
from relubias.references.conditions import ROUNDING, Constraints, Evidence, evidence, norm_demanded
from relubias.references.elimination import multipliers
from relubias.references.factored import factored_multipliers
from relubias.references.record import MinimumNorm
from relubias.references.violation import compromise, least_violation
from relubias.state import State
from relubias.status import Optimality

#: Constraints are infeasible where meeting them takes weights this many times as long as the compromise.
UNREACHABLE = 10.0


def minimum_norm_under(
    problem: Problem, network: Network, constraints: Constraints, *, of: str, demand: str
) -> MinimumNorm:
    """Find the weights of least norm under `constraints` on the pre-activations of one neuron.

    Parameters
    ----------
    problem : Problem
    network : Network
        One neuron.
    constraints : Constraints
    of : str
        What the record is called.
    demand : str
        The constraints in words, for messages: "weights that …".

    Returns
    -------
    MinimumNorm
    """
    solved = solve_under(problem.operator, constraints)
    if solved.status is Optimality.OPTIMAL:
        what = "linear interpolator" if of == "linear" else "global minimiser"
        message = optimal_message(solved.proof, f"the minimum-norm {what}")
    elif solved.status is Optimality.INFEASIBLE:
        message = infeasible_message(problem, solved.rows, demand, solved)
    else:
        message = budget_message(solved.proof)
    return _record(problem, network, of, message, solved)


@dataclass(frozen=True, eq=False)
class Solved:
    """The least norm under constraints, the compromise where they cannot be met, or the best candidate.

    Attributes
    ----------
    status : Optimality
    multipliers : ndarray, shape (n,)
    proof : Evidence
        Residuals in the original constraints; norm and lower bound of what was solved.
    met : Constraints
        The constraints that the solution meets: the original ones, or those of the compromise.
    rows : tuple of int
        The constraints that the compromise violates.
    violation : float
        The largest violation of the compromise, in label units.
    demanded : float
        No weights that meet all constraints have a smaller norm; 0 unless infeasible.
    """

    status: Optimality
    multipliers: Array
    proof: Evidence
    met: Constraints
    rows: tuple[int, ...] = ()
    violation: float = 0.0
    demanded: float = 0.0


def solve_under(operator: GramOperator, constraints: Constraints) -> Solved:
    """Solve, prove, or find the compromise of least violation and, among those, of least norm."""
    dual, proof = best_multipliers(operator, constraints, is_final=True)
    if proof.optimal:
        return Solved(Optimality.OPTIMAL, dual, proof, constraints)
    error = least_violation(operator, constraints)
    if error is not None:
        nearest, violated = compromise(constraints, error)
        shifted, reached = best_multipliers(operator, nearest)
        demanded = norm_demanded(operator, constraints, error)
        if np.any(violated) and demanded > UNREACHABLE * reached.norm:
            rows = tuple(int(i) for i in np.flatnonzero(violated))
            original = evidence(operator, constraints, shifted, primal=reached.primal)
            bounds = replace(reached, kkt=original.kkt, floor=original.floor)
            largest = float(np.abs(error).max())
            return Solved(Optimality.INFEASIBLE, shifted, bounds, nearest, rows, largest, demanded)
    return Solved(Optimality.BUDGET, dual, proof, constraints)


def best_multipliers(
    operator: GramOperator,
    constraints: Constraints,
    *,
    binding: NDArray[np.bool_] | None = None,
    is_final: bool = False,
) -> tuple[Array, Evidence]:
    """The multipliers found by elimination, or 0 where there are none, and the evidence for them.

    What K has too few digits for is solved through the factor of X instead. `binding`, shape (n,), may say which
    inequalities seem to hold with equality, and saves the elimination some of its steps. Where the answer `is_final`,
    K will have to be proven regular, and the factor that does so is used.
    """
    if constraints.scale == 0.0:
        pass  # nothing is to be fitted, and w = 0 does it
    elif isinstance(operator, FactorOperator):
        found = factored_multipliers(operator, constraints)
        if found is not None:
            return found
    else:
        factor = operator.ordered(constraints.equal) if is_final else None
        solved = multipliers(operator, constraints, binding=binding, factor=factor)
        if solved is not None:
            proof = evidence(operator, constraints, solved.dual, image=solved.image)
            if factor is not None and not proof.is_at_last_digits:
                solved = multipliers(operator, constraints, binding=solved.dual < 0) or solved
                proof = evidence(operator, constraints, solved.dual, image=solved.image)
            return solved.dual, proof
    nothing = np.zeros(operator.n_samples)
    return nothing, evidence(operator, constraints, nothing)


def _record(problem: Problem, network: Network, of: str, message: str, solved: Solved) -> MinimumNorm:
    """Build the record; β is set to the constraints that are met, except where nothing was proven."""
    proof, dual = solved.proof, solved.multipliers
    primal = proof.primal if solved.status is Optimality.BUDGET else solved.met.nearest(proof.primal, dual)
    gauge = problem.operator.project(dual)
    return MinimumNorm(
        problem=problem,
        network=network,
        of=of,
        status=solved.status,
        message=message,
        state=State(problem, network, gauge[None, :], primal[None, :], np.zeros(1)),
        norm=proof.norm,
        # The candidate meets the constraints to rounding only, so its norm may fall short of the bound by as much.
        lower_bound=min(proof.lower_bound, proof.norm),
        kkt=proof.kkt,
        infeasible_rows=solved.rows,
    )


def optimal_message(proof: Evidence, what: str) -> str:
    """That `what` is proven to be the shortest, and how exactly."""
    if proof.norm == 0.0:
        return f"{what} is w = 0, exactly."
    if proof.at_rounding:
        return (
            f"{what} is known to {proof.kkt.worst:.1e}, the rounding level ε|K||a| of this nearly singular Gram matrix."
        )
    return f"{what} is proven: its optimality conditions hold to {proof.kkt.worst:.1e}, relative."


def budget_message(proof: Evidence) -> str:
    """What is missing to a proof."""
    residual = f"no solution could be proven optimal: the residuals of the best candidate are {proof.kkt.worst:.1e}, "
    if proof.kkt.worst <= ROUNDING * max(proof.floor.primal, proof.floor.complementarity):
        return residual + "the rounding level of this nearly singular Gram matrix, which leaves too few digits."
    return residual + "above 1e-9 and above the rounding level of the Gram matrix."


def infeasible_message(problem: Problem, rows: Sequence[int], demand: str, solved: Solved) -> str:
    """That nothing meets the demand, which samples stand in the way, and what is returned."""
    zero = [i for i in rows if problem.operator.diagonal[i] == 0.0]
    if zero:
        reason = f"{listed_samples(problem, zero)} {'is' if len(zero) == 1 else 'are'} zero"
    else:
        reason = f"the Gram matrix has rank {problem.operator.rank} for {problem.n_samples} samples"
    short = f" of norm below {rounded_down(solved.demanded)}" if np.isfinite(solved.demanded) else ""
    return (
        f"no weights{short} {demand} on all samples at once: {reason}; every least-squares compromise violates "
        f"{listed_samples(problem, rows)} (by up to {solved.violation:.3g} in label units), and the one of least "
        "norm is returned."
    )


def rounded_down(bound: float) -> str:
    """A lower bound with two digits that is one still."""
    if bound <= 0.0:
        return f"{bound:.2g}"
    unit = 10.0 ** (math.floor(math.log10(bound)) - 1)
    return f"{math.floor(bound / unit) * unit:.2g}"


def listed_samples(problem: Problem, rows: Sequence[int]) -> str:
    """The first five of these samples by name, and how many more there are."""
    return ", ".join(problem.sample(i) for i in rows[:5]) + (f" and {len(rows) - 5} more" if len(rows) > 5 else "")
