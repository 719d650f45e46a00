"""The loop of gradient flow: one piece after the other, and what happens between them.

A piece is linear and ends where a pre-activation reaches zero or a slider's speed an end of its box; there the zeros of
the neurons concerned are resolved (:mod:`relubias.dynamics.sliding`), and the next piece begins. The loop ends at the
time asked for, or with a piece that no event can end: its end at t = ∞ is the limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from relubias.dynamics.exponentials import INFINITY
from relubias.dynamics.interrupts import undisturbed
from relubias.dynamics.pieces import BETA, ERRORS, Field, Next, Piece, Point
from relubias.dynamics.run import FLOW_EVENT, Progress, Run
from relubias.dynamics.sliding import GRADIENT_MARGIN, BoxMinimum, Kink, Zeros, first_order, second_order
from relubias.dynamics.trajectory import Recorder
from relubias.linalg.factor import EPS
from relubias.linalg.gram import Array

#: Events in a row, per pair of neuron and sample, at one and the same time: a tie that has no end.
TIES = 4
#: Events in a row at one and the same time, before those that come again are left to rest.
PATIENCE = 8
#: A mode has decayed to nothing when only e to minus this is left of it.
DECAYED = 40.0


@dataclass
class Diary:
    """What has happened so far.

    Attributes
    ----------
    logged : ndarray of int8, shape (n_neurons, n_samples)
        +1 on, −1 off, 0 at zero, as last reported.
    last_change : ndarray, shape (n_neurons, n_samples)
        Times of the last change.
    changes : int
        Times at which something changed.
    """

    logged: NDArray[np.int8]
    last_change: Array
    events: list[tuple[float, int, int, int, bool]]
    changes: int = 0
    latest: float = -1.0

    @classmethod
    def of(cls, run: Run, logged: NDArray[np.int8]) -> Diary:
        """The diary of a run that goes on."""
        events = [(float(t), int(k), int(i), int(kind), bool(one)) for t, k, i, kind, one in run.events]
        latest = events[-1][0] if events else -1.0
        return cls(logged.copy(), run.last_change.astype(np.float64), events, run.pattern_changes, latest)

    def note(self, time: float, neuron: int, index: NDArray[np.intp], kind: NDArray[np.int8], unique: Array) -> None:
        """Log those samples of a neuron whose mode is another than before."""
        fresh = np.flatnonzero((self.logged[neuron, index] != kind) | ~unique.astype(bool))
        for i in fresh:
            self.events.append((time, neuron, int(index[i]), int(kind[i]), bool(unique[i])))
        if not len(fresh):
            return
        self.logged[neuron, index] = kind
        self.last_change[neuron, index[fresh]] = time
        self.changes += time != self.latest
        self.latest = time

    def as_array(self) -> NDArray[np.void]:
        """The events in order of time."""
        return np.array(self.events, dtype=FLOW_EVENT)


@dataclass
class FlowLoop:
    """A run of gradient flow in motion.

    Attributes
    ----------
    point : Point
        Where the present piece begins.
    until : float
        Time at which to stop; infinite for the limit.
    max_events : int
        Events allowed, those of `pieces` included.
    pieces : int
        Pieces so far: one eigendecomposition each.
    """

    field: Field
    point: Point
    diary: Diary
    recorder: Recorder
    until: float
    max_events: int
    endless: bool
    progress: Callable[[Progress], None] | None = None
    pieces: int = 0
    at_once: int = 0
    piece: Piece | None = None

    @classmethod
    def begin(cls, field: Field, primal: Array, dual: Array) -> Point:
        """The point at time 0: on and off are the signs of β; zeros are off until they are resolved."""
        mode = np.where((primal > 0) | (not field.kinked), 1, -1).astype(np.int8)
        error = ERRORS * EPS * (np.abs(field.labels) + np.abs(primal).sum(axis=0))
        contact = np.zeros(mode.shape, dtype=np.int8)
        return Point(0.0, primal.copy(), dual.copy(), field.residual(primal), error, mode, contact)

    def settle_start(self) -> None:
        """Resolve the zeros of the start."""
        zero = (self.point.primal == 0.0) & (self.field.operator.diagonal > 0.0)
        if self.field.kinked and zero.any():
            self._resolve(self.point, np.zeros_like(self.point.mode), np.flatnonzero(zero.any(axis=1)))

    def run(self) -> str:
        """Go on until something ends it: limit, reached, budget, ties or interrupted."""
        try:
            while True:
                with undisturbed():
                    end = self._turn()
                if end:
                    return end
                if self.progress is not None:
                    loss = 0.5 * float(np.sum(np.square(self.point.residual)))
                    self.progress(
                        Progress(self.pieces, self.diary.changes, loss, self.pieces, self.max_events, flow=True)
                    )
        except KeyboardInterrupt:
            return "interrupted"

    def _turn(self) -> str:
        """One piece and the event that ends it."""
        start = self.point.time
        self.piece = Piece.of(self.field, self.point)
        self.pieces += 1
        if self.until <= start:
            self._record(self.piece, self.until)
            return "reached"
        coming = self.piece.search(self.until - start)
        if not len(coming.neurons) and start + coming.time >= self.until:
            self._record(self.piece, self.until)
            return "limit" if self.until == INFINITY else "reached"
        if self.pieces >= self.max_events:
            return "budget"
        self.at_once = 0 if start + coming.time > start else self.at_once + 1
        if self.at_once > TIES * self.point.mode.size + 20:
            return "ties"
        self._record(self.piece, start + coming.time)
        self._pass(self.piece, coming)
        return ""

    def _record(self, piece: Piece, last: float) -> None:
        """Record the wanted times of a piece up to `last`."""
        if last == INFINITY and self.endless:
            slowest = float(piece.rates[0]) if len(piece.rates) else INFINITY
            last = piece.point.time + DECAYED / slowest
        for time in self.recorder.due(last):
            ahead = max(0.0, time - piece.point.time)
            self.recorder.keep(time, piece.primal_at(ahead), piece.dual_at(ahead))

    def _pass(self, piece: Piece, coming: Next) -> None:
        """Move to the end of a piece and begin the next."""
        at, time = piece.point, piece.point.time + coming.time
        primal, dual = piece.primal_at(coming.time), piece.dual_at(coming.time)
        residual, error = piece.residual_at(coming.time), piece.error_at(coming.time)
        at_rest = (at.primal == 0.0) & (at.mode != 0) & (at.contact == 0)
        primal[(at.mode == 0) | at_rest] = 0.0
        ended = np.zeros_like(at.mode)
        for neuron, sample, cause in zip(coming.neurons, coming.samples, coming.causes, strict=True):
            if cause == BETA:
                primal[neuron, sample] = 0.0
            else:
                ended[neuron, sample] = cause
        self._snap(piece, coming, primal)
        # A root is found to rounding: what has not turned yet must not be on the other side.
        wrong = (at.mode * primal < 0.0) & (at.mode != 0)
        primal[wrong] = 0.0
        primal[self.field.together(primal == 0.0)] = 0.0
        fresh = wrong | ((primal == 0.0) & (at.mode != 0) & ~at_rest)
        neurons = np.union1d(np.unique(coming.neurons), np.flatnonzero(fresh.any(axis=1) & (coming.time > 0.0)))
        self._resolve(replace(at, time=time, primal=primal, dual=dual, residual=residual, error=error), ended, neurons)
        if coming.time == 0.0:
            self._break_tie(at, coming)

    def _break_tie(self, before: Point, coming: Next) -> None:
        """What was to change and did not, though no time has passed, rests on the kink until rounding lets it go."""
        mode, contact = self.point.mode.copy(), self.point.contact.copy()
        for neuron, sample, cause in zip(coming.neurons, coming.samples, coming.causes, strict=True):
            if mode[neuron, sample] == before.mode[neuron, sample] or self.at_once > PATIENCE:
                contact[neuron, sample] = 0
                mode[neuron, sample] = before.mode[neuron, sample] if cause == BETA else cause
        self.point = replace(self.point, mode=mode, contact=contact)

    def _snap(self, piece: Piece, coming: Next, primal: Array) -> None:
        """Samples that reach zero at the same time to rounding reach it together."""
        if not len(coming.neurons) or coming.time == 0.0:
            return
        margin = piece.margin(coming.time)[None, :]
        speeds = piece.primal_at(coming.time * (1 - 1e-6))
        nearing = np.abs(speeds) > np.abs(primal)
        primal[(np.abs(primal) <= margin) & nearing & (piece.point.contact == 0)] = 0.0

    def _resolve(self, at: Point, ended: NDArray[np.int8], neurons: NDArray[np.intp]) -> None:
        """Find the modes of all zeros of these neurons, and begin the next piece."""
        # Those that have just left the kink in other neurons are still on their way.
        mode, contact = at.mode.copy(), np.where(at.primal == 0.0, at.contact, 0).astype(np.int8)
        for neuron, kink in self._kinks(at, ended, neurons).items():
            mode[neuron, kink.index] = kink.mode
            contact[neuron, kink.index] = kink.contact
            reported = np.where(kink.contact > 0, kink.mode, 0).astype(np.int8)
            self.diary.note(at.time, neuron, kink.index, reported, kink.unique)
        self.point = replace(at, mode=mode, contact=contact)

    def _kinks(self, at: Point, ended: NDArray[np.int8], neurons: NDArray[np.intp]) -> dict[int, Kink]:
        """How the zeros of these neurons go on."""
        field, primal, mode, residual = self.field, at.primal, at.mode, at.residual
        zero = (primal == 0.0) & (field.operator.diagonal > 0.0)
        leading = field.lead == np.arange(len(field.lead))
        zeros = {
            int(k): Zeros(those := np.flatnonzero(zero[k] & leading), mode[k, those], ended[k, those])
            for k in neurons
            if zero[k].any()
        }
        slopes = field.slopes(mode)
        for k in zeros:
            slopes[k, zero[k]] = 0.0
        ends = field.sides(residual)
        first = {
            k: first_order(field.operator, those, field.signs[k], (residual, at.error), ends, slopes[k])
            for k, those in zeros.items()
        }
        for k, those in zeros.items():
            slopes[k] += self._resolved_slopes(those, first[k], zero[k])
        change = self._change(residual, mode, slopes, zeros, first)
        ends_change = field.sides(change[0])
        return {
            k: self._spread(
                second_order(
                    field.operator,
                    those,
                    first[k],
                    field.signs[k],
                    (residual, at.error),
                    ends,
                    change,
                    ends_change,
                    slopes[k],
                ),
                zero[k],
            )
            for k, those in zeros.items()
        }

    def _resolved_slopes(self, zeros: Zeros, found: BoxMinimum, zero: NDArray[np.bool_]) -> Array:
        """φ′ of the zeros whose side is known, shape (n_samples,), members of their classes included."""
        side = np.zeros(len(zero), dtype=np.int8)
        side[zeros.index] = np.where(found.resolved, found.place, 0)
        members = side[self.field.lead] * np.sign(self.field.ratio)
        return np.where(zero, self.field.slopes(members.astype(np.int8)), 0.0)

    def _spread(self, kink: Kink, zero: NDArray[np.bool_]) -> Kink:
        """What holds for the first sample of a class, said of all its members."""
        field, at = self.field, np.flatnonzero(zero)
        where = np.zeros(len(zero), dtype=np.intp)
        where[kink.index] = np.arange(len(kink.index))
        rows = where[field.lead[at]]
        mode = (kink.mode[rows] * np.sign(field.ratio[at])).astype(np.int8)
        return Kink(at, mode, kink.contact[rows], kink.unique[rows])

    def _change(
        self,
        residual: Array,
        mode: NDArray[np.int8],
        slopes: Array,
        zeros: dict[int, Zeros],
        first: dict[int, BoxMinimum],
    ) -> tuple[Array, Array]:
        """ṙ with the speeds that have just been found, and a bound of its rounding error."""
        field = self.field
        change, noise = np.zeros(len(residual)), np.zeros(len(residual))
        for k, sign in enumerate(field.signs):
            rates = -sign * slopes[k] * residual
            if k in zeros:
                rates[zeros[k].index] = first[k].speeds
            else:
                held = np.flatnonzero(mode[k] == 0)
                if len(held):
                    part = self.piece.mixed.held[k] if self.piece is not None else None
                    if part is not None and len(part.index):
                        rates[part.index] = part.speeds(rates)
            change += sign * slopes[k] * field.operator.matvec(rates)
            noise += GRADIENT_MARGIN * slopes[k] * field.operator.image_error(rates)
        return change, noise
