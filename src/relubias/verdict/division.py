"""How several neurons divide the samples among themselves.

Two of the paper's claims are about that. A **pair** of neurons (+, −) decouples: the positive one is active on the
positive labels and on nothing else, the negative one on the negative labels. From a **disjoint** start, in which
each sample is active in one neuron of the sign of its label, the neurons train on disjoint parts of the data. Here
inactive samples have to start deep enough, β = −τ: a sample that the others lift above 0 *invades* a neuron that is
not its own. (How deep is deep enough is a prediction of ours, :mod:`relubias.theory.depth`.)
"""

from __future__ import annotations

import math

import numpy as np

from relubias.dynamics.run import Run
from relubias.theory.depth import depth_units
from relubias.verdict.parts import Mask, Parts, active_pattern, exceptions, in_some_neuron
from relubias.wording import count, number, portion, samples

#: Neurons that get a sentence of their own.
TOLD = 8


def division(parts: Parts) -> list[str]:
    """Which labels does each neuron fit, and what became of the partition of the start?"""
    run = parts.run
    alone = run.network.n_neurons == 1 or not np.any(run.problem.labels)
    if alone or not run.network.activation.has_pattern or run.loss == "logistic":
        return []
    return [*_shares(run), *_neurons(run), *_decoupling(run), *_partition(run), *_depth(run), *_stability(run)]


def disjoint_owners(run: Run) -> bool:
    """True where each sample with a label starts active in exactly one neuron, of the sign of its label."""
    start, labels = run.start.pattern, run.problem.labels
    if not np.array_equal(start.sum(axis=0), (labels != 0).astype(int)):
        return False
    return bool(np.all(run.network.output_weights @ start == np.sign(labels)))


def decoupled(run: Run) -> bool:
    """True where each neuron is active at the end on exactly the samples of the sign of its output weight."""
    return bool(np.array_equal(active_pattern(run), np.array(run.signs)[:, None] * run.problem.labels > 0))


def start_depth(run: Run) -> float:
    """τ: the least −β of a sample that starts inactive, in label units."""
    return float(np.min(-run.start.primal[~run.start.pattern]))


def invaders(run: Run) -> Mask:
    """Pairs of neuron and sample that were inactive at the start and came on, shape (n_neurons, n_samples)."""
    return np.asarray(~run.start.pattern & (run.last_change > 0))


def interference(run: Run) -> float | None:
    """√(n/d₂) max|y|, a bound for the scatter by which others move a prediction; None where d₂ cannot be estimated."""
    d2 = run.problem.d2
    if d2 is None or not math.isfinite(d2):
        return None
    return math.sqrt(run.problem.n_samples / d2) * float(np.abs(run.problem.labels).max())


def _shares(run: Run) -> list[str]:
    labels, signs = run.problem.labels, np.array(run.signs)
    texts = []
    for sign, word in ((1, "positive"), (-1, "negative")):
        mask = sign * labels > 0
        if not np.any(mask):
            continue
        fitted = run.interpolated
        text = f"{portion(fitted, mask)} {word} labels are interpolated{exceptions(run, fitted, mask)}"
        if np.any(signs == -sign):
            crossed = run.state.pattern[signs == -sign].any(axis=0)
            text += f"; neurons of the other sign are active on {portion(crossed, mask)}"
        texts.append(text)
    return texts


def _neurons(run: Run) -> list[str]:
    active = active_pattern(run)
    alone = active & (active.sum(axis=0) == 1)
    living = [k for k in range(run.network.n_neurons) if k not in run.dead]
    texts = [_neuron(run, k, active[k], alone[k]) for k in living[:TOLD]]
    if len(living) > TOLD:
        texts.append(f"{count(len(living) - TOLD, 'more neuron')} move; the table of the limit has all of them")
    return texts


def _neuron(run: Run, k: int, active: Mask, alone: Mask) -> str:
    sign, labels = run.signs[k], run.problem.labels
    own, other = ("positive", "negative") if sign > 0 else ("negative", "positive")
    mine, opposed = sign * labels > 0, sign * labels < 0
    fitted = int(np.sum(run.interpolated & alone & mine))
    shared = int(np.sum(active & ~alone & mine))
    text = f"neuron {k + 1} ({'+' if sign > 0 else '−'}) alone fits {count(fitted, f'{own} label')}"
    if shared:
        text += f" and shares {shared:,} with other neurons"
    if np.any(opposed):
        text += f"; it is active on {portion(active, opposed)} {other} labels"
    return text


