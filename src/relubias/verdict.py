"""What an analysis means, in sentences.

Pure functions from the parts of an analysis to sentences: is the problem in the regime of the theorems, which
samples did the ReLU select, when did the activation pattern settle, what is interpolated, what died, how far is
the limit from the minimum-norm solution (always in absolute *and* relative terms: at a fixed step in natural
units, η‖λ‖₁, the relative distance does not vanish as the dimension grows, although the absolute one does), how
many solutions there are to choose from, and what to try next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relubias import step_sizes
from relubias.comparison import Gap
from relubias.dynamics.run import INTERPOLATED, Run
from relubias.errors import ArgumentError
from relubias.references.record import MinimumNorm
from relubias.status import Optimality, Status
from relubias.theory.regime import Membership, Regime
from relubias.wording import count, listed, number, portion, samples, sentence

Mask = NDArray[np.bool_]

#: Fewer trustworthy digits than this, half of what a float64 has, are worth a warning.
FEW_DIGITS = 8.0


class Parts(NamedTuple):
    """What a verdict is about: the parts of an analysis."""

    run: Run
    regime: Regime
    reference: MinimumNorm | None
    linear: MinimumNorm | None
    gap: Gap | None
    start_note: str
    reference_note: str


def verdict(parts: Parts) -> tuple[str, ...]:
    """Return the verdict as sentences, in the order in which a reader asks.

    Parameters
    ----------
    parts : Parts

    Returns
    -------
    tuple of str
    """
    groups = (membership, outcome, selection, settling, deaths, fit, distance, solutions, precision, advice)
    return tuple(sentence(text) for group in groups for text in group(parts) if text)


def membership(parts: Parts) -> list[str]:
    """Is the problem in the regime of the theorems, and how do we know?"""
    opening = {
        Membership.INSIDE: "the data are in the regime of the paper's theorems, as far as d₂ tells",
        Membership.OUTSIDE: "the data are outside the regime of the paper's theorems, which say nothing about them",
        Membership.UNDECIDED: "whether the data are in the regime of the paper's theorems is undecided",
    }
    return [opening[parts.regime.verdict], parts.regime.reasons[0], parts.start_note]


def outcome(parts: Parts) -> list[str]:
    """Where training stands, if that is not at a certified limit."""
    run = parts.run
    return [] if run.at_limit else [f"training has no certified limit ({run.status}): {run.message}"]


def selection(parts: Parts) -> list[str]:
    """Did the ReLU select the samples whose labels have the sign of the neuron?"""
    run = parts.run
    labels = run.problem.labels
    if not np.any(labels):
        return ["all labels are 0: weights without an active sample fit them, w = 0 among them"]
    if run.network.n_neurons > 1:
        return _shares(run)
    sign, (own, other) = run.network.signs[0], _words(run)
    fitting, opposed = sign * labels > 0, sign * labels < 0
    if not np.any(fitting):
        return [_nothing_to_learn(run, own, other)]
    if not np.any(opposed | (labels == 0)):
        return [_nothing_to_deselect(run, own)]
    fitted, silent = fitting & run.interpolated, opposed & is_silent(run)
    clean = np.array_equal(fitted, fitting) and np.array_equal(silent, opposed)
    opening = f"ReLU selected the {own} samples" if clean else f"ReLU did not select exactly the {own} samples"
    text = f"{opening}: {portion(fitted, fitting)} {own} labels are interpolated{_except(run, fitted, fitting)}"
    if np.any(opposed):
        text += f"; on {portion(silent, opposed)} {other} labels the prediction is exactly 0"
        text += _except(run, silent, opposed)
    zero = labels == 0
    if np.any(zero):
        text += f"; on {portion(zero & is_silent(run), zero)} labels of 0 it is exactly 0"
        text += _except(run, is_silent(run), zero)
    return [text]


def settling(parts: Parts) -> list[str]:
    """When did the activation pattern settle?"""
    run = parts.run
    texts = []
    if run.pattern_changes == 0:
        changed = "the activation pattern never changed"
    else:
        changed = f"the activation pattern changed at {count(run.pattern_changes, 'step')}"
        changed += f", the last at step {int(run.last_change.max()):,}"
    if run.at_limit:
        texts.append(f"{changed}; no later change is possible: certified")
    else:
        texts.append(f"{changed} (of {run.steps:,} taken); later changes are not excluded")
    lost = run.start.pattern & ~run.state.pattern
    if np.any(lost):
        when = run.last_change[lost]
        first, last = int(when.min()), int(when.max())
        steps = f"at step {first:,}" if first == last else f"between steps {first:,} and {last:,}"
        what = "sample" if run.network.n_neurons == 1 else "pair of neuron and sample"
        plural = "samples" if run.network.n_neurons == 1 else "pairs of neuron and sample"
        texts.append(f"{count(int(lost.sum()), what, plural)} active at the start went off for the last time {steps}")
    if run.at_zero:
        where = listed(run.problem.sample(i) for i in sorted({i for _, i in run.at_zero}))
        texts.append(f"the pre-activation tends to 0, the kink of the ReLU, for {where}")
    return texts


def deaths(parts: Parts) -> list[str]:
    """Which neurons died, and when?"""
    run = parts.run
    texts = []
    for neuron, step in run.dead.items():
        name = "the neuron" if run.network.n_neurons == 1 else f"neuron {neuron + 1}"
        texts.append(f"{name} died at step {step:,}: since then it has no active sample, and it will never move again")
    if run.status is Status.DEAD and run.network.n_neurons == 1:
        own, _ = _words(run)
        left = (run.network.signs[0] * run.problem.labels > 0) & ~run.interpolated
        texts.append(f"it was needed: {count(int(left.sum()), f'{own} label')} stayed unfit")
    return texts


def fit(parts: Parts) -> list[str]:
    """What is interpolated, and what cannot be?"""
    run = parts.run
    problem = run.problem
    worst = int(np.argmax(np.abs(run.state.residual)))
    fitted = run.interpolated
    text = f"{portion(fitted, np.ones_like(fitted))} labels are interpolated (to {INTERPOLATED:g} of the largest one)"
    if not np.all(fitted):
        text += f"; the largest misfit |f − y| is {number(abs(float(run.state.residual[worst])))}"
        text += f" ({problem.sample(worst)})"
    texts = [text]
    for group in problem.facts.conflicts[:3]:
        names = listed(problem.sample(i) for i in group)
        texts.append(f"{names} coincide but have different labels, so that no model can interpolate them all")
    zero_rows = [i for i in problem.facts.zero_rows if problem.labels[i] != 0]
    if zero_rows:
        names = listed(problem.sample(i) for i in zero_rows)
        texts.append(f"every feature of {names} is 0, where the prediction is 0 whatever the weights are")
    return texts


def distance(parts: Parts) -> list[str]:
    """How far is the end of training from the minimum-norm solution, and what proves it?"""
    run, reference, gap = parts.run, parts.reference, parts.gap
    if reference is None:
        return [parts.reference_note, _linear(parts)]
    if gap is None:
        return [f"there is no gap to report, since the reference is {reference.status}: {reference.message}"]
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


def solutions(parts: Parts) -> list[str]:
    """How many solutions are there to choose from?

    A direction v leaves w* a solution if x_iᵀv = 0 for every sample whose label is fit or whose constraint
    x_iᵀw ≤ 0 is tight at w*; with d features and r the rank of those samples there are d − r such directions.
    """
    reference, problem = parts.reference, parts.run.problem
    rank = f"K has rank {problem.facts.rank} for {count(problem.n_samples, 'sample')}"
    if reference is None or reference.status is not Optimality.OPTIMAL or reference.network.n_neurons > 1:
        return [rank] if problem.facts.rank < problem.n_samples else []
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


def precision(parts: Parts) -> list[str]:
    """How many digits can be trusted?"""
    facts = parts.run.problem.facts
    if facts.rank == 0 or facts.digits >= FEW_DIGITS:
        return []
    digits = f"in the worst direction about {facts.digits:.0f} digits of what is computed from it can be trusted"
    shift = "steps of late changes of pattern may shift by rounding"
    return [f"K has condition number {facts.condition:.2g}, so that {digits}; {shift}"]


def advice(parts: Parts) -> list[str]:
    """What to try next."""
    return [f"try next: {text}" for text in (*_advice_on_training(parts), *_advice_on_data(parts))]


def is_silent(run: Run) -> Mask:
    """Samples on which every neuron is inactive, or whose pre-activation tends to 0: the prediction is exactly 0."""
    active = run.state.pattern.copy()
    for neuron, sample in run.at_zero:
        active[neuron, sample] = False
    return np.asarray(~active.any(axis=0))


def step_ratio(run: Run) -> float | None:
    """η as a multiple of the largest step that is stable for every pattern, 2/λ_max(H); None if all samples are 0."""
    try:
        return run.step_size / step_sizes.stable(run.problem, run.network, 1.0)
    except ArgumentError:
        return None


def _words(run: Run) -> tuple[str, str]:
    return ("positive", "negative") if run.network.signs[0] > 0 else ("negative", "positive")


def _except(run: Run, mask: Mask, whole: Mask) -> str:
    """Name the samples of `whole` that are not in `mask`, where there are both kinds."""
    return f" (not {samples(run.problem, whole & ~mask)})" if 0 < np.sum(whole & mask) < np.sum(whole) else ""


def _nothing_to_learn(run: Run, own: str, other: str) -> str:
    side = "≥ 0" if own == "positive" else "≤ 0"
    silent = portion(is_silent(run), np.ones(run.problem.n_samples, dtype=bool))
    return (
        f"no label is {own}: a {own} neuron can only output values {side}, so that 0 is its best fit of every {other} "
        f"label, and w* = 0 attains it; the prediction is exactly 0 on {silent} samples"
    )


def _nothing_to_deselect(run: Run, own: str) -> str:
    text = f"all labels are {own}, so that there is no sample for the ReLU to leave out"
    if run.pattern_changes == 0 and np.all(run.state.pattern):
        return f"{text}; no sample was ever inactive, and training was linear regression throughout"
    return f"{text}; {portion(run.interpolated, np.ones_like(run.interpolated))} labels are interpolated"


def _shares(run: Run) -> list[str]:
    labels, signs = run.problem.labels, np.array(run.network.signs)
    texts = []
    for sign, word in ((1, "positive"), (-1, "negative")):
        mask = sign * labels > 0
        if not np.any(mask):
            continue
        text = f"{portion(run.interpolated, mask)} {word} labels are interpolated{_except(run, run.interpolated, mask)}"
        if np.any(signs == -sign):
            crossed = run.state.pattern[signs == -sign].any(axis=0)
            text += f"; neurons of the other sign are active on {portion(crossed, mask)}"
        texts.append(text)
    return texts


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
    if linear is None:
        return ""
    if linear.status is not Optimality.OPTIMAL:
        return f"there is no linear interpolant of all labels ({linear.status}): {linear.message}"
    text = f"the linear minimum-norm interpolant, which fits labels of both signs, has norm {number(linear.norm)}"
    if reference is not None and reference.norm > 0:
        text += f", {number(linear.norm / reference.norm)} times ‖w*‖"
    return text


def _rank(gram: Any, cutoff: float) -> int:
    return int(np.count_nonzero(np.linalg.eigvalsh(gram) > cutoff)) if len(gram) else 0


def _advice_on_training(parts: Parts) -> list[str]:
    run = parts.run
    ratio = step_ratio(run)
    texts = []
    if ratio is not None and ratio > 1:
        safe = run.step_size / ratio / 4
        texts.append(
            f"a smaller step; {run.step_size:.3g} is {number(ratio)} times the largest one that is stable for every "
            f"pattern, 2/λ_max(H), and {safe:.3g} (--step-size 0.5/lmax) is a safe one"
        )
    elif run.status is Status.DEAD and not _should_standardise(parts):
        texts.append("a smaller step (--step-size 0.01/lmax) or another start (--start gaussian --rng 1)")
    if run.status is Status.CYCLING and not (ratio and ratio > 1):
        texts.append("a smaller step, which narrows the cycle; run.cycle holds the states that repeat")
    if run.status is Status.BUDGET:
        texts.append("a larger budget (--budget, or run.continue_(budget=...), which goes on from here)")
    if run.status in (Status.REACHED, Status.INTERRUPTED):
        texts.append("the exact limit (leave --until out, or run.continue_(), which goes on from here)")
    return texts


def _advice_on_data(parts: Parts) -> list[str]:
    run, problem = parts.run, parts.run.problem
    texts = []
    signs, labels = set(run.network.signs), problem.labels
    own = {sign for sign in (1, -1) if np.any(sign * labels > 0)}
    if own and not own & signs:
        other = "a negative neuron (--network=-)" if -1 in own else "a positive neuron (--network=+)"
        texts.append(f"centred labels (--centre-labels), {other} or a pair (--network pair)")
    elif own == signs and len(own) == 1 and run.network.n_neurons == 1:
        texts.append("centred labels (--centre-labels), if the ReLU is to have labels of the other sign to leave out")
    elif own - signs:
        word = "negative" if -1 in own - signs else "positive"
        texts.append(f"a pair of neurons (--network pair): no neuron here has the sign of the {word} labels")
    if _should_standardise(parts):
        dead = ", and the first steps push all samples the same way" if run.status is Status.DEAD else ""
        texts.insert(0, f"standardised features (--preprocess standardise): as they are, few directions dominate{dead}")
    return texts


def _should_standardise(parts: Parts) -> bool:
    problem = parts.run.problem
    few = problem.n_features is None or problem.n_features <= problem.n_samples
    return parts.regime.verdict is Membership.OUTSIDE and problem.preprocess == "none" and not few
