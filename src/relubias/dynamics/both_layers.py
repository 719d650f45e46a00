"""Gradient flow on both layers, by a library integrator of stated tolerance.

    ẇ_k = −a_k Σ_i φ′(β_{k,i}) r_i x_i,      ȧ_k = −Σ_i r_i φ(β_{k,i}),      a_k² − ‖w_k‖² = const,

for piecewise linear activations and the squared loss. Products a_k β_k make it nonlinear even while no sample changes
its mode, so that there are no closed forms as in :mod:`relubias.dynamics.flow`: between events it is integrated by an
explicit Runge–Kutta method of order 8 (:mod:`~relubias.dynamics.layers_loop`), each piece with a fixed pattern; at a
kink the same box program as there decides what goes on, goes off or slides (:mod:`~relubias.dynamics.layers_field`).
Its limit is approached, never certified.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from relubias.arguments import is_number
from relubias.dynamics.flowing import Diary
from relubias.dynamics.layers_endings import record_of
from relubias.dynamics.layers_field import LayersField, LayersPoint
from relubias.dynamics.layers_loop import LayersLoop
from relubias.dynamics.run import LayersResume, Progress, Run
from relubias.dynamics.trajectory import Record, Recorder, joined, wanted_moments
from relubias.errors import ArgumentError
from relubias.state import State


def layers_flow(
    start: State,
    *,
    until: float | None,
    record: Record,
    max_events: int,
    accuracy: float,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Follow the gradient flow of both layers; the options are those of :func:`relubias.gradient_flow`.

    Raises
    ------
    ArgumentError
        If `record` or `accuracy` is out of range, or the activation is not piecewise linear.
    """
    field = LayersField.of(start.problem, start.network)
    modes = field.modes_at(start.primal)
    outer = np.array(start.output_weights, dtype=np.float64)
    loop = LayersLoop(
        field,
        LayersPoint(0.0, start.primal.copy(), start.dual.copy(), outer, modes),
        Diary(np.where(start.pattern, 1, -1).astype(np.int8), np.zeros(modes.shape), []),
        until=math.inf if until is None else until,
        budget=max_events,
        accuracy=_checked_rtol(accuracy),
        recorder=Recorder(wanted_moments(record, until, field.first_moment)),
        endless=until is None and isinstance(record, str),
        progress=progress,
    )
    loop.settle_start()
    return record_of(loop, start, loop.run(), continue_layers)


def continue_layers(
    run: Run,
    *,
    until: float | None = None,
    record: Record = None,
    budget: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Go on from where such a run stopped, to its tolerance; see :meth:`relubias.dynamics.run.Run.continue_`."""
    from relubias.dynamics.flow import checked_events, checked_time  # flow imports this module for its runs

    until, saved = checked_time(until), run.resume
    if not isinstance(saved, LayersResume) or run.time is None:
        raise ArgumentError("this run was not made by gradient flow on both layers, so it cannot be continued so.")
    if until is not None and until < run.time:
        raise ArgumentError(f"until={until!r} lies before the time {run.time:.6g} of this run; it cannot go back.")
    field = LayersField.of(run.problem, run.network)
    loop = LayersLoop(
        field,
        LayersPoint(saved.time, saved.primal, saved.dual, saved.outer, saved.mode),
        Diary.of(run, saved.logged),
        until=math.inf if until is None else until,
        budget=int(run.budget) if budget is None else checked_events(budget),
        accuracy=saved.accuracy,
        recorder=Recorder([time for time in wanted_moments(record, until, field.first_moment) if time > run.time]),
        endless=until is None and isinstance(record, str),
        progress=progress,
    )
    further = record_of(loop, run.start, loop.run(), continue_layers)
    whole = joined(run.trajectory, further.trajectory)
    return replace(further, cost=run.cost + further.cost, trajectory=whole)


def _checked_rtol(accuracy: float) -> float:
    if not (is_number(accuracy) and 1e-13 <= accuracy <= 1e-3):
        raise ArgumentError(f"accuracy={accuracy!r} must be a number from 1e-13 to 1e-3.")
    return float(accuracy)
