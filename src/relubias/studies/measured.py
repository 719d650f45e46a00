"""A cell in the process of being computed, and what a column is: something that is read off it.

Only what is asked for is computed: a study of where training ends needs no minimum norm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from relubias.analysis import reference_of
from relubias.comparison import Gap
from relubias.comparison import gap as gap_between
from relubias.dynamics.flow import gradient_flow
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
    def flow(self) -> Run:
        """The gradient flow from the same start, which is the run itself where that is a flow."""
        return self.run if self.run.is_flow else gradient_flow(self.problem, self.network, self.start)

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
        return given(found, "the gap law is not about this network, reference or dynamics")

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


def given(value: T | None, reason: str) -> T:
    if value is None:
        raise Undefined(reason)
    return value
