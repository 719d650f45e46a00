"""How a run of gradient flow can end: its status, one sentence that explains it, and the record of the run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias.dynamics.exponentials import INFINITY
from relubias.dynamics.flowing import FlowLoop
from relubias.dynamics.pieces import Piece
from relubias.dynamics.run import INTERPOLATED, FlowResume, Run
from relubias.dynamics.trajectory import trajectory_of
from relubias.linalg.gram import Array
from relubias.state import State
from relubias.status import Status
from relubias.wording import count, listed, number

#: A pre-activation is at zero in the limit within this many rounding margins.
REST_MARGINS = 4.0
#: … and never farther from it than this fraction of the largest label.
REST_AT_MOST = 1e-6


@dataclass(frozen=True, eq=False)
class FlowEndings:
    """Makes the record of one run of gradient flow."""

    loop: FlowLoop
    start: State

    def record_of(self, end: str, continuation: Callable[..., Run]) -> Run:
        """Build the record of a run that ended like this."""
        loop, start = self.loop, self.start
        point, diary, problem = loop.point, loop.diary, start.problem
        piece = loop.piece or Piece.of(loop.field, point)
        ahead = loop.until - point.time if end in ("limit", "reached") else 0.0
        primal, dual = piece.primal_at(ahead), piece.dual_at(ahead)
        primal[point.mode == 0] = 0.0
        dead = {
            int(k): float(diary.last_change[k].max(initial=0.0))
            for k in np.flatnonzero(~(point.mode > 0).any(axis=1))
            if loop.field.slope_below == 0.0
        }
        at_zero: tuple[tuple[int, int], ...] = ()
        if end == "limit":
            status, message, at_zero = self._limit(piece, primal, dead)
        else:
            status, message = self._stopped(end)
        for neuron, sample in at_zero:
            primal[neuron, sample] = 0.0
        state = State(
            problem, start.network, problem.operator.project(dual), primal, start.orthogonal_norms, start.orthogonal
        )
        return Run(
            problem=problem,
            network=start.network,
            start=start,
            step_size=0.0,
            status=status,
            message=message,
            state=state,
            steps=0,
            time=loop.until if end == "reached" else point.time,
            stabilised_at=float(diary.last_change.max(initial=0.0)) if status.is_limit else None,
            pattern_changes=diary.changes,
            events=diary.as_array(),
            events_dropped=0,
            last_change=diary.last_change.copy(),
            dead=dead,
            at_zero=at_zero,
            stable_step=_stable_step(piece),
            cost=float(loop.pieces),
            budget=float(loop.max_events),
            trajectory=trajectory_of(loop.recorder, start, problem.labels),
            resume=self._resume(),
            continuation=continuation,
        )

    def _resume(self) -> FlowResume:
        point = self.loop.point
        return FlowResume(
            time=point.time,
            primal=point.primal.copy(),
            dual=point.dual.copy(),
            residual=point.residual.copy(),
            error=point.error.copy(),
            mode=point.mode.copy(),
            contact=point.contact.copy(),
            logged=self.loop.diary.logged.copy(),
            pieces=self.loop.pieces - 1,  # the piece that is going on will be decomposed again
        )

    def _limit(
        self, piece: Piece, primal: Array, dead: dict[int, float]
    ) -> tuple[Status, str, tuple[tuple[int, int], ...]]:
        """No event can happen any more."""
        loop, labels = self.loop, self.start.problem.labels
        mode = piece.point.mode
        settled = float(loop.diary.last_change.max(initial=0.0))
        when = f"nothing can change after time {number(settled)}" if settled else "nothing can ever change"
        sliding = mode == 0
        sure, resting = self._signs(piece, primal)
        at_zero = tuple(divmod(int(i), len(labels)) for i in np.flatnonzero(sliding | resting))
        needed = self._needed(primal, dead)
        if needed:
            return Status.DEAD, self._death(needed, dead), at_zero
        if not np.all(sure | sliding | resting):
            unsure = listed(self._names(~(sure | sliding | resting)))
            text = f"nothing moves beyond rounding, but the signs of {unsure} are too close to 0 to be certified"
            return Status.CONVERGED, f"{text}.{self._twofold()}", at_zero
        slides = int(sliding.sum())
        who = f"{count(slides, 'sample')} {'slides' if slides == 1 else 'slide'}"
        ends = f"; {who} along the kink to the end" if slides else ""
        if resting.any():
            text = f"{when}{ends}; the pre-activations of {listed(self._names(resting))} tend to 0"
            return Status.CERTIFIED_DEGENERATE, f"{text}, where no sign can be certified.{self._twofold()}", at_zero
        return Status.CERTIFIED, f"{when}{ends}; the state is the exact limit.{self._twofold()}", at_zero

    def _signs(self, piece: Piece, primal: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which signs of the limit are certain, and which of the others belong to pre-activations that tend to 0."""
        field, mode = self.loop.field, piece.point.mode
        if not field.kinked:
            return np.ones(mode.shape, dtype=bool), np.zeros(mode.shape, dtype=bool)
        products = np.broadcast_to(piece.margin(INFINITY), mode.shape)
        margin = products + piece.spectral_margin()
        still = (piece.mixed.modes.images == 0.0).all(axis=2) | (field.operator.diagonal == 0.0)
        sure = np.where(mode > 0, primal > margin, primal < -margin) | (still & (mode * primal >= 0.0) & (mode < 0))
        largest = float(np.abs(field.labels).max() or np.abs(primal).max())
        width = np.minimum(REST_MARGINS * margin, REST_AT_MOST * largest)
        return sure, ~sure & (mode != 0) & (np.abs(primal) <= width)

    def _names(self, mask: NDArray[np.bool_]) -> list[str]:
        return [self.start.problem.sample(i) for i in sorted({int(i) for i in np.nonzero(mask)[1]})]

    def _twofold(self) -> str:
        """Name the moments at which the flow was not unique."""
        events = [event for event in self.loop.diary.events if not event[4]]
        if not events:
            return ""
        names = listed(f"{self.start.problem.sample(event[2])} (time {number(event[0])})" for event in events)
        return f" The flow is not unique: {names} turned repelling on the kink and was sent to the side that it took."

    def _needed(self, primal: Array, dead: dict[int, float]) -> dict[int, int]:
        """Dead neurons whose sign some labels that are not fitted have."""
        labels, signs = self.loop.field.labels, self.loop.field.signs
        unfitted = np.abs(self.loop.field.residual(primal)) > INTERPOLATED * np.abs(labels).max(initial=0.0)
        missed = {k: int(np.sum(unfitted & (np.sign(labels) == signs[k]))) for k in dead}
        return {k: some for k, some in missed.items() if some}

    def _death(self, needed: dict[int, int], dead: dict[int, float]) -> str:
        signs = self.loop.field.signs
        which = "the neuron" if len(signs) == 1 else f"neuron {listed([str(k + 1) for k in needed])}"
        times = listed([number(time) for time in sorted({dead[k] for k in needed})])
        kinds = " and ".join(sorted({"positive" if signs[k] > 0 else "negative" for k in needed}))
        return (
            f"{which} lost its last active sample at time {times} and never moves again, although "
            f"{max(needed.values())} {kinds} labels are not fitted; try standardised features or another start."
            f"{self._twofold()}"
        )

    def _stopped(self, end: str) -> tuple[Status, str]:
        """A run that ended before its limit."""
        loop = self.loop
        now, changes = number(loop.point.time), count(loop.diary.changes, "change")
        if end == "reached":
            text = f"time {number(loop.until)} is reached; this is not the limit."
            return Status.REACHED, text + self._twofold()
        if end == "interrupted":
            return Status.INTERRUPTED, f"interrupted at time {now}; continue_ goes on from there."
        if end == "ties":
            return (
                Status.BUDGET,
                f"given up at time {now}: several samples are at the kink in a tie that rounding hides.",
            )
        text = f"the {loop.max_events:,} events allowed are spent at time {now} after {changes} of pattern"
        return Status.BUDGET, f"{text}; continue_ goes on from there.{self._twofold()}"


def _stable_step(piece: Piece) -> float:
    """2/λ_max(H) of the slopes at the end, 0 for sliders."""
    union, matrix = piece.field.operator.curvature(piece.field.slopes(piece.point.mode))
    if not len(union):
        return math.inf
    largest = scipy.linalg.eigvalsh(matrix, check_finite=False)[-1]
    return 2.0 / float(largest)
