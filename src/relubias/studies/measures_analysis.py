"""Columns that are fields of an analysis, by their dotted names.

Counts stand for what has many entries (``run.pattern_changes``, ``run.dead``). Where a quantity is not defined (a
relative gap to w* = 0, a step of the last change that is not proven) the value is None, and why is said beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relubias.studies.measured import Measure, Measured, Undefined, given


def _d2(cell: Measured) -> float:
    known = cell.problem.population
    if known is not None:
        return known.d2
    return float(given(cell.problem.facts.d2_estimate, "d₂ cannot be estimated from these samples").value)


def _population(cell: Measured, name: str) -> Any:
    return getattr(given(cell.problem.population, "the distribution of the samples is not known"), name)


def _unsettled(cell: Measured) -> float:
    return float(given(cell.run.stabilised_at, f"no last change is proven ({cell.run.status})"))


def _relative(cell: Measured) -> float:
    return float(given(cell.gap.relative, "w* = 0, so that no gap is relative to it"))


def _law_ratio(cell: Measured) -> float:
    if not cell.law.corrected > 0:
        raise Undefined("the gap law predicts no gap at all")
    return cell.gap.absolute / cell.law.corrected


def _test_error(error: float | None) -> float:
    return float(given(error, "the problem has no test points"))


def _zero_error(cell: Measured) -> float:
    test = given(cell.problem.test, "the problem has no test points")
    return float(np.mean(np.square(test.labels)))


def _period(cell: Measured) -> int:
    return int(given(cell.run.cycle, "training is in no cycle").period)


_P, _R, _S, _L = "problem.", "run.", "reference.", "linear."

#: Fields of an analysis, by their columns.
ANALYSIS: dict[str, Measure] = {
    _P + "n_samples": Measure("whole", "n", lambda c: c.problem.n_samples),
    _P + "positive": Measure("whole", "samples with a positive label", lambda c: (c.problem.labels > 0).sum()),
    _P + "trace": Measure("real", "tr K/n", lambda c: np.trace(c.problem.gram) / c.problem.n_samples),
    _P + "label_norm": Measure("real", "‖y‖", lambda c: np.linalg.norm(c.problem.labels)),
    _P + "negative_norm": Measure("real", "‖y₋‖", lambda c: np.linalg.norm(np.minimum(c.problem.labels, 0.0))),
    _P + "lambda_norm": Measure("real", "‖λ‖₁ of the distribution", lambda c: _population(c, "trace")),
    _P + "d2": Measure("real", "d₂ of the distribution, or its estimate", _d2),
    _P + "dinf": Measure("real", "d_∞ of the distribution", lambda c: _population(c, "dinf")),
    _P + "rank": Measure("whole", "rank of K", lambda c: c.problem.facts.rank),
    _P + "condition": Measure("real", "condition number of K", lambda c: c.problem.facts.condition),
    "regime.verdict": Measure("word", "inside, outside or undecided", lambda c: c.regime.verdict),
    "start.norm": Measure("real", "‖W‖ at the start", lambda c: c.start.norm),
    _R + "status": Measure("word", "how training ended", lambda c: c.run.status),
    _R + "at_limit": Measure("truth", "whether the limit is certified", lambda c: c.run.at_limit),
    _R + "steps": Measure("whole", "steps taken; at the limit, until certified", lambda c: c.run.steps),
    _R + "time": Measure("real", "time of a flow", lambda c: given(c.run.time, "gradient descent has steps, no time")),
    _R + "step_size": Measure("real", "η", lambda c: c.run.step_size),
    _R + "stable_step": Measure("real", "largest stable step for the last pattern", lambda c: c.run.stable_step),
    _R + "stabilised_at": Measure("real", "step (or time) of the last change of pattern", _unsettled),
    _R + "pattern_changes": Measure("whole", "steps at which the pattern changed", lambda c: c.run.pattern_changes),
    _R + "interpolated": Measure("whole", "labels that are fitted", lambda c: c.run.interpolated.sum()),
    _R + "active": Measure("whole", "pairs of neuron and active sample", lambda c: c.run.state.pattern.sum()),
    _R + "dead": Measure("whole", "neurons without an active sample", lambda c: len(c.run.dead)),
    _R + "at_zero": Measure("whole", "pre-activations that tend to 0", lambda c: len(c.run.at_zero)),
    _R + "period": Measure("whole", "period of the cycle", _period),
    _R + "norm": Measure("real", "‖W‖ at the end", lambda c: c.run.state.norm),
    _R + "loss": Measure("real", "½‖f − y‖² at the end", lambda c: c.run.state.loss),
    _R + "objective": Measure("real", "the loss that was minimised, at the end", lambda c: c.run.objective),
    _R + "test_error": Measure(
        "real", "mean squared error at test points", lambda c: _test_error(c.run.state.test_error)
    ),
    _R + "cost": Measure("real", "work, in plain steps", lambda c: c.run.cost),
    _S + "of": Measure("word", "of which solutions w* is the shortest", lambda c: c.reference.of),
    _S + "status": Measure("word", "optimal, infeasible, budget or interrupted", lambda c: c.reference.status),
    _S + "norm": Measure("real", "‖w*‖", lambda c: c.reference.norm),
    _S + "lower_bound": Measure("real", "no solution is shorter", lambda c: c.reference.lower_bound),
    _S + "kkt": Measure("real", "largest relative KKT residual of w*", lambda c: c.reference.kkt.worst),
    _S + "nodes": Measure("whole", "convex programs solved for w*", lambda c: c.reference.nodes),
    _S + "test_error": Measure("real", "the same error of w*", lambda c: _test_error(c.reference.test_error)),
    _L + "norm": Measure("real", "norm of the shortest linear interpolant", lambda c: c.linear.norm),
    _L + "test_error": Measure("real", "the same error of it", lambda c: _test_error(c.linear.test_error)),
    "zero.test_error": Measure("real", "the same error of predicting 0", _zero_error),
    "gap.absolute": Measure("real", "‖W − W*‖", lambda c: c.gap.absolute),
    "gap.relative": Measure("real", "‖W − W*‖/‖W*‖", _relative),
    "gap.prediction": Measure("real", "largest difference of predictions from w*", lambda c: c.gap.prediction),
    "law.gap": Measure("real", "‖W − W*‖ by the gap law", lambda c: c.law.gap),
    "law.corrected": Measure("real", "the same, corrected for interference", lambda c: c.law.corrected),
    "law.ratio": Measure("real", "gap.absolute over law.corrected", _law_ratio),
    "law.applies": Measure("truth", "whether the assumptions of the law hold", lambda c: c.law.applies),
}
