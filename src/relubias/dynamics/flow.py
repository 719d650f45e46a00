"""Gradient flow, to any time or to its exact limit: gradient descent with steps that tend to zero.

    ẇ_k = −s_k Σ_i φ′(β_{k,i}) r_i x_i,        L = ½‖f(X) − y‖²,

with φ′(0) anything between the two slopes (Clarke). It is followed exactly: linear pieces in n-vectors
(:mod:`~relubias.dynamics.pieces`), the kink with its slides (:mod:`~relubias.dynamics.sliding`), the times of events as
first roots of sums of exponentials (:mod:`~relubias.dynamics.exponentials`); :mod:`~relubias.dynamics.flowing` puts
them together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from relubias.arguments import is_number, is_whole
from relubias.dynamics.both_layers import layers_flow
from relubias.dynamics.exponentials import INFINITY
from relubias.dynamics.flow_endings import FlowEndings
from relubias.dynamics.flowing import Diary, FlowLoop
from relubias.dynamics.pieces import Field, Point
from relubias.dynamics.run import FlowResume, Progress, Run
from relubias.dynamics.trajectory import Record, Recorder, joined, wanted_moments
from relubias.errors import ArgumentError
from relubias.network import Network
from relubias.nouns import require_nouns, require_state
from relubias.problem import Problem
from relubias.state import State


@dataclass(frozen=True, kw_only=True)
class Flow:
    """Options of gradient flow; see :func:`gradient_flow`."""

    until: float | None = None
    record: Record = None
    max_events: int = 100_000
    accuracy: float = 1e-10

    def run(
        self, problem: Problem, network: Network, start: State, *, progress: Callable[[Progress], None] | None = None
    ) -> Run:
        """Run gradient flow with these options.

        Parameters
        ----------
        problem : Problem
        network : Network
        start : State
        progress : callable, optional
            As for :func:`gradient_flow`.

        Returns
        -------
        Run

        Raises
        ------
        ArgumentError
            As :func:`gradient_flow` does.
        """
        return gradient_flow(
            problem,
            network,
            start,
            until=self.until,
            record=self.record,
            max_events=self.max_events,
            accuracy=self.accuracy,
            progress=progress,
        )


def gradient_flow(
    problem: Problem,
    network: Network,
    start: State,
    *,
    until: float | None = None,
    record: Record = None,
    max_events: int = 100_000,
    accuracy: float = 1e-10,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Follow the gradient flow of L = ½‖f(X) − y‖²: exactly, or to a tolerance where both layers are trained.

    Parameters
    ----------
    problem : Problem
    network : Network
        With a ReLU, a leaky ReLU or the identity.
    start : State
        From :mod:`relubias.starts`.
    until : float or None
        Time at which to stop, in units of 1/(label² · curvature), so that a step η of gradient descent is a time η;
        None is the exact limit.
    record : "log", iterable of float, or None
        Times at which to keep the state in the trajectory of the run: spaced logarithmically, or the given ones.
    max_events : int
        Number of events after which to give up; where both layers are trained, of steps of the integrator.
    accuracy : float
        Relative tolerance of the integration where both layers are trained; elsewhere nothing is integrated.
    progress : callable, optional
        Called with a :class:`~relubias.dynamics.run.Progress` after each event.

    Returns
    -------
    Run
        With real times in place of steps. Its status tells how it ended; `KeyboardInterrupt` ends it with what it has.

    Raises
    ------
    ArgumentError
        If `until`, `record` or `max_events` is out of range, the start belongs to another problem, or the activation
        is not piecewise linear.

    Notes
    -----
    Where a sample is at the kink and pushed away from it on both sides, the flow is not unique: the sample goes off
    unless that moves it up, and its event says so (`unique` is False). (Ours.)
    """
    require_nouns(problem, network)
    require_state(problem, network, start)
    until = checked_time(until)
    if network.train_output:
        events = checked_events(max_events)
        return layers_flow(start, until=until, record=record, max_events=events, accuracy=accuracy, progress=progress)
    field = Field.of(problem, network)
    shape = start.primal.shape
    diary = Diary(np.where(start.pattern, 1, -1).astype(np.int8), np.zeros(shape), [])
    loop = FlowLoop(
        field=field,
        point=FlowLoop.begin(field, start.primal, start.dual),
        diary=diary,
        recorder=Recorder(wanted_moments(record, until, _first_moment(field))),
        until=INFINITY if until is None else until,
        max_events=checked_events(max_events),
        endless=until is None and isinstance(record, str),
        progress=progress,
    )
    loop.settle_start()
    return _finished(loop, start)


def continue_flow(
    run: Run,
    *,
    until: float | None = None,
    record: Record = None,
    budget: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Go on from where a run of gradient flow stopped; see :meth:`relubias.dynamics.run.Run.continue_`."""
    until, saved = checked_time(until), run.resume
    if not isinstance(saved, FlowResume) or run.time is None:
        raise ArgumentError("this run was not made by gradient flow, so it cannot be continued.")
    if until is not None and until < run.time:
        raise ArgumentError(f"until={until!r} lies before the time {run.time:.6g} of this run; it cannot go back.")
    field = Field.of(run.problem, run.network)
    moments = wanted_moments(record, until, _first_moment(field))
    loop = FlowLoop(
        field=field,
        point=Point(saved.time, saved.primal, saved.dual, saved.residual, saved.error, saved.mode, saved.contact),
        diary=Diary.of(run, saved.logged),
        recorder=Recorder([time for time in moments if time > run.time]),
        until=INFINITY if until is None else until,
        max_events=saved.pieces + (int(run.budget) if budget is None else checked_events(budget)),
        endless=until is None and isinstance(record, str),
        progress=progress,
        pieces=saved.pieces,
    )
    further = _finished(loop, run.start)
    return replace(further, budget=run.budget, trajectory=joined(run.trajectory, further.trajectory))


def _finished(loop: FlowLoop, start: State) -> Run:
    return FlowEndings(loop, start).record_of(loop.run(), continue_flow)


def _first_moment(field: Field) -> float:
    """A time that is short for this problem, a hundredth of 1/(m λ_max(K)): where logarithmic spacing begins."""
    largest = field.operator.largest * len(field.signs)
    return 0.01 / largest if largest > 0.0 else 1.0


def checked_time(until: float | None) -> float | None:
    """Return `until` as a float, or None; ArgumentError if it is neither."""
    if until is None:
        return None
    if not (is_number(until) and 0 <= until < math.inf):
        raise ArgumentError(f"until={until!r} must be a finite time that is not negative, or None for the limit.")
    return float(until)


def checked_events(max_events: float) -> int:
    """Return a number of events as an int; ArgumentError if it is not a positive whole number."""
    if not (is_whole(max_events) and max_events > 0):
        raise ArgumentError(f"max_events={max_events!r} must be a positive whole number.")
    return int(max_events)
