"""How far the end of training is from the minimum-norm solution, and from how many it could choose."""

from __future__ import annotations

import math

import numpy as np

from relubias import step_sizes
from relubias.comparison import Gap
from relubias.dynamics.run import INTERPOLATED
from relubias.references.record import MinimumNorm
from relubias.references.variation import variation_norm
from relubias.status import Optimality
from relubias.theory.regime import Membership
from relubias.verdict.fit import shortfall
from relubias.verdict.law import law, predicted
from relubias.verdict.parts import Parts
from relubias.wording import count, listed, number


def distance(parts: Parts) -> list[str]:
    """How far is the end of training from the minimum-norm solution, and what proves it?"""
    run, reference, gap = parts.run, parts.reference, parts.gap
    if reference is None:
        return [parts.reference_note, _linear(parts)]
    if reference.of == "variation":
        return [*_variation(parts, reference), _linear(parts)]
    if gap is None:
        return [*_compromise(parts, reference), _linear(parts)]
    where = "the limit" if run.at_limit else f"the state after {run.duration}"
    relative = "undefined" if gap.relative is None else number(gap.relative)
    text = f"{where} is at distance {number(gap.absolute)} (absolute), {relative} (relative to ‖w*‖ = "
    text += f"{number(reference.norm)}) from w*, the minimum-norm solution ({reference.of})"
    texts = [_conclusion(parts, gap), text]
    if gap.relative is None:
        texts.append(gap.message)
    texts.append(f"predictions at the samples differ by at most {number(gap.prediction)} between the two")
    if run.state.orthogonal_norm > 0:
        texts.append(
            f"the start has a part of norm {number(run.state.orthogonal_norm)} outside the span of the samples, which "
            "training never moves; it is in the distance"
        )
    texts += [_per_neuron(parts, gap), _finite_step(parts), law(parts)]
    texts += [_proof(reference), _given(reference), _linear(parts)]
    return texts


def _variation(parts: Parts, reference: MinimumNorm) -> list[str]:
    """How far the variation norm of training is above the least one of all networks that fit."""
    run = parts.run
    reached = variation_norm(run.state)
    opening = f"the end of training has variation norm Σ|a_k|‖w_k‖ = {number(reached)}"
    if not math.isfinite(reference.norm) or reference.infeasible_rows:
        return [opening, reference.message]
    if not np.all(run.interpolated):
        text = f"{opening}; networks that fit all labels, as training does not, need {number(reference.norm)}"
    elif reference.norm == 0:
        text = f"{opening}, and the least one of all networks that fit the labels is 0"
    else:
        above = f"{100 * (reached / reference.norm - 1):.3g} % above"
        text = f"{opening}, {above} the least one of networks of any number of neurons, {number(reference.norm)}"
    if reference.status is not Optimality.OPTIMAL:
        return [text, reference.message]
    return [text, f"that no network that fits has a smaller one than {reference.lower_bound:.10g} is proven"]


def _conclusion(parts: Parts, gap: Gap) -> str:
    """Whether the proven limit is the proven minimum-norm solution."""
    reference = parts.reference
    if reference is None or not parts.run.at_limit or reference.status is not Optimality.OPTIMAL:
        return ""
    size = max(reference.norm, parts.run.state.norm)
    differ = gap.absolute > INTERPOLATED * size
    return f"the limit is {'not ' if differ else ''}the minimum-norm solution ({reference.of})"


def _compromise(parts: Parts, reference: MinimumNorm) -> list[str]:
    """Where training is, seen from the compromise that takes the place of w* where there is none."""
    run = parts.run
    dual = run.state.dual - reference.state.dual
    apart = float(np.hypot(np.linalg.norm(run.problem.operator.lengths(dual)), run.state.orthogonal_norm))
    size = reference.state.norm
    share = f" ({number(apart / size)} of its norm)" if size > 0 else ""
    where = "the limit" if run.at_limit else f"the state after {run.duration}"
    compromise = "the least-squares compromise of least norm"
    if len(dual) > 1 or not math.isfinite(reference.norm):
        compromise = "the compromise that is returned in its place"
    text = f"there is no gap to report, since the reference is {reference.status}; {where} is at distance "
    text += f"{number(apart)}{share} from {compromise}, ‖w‖ = {number(size)}"
    return [text] if reference.status is Optimality.INFEASIBLE else [text, reference.message]


