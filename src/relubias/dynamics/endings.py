"""How a run of gradient descent can end: its status, and one sentence that explains it for this run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relubias import step_sizes
from relubias.dynamics.certificates import PatternLimit
from relubias.dynamics.cycles import Cycle
from relubias.dynamics.run import INTERPOLATED
from relubias.dynamics.stepping import Iterate
from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.problem import Problem
from relubias.status import Status
from relubias.wording import listed

#: After so many steps the rounding of a run may have grown to another half width of the dead zone …
FAINT_STEPS = 16
#: … and never to more than this many. In a survey of 28 000 certified runs of small networks, judged in 60 digits,
#: limits of less than 300 half widths were 0 more often than not, those of more than 1000 never.
FAINT = 1024.0


@dataclass(frozen=True, eq=False)
class Ending:
    """A status, its sentence, and the state where it is another than the last one reached.

    Attributes
    ----------
    at_rest : tuple of int
        Flat indices (neuron, sample) of pre-activations that tend to 0.
    """

    status: Status
    message: str
    primal: Array | None = None
    dual: Array | None = None
    at_rest: tuple[int, ...] = ()
    cycle: Cycle | None = None


@dataclass(frozen=True, eq=False)
class Endings:
    """Makes the endings of one run."""

    problem: Problem
    network: Network
    iterate: Iterate

    def at_limit(self, primal: Array, dual: Array, at_rest: tuple[int, ...] = ()) -> Ending:
        """The pattern can never change again; `primal` and `dual` are where it leads."""
        it = self.iterate
        primal = primal.copy()
        # An entry that slipped below zero within rounding, so that no event was logged, is at rest as well.
        slipped = np.flatnonzero(it.kinked & (it.logged > 0) & (primal <= 0))
        # So is one within the dead zone: steps have left that much rounding in it, and it may change sign for ever.
        near = np.flatnonzero(it.kinked & (it.zero > 0.0) & (np.abs(primal) <= it.zero))
        at_rest = tuple(sorted({*at_rest, *map(int, slipped), *map(int, near)}))
        primal.ravel()[list(at_rest)] = 0.0
        at_rest = tuple(sorted({*at_rest, *map(int, self._faint(primal))}))
        residual = it.residual_at(primal)
        unfitted = np.abs(residual) > INTERPOLATED * np.abs(it.labels).max(initial=0.0)
        settled = int(it.last_change.max(initial=0))
        when = f"the pattern cannot change after step {settled}" if settled else "the pattern can never change"
        alive = it.slopes.any(axis=1)
        resting = {i // it.primal.shape[1] for i in at_rest}  # at rest on the kink is not dead
        missed = {
            int(k): int(np.sum(unfitted & (np.sign(it.labels) == it.signs[k])))
            for k in np.flatnonzero(~alive)
            if int(k) not in resting
        }
        needed = {neuron: count for neuron, count in missed.items() if count}
        if needed:
            return Ending(Status.DEAD, self._death(needed), primal, dual, at_rest)
        if len(at_rest):
            names = listed([self.problem.sample(i % it.primal.shape[1]) for i in at_rest])
            message = f"{when}, but at zero; the pre-activations of {names} tend to 0, where no sign can be certified."
            return Ending(Status.CERTIFIED_DEGENERATE, message, primal, dual, at_rest)
        return Ending(Status.CERTIFIED, f"{when}; the state is the exact limit.", primal, dual, at_rest)

    def _faint(self, primal: Array) -> NDArray[np.intp]:
        """Flat indices of entries whose signs rounding may have made: they stay as they are, but certify nothing.

        An entry that goes on and off while the residual fades keeps the step at which rounding stopped it, somewhat
        outside the dead zone, although exact training brings it to 0. A label of that size has a right to be there.
        """
        it = self.iterate
        reach = min(FAINT, it.steps / FAINT_STEPS) * it.zero
        expected = (it.labels == 0.0) | (np.abs(it.labels) > reach)
        return np.flatnonzero(it.kinked & (it.zero > 0.0) & expected & (np.abs(primal) <= reach))

    def reached(self) -> Ending:
        """The number of steps asked for."""
        return Ending(Status.REACHED, f"step {self.iterate.steps} is reached; this is not the limit.")

    def interrupted(self) -> Ending:
        """Stopped from outside."""
        message = f"interrupted at step {self.iterate.steps}; continue_ goes on from there."
        return Ending(Status.INTERRUPTED, message)

    def diverged(self) -> Ending:
        """The iterates grow without bound."""
        return Ending(Status.DIVERGED, self._too_large("the iterates grow without bound"))

    def cycling(self, cycle: Cycle) -> Ending:
        """The iterate has just come back to where it was one period ago, or is proven to approach a cycle."""
        it = self.iterate
        repeats = f"from step {it.steps - cycle.period} on, the same {cycle.period} states repeat for ever"
        if cycle.distance:
            repeats = (
                f"found at step {it.steps}: the same patterns of {cycle.period} steps repeat for ever and the states "
                f"approach a cycle, which was {cycle.distance:.2g} away in ‖W‖"
            )
        message = f"{repeats}, so there is no limit; a smaller step may have one."
        return Ending(Status.CYCLING, message, cycle=cycle)

    def repeating(self, period: int) -> Ending:
        """The rounded recursion has come back to an earlier state, but exact training need not."""
        it, n = self.iterate, self.problem.n_samples
        flipping = np.flatnonzero((it.last_change > it.steps - period).any(axis=0))
        names = listed([self.problem.sample(int(i) % n) for i in flipping])
        since = it.steps - period
        message = (
            f"given up: since step {since} the same {period} states repeat bit by bit, with changes at {names}, but "
            "that exact training repeats itself too could not be proven."
        )
        return Ending(Status.BUDGET, message)

    def converged(self, limit: PatternLimit) -> Ending:
        """Nothing moves any more, but some signs cannot be told from rounding."""
        n = self.problem.n_samples
        unsure = [self.problem.sample(int(i) % n) for i in np.flatnonzero(~limit.frozen.ravel())]
        reason = f"the signs of {listed(unsure)} are too close to 0 to be certified"
        if not unsure:
            reason = "the step is too near the edge of stability for a certificate"
        return Ending(Status.CONVERGED, f"nothing moves beyond rounding, but {reason}.")

    def spent(self, budget: float) -> Ending:
        """The budget is used up."""
        it = self.iterate
        message = (
            f"the budget of {budget:.3g} plain-step equivalents is spent at step {it.steps} after "
            f"{it.changes} changes of pattern; continue_ goes on from there."
        )
        return Ending(Status.BUDGET, message)

    def _death(self, missed: dict[int, int]) -> str:
        it = self.iterate
        which = "the neuron" if len(it.signs) == 1 else f"neuron {listed([str(k + 1) for k in missed])}"
        steps = sorted({int(it.last_change[k].max(initial=0)) for k in missed})
        signs = {"positive" if it.signs[k] > 0 else "negative" for k in missed}
        message = (
            f"{which} lost its last active sample at step {listed([str(s) for s in steps])} and never moves again, "
            f"although {max(missed.values())} {' and '.join(sorted(signs))} labels are not fitted"
        )
        if self._step_ratio() > 1:
            return self._too_large(message)
        return f"{message}; try standardised features, another start or a smaller step."

    def _step_ratio(self) -> float:
        """η over the largest step that is stable for every pattern."""
        return self.iterate.step_size / step_sizes.stable(self.problem, self.network, fraction=1.0)

    def _too_large(self, message: str) -> str:
        safe = step_sizes.stable(self.problem, self.network)
        return (
            f"{message}; the step {self.iterate.step_size:.6g} is {self._step_ratio():.3g} times the largest "
            f"stable one 2/λ_max; {safe:.6g} is safe."
        )
