"""How far the end of training is from the minimum-norm solution, and from how many it could choose."""

from __future__ import annotations

from typing import Any

import numpy as np

from relubias.references.record import MinimumNorm
from relubias.status import Optimality
from relubias.theory.regime import Membership
from relubias.verdict.fit import shortfall
from relubias.verdict.parts import Parts
from relubias.wording import count, number


def distance(parts: Parts) -> list[str]:
    """How far is the end of training from the minimum-norm solution, and what proves it?"""
    run, reference, gap = parts.run, parts.reference, parts.gap
    if reference is None:
        return [parts.reference_note, _linear(parts)]
    if gap is None:
        return [*_compromise(parts, reference), _linear(parts)]
    where = "the limit" if run.at_limit else f"the state after {count(run.steps, 'step')}"
    relative = "undefined" if gap.relative is None else number(gap.relative)
    text = f"{where} is at distance {number(gap.absolute)} (absolute), {relative} (relative to ‖w*‖ = "
    text += f"{number(reference.norm)}) from w*, the minimum-norm solution ({reference.of})"
    texts = [text]
    if gap.relative is None:
        texts.append(gap.message)
    texts.append(f"predictions at the samples differ by at most {number(gap.prediction)} between the two")
    if run.state.orthogonal_norm > 0:
        texts.append(
            f"the start has a part of norm {number(run.state.orthogonal_norm)} outside the span of the samples, which "
            "training never moves; it is in the distance"
        )
    texts += [_finite_step(parts), _proof(reference), _linear(parts)]
    return texts


def _compromise(parts: Parts, reference: MinimumNorm) -> list[str]:
    """Where training is, seen from the compromise that takes the place of w* where there is none."""
    run = parts.run
    dual = run.state.dual - reference.state.dual
    apart = float(np.hypot(run.problem.operator.lengths(dual)[0], run.state.orthogonal_norm))
    share = f" ({number(apart / reference.norm)} of its norm)" if reference.norm > 0 else ""
    where = "the limit" if run.at_limit else f"the state after {count(run.steps, 'step')}"
    text = f"there is no gap to report, since the reference is {reference.status}; {where} is at distance "
    text += f"{number(apart)}{share} from the least-squares compromise of least norm, ‖w‖ = {number(reference.norm)}"
    return [text]


def _finite_step(parts: Parts) -> str:
    """The share of the distance that the size of the step explains.

    Where all samples start active and the only change is at step 1, the samples with labels of the other sign get
    one step, α_i = −η|y_i|, and keep it. For nearly orthogonal samples of squared length L = tr K/n that part has
    length η√L ‖y₋‖, and w* has ‖y₊‖/√L: the ratio is c‖y₋‖/‖y₊‖ with c = ηL, whatever the dimension. (Ours.)
    """
    run = parts.run
    outside = parts.regime.verdict is Membership.OUTSIDE
    if outside or run.network.n_neurons > 1 or run.stabilised_at != 1 or not np.all(run.start.pattern):
        return ""
    own = run.network.signs[0] * run.problem.labels > 0
    if np.all(own) or not np.any(own):
        return ""
    c = run.step_size * float(np.trace(run.problem.gram)) / run.problem.n_samples
    ratio = c * float(np.linalg.norm(run.problem.labels[~own]) / np.linalg.norm(run.problem.labels[own]))
    return (
        f"the relative distance is an effect of the finite step: for nearly orthogonal samples it is about "
        f"c‖y₋‖/‖y₊‖ = {number(ratio)} with c = η tr K/n = {number(c)}, in however many dimensions"
    )


def _proof(reference: MinimumNorm) -> str:
    if reference.status is not Optimality.OPTIMAL:
        return f"that w* is the shortest is not proven ({reference.status}): {reference.message}"
    if reference.norm == 0:
        return "that w* = 0 is the shortest needs no proof: it is a solution, and no vector is shorter"
    return (
        f"that w* is the shortest is proven: recomputed from K, its optimality conditions hold to "
        f"{reference.kkt.worst:.1e} relative, and no solution is shorter than {reference.lower_bound:.10g} "
        f"(‖w*‖ = {reference.norm:.10g})"
    )


def _linear(parts: Parts) -> str:
    linear, reference = parts.linear, parts.reference
    if linear is None or (reference is not None and reference.of == "linear"):
        return ""
    if linear.status is not Optimality.OPTIMAL:
        if linear.status is not Optimality.INFEASIBLE:
            return f"a linear interpolant of all labels is not proven ({linear.status}): {linear.message}"
        if reference is not None and reference.infeasible_rows == linear.infeasible_rows:
            return ""
        return f"there is no linear interpolant of all labels: {shortfall(linear)}"
    text = f"the linear minimum-norm interpolant, which fits labels of both signs, has norm {number(linear.norm)}"
    if reference is not None and reference.norm > 0:
        text += f", {number(linear.norm / reference.norm)} times ‖w*‖"
    return text


def solutions(parts: Parts) -> list[str]:
    """How many solutions are there to choose from?

    A direction v leaves w* a solution if x_iᵀv = 0 for every sample whose label is fit or whose constraint
    x_iᵀw ≤ 0 is tight at w*; with d features and r the rank of those samples there are d − r such directions.
    """
    reference, problem = parts.reference, parts.run.problem
    rank = f"K has rank {problem.facts.rank} for {count(problem.n_samples, 'sample')}"
    if reference is None or reference.status is not Optimality.OPTIMAL or reference.network.n_neurons > 1:
        return []
    sign = reference.network.signs[0]
    size = np.sqrt(problem.operator.diagonal) * reference.norm
    held = (sign * problem.labels > 0) | (reference.of == "linear") | (np.abs(reference.state.primal[0]) <= 1e-9 * size)
    pinned = _rank(problem.operator.block(np.flatnonzero(held)), problem.operator.cutoff)
    dimension = problem.n_features
    if dimension is None:
        if pinned < problem.facts.rank:
            return [f"{rank}; infinitely many weights fit as well as w*, which is the shortest of them"]
        return [f"{rank}; within the span of the samples nothing can move; how many features there are is not known"]
    if pinned < dimension:
        free = f"{count(dimension - pinned, 'direction')} of the {dimension:,} being free at w*"
        return [f"{rank}; infinitely many weights fit as well as w*, {free}, which is the shortest of them"]
    fitted = problem.operator.block(np.flatnonzero((sign * problem.labels > 0) | (reference.of == "linear")))
    if _rank(fitted, problem.operator.cutoff) == dimension:
        return [f"{rank}; w* is the only solution"]
    return [f"{rank}; no direction is free at w*, a corner of the set of solutions"]


def _rank(gram: Any, cutoff: float) -> int:
    return int(np.count_nonzero(np.linalg.eigvalsh(gram) > cutoff)) if len(gram) else 0
