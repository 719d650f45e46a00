"""The loop of gradient descent by its definition: steps in chunks, until something ends it.

A step costs one product with K, the unit of the budget. Between two chunks the keyboard is heard, states are recorded
and progress is told.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.linalg

from relubias.dynamics import general_iterate
from relubias.dynamics.cycles import RESTING, cycle_of
from relubias.dynamics.endings import Ending
from relubias.dynamics.general_endings import GeneralEndings
from relubias.dynamics.general_iterate import GeneralIterate
from relubias.dynamics.interrupts import undisturbed
from relubias.dynamics.run import Progress, Run
from relubias.dynamics.trajectory import LONGEST, Recorder, trajectory_of
from relubias.linalg.blas import gram_product
from relubias.linalg.factor import GramOperator
from relubias.linalg.gram import Array
from relubias.losses import SQUARED
from relubias.state import State

#: Flops and steps between two looks at the keyboard.
CHUNK_FLOPS, CHUNK_STEPS = 1e8, 1000


class GeneralLoop:
    """One run in progress.

    Parameters
    ----------
    start : State
    iterate : GeneralIterate
        Where the run is.
    until : int or None
        Step at which to stop; None for as long as anything moves.
    budget : float
        Steps, beyond those that the iterate has taken already.
    recorder : Recorder
    endless : bool
        Whether the recorded steps have no end of their own, so that they stop where nothing moves any more.
    progress : callable or None
    """

    def __init__(
        self,
        start: State,
        iterate: GeneralIterate,
        *,
        until: int | None,
        budget: float,
        recorder: Recorder[int],
        endless: bool,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.start, self.iterate, self.until, self.budget = start, iterate, until, budget
        self.recorder, self.endless, self.progress = recorder, endless, progress
        self.ends = GeneralEndings(start.problem, start.network, iterate)
        self.spent = 0.0
        self.before = iterate.steps
        self.chunk = max(1, min(CHUNK_STEPS, int(CHUNK_FLOPS / (2.0 * start.primal.size * start.problem.n_samples))))

    def run(self) -> Ending:
        """Go on until something ends it; an interrupt from the keyboard does."""
        try:
            while True:
                with undisturbed():
                    end = self._turn()
                if end is not None:
                    return end
                self._tell()
        except KeyboardInterrupt:
            return self.ends.interrupted()

    def _turn(self) -> Ending | None:
        """One chunk of steps."""
        it = self.iterate
        for time in self.recorder.due(it.steps):
            self.recorder.keep(time, it.primal, it.dual, self._outer)
        if self.until is not None and it.steps >= self.until:
            return self.ends.reached()
        if self.spent >= self.budget:
            return self.ends.spent(self.budget)
        before = it.steps
        reason = it.advance(min(self.chunk, self._next_stop() - before, math.ceil(min(self.budget - self.spent, 1e18))))
        self.spent += it.steps - before
        if reason == general_iterate.DIVERGED:
            return self.ends.diverged()
        if reason == general_iterate.FROZEN:
            return self._frozen()
        if reason == general_iterate.RETURNED:
            return self._returned()
        if reason == general_iterate.RESTING and not self._must_go_on:
            return self.ends.converged()
        return None

    @property
    def _outer(self) -> Array | None:
        return self.iterate.outer if self.iterate.trained else None

    def _next_stop(self) -> int:
        """The next step at which something has to be done."""
        times = [time for time in (self.until, self.recorder.next_time) if time is not None]
        return min(times, default=LONGEST)

    @property
    def _must_go_on(self) -> bool:
        """Whether there are steps to reach even though nothing new can happen."""
        return self.until is not None or (self.recorder.next_time is not None and not self.endless)

    def _frozen(self) -> Ending | None:
        """The gradient is exactly zero."""
        it = self.iterate
        if self.ends.nothing_can_move:
            for time in self.recorder.due(it.steps if self.endless else math.inf):
                self.recorder.keep(time, it.primal, it.dual, self._outer)
            return self.ends.at_limit()
        if not self._must_go_on:
            return self.ends.converged()
        it.steps = self._next_stop()  # steps that change nothing
        return None

    def _returned(self) -> Ending | None:
        """An earlier state has come back bit by bit."""
        it = self.iterate
        period = it.steps - it.anchor_steps
        if self._must_go_on:
            turns = (self._next_stop() - it.steps) // period
            if turns:
                it.repeat(period, turns)
            return None
        cycle = cycle_of(it, period)
        if cycle.amplitude <= RESTING:
            return self.ends.converged()
        if it.trained:
            walker, total = it.copy(), np.zeros_like(it.outer)
            for _ in range(period):
                walker.advance(1)
                total += walker.outer
            cycle = replace(cycle, outer=total / period)
        return self.ends.cycling(cycle)

    def _tell(self) -> None:
        if self.progress is not None:
            it = self.iterate
            loss = it.loss.total(it.predictions, it.labels)
            self.progress(Progress(it.steps, it.changes, loss, self.spent, self.budget))

    def record_of(self, end: Ending, continuation: Callable[..., Run]) -> Run:
        """Build the record of the run."""
        it, start = self.iterate, self.start
        dual = start.problem.operator.project(it.dual)
        outer = it.outer.copy() if it.trained else None
        norms = start.orthogonal_norms
        state = State(start.problem, start.network, dual.copy(), it.primal.copy(), norms, start.orthogonal, outer)
        return Run(
            problem=start.problem,
            network=start.network,
            start=start,
            step_size=it.step_size,
            status=end.status,
            message=end.message,
            state=state,
            steps=it.steps,
            stabilised_at=int(it.last_change.max(initial=0)) if end.status.is_limit else None,
            pattern_changes=it.changes,
            events=it.all_events(),
            events_dropped=it.dropped,
            last_change=it.last_change.copy(),
            dead={k: int(it.last_change[k].max(initial=0)) for k in self.ends.dead},
            at_zero=(),
            stable_step=stable_step(
                it.operator, it.slopes, it.hidden if it.trained else None, it.loss.curvature(it.labels)
            ),
            cost=self.before + self.spent,
            budget=self.budget,
            cycle=end.cycle,
            trajectory=trajectory_of(self.recorder, start, it.labels, it.loss),
            resume=it.resume(),
            continuation=continuation,
            loss=it.loss.name,
            total_loss=None if it.loss == SQUARED else it.loss.total(it.predictions, it.labels),
        )


def stable_step(operator: GramOperator, slopes: Array, hidden: Array | None = None, curvature: float = 1.0) -> float:
    """2/λ_max of the curvature of L for the network linearised; infinite where that is zero.

    Parameters
    ----------
    slopes : ndarray, shape (n_neurons, n_samples)
        a_k σ′(β_k).
    hidden : ndarray, shape (n_neurons, n_samples), optional
        σ(β), where the output weights are trained.
    curvature : float
        A bound of ∂²ℓ/∂f².
    """
    everything = np.arange(operator.n_samples)
    matrix = operator.block(everything) * gram_product(slopes.T)
    if hidden is not None:
        matrix = matrix + gram_product(hidden.T)
    if not np.all(np.isfinite(matrix)):
        return 0.0
    largest = scipy.linalg.eigvalsh(matrix, check_finite=False)[-1]
    bound = float(largest) * curvature
    return 2.0 / bound if bound > 0.0 else math.inf
