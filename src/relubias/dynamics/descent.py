"""Gradient descent with a fixed step, to any step or to its exact limit.

    w_k ← w_k − η s_k Σ_i 1[β_{k,i} > 0] r_i x_i,        L = ½‖f(X) − y‖²,

run in n-vectors (:mod:`~relubias.dynamics.stepping`), leapt over where the pattern keeps
(:mod:`~relubias.dynamics.leaping`) and ended by a certificate (:mod:`~relubias.dynamics.certificates`);
:mod:`~relubias.dynamics.loop` decides which when.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from relubias import step_sizes
from relubias.dynamics.general import checked_budget, checked_until, general_descent
from relubias.dynamics.loop import Loop
from relubias.dynamics.run import Progress, Resume, Run
from relubias.dynamics.stepping import Iterate
from relubias.dynamics.trajectory import Record, Recorder, joined, wanted_times
from relubias.errors import ArgumentError
from relubias.losses import SQUARED, Loss
from relubias.losses import loss as loss_named
from relubias.network import Network
from relubias.nouns import require_nouns, require_state
from relubias.problem import Problem
from relubias.state import State


@dataclass(frozen=True, kw_only=True)
class Descent:
    """Options of gradient descent; see :func:`gradient_descent`."""

    step_size: float | None = None
    until: int | None = None
    record: Record = None
    budget: float = 1e9
    loss: str | Loss = "squared"

    def run(
        self, problem: Problem, network: Network, start: State, *, progress: Callable[[Progress], None] | None = None
    ) -> Run:
        """Run gradient descent with these options.

        Parameters
        ----------
        problem : Problem
        network : Network
        start : State
        progress : callable, optional
            As for :func:`gradient_descent`.

        Returns
        -------
        Run

        Raises
        ------
        ArgumentError
            As :func:`gradient_descent` does.
        """
        return gradient_descent(
            problem,
            network,
            start,
            step_size=self.step_size,
            until=self.until,
            record=self.record,
            budget=self.budget,
            loss=self.loss,
            progress=progress,
        )


def gradient_descent(
    problem: Problem,
    network: Network,
    start: State,
    *,
    step_size: float | None = None,
    until: int | None = None,
    record: Record = None,
    budget: float = 1e9,
    loss: str | Loss = "squared",
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Run full-batch gradient descent on L = Σ_i ℓ(f(x_i), y_i), ½‖f(X) − y‖² by default, with a fixed step.

    For a piecewise linear activation, the squared loss and fixed output weights the limit is exact; everything else is
    trained step by step (:mod:`~relubias.dynamics.general`), to `converged` at best.

    Parameters
    ----------
    problem : Problem
    network : Network
    start : State
        From :mod:`relubias.starts`.
    step_size : float, optional
        η; by default 1/(m λ_max(K)), half the largest step that is stable for every pattern, and for other
        activations, losses or trained output weights :func:`relubias.step_sizes.stable` at the start.
    until : int or None
        Number of steps, up to 1e18; None is the exact limit.
    record : "log", iterable of int, or None
        Steps at which to keep the state in the trajectory of the run: spaced logarithmically, or the given ones.
    budget : float
        Work allowed, in equivalents of a plain step with all samples active; steps leapt over cost next to nothing.
    loss : str or Loss
        ``"squared"``, ``"huber"`` or ``"huber:0.5"`` (its width), ``"log-cosh"``, ``"logistic"``, ``"absolute"``, or a
        record of your own (:mod:`relubias.losses`).
    progress : callable, optional
        Called with a :class:`~relubias.dynamics.run.Progress` every few hundredths of a second of work.

    Returns
    -------
    Run
        Its status tells how it ended; `KeyboardInterrupt` ends it with what it has.

    Raises
    ------
    ArgumentError
        If `step_size`, `until`, `record` or `budget` is out of range, the loss is not known, or the start belongs to
        another problem.
    """
    require_nouns(problem, network)
    require_state(problem, network, start)
    chosen = loss_named(loss)
    if step_size is None:
        eta = step_sizes.stable(problem, network, loss=chosen, start=start)
    else:
        eta = step_sizes.checked(step_size)
    until, budget = checked_until(until), checked_budget(budget)
    if network.activation.slope_below is None or network.train_output or chosen != SQUARED:
        return general_descent(start, chosen, eta, until=until, record=record, budget=budget, progress=progress)
    loop = Loop(
        start,
        Iterate.begin(start, eta),
        until=until,
        budget=budget,
        recorder=Recorder(wanted_times(record, until)),
        endless=until is None and isinstance(record, str),
        progress=progress,
    )
    return loop.record_of(loop.run(), continue_run)


def continue_run(
    run: Run,
    *,
    until: int | None = None,
    record: Record = None,
    budget: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Go on from where a run of gradient descent stopped; see :meth:`relubias.dynamics.run.Run.continue_`."""
    until = checked_until(until)
    if not isinstance(run.resume, Resume):
        raise ArgumentError("this run was not made by gradient descent, so it cannot be continued.")
    if until is not None and until < run.steps:
        raise ArgumentError(
            f"until={until} lies before the {run.steps} steps that this run has taken; it cannot go back."
        )
    iterate = Iterate.begin(run.start, run.step_size)
    changes = (run.pattern_changes, run.events, run.events_dropped, run.last_change.astype(np.int64))
    iterate.restore(run.resume, run.steps, *changes)
    loop = Loop(
        run.start,
        iterate,
        until=until,
        budget=run.budget if budget is None else checked_budget(budget),
        recorder=Recorder([time for time in wanted_times(record, until) if time > run.steps]),
        endless=until is None and isinstance(record, str),
        progress=progress,
    )
    further = loop.record_of(loop.run(), continue_run)
    return replace(further, trajectory=joined(run.trajectory, further.trajectory))
