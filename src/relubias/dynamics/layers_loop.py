"""The loop of the flow of both layers: steps of the integrator, events between them.

After each step all margins are looked at; where one has fallen below zero, the first root within the step is found on
the dense output, the zeros of the neurons concerned are settled, and integration starts anew from there. Whatever is
closer to zero than a hundredth of the tolerance counts as zero. The loop ends at the time asked for, where no neuron
moves any more relative to its own size, or where its steps are spent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relubias.dynamics.flowing import Diary
from relubias.dynamics.interrupts import undisturbed
from relubias.dynamics.layers_field import LayersField, LayersPoint
from relubias.dynamics.run import Progress
from relubias.dynamics.trajectory import Recorder
from relubias.linalg.factor import EPS
from relubias.linalg.gram import Array

#: How near zero counts as zero, as a fraction of the tolerance.
NEAR = 0.01
#: The flow has ended where relative speeds are below so many tolerances of the fastest growth.
SLOW = 10.0
#: Absolute errors allowed, as a fraction of the relative ones at the start: small starts are what matters here.
START = 1e-3
#: Events in a row, per pair of neuron and sample, at one and the same time: a tie that has no end.
TIES = 4


class LayersLoop:
    """A run of the flow of both layers in motion.

    Parameters
    ----------
    field : LayersField
    point : LayersPoint
        Where it is; the beginning of the present piece during a step.
    diary : Diary
    until : float
        Time at which to stop; infinite for as long as anything moves.
    budget : int
        Steps of the integrator allowed.
    accuracy : float
        Relative tolerance of the integration.
    recorder : Recorder
    endless : bool
        Whether the recorded times have no end of their own.
    progress : callable or None
    """

    def __init__(
        self,
        field: LayersField,
        point: LayersPoint,
        diary: Diary,
        *,
        until: float,
        budget: int,
        accuracy: float,
        recorder: Recorder[float],
        endless: bool,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.field, self.point, self.diary = field, point, diary
        self.until, self.budget, self.accuracy = until, budget, accuracy
        self.recorder, self.endless, self.progress = recorder, endless, progress
        self.turns = self.at_once = 0
        self.absolute = START * accuracy * self._sizes(point)
        self.solver: Any = None

    def settle_start(self) -> None:
        """Resolve the zeros of the start."""
        if self.field.kinked:
            zero = (self.point.primal == 0.0) & (self.field.operator.diagonal > 0.0)
            self._settle(zero)

    def run(self) -> str:
        """Go on until something ends it: reached, converged, budget, ties, stiff or interrupted."""
        try:
            while True:
                with undisturbed():
                    end = self._turn()
                if end:
                    return end
                if self.progress is not None:
                    residual = self.field.residual(self.slopes, self.point.primal, self.point.outer)
                    loss = 0.5 * float(residual @ residual)
                    self.progress(Progress(self.turns, self.diary.changes, loss, self.turns, self.budget))
        except KeyboardInterrupt:
            return "interrupted"

    @property
    def slopes(self) -> Array:
        """φ′ in the present modes."""
        return self.field.slopes(self.point.mode)

    def _turn(self) -> str:
        """One step of the integrator, and the event that ends it, if any."""
        for time in self.recorder.due(self.point.time):
            self.recorder.keep(time, self.point.primal, self.point.dual, self.point.outer)
        if self.point.time >= self.until:
            return "reached"
        if self._rests():
            return self._at_rest()
        if self.turns >= self.budget:
            return "budget"
        if self.solver is None:
            self._begin_piece()
        self.turns += 1
        self.solver.step()
        if self.solver.status == "failed":
            return "stiff"
        after = self._at(self.solver.t, self.solver.y)
        if self.field.kinked and np.any(self._slack(after) < 0.0):
            self._event(after)
        else:
            self._record_up_to(after.time)
            self.point = after
        return "ties" if self.at_once > TIES * self.point.mode.size + 20 else ""

    def _begin_piece(self) -> None:
        """Start the integrator at the present point, in the present modes."""
        from scipy.integrate import DOP853

        shape, size, at = self.point.mode.shape, self.point.mode.size, self.point
        field, slopes, self.held = self.field, self.slopes, self.field.held(at.mode)

        def speed(_: float, values: Array) -> Array:
            primal, outer = values[:size].reshape(shape), values[2 * size :]
            moving = field.velocity(slopes, self.held, primal, outer)
            return np.concatenate([moving.primal.ravel(), moving.dual.ravel(), moving.outer])

        values = np.concatenate([at.primal.ravel(), at.dual.ravel(), at.outer])
        self.solver = DOP853(speed, at.time, values, self.until, rtol=self.accuracy, atol=self.absolute)  # type: ignore[arg-type]

    def _at(self, time: float, values: Array) -> LayersPoint:
        size, shape, mode = self.point.mode.size, self.point.mode.shape, self.point.mode
        primal, dual = values[:size].reshape(shape).copy(), values[size : 2 * size].reshape(shape).copy()
        return LayersPoint(float(time), primal, dual, values[2 * size :].copy(), mode)

    def _slack(self, point: LayersPoint) -> Array:
        """The margins, and what errors of integration may take off them."""
        field = self.field
        widths = field.widths(point.mode, point.primal, point.outer, NEAR * self.accuracy)
        return field.margins(point.mode, self.held, point.primal, point.outer) + widths

    def _event(self, after: LayersPoint) -> None:
        """Go back to the first moment at which a margin was lost, and settle what is at zero there."""
        from scipy.optimize import brentq

        dense = self.solver.dense_output()
        before = self.point.time

        def least(time: float) -> float:
            return float(self._slack(self._at(time, dense(time))).min())

        time = before
        if least(before) > 0.0:
            time = float(brentq(least, before, after.time, xtol=4 * EPS * abs(after.time), rtol=4 * EPS))
        self.at_once = self.at_once + 1 if time <= before else 0
        self._record_up_to(time, dense)
        self.point = self._at(time, dense(time)) if time > before else self.point
        slack = self._slack(self.point)
        widths = self.field.widths(self.point.mode, self.point.primal, self.point.outer, NEAR * self.accuracy)
        lost = slack <= 0.5 * widths
        lost |= slack == slack.min()
        self.solver = None
        self._settle(lost)

    def _settle(self, lost: NDArray[np.bool_]) -> None:
        """Find new modes for the zeros of the neurons that have lost a margin."""
        field = self.field
        near = field.widths(
            np.ones_like(self.point.mode), self.point.primal, self.point.outer, 4 * NEAR * self.accuracy
        )
        for neuron in np.flatnonzero(lost.any(axis=1)):
            at = self.point
            zero = lost[neuron] | (at.mode[neuron] == 0) | (np.abs(at.primal[neuron]) <= near[neuron])
            index = np.flatnonzero(zero & (field.operator.diagonal > 0.0))
            if not len(index):
                continue
            settled = field.settle(at, int(neuron), index, self.accuracy)
            self.point = field.moved(at, int(neuron), settled)
            self.diary.note(at.time, int(neuron), index, settled.mode, settled.unique)

    def _record_up_to(self, last: float, dense: Any = None) -> None:
        """Record the wanted times of the step that has just been taken, up to `last`."""
        times = self.recorder.due(last)
        if times and dense is None:
            dense = self.solver.dense_output()
        for time in times:
            point = self._at(time, dense(time))
            self.recorder.keep(time, point.primal, point.dual, point.outer)

    def _at_rest(self) -> str:
        """Nothing moves any more; later times see the same state."""
        last = self.point.time if self.endless else self.until
        for time in self.recorder.due(last):
            self.recorder.keep(time, self.point.primal, self.point.dual, self.point.outer)
        if self.until < math.inf:
            self.point = replace(self.point, time=self.until)
            return "reached"
        return "converged"

    def _rests(self) -> bool:
        """Whether each neuron is slow relative to its size, or too small for the predictions and fading."""
        field, at = self.field, self.point
        moving = field.velocity(self.slopes, field.held(at.mode), at.primal, at.outer)
        sizes, speeds = np.abs(at.primal).max(axis=1), np.abs(moving.primal).max(axis=1)
        slow = SLOW * self.accuracy * field.rate
        still = (speeds <= slow * sizes) & (np.abs(moving.outer) <= slow * np.abs(at.outer))
        small = np.abs(at.outer) * sizes <= EPS * np.abs(field.labels).max()
        fading = (np.sum(moving.primal * at.primal, axis=1) <= 0.0) & (moving.outer * at.outer <= 0.0)
        return bool(np.all(still | (small & fading)))

    def _sizes(self, point: LayersPoint) -> Array:
        """The size of each number that is integrated, by its neuron."""
        shape = point.mode.shape

        def spread(values: Array) -> Array:
            own = np.abs(values).max(axis=1)
            own = np.maximum(own, EPS * max(float(own.max()), np.finfo(np.float64).tiny / EPS))
            return np.broadcast_to(own[:, None], shape).ravel()

        outer = np.abs(point.outer)
        outer = np.maximum(outer, EPS * float(outer.max() or 1.0))
        return np.concatenate([spread(point.primal), spread(point.dual), outer])
