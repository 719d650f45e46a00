"""What can be measured in a cell: fields of an analysis, by their dotted names.

Only what is asked for is computed: a study of where training ends needs no minimum norm. Counts stand for what has
many entries (``run.pattern_changes``, ``run.dead``). Where a quantity is not defined (a relative gap to w* = 0, a step
of the last change that is not proven) the value is None, and why is said beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from relubias.analysis import reference_of
from relubias.comparison import Gap
from relubias.comparison import gap as gap_between
from relubias.dynamics.run import Run
from relubias.network import Network
from relubias.problem import Problem
from relubias.references import minimum_norm, suitable
from relubias.references.record import MinimumNorm
from relubias.state import State
from relubias.status import Optimality
from relubias.studies.settings import Settings
from relubias.theory.predictions import GapLaw
from relubias.theory.regime import Regime
from relubias.theory.regime import regime as regime_of
from relubias.verdict.law import predicted

#: A value in a table.
Value = float | int | str | bool | None


T = TypeVar("T")


class Undefined(Exception):
    """A quantity has no value here; the message says why."""


@dataclass(frozen=True)
class Measured:
    """One cell in the process of being computed; each part is computed when it is first asked for."""

    settings: Settings
    seed: int

    @cached_property
    def problem(self) -> Problem:
        """The problem, drawn from the seed, or read."""
        return self.settings.problem.draw(rng=self.seed)

    @cached_property
    def network(self) -> Network:
        """The network."""
        return self.settings.network.build()

    @cached_property
    def start(self) -> State:
        """Where training begins."""
        return self.settings.start.build(self.problem, self.network, self.seed)

    @cached_property
    def run(self) -> Run:
        """The training."""
        dynamics = self.settings.dynamics.build(self.problem, self.network, self.start)
        return dynamics.run(self.problem, self.network, self.start)

    @cached_property
    def _reference(self) -> tuple[MinimumNorm | None, str]:
        return reference_of(self.run, self.settings.reference.of or suitable(self.network, self.start))

    @cached_property
    def reference(self) -> MinimumNorm:
        """w*; Undefined where there is none."""
        reference, note = self._reference
        if reference is None:
            raise Undefined(note)
        if reference.status is Optimality.INTERRUPTED:
            raise KeyboardInterrupt  # the cell is not done
        return reference

    @cached_property
    def gap(self) -> Gap:
        """From the end of the run to w*; Undefined where there is no solution."""
        if not self.reference.is_solution:
            raise Undefined(self.reference.message)
        if self.reference.of == "variation":
            raise Undefined("w* has the least variation norm: norms are compared with it, and not weights")
        return gap_between(self.run, self.reference)

    @cached_property
    def law(self) -> GapLaw:
        """What the gap law predicts; Undefined where it is about others."""
        found = predicted(self.run, self.reference)
        return _given(found, "the gap law is not about this network, reference or dynamics")

    @cached_property
    def linear(self) -> MinimumNorm:
        """The shortest interpolant of a linear model."""
        return minimum_norm(self.problem, self.network, of="linear")

    @cached_property
    def regime(self) -> Regime:
        """Whether the problem is in the regime of the theorems."""
        return regime_of(self.problem)


class Measure(NamedTuple):
    """A column: its kind (real, whole, word or truth), what it means, and how it is read off a cell."""

    kind: str
    meaning: str
    of: Callable[[Measured], Any]


def _given(value: T | None, reason: str) -> T:
    if value is None:
        raise Undefined(reason)
    return value


def _d2(cell: Measured) -> float:
    known = cell.problem.population
    if known is not None:
        return known.d2
    return float(_given(cell.problem.facts.d2_estimate, "d₂ cannot be estimated from these samples").value)


def _population(cell: Measured, name: str) -> Any:
    return getattr(_given(cell.problem.population, "the distribution of the samples is not known"), name)


def _unsettled(cell: Measured) -> float:
    return float(_given(cell.run.stabilised_at, f"no last change is proven ({cell.run.status})"))


def _relative(cell: Measured) -> float:
    return float(_given(cell.gap.relative, "w* = 0, so that no gap is relative to it"))


def _law_ratio(cell: Measured) -> float:
    if not cell.law.corrected > 0:
        raise Undefined("the gap law predicts no gap at all")
    return cell.gap.absolute / cell.law.corrected


def _test_error(error: float | None) -> float:
    return float(_given(error, "the problem has no test points"))


def _period(cell: Measured) -> int:
    return int(_given(cell.run.cycle, "training is in no cycle").period)


_P, _R, _S, _L = "problem.", "run.", "reference.", "linear."

#: Everything that a study can measure.
MEASURES: dict[str, Measure] = {
    _P + "n_samples": Measure("whole", "n", lambda c: c.problem.n_samples),
    _P + "positive": Measure("whole", "samples with a positive label", lambda c: (c.problem.labels > 0).sum()),
    _P + "trace": Measure("real", "tr K/n", lambda c: np.trace(c.problem.gram) / c.problem.n_samples),
    _P + "label_norm": Measure("real", "‖y‖", lambda c: np.linalg.norm(c.problem.labels)),
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
    _R + "time": Measure("real", "time of a flow", lambda c: _given(c.run.time, "gradient descent has steps, no time")),
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
    _S + "status": Measure("word", "optimal, infeasible or budget", lambda c: c.reference.status),
    _S + "norm": Measure("real", "‖w*‖", lambda c: c.reference.norm),
    _S + "lower_bound": Measure("real", "no solution is shorter", lambda c: c.reference.lower_bound),
    _S + "kkt": Measure("real", "largest relative KKT residual of w*", lambda c: c.reference.kkt.worst),
    _S + "nodes": Measure("whole", "convex programs solved for w*", lambda c: c.reference.nodes),
    _S + "test_error": Measure("real", "the same error of w*", lambda c: _test_error(c.reference.test_error)),
    _L + "norm": Measure("real", "norm of the shortest linear interpolant", lambda c: c.linear.norm),
    _L + "test_error": Measure("real", "the same error of it", lambda c: _test_error(c.linear.test_error)),
    "gap.absolute": Measure("real", "‖W − W*‖", lambda c: c.gap.absolute),
    "gap.relative": Measure("real", "‖W − W*‖/‖W*‖", _relative),
    "gap.prediction": Measure("real", "largest difference of predictions from w*", lambda c: c.gap.prediction),
    "law.gap": Measure("real", "‖W − W*‖ by the gap law", lambda c: c.law.gap),
    "law.corrected": Measure("real", "the same, corrected for interference", lambda c: c.law.corrected),
    "law.ratio": Measure("real", "gap.absolute over law.corrected", _law_ratio),
    "law.applies": Measure("truth", "whether the assumptions of the law hold", lambda c: c.law.applies),
}

#: What is measured where a study does not say.
USUAL = ("run.status", "run.stabilised_at", "gap.absolute", "gap.relative", "reference.norm", "reference.kkt")


def measure(cell: Measured, columns: tuple[str, ...]) -> tuple[dict[str, Value], dict[str, str]]:
    """Compute columns of a cell.

    Returns
    -------
    values : dict
        A plain value or None for each column.
    notes : dict
        Why a value is None, by the column.
    """
    values: dict[str, Value] = {}
    notes: dict[str, str] = {}
    cell.run  # noqa: B018 - so that a cell that cannot be trained fails, whatever is measured
    for name in columns:
        try:
            values[name] = _plain(MEASURES[name], MEASURES[name].of(cell))
        except Undefined as reason:
            values[name], notes[name] = None, str(reason)
    return values, notes


def _plain(kind: Measure, value: Any) -> Value:
    if kind.kind == "word":
        return str(value)
    if kind.kind == "truth":
        return bool(value)
    if kind.kind == "whole":
        return int(value)
    number = float(value)
    if not math.isfinite(number):
        raise Undefined("it is infinite" if not math.isnan(number) else "it is no number")
    return number