def _decoupling(run: Run) -> list[str]:
    """Claim 4 of the paper, for a pair with one neuron of each sign."""
    labels = run.problem.labels
    if sorted(run.signs) != [-1, 1] or not (np.any(labels > 0) and np.any(labels < 0)):
        return []  # without labels of both signs there is nothing to be divided
    active = active_pattern(run)
    wanted = np.array(run.signs)[:, None] * labels > 0
    last = float(run.last_change.max())
    if decoupled(run):
        since = f"from {run.at(last)} on" if last else "from the start"
        lasting = "for ever" if run.at_limit else "so far"
        text = f"the two neurons decoupled: {since} and {lasting}, the positive one is active on exactly the positive "
        return [f"{text}labels, the negative one on exactly the negative ones"]
    crossed, missing = in_some_neuron(active & ~wanted), in_some_neuron(~active & wanted)
    faults = []
    if np.any(crossed):
        some = count(int(crossed.sum()), "sample")
        faults.append(f"{some} active in a neuron of the other sign or with label 0 ({samples(run.problem, crossed)})")
    if np.any(missing):
        some = count(int(missing.sum()), "sample")
        faults.append(f"{some} inactive in the neuron of the sign of the label ({samples(run.problem, missing)})")
    return [f"the two neurons did not decouple; at the end: {' and '.join(faults)}"]


def _partition(run: Run) -> list[str]:
    """Claim 5 of the paper: was the partition of a disjoint start kept for ever, or invaded?"""
    if not disjoint_owners(run):
        return []
    came, left = invaders(run), run.start.pattern & (run.last_change > 0)
    invading, leaving = in_some_neuron(came), in_some_neuron(left)
    if not np.any(invading | leaving):
        lasting = "for ever" if run.at_limit else "so far"
        return [f"the partition of the disjoint start is kept {lasting}: no sample changed its activity in any neuron"]
    texts = []
    if np.any(invading):
        still = in_some_neuron(came & run.state.pattern)
        text = f"the partition of the disjoint start was invaded: {count(int(invading.sum()), 'sample')} "
        text += f"({samples(run.problem, invading)}) came on in neurons that are not their own{_first(run)}"
        texts.append(f"{text}; {portion(still, invading)} are active there at the end")
    if np.any(leaving):
        gone = in_some_neuron(left & ~run.state.pattern)
        text = f"{count(int(leaving.sum()), 'sample')} ({samples(run.problem, leaving)}) went off in their own neuron"
        texts.append(f"{text}; {portion(gone, leaving)} are inactive there at the end")
    return texts


def _first(run: Run) -> str:
    """The first invasion; the list of events holds the first ones, however long the run was."""
    events = run.events
    outside = ~run.start.pattern[events["neuron"], events["sample"]] & (events["kind"] > 0)
    if not np.any(outside):
        return ""
    event = events[outside][0]
    return (
        f", the first at {run.at(event['time'])}: {run.problem.sample(int(event['sample']))} in neuron "
        f"{int(event['neuron']) + 1}"
    )


def _depth(run: Run) -> list[str]:
    units = depth_units(run.start)
    if not disjoint_owners(run) or units is None or np.all(run.start.pattern):
        return []
    depth, size = start_depth(run), float(units.max())
    if not size > 0:
        return []
    text = f"inactive samples started at depth {number(depth)}, {number(depth / size)} times √(2 ln N) max ‖y_k‖/√d₂ = "
    text += f"{number(size)}, about the most by which the labels y_k of a neuron lift any of the N inactive samples"
    return [f"{text}; from about 1 on a partition tends to be kept (a prediction of ours)"]


def _stability(run: Run) -> list[str]:
    """A sample active in p neurons counts p times: λ_max(H) ≤ p λ_max(K)."""
    largest = run.problem.operator.largest
    first, last = (int(pattern.sum(axis=0).max()) for pattern in (run.start.pattern, run.state.pattern))
    if run.is_flow or not (largest > 0 and last and run.descends_exactly):
        return []
    text = f"a sample is active in at most {count(first, 'neuron')} at the start and {last} at the end, which makes "
    text += f"steps up to 2/(p λ_max(K)) = {number(2 / (first * largest))} and {number(2 / (last * largest))} stable "
    text += f"there; the bound 2/λ_max(H) of the pattern at the end is {number(run.stable_step)}, and η is "
    return [f"{text}{number(run.step_size / run.stable_step)} times that"]
