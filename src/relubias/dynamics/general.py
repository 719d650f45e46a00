"""Gradient descent by its definition, for any activation, any loss and trained output weights.

    α_k ← α_k − η a_k σ′(β_k) ∘ ℓ′(f, y),      β_k = K α_k,      f = Σ_k a_k σ(β_k),
    a_k ← a_k − η Σ_i ℓ′_i σ(β_{k,i})          where output weights are trained, from the same state,

in n-vectors as everywhere, one step after the other (:mod:`~relubias.dynamics.general_iterate`). There are no leaps and
no certificates here: such a run is `converged` at best (:mod:`~relubias.dynamics.general_endings`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from relubias.arguments import is_number, is_whole
from relubias.dynamics.general_iterate import GeneralIterate
from relubias.dynamics.general_loop import GeneralLoop
from relubias.dynamics.run import GeneralResume, Progress, Run
from relubias.dynamics.trajectory import LONGEST, Record, Recorder, joined, wanted_times
from relubias.errors import ArgumentError
from relubias.losses import Loss
from relubias.losses import loss as loss_named
from relubias.state import State


def general_descent(
    start: State,
    loss: Loss,
    step_size: float,
    *,
    until: int | None,
    record: Record,
    budget: float,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Run gradient descent step by step; the options are those of :func:`relubias.gradient_descent`, checked."""
    loop = GeneralLoop(
        start,
        GeneralIterate.begin(start, loss, step_size),
        until=until,
        budget=budget,
        recorder=Recorder(wanted_times(record, until)),
        endless=until is None and isinstance(record, str),
        progress=progress,
    )
    return loop.record_of(loop.run(), partial(continue_general, loss=loss))


def continue_general(
    run: Run,
    *,
    until: int | None = None,
    record: Record = None,
    budget: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    loss: Loss | None = None,
) -> Run:
    """Go on from where such a run stopped; see :meth:`relubias.dynamics.run.Run.continue_`."""
    until = checked_until(until)
    if not isinstance(run.resume, GeneralResume):
        raise ArgumentError("this run was not made by gradient descent step by step, so it cannot be continued so.")
    if until is not None and until < run.steps:
        raise ArgumentError(
            f"until={until} lies before the {run.steps} steps that this run has taken; it cannot go back."
        )
    loss = loss_named(run.loss) if loss is None else loss
    iterate = GeneralIterate.begin(run.start, loss, run.step_size)
    iterate.restore(run.resume, run)
    loop = GeneralLoop(
        run.start,
        iterate,
        until=until,
        budget=run.budget if budget is None else checked_budget(budget),
        recorder=Recorder([time for time in wanted_times(record, until) if time > run.steps]),
        endless=until is None and isinstance(record, str),
        progress=progress,
    )
    further = loop.record_of(loop.run(), partial(continue_general, loss=loss))
    return replace(further, trajectory=joined(run.trajectory, further.trajectory))


def checked_until(until: int | None) -> int | None:
    """Return `until` as an int, or None; ArgumentError if it is neither."""
    if until is None:
        return None
    if not (is_whole(until) and 0 <= until <= LONGEST):
        raise ArgumentError(f"until={until!r} must be a whole number of steps from 0 to 1e18, or None for the limit.")
    return int(until)


def checked_budget(budget: float) -> float:
    """Return the budget as a float; ArgumentError if it is not a positive number."""
    if not (is_number(budget) and budget > 0):
        raise ArgumentError(f"budget={budget!r} must be a positive number of plain-step equivalents.")
    return float(budget)
