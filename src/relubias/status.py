"""How a computation can end: the closed set of statuses, each explained by one sentence.

A status says what the accompanying numbers are worth. Nothing numerical is reported through an exception:
a run that stopped early keeps all it has, and its status says so.
"""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """The ways in which a training run can end."""

    CERTIFIED = "certified"
    CERTIFIED_DEGENERATE = "certified-degenerate"
    DEAD = "dead"
    REACHED = "reached"
    CONVERGED = "converged"
    CYCLING = "cycling"
    DIVERGED = "diverged"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"

    @property
    def meaning(self) -> str:
        """What this status says, in one sentence."""
        return _MEANING[self]

    @property
    def is_limit(self) -> bool:
        """True where the state is the proven limit of training."""
        return self in (Status.CERTIFIED, Status.CERTIFIED_DEGENERATE, Status.DEAD)


_MEANING = {
    Status.CERTIFIED: "the activation pattern can never change again and the state is the exact limit",
    Status.CERTIFIED_DEGENERATE: "the limit is exact, and some pre-activations tend to 0, the kink of the activation",
    Status.DEAD: "the limit is exact, but a neuron that was needed has no active sample and will never move",
    Status.REACHED: "the number of steps (or the time) that was asked for has been reached",
    Status.CONVERGED: "the steps no longer move anything beyond rounding, but no certificate could be given",
    Status.CYCLING: "training repeats a cycle of states for ever and has no limit",
    Status.DIVERGED: "the iterates grow without bound; the step is too large",
    Status.BUDGET: "the budget is spent, or nothing more can be told; the state is what was reached by then",
    Status.INTERRUPTED: "the run was interrupted; the state is what was reached by then",
}


class Optimality(StrEnum):
    """The ways in which the search for a minimum-norm solution can end."""

    OPTIMAL = "optimal"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"
    INFEASIBLE = "infeasible"
