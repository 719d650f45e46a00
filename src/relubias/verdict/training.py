"""How training went: its end, its cycle, the changes of pattern, the deaths."""

from __future__ import annotations

import numpy as np

from relubias.dynamics.run import INTERPOLATED, Run
from relubias.status import Status
from relubias.verdict.parts import Parts, in_some_neuron, words
from relubias.wording import NAMED, count, listed, number, portion, samples


def outcome(parts: Parts) -> list[str]:
    """Where training stands, if that is not at a certified limit."""
    run = parts.run
    return [] if run.at_limit else [f"training has no certified limit ({run.status}): {run.message}"]


def cycling(parts: Parts) -> list[str]:
    """What repeats for ever, and what its time average is worth.

    β = XW is linear in the weights, so that the time average of β belongs to the time average of the weights.
    """
    run = parts.run
    cycle = run.cycle
    if cycle is None:
        return []
    kept = "" if len(cycle.states) == cycle.period else f", of which {len(cycle.states):,} are kept"
    text = f"the cycle has {count(cycle.period, 'state')}{kept}; within it β moves by up to {cycle.amplitude:.2g} "
    texts = [f"{text}of the largest |β|"]
    active = cycle.states > 0 if run.network.activation.has_pattern else np.ones_like(cycle.states, dtype=bool)
    flips = in_some_neuron(np.ptp(active.astype(np.int8), axis=0) > 0)
    if np.any(flips):
        some, verb = count(int(flips.sum()), "sample"), "flips" if flips.sum() == 1 else "flip"
        texts.append(f"{some} ({samples(run.problem, flips)}) {verb} between active and inactive in every period")
    elif run.loss == "absolute":
        texts.append(
            "predictions step across the kink of the absolute loss, at f = y, for ever; a smaller step is nearer"
        )
    else:
        texts.append(
            "no sample flips within the cycle: the step is at the edge of stability, η λ_max(H) = "
            f"{number(2.0 * run.step_size / run.stable_step)} for its pattern"
        )
    misfit = np.abs(run.network.output(cycle.mean, outer=cycle.outer) - run.problem.labels)
    fitted = misfit <= INTERPOLATED * np.abs(run.problem.labels).max()
    text = f"the weights averaged over one period interpolate {portion(fitted, np.ones_like(fitted))} labels"
    if not np.all(fitted):
        text += f"; their largest misfit is {number(float(misfit.max()))} ({run.problem.sample(int(misfit.argmax()))})"
    return [*texts, text]


def settling(parts: Parts) -> list[str]:
    """When did the activation pattern settle?"""
    run = parts.run
    if not run.network.activation.has_pattern:
        return []
    texts = []
    if run.pattern_changes == 0:
        changed = "the activation pattern never changed"
    else:
        changed = f"the activation pattern changed at {count(run.pattern_changes, 'time' if run.is_flow else 'step')}"
        changed += f", the last at {run.at(run.last_change.max())}"
    if run.at_limit:
        texts.append(f"{changed}; no later change is possible: certified")
    elif run.status is Status.CYCLING:
        texts.append(f"{changed} of the {count(run.steps, 'step')} taken; the cycle goes on for ever")
    else:
        so_far = f"up to {run.duration}" if run.is_flow else f"of {run.steps:,} taken"
        texts.append(f"{changed} ({so_far}); later changes are not excluded")
    lost = run.start.pattern & ~run.state.pattern & (run.last_change > 0)
    if run.cycle is not None:
        lost &= ~(run.cycle.states > 0).any(axis=0)  # those that flip for ever have not gone off
    if np.any(lost):
        when = run.last_change[lost]
        first, last = when.min(), when.max()
        steps = f"at {run.at(first)}" if first == last else f"between {_span(run, first, last)}"
        what = "sample" if run.network.n_neurons == 1 else "pair of neuron and sample"
        plural = "samples" if run.network.n_neurons == 1 else "pairs of neuron and sample"
        last_time = (
            "for the last time" if run.at_limit or run.cycle is not None else "and are off so far, since changes"
        )
        texts.append(f"{count(int(lost.sum()), what, plural)} active at the start went off {last_time} {steps}")
    if run.is_flow and run.at_zero:
        where = listed(run.problem.sample(i) for i in sorted({i for _, i in run.at_zero}))
        texts.append(f"at the end {where} slide along the kink of the activation, or tend to it: β = 0 there")
    elif run.at_zero:
        where = listed(run.problem.sample(i) for i in sorted({i for _, i in run.at_zero}))
        texts.append(f"the pre-activation tends to 0, the kink of the activation, for {where}")
    return texts


def balance(parts: Parts) -> list[str]:
    """How well both layers have kept their balance."""
    run = parts.run
    drift = run.balance_drift
    if drift is None:
        return []
    sizes = [float(np.max(np.abs(state.balance))) for state in (run.start, run.state)]
    text = (
        f"the balance a_k² − ‖w_k‖² is at most {number(sizes[0])} at the start and {number(sizes[1])} at the end, and "
    )
    text += f"moved by up to {number(drift)}"
    slope = run.network.activation.slope_below
    if slope is None:
        return [f"{text}; only for piecewise linear activations does the flow conserve it"]
    if run.is_flow:
        return [f"{text}; the flow conserves it, so that this is the error of the integration"]
    return [f"{text}; gradient flow conserves it, and the drift is an effect of the finite step"]


def deaths(parts: Parts) -> list[str]:
    """Which neurons died, and when?"""
    run = parts.run
    dead = list(run.dead.items())
    texts = [_death(run, neuron, moment) for neuron, moment in dead[:NAMED]]
    if len(dead) > NAMED:
        last = max(moment for _, moment in dead[NAMED:])
        texts.append(f"{len(dead) - NAMED:,} more neurons died, the last at {run.at(last)} (run.dead names them all)")
    if run.status is Status.DEAD and run.network.n_neurons == 1:
        own, _ = words(run)
        left = (run.signs[0] * run.problem.labels > 0) & ~run.interpolated
        texts.append(f"it was needed: {count(int(left.sum()), f'{own} label')} stayed unfit")
    return texts


def _span(run: Run, first: float, last: float) -> str:
    if run.is_flow:
        return f"times {number(first)} and {number(last)}"
    return f"steps {int(first):,} and {int(last):,}"


def _death(run: Run, neuron: int, moment: float) -> str:
    name = "the neuron" if run.network.n_neurons == 1 else f"neuron {neuron + 1}"
    if not np.any(run.start.pattern[neuron]) and moment == 0:
        return f"{name} has had no active sample from the start, and it will never move"
    return f"{name} died at {run.at(moment)}: since then it has no active sample, and it will never move again"
