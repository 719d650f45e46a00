"""What claims about the dynamics read off a cell, beside the fields of its analysis.

Shares stand for what is said of each sample, truth values for what is said of a whole run: that a pair decoupled, that
a partition was kept, that the pattern settled at the first step. Laws, closed forms and audits are those of the theory,
for the very run of the cell.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from relubias import step_sizes
from relubias.dynamics.run import Run
from relubias.errors import ArgumentError
from relubias.losses import loss
from relubias.studies.measured import Measure, Measured, Undefined
from relubias.theory.lemmas import Audit, audit
from relubias.theory.predictions import limit_after_one_change
from relubias.verdict.division import decoupled, disjoint_owners, interference, invaders, start_depth
from relubias.verdict.parts import is_silent

Mask = NDArray[np.bool_]


@lru_cache(maxsize=1)
def audit_of(run: Run) -> Audit:
    """The audit of a run; Undefined where the lemmas are not about it."""
    try:
        return audit(run)
    except ArgumentError as error:
        raise Undefined(str(error)) from error


def _kappa(cell: Measured) -> float:
    kappa = cell.law.kappa
    if kappa is None:
        raise Undefined("κ is defined for one neuron and labels of both signs")
    return kappa


def _relative_law(cell: Measured) -> float:
    relative = cell.law.relative
    if relative is None:
        raise Undefined("no label is fitted, so that no gap is relative to w*")
    return relative


def _worst_ratio(cell: Measured) -> float:
    """Measured over predicted of the neuron where their ratio is farthest from 1."""
    law, gap = cell.law.corrected_per_neuron, cell.gap.per_neuron
    if not np.all((law > 0) & (gap > 0)):
        raise Undefined("for some neuron no gap is predicted, or there is none")
    ratios = gap / law
    return float(ratios[np.argmax(np.abs(np.log(ratios)))])


def _first_step(cell: Measured) -> float:
    """What the first step leaves of the negative labels, η√‖λ‖₁ ‖ℓ′(0, y₋)‖, for one neuron and a small start."""
    if cell.run.is_flow or cell.network.n_neurons > 1:
        raise Undefined("it is defined for one neuron and gradient descent")
    labels = cell.problem.labels
    slopes = loss(cell.run.loss).slope(np.zeros_like(labels), labels)[labels < 0]
    trace = 1.0 / step_sizes.relative(cell.problem, 1.0)
    return float(cell.run.step_size * math.sqrt(trace) * np.linalg.norm(slopes))


def _natural_step(cell: Measured) -> float:
    if cell.run.is_flow:
        raise Undefined("a flow has no step")
    return float(cell.run.step_size / step_sizes.relative(cell.problem, 1.0))


def _closed_form(cell: Measured) -> float:
    if not cell.run.at_limit or cell.run.is_flow:
        raise Undefined("the closed form is one of a limit of gradient descent")
    try:
        closed = limit_after_one_change(cell.problem, cell.network, cell.start, step_size=cell.run.step_size)
    except ArgumentError as error:
        raise Undefined(str(error)) from error
    primal = cell.run.state.primal
    return float(np.abs(closed.primal - primal).max() / np.abs(primal).max())


def _deep_enough(cell: Measured) -> float:
    depth = audit_of(cell.run).deep_enough
    if depth is None:
        raise Undefined("no sample that was inactive came on again")
    return depth


def _guaranteed(cell: Measured) -> bool:
    known = audit_of(cell.run).guarantee
    return known.activity and known.inactivity


def _descent(cell: Measured) -> Run:
    """The run; Undefined for a flow, whose changes have times and no steps."""
    if cell.run.is_flow:
        raise Undefined("a flow has no steps")
    return cell.run


def _own(run: Run) -> Mask:
    """Pairs of neuron and sample where the neuron has the sign of the label."""
    return np.asarray(np.array(run.signs)[:, None] * run.problem.labels > 0)


def _opposed(run: Run) -> Mask:
    return np.asarray(np.array(run.signs)[:, None] * run.problem.labels < 0)


def _share(part: Mask, whole: Mask, what: str) -> float:
    """The share of `whole` that is in `part`."""
    if not np.any(whole):
        raise Undefined(f"there is no {what}")
    return float(np.count_nonzero(part & whole) / np.count_nonzero(whole))


def _kept(cell: Measured) -> float:
    run = cell.run
    whole = _own(run) & run.start.pattern
    return _share(np.asarray(run.last_change == 0), whole, "sample that starts active in a neuron of its sign")


def _off_at_once(cell: Measured) -> float:
    """A pattern that was on, is off, and changed last at step 1 changed at step 1 only."""
    run = _descent(cell)
    once = np.asarray((run.last_change == 1) & ~run.state.pattern)
    return _share(once, _opposed(run) & run.start.pattern, "sample that starts active in a neuron of the other sign")


def _partition_kept(cell: Measured) -> bool:
    run = cell.run
    if not disjoint_owners(run):
        raise Undefined("the start is not disjoint: not every sample is active in one neuron of its sign alone")
    return not np.any(run.last_change > 0)


def _depth(cell: Measured) -> float:
    if np.all(cell.run.start.pattern):
        raise Undefined("no sample starts inactive")
    return start_depth(cell.run)


def _interference(cell: Measured) -> float:
    size = interference(cell.run)
    if size is None:
        raise Undefined("d₂ cannot be estimated from these samples")
    return size


def _decoupled(cell: Measured) -> bool:
    if sorted(cell.run.signs) != [-1, 1]:
        raise Undefined("only a pair of neurons, one of each sign, decouples")
    return decoupled(cell.run)


def _settled_at_once(cell: Measured) -> bool:
    run = _descent(cell)
    if np.any(run.last_change > 1):
        return False
    if run.stabilised_at is None:
        raise Undefined("the pattern has not changed after step 1 so far, but may do so")
    return True


def _from_linear(cell: Measured) -> float:
    """‖w − w_linear‖/‖w_linear‖ for one neuron."""
    if cell.network.n_neurons > 1:
        raise Undefined("the linear interpolant has one neuron, this network has several")
    if not cell.linear.norm > 0:
        raise Undefined("the shortest linear interpolant is 0")
    moved = cell.run.state.dual[0] - cell.linear.state.dual[0]
    square = moved @ cell.problem.operator.matvec(moved) + float(np.sum(cell.run.state.orthogonal_norms**2))
    return math.sqrt(max(0.0, float(square))) / cell.linear.norm


#: Measures of the theory, by their columns.
THEORY: dict[str, Measure] = {
    "law.relative": Measure("real", "relative gap by the law", _relative_law),
    "law.kappa": Measure("real", "κ of the first correction", _kappa),
    "law.worst_ratio": Measure("real", "the same of the neuron farthest from 1", _worst_ratio),
    "law.first_step": Measure("real", "the gap that the first step alone would leave, for any loss", _first_step),
    "closed_form.distance": Measure("real", "largest relative |Δβ| between limit and closed form", _closed_form),
    "lemmas.activity_tested": Measure(
        "whole", "pairs Lemma 5 speaks about", lambda c: audit_of(c.run).activity_tested.sum()
    ),
    "lemmas.activity_violations": Measure(
        "whole", "of these, went off", lambda c: (audit_of(c.run).activity_lost > 0).sum()
    ),
    "lemmas.inactivity_tested": Measure(
        "whole", "pairs that were inactive", lambda c: audit_of(c.run).inactivity_tested.sum()
    ),
    "lemmas.inactivity_violations": Measure(
        "whole", "of these, came on again", lambda c: (audit_of(c.run).inactivity_lost > 0).sum()
    ),
    "lemmas.deep_enough": Measure("real", "largest depth from which a sample came back", _deep_enough),
    "lemmas.guaranteed": Measure(
        "truth", "whether both lemmas were known before the run, its first step included", _guaranteed
    ),
    "start.depth": Measure("real", "least depth of an inactive sample at the start", _depth),
    "problem.interference": Measure("real", "√(n/d₂) max|y|", _interference),
    "linear.distance": Measure("real", "from the shortest linear interpolant, relative", _from_linear),
    "run.natural_step": Measure("real", "c = η‖λ‖₁", _natural_step),
    "run.first_step_pattern": Measure("truth", "whether the pattern settled at step 1 or before", _settled_at_once),
    "run.positive_kept": Measure("real", "share of own samples that never went off", _kept),
    "run.negative_off": Measure("real", "share of the others that went off at step 1 for ever", _off_at_once),
    "run.positive_fitted": Measure(
        "real",
        "share of positive labels interpolated",
        lambda c: _share(c.run.interpolated, c.problem.labels > 0, "positive label"),
    ),
    "run.negative_fitted": Measure(
        "real",
        "share of negative labels interpolated",
        lambda c: _share(c.run.interpolated, c.problem.labels < 0, "negative label"),
    ),
    "run.negative_silent": Measure(
        "real",
        "share of negative labels predicted exactly 0",
        lambda c: _share(is_silent(c.run), c.problem.labels < 0, "negative label"),
    ),
    "run.decoupled": Measure("truth", "each neuron active on exactly its labels", _decoupled),
    "run.partition_kept": Measure("truth", "no sample of a disjoint start ever changed", _partition_kept),
    "run.invaders": Measure("whole", "pairs off at the start that came on", lambda c: invaders(c.run).sum()),
}
