"""How a run of gradient descent by its definition can end: its status, and one sentence that explains it.

Without closed forms there is no certificate, with one exception: where σ and σ′ vanish for all β ≤ 0 and no sample is
active in any neuron, nothing can ever move, and the state is the exact limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relubias.dynamics.cycles import Cycle
from relubias.dynamics.endings import Ending
from relubias.dynamics.general_iterate import GeneralIterate
from relubias.dynamics.run import INTERPOLATED
from relubias.losses import SQUARED
from relubias.network import Network
from relubias.problem import Problem
from relubias.status import Status
from relubias.wording import count, listed


@dataclass(frozen=True, eq=False)
class GeneralEndings:
    """Makes the endings of one run."""

    problem: Problem
    network: Network
    iterate: GeneralIterate

    @property
    def dead(self) -> list[int]:
        """Neurons without an active sample that cannot move for that reason."""
        if not self.iterate.activation.silent:
            return []
        return [int(k) for k in np.flatnonzero(~np.any(self.iterate.primal > 0, axis=1))]

    @property
    def nothing_can_move(self) -> bool:
        """Whether all neurons are dead, so that the gradient is zero for ever."""
        return len(self.dead) == self.network.n_neurons

    def at_limit(self) -> Ending:
        """Nothing can move, for ever."""
        missed = self._missed(self.dead)
        if not missed:
            return Ending(
                Status.CERTIFIED, "no sample is active in any neuron and all labels that could be are fitted."
            )
        which = "the neuron" if self.network.n_neurons == 1 else "all neurons"
        text = (
            f"{which} lost the last active sample and never moves again, although {count(missed, 'label')} that could"
        )
        return Ending(Status.DEAD, f"{text} be fitted are not; try a smaller step or another start.")

    def converged(self) -> Ending:
        """Nothing moves beyond rounding."""
        text = f"nothing moves beyond rounding; for {self._what} there is no certificate"
        dead = self.dead
        if dead and self._missed(dead):
            names = listed(str(k + 1) for k in dead)
            text += f"; neuron {names} has no active sample and cannot move, although labels of its sign are not fitted"
        return Ending(Status.CONVERGED, f"{text}.")

    def cycling(self, cycle: Cycle) -> Ending:
        """The iterate has just come back to where it was one period ago."""
        first = self.iterate.steps - cycle.period
        text = f"from step {first} on, the same {cycle.period} states repeat for ever, so there is no limit"
        return Ending(Status.CYCLING, f"{text}; a smaller step narrows the cycle or has a limit.", cycle=cycle)

    def reached(self) -> Ending:
        """The number of steps asked for."""
        return Ending(Status.REACHED, f"step {self.iterate.steps} is reached; this is not the limit.")

    def interrupted(self) -> Ending:
        """Stopped from outside."""
        message = f"interrupted at step {self.iterate.steps}; continue_ goes on from there."
        return Ending(Status.INTERRUPTED, message)

    def diverged(self) -> Ending:
        """The iterates grow without bound."""
        it = self.iterate
        text = f"the iterates grow without bound at step {it.steps}; the step {it.step_size:.6g} is too large"
        return Ending(Status.DIVERGED, f"{text}; try half of it, or a smaller start.")

    def spent(self, budget: float) -> Ending:
        """The budget is used up."""
        it = self.iterate
        message = f"the budget of {budget:.3g} steps is spent at step {it.steps}; continue_ goes on from there."
        return Ending(Status.BUDGET, message)

    @property
    def _what(self) -> str:
        """What there is no certificate for."""
        it = self.iterate
        parts = [] if it.activation.slope_below is not None else [f"the activation {it.activation.name}"]
        parts += [] if it.loss == SQUARED else [f"the loss {it.loss.name}"]
        parts += ["trained output weights"] if it.trained else []
        return listed(parts)

    def _missed(self, neurons: list[int]) -> int:
        """How many labels of the sign of one of these neurons are not fitted."""
        it = self.iterate
        residual = np.abs(it.predictions - it.labels)
        unfitted = residual > INTERPOLATED * np.abs(it.labels).max(initial=0.0)
        wanted = np.isin(np.sign(it.labels), np.sign(it.outer[neurons]))
        return int(np.sum(unfitted & wanted & (it.labels != 0)))
