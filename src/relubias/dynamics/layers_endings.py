"""How a run of the flow of both layers can end: its status, its sentence, and the record of the run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relubias.dynamics.general_loop import stable_step
from relubias.dynamics.layers_loop import SLOW, LayersLoop
from relubias.dynamics.run import LayersResume, Run
from relubias.dynamics.trajectory import trajectory_of
from relubias.state import State
from relubias.status import Status
from relubias.wording import count, number


def record_of(loop: LayersLoop, start: State, end: str, continuation: Callable[..., Run]) -> Run:
    """Build the record of a run that ended like this."""
    point, diary, problem = loop.point, loop.diary, start.problem
    status, message = _ending(loop, end)
    norms = start.orthogonal_norms
    dual = problem.operator.project(point.dual)
    state = State(problem, start.network, dual.copy(), point.primal.copy(), norms, start.orthogonal, point.outer.copy())
    slopes = loop.slopes
    dead = np.flatnonzero(~slopes.any(axis=1))
    return Run(
        problem=problem,
        network=start.network,
        start=start,
        step_size=0.0,
        status=status,
        message=message,
        state=state,
        steps=0,
        time=point.time,
        stabilised_at=None,
        pattern_changes=diary.changes,
        events=diary.as_array(),
        events_dropped=0,
        last_change=diary.last_change.copy(),
        dead={int(k): float(diary.last_change[k].max(initial=0.0)) for k in dead},
        at_zero=tuple((int(k), int(i)) for k, i in np.argwhere(point.mode == 0)),
        stable_step=stable_step(problem.operator, point.outer[:, None] * slopes, slopes * point.primal),
        cost=float(loop.turns),
        budget=float(loop.budget),
        trajectory=trajectory_of(loop.recorder, start, problem.labels),
        resume=LayersResume(
            time=point.time,
            primal=point.primal.copy(),
            dual=point.dual.copy(),
            outer=point.outer.copy(),
            mode=point.mode.copy(),
            logged=diary.logged.copy(),
            accuracy=loop.accuracy,
        ),
        continuation=continuation,
    )


def _ending(loop: LayersLoop, end: str) -> tuple[Status, str]:
    now = number(loop.point.time)
    changes = f"after {count(loop.diary.changes, 'change')} of pattern"
    within = f"integrated to a relative tolerance of {loop.accuracy:.2g}"
    if end == "converged":
        moves = f"neurons move by less than {SLOW * loop.accuracy:.2g} of their size"
        text = f"from time {now} on, {moves} in the time in which "
        text += f"a small one can grow e-fold; the flow is {within}, and there is no certificate for both layers"
        return Status.CONVERGED, f"{text}.{_twofold(loop)}"
    if end == "reached":
        return Status.REACHED, f"time {now} is reached, {within}; this is not the limit.{_twofold(loop)}"
    if end == "interrupted":
        return Status.INTERRUPTED, f"interrupted at time {now}; continue_ goes on from there."
    if end == "ties":
        return Status.BUDGET, f"given up at time {now}: several samples are at the kink in a tie that rounding hides."
    if end == "stiff":
        return Status.BUDGET, f"given up at time {now}: no step is short enough for a tolerance of {loop.accuracy:.2g}."
    text = f"the {loop.budget:,} steps of the integrator that are allowed are spent at time {now} {changes}"
    return Status.BUDGET, f"{text}; continue_ goes on from there."


def _twofold(loop: LayersLoop) -> str:
    """Say how often the flow could have gone on either way."""
    times = sum(not event[4] for event in loop.diary.events)
    return f" The flow is not unique: {count(times, 'sample')} turned repelling on the kink." if times else ""
