"""From constraints to a record: solve, prove, or say why not.

1. Multipliers by elimination (:mod:`relubias.references.elimination`), and for singular K, where that fails, by
   reduction (:mod:`relubias.references.reduction`). If their residuals, recomputed from K, are small enough the
   solution is *optimal*.
2. Else the least violation of the constraints decides whether they can be met at all
   (:mod:`relubias.references.violation`). If not, the problem is *infeasible*: the rows are named, and the state
   is the compromise of least violation and, among those, of least norm.
3. Else the status is *budget*: the best candidate is kept with its residuals and its interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from relubias.linalg.factor import GramOperator
from relubias.linalg.factored import FactorOperator
from relubias.network import Network
from relubias.problem import Problem
from relubias.references.conditions import ROUNDING, Candidate, Constraints, Evidence, candidate, evidence
from relubias.references.elimination import multipliers
from relubias.references.factored import factored_candidate
from relubias.references.record import MinimumNorm
from relubias.references.reduction import reduced_multipliers
from relubias.references.violation import compromise, least_violation
from relubias.state import State
from relubias.status import Optimality


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
    operator = problem.operator
    best = best_candidate(operator, constraints)
    if best.proof.optimal:
        return _record(problem, network, of, Optimality.OPTIMAL, _optimal(best.proof, of), constraints, best)
    error = least_violation(operator, constraints)
    if error is not None:
        nearest, violated = compromise(constraints, error)
        if np.any(violated):
            rows = tuple(int(i) for i in np.flatnonzero(violated))
            reached = best_candidate(operator, nearest)
            original = evidence(operator, constraints, reached.dual, primal=reached.primal)
            bounds = Evidence(original.kkt, original.floor, reached.proof.norm, reached.proof.lower_bound)
            message = _infeasible(problem, rows, demand, float(np.abs(error).max()))
            shown = Candidate(reached.dual, reached.primal, bounds)
            return _record(problem, network, of, Optimality.INFEASIBLE, message, nearest, shown, rows)
    return _record(problem, network, of, Optimality.BUDGET, _budget(best.proof), constraints, best)


def best_candidate(operator: GramOperator, constraints: Constraints) -> Candidate:
    """The candidate of the cheapest method whose residuals prove it, else the one with the smallest residuals."""
    best = candidate(operator, constraints, np.zeros(operator.n_samples))
    for attempt in _candidates(operator, constraints):
        if attempt is not None and attempt.proof.kkt.worst <= best.proof.kkt.worst:
            best = attempt
        if best.proof.optimal:
            break
    return best


def _candidates(operator: GramOperator, constraints: Constraints) -> Iterator[Candidate | None]:
    """Candidates, cheapest first; what K has too few digits for goes through the factor of X alone."""
    if isinstance(operator, FactorOperator):
        yield factored_candidate(operator, constraints)
        return
    for method in (multipliers, reduced_multipliers):
        dual = method(operator, constraints)
        yield None if dual is None else candidate(operator, constraints, dual)
        if operator.is_regular:
            return


def _record(
    problem: Problem,
    network: Network,
    of: str,
    status: Optimality,
    message: str,
    met: Constraints,
    point: Candidate,
    rows: tuple[int, ...] = (),
) -> MinimumNorm:
    """Build the record; β is set to the constraints that are `met`, except where nothing was proven."""
    dual, primal, proof = point
    if status is not Optimality.BUDGET:
        primal = met.nearest(primal, dual)
    gauge = problem.operator.project(dual)
    return MinimumNorm(
        problem=problem,
        network=network,
        of=of,
        status=status,
        message=message,
        state=State(problem, network, gauge[None, :], primal[None, :], np.zeros(1)),
        norm=proof.norm,
        # The candidate meets the constraints to rounding only, so its norm may fall short of the bound by as much.
        lower_bound=min(proof.lower_bound, proof.norm),
        kkt=proof.kkt,
        infeasible_rows=rows,
    )


def _optimal(proof: Evidence, of: str) -> str:
    what = "linear interpolator" if of == "linear" else "global minimiser"
    if proof.norm == 0.0:
        return f"the minimum-norm {what} is w = 0, exactly."
    if proof.at_rounding:
        return (
            f"the minimum-norm {what} is known to {proof.kkt.worst:.1e}, the rounding level ε|K||a| of this nearly "
            "singular Gram matrix."
        )
    return f"the minimum-norm {what} is proven: its optimality conditions hold to {proof.kkt.worst:.1e}, relative."


def _budget(proof: Evidence) -> str:
    residual = f"no solution could be proven optimal: the residuals of the best candidate are {proof.kkt.worst:.1e}, "
    if proof.kkt.worst <= ROUNDING * max(proof.floor.primal, proof.floor.complementarity):
        return residual + "the rounding level of this nearly singular Gram matrix, which leaves too few digits."
    return residual + "above 1e-9 and above the rounding level of the Gram matrix."


def _infeasible(problem: Problem, rows: Sequence[int], demand: str, largest: float) -> str:
    zero = [i for i in rows if problem.operator.diagonal[i] == 0.0]
    if zero:
        reason = f"{_listed(problem, zero)} {'is' if len(zero) == 1 else 'are'} zero"
    else:
        reason = f"the Gram matrix has rank {problem.operator.rank} for {problem.n_samples} samples"
    return (
        f"no weights {demand} on all samples at once: {reason}; every least-squares compromise violates "
        f"{_listed(problem, rows)} (by up to {largest:.3g} in label units), and the one of least norm is returned."
    )


def _listed(problem: Problem, rows: Sequence[int]) -> str:
    return ", ".join(problem.sample(i) for i in rows[:5]) + (f" and {len(rows) - 5} more" if len(rows) > 5 else "")