def _per_neuron(parts: Parts, gap: Gap) -> str:
    """The distance of each neuron, where there are several."""
    signs = parts.run.signs
    if len(signs) == 1:
        return ""
    each = (
        f"{number(float(value))} of neuron {k + 1} ({'+' if signs[k] > 0 else '−'})"
        for k, value in enumerate(gap.per_neuron)
    )
    return f"neuron by neuron the distance is {listed(each)}"


def _given(reference: MinimumNorm) -> str:
    """What a reference that is not the global one leaves open."""
    if reference.of not in ("pattern", "partition"):
        return ""
    text = f"this w* is the shortest given the {reference.of} only; the global minimum (of=global) may be shorter"
    signs = reference.network.signs
    shared = max(signs.count(1), signs.count(-1))
    if shared > 1:
        text += f", since {shared} equal neurons that share a load divide its ‖W‖² by {shared}"
    return text


def _finite_step(parts: Parts) -> str:
    """The share of the distance that the size of the step explains.

    Let the pattern go from all samples to exactly those whose labels have the sign of the neuron, all at step 1. Then
    the relative distance is that of the gap law (:mod:`relubias.theory.predictions`), in which no dimension occurs.
    """
    run, reference = parts.run, parts.reference
    outside = parts.regime.verdict is Membership.OUTSIDE or reference is None or reference.of != "global"
    if run.is_flow or outside or run.network.n_neurons > 1 or run.stabilised_at != 1 or not np.all(run.start.pattern):
        return ""
    signed = run.signs[0] * run.problem.labels
    own = signed > 0
    if np.all(own) or not np.any(own) or not np.array_equal(run.state.pattern[0], own):
        return ""
    found = predicted(run, reference)
    if found is None or found.relative is None:
        return ""
    c = run.step_size / step_sizes.relative(run.problem, 1.0)
    return (
        "the relative distance is an effect of the finite step: for nearly orthogonal samples it is about "
        f"‖c |y₋| − (1 − c) β₀‖/‖y₊‖ = {number(found.relative)} with c = η‖λ‖₁ = {number(c)}, y₋ the labels that are "
        "not fit and β₀ the start there, in however many dimensions"
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
        same = reference is not None and reference.infeasible_rows == linear.infeasible_rows
        if same and parts.run.network.n_neurons == 1:
            return ""
        return f"there is no linear interpolant of all labels: {shortfall(linear)}"
    text = f"the linear minimum-norm interpolant, which fits labels of both signs, has norm {number(linear.norm)}"
    if reference is not None and reference.norm > 0 and reference.of != "variation":
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
    if reference.of == "variation":
        return []
    sign = reference.network.signs[0]
    size = np.sqrt(problem.operator.diagonal) * reference.norm
    held = (sign * problem.labels > 0) | (reference.of == "linear") | (np.abs(reference.state.primal[0]) <= 1e-9 * size)
    pinned = problem.operator.rank_of(np.flatnonzero(held))
    dimension = problem.n_features
    if dimension is None:
        if pinned < problem.facts.rank:
            return [f"{rank}; infinitely many weights fit as well as w*, which is the shortest of them"]
        return [f"{rank}; within the span of the samples nothing can move; how many features there are is not known"]
    if pinned < dimension:
        free = f"{count(dimension - pinned, 'direction')} of the {dimension:,} being free at w*"
        return [f"{rank}; infinitely many weights fit as well as w*, {free}, which is the shortest of them"]
    fitted = np.flatnonzero((sign * problem.labels > 0) | (reference.of == "linear"))
    if problem.operator.rank_of(fitted) == dimension:
        return [f"{rank}; w* is the only solution"]
    return [f"{rank}; no direction is free at w*, a corner of the set of solutions"]
