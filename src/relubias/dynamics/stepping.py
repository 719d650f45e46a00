"""The moving state of gradient descent, and plain steps on it.

One step reads the active columns of K only and costs 2 n Σ_k |A_k| flops (the loop is in
:mod:`relubias.dynamics.kernel`). β is carried by its own recursion, not recomputed from α: the recursion
contracts rounding errors, whereas Kα cancels where K is ill conditioned.

A sample is *logged* as on or off with a dead zone around zero of the size of some steps' rounding errors,

    z_i = 64 ε √K_ii · η √(tr K) (‖y‖ + ‖β₀‖),

so that no change of pattern is reported that rounding alone could have made. σ itself knows no dead zone: a sample
that is switched inside it while its residual is not zero has really changed, and is logged.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relubias.dynamics.run import EVENT, Resume
from relubias.dynamics.twins import leaders, without_differences
from relubias.linalg.factor import EPS, GramOperator, Slopes
from relubias.linalg.gram import Array
from relubias.state import State

#: Events that one call of the compiled loop can hand over, beyond those of its last step.
BUFFER = 65_536
#: Latest events that are kept to look for a cycle.
RECENT_EVENTS = 4 * BUFFER
#: Events that a run lists; later ones are counted only.
LISTED_EVENTS = 1_000_000
#: Width of the dead zone, in rounding errors of one step: errors of inactive samples add up.
ZONE = 64.0
#: A state that comes back within so many half widths of the dead zone may be on a cycle.
NEAR = 2.0**14
#: |β| beyond this multiple of the problem's own scale is divergence.
DIVERGENCE = 1e50


@dataclass
class Iterate:
    """Gradient descent in motion: everything that a step reads or writes.

    Attributes
    ----------
    primal, dual : ndarray, shape (n_neurons, n_samples)
        β and the raw α, whose part in the kernel of K may drift.
    logged : ndarray of int8, shape (n_neurons, n_samples)
        +1 where the sample was last reported active, −1 where inactive.
    zero : ndarray, shape (n_samples,)
        Half width of the dead zone.
    steps : int
        Steps since the start, plain and leapt.
    below : float
        σ′(z) for z ≤ 0: 0 for a ReLU, where inactive samples move nothing; 1 for the identity, which has no kink.
    quiet : float
        Flops spent on plain steps since the last change of pattern or the last leap.
    flops : float
        Work done so far.
    certificate_tried : bool
        Whether the cheap certificate has been tried since the last change.
    anchor, anchor_steps
        An earlier state and its step; a state that returns to it bit by bit repeats for ever.
    first : ndarray of int, shape (n_samples,), or None
        For each sample the first one that it coincides with; None if there are no twins.
    remembers : bool
        Whether the latest events are kept, for the search for cycles.
    near_from : int
        From this step on, a state that nearly returns is noticed as well.
    """

    operator: GramOperator
    labels: Array
    signs: Array
    below: float
    step_size: float
    primal: Array
    dual: Array
    logged: NDArray[np.int8]
    last_change: NDArray[np.int64]
    zero: Array
    divergence: float
    anchor: Array
    anchor_steps: int = 0
    near_from: int = 0
    steps: int = 0
    quiet: float = 0.0
    flops: float = 0.0
    certificate_tried: bool = False
    changes: int = 0
    events: list[NDArray[Any]] = field(default_factory=list)
    listed: int = 0
    dropped: int = 0
    recent: list[NDArray[np.int64]] = field(default_factory=list)
    recent_count: int = 0
    remembers: bool = True
    first: NDArray[np.intp] | None = None

    def __post_init__(self) -> None:
        factor = self.operator.factor
        self._factor = np.empty((self.primal.shape[1], 0)) if factor is None else factor
        self._transposed = np.ascontiguousarray(self._factor.T)
        self._buffer = np.empty((BUFFER + self.primal.size, 4), dtype=np.int64)

    def alike(self, primal: Array) -> Array:
        """The same pre-activations, equal for samples that coincide."""
        return primal if self.first is None else np.ascontiguousarray(primal[:, self.first])

    @classmethod
    def begin(cls, start: State, step_size: float) -> Iterate:
        """The iterate at step 0."""
        operator, labels = start.problem.operator, start.problem.labels
        first, primal = leaders(start.problem), np.array(start.primal, order="C")
        if first is not None:
            operator, primal = without_differences(operator, first), np.ascontiguousarray(primal[:, first])
        trace = float(operator.diagonal.sum())
        reach = float(np.linalg.norm(labels) + np.linalg.norm(start.primal))
        zero = ZONE * EPS * operator.roots * step_size * np.sqrt(trace) * reach
        largest = max(float(np.abs(labels).max()), float(np.abs(start.primal).max()))
        return cls(
            operator=operator,
            labels=labels,
            signs=start.network.output_weights,
            below=start.network.activation.slope_below or 0.0,
            step_size=step_size,
            primal=primal,
            dual=np.array(start.dual, order="C"),
            logged=np.where(primal > 0, 1, -1).astype(np.int8),
            last_change=np.zeros(start.primal.shape, dtype=np.int64),
            zero=zero,
            divergence=DIVERGENCE * largest,
            anchor=primal.copy(),
            first=first,
        )

    @property
    def step_flops(self) -> float:
        """Cost of a plain step with every sample active, in flops."""
        from relubias.dynamics import kernel

        n_neurons, n_samples = self.primal.shape
        return kernel.full_step_flops(n_samples, n_neurons, self._factor.shape[1])

    @property
    def pattern(self) -> NDArray[np.bool_]:
        """D = 1[β > 0], shape (n_neurons, n_samples)."""
        return np.asarray(self.primal > 0)

    @property
    def kinked(self) -> bool:
        """Whether σ has a kink, so that a change of sign changes the dynamics."""
        return self.below != 1.0

    @property
    def slopes(self) -> Slopes:
        """D = σ′(β), shape (n_neurons, n_samples); of a ReLU, the pattern itself."""
        return np.where(self.pattern, 1.0, self.below) if self.below else self.pattern

    @property
    def residual(self) -> Array:
        """r = Σ_k s_k σ(β_k) − y, shape (n_samples,)."""
        return self.residual_at(self.primal)

    def residual_at(self, primal: Array) -> Array:
        """r for other pre-activations of this network."""
        return self.signs @ np.where(primal > 0, primal, self.below * primal) - self.labels

    def advance(self, max_steps: int, limits: tuple[float, float]) -> int:
        """Take up to `max_steps` plain steps; stop early where the pattern has been quiet.

        Parameters
        ----------
        max_steps : int
        limits : tuple of float
            Quiet flops after which to come back: before and after the cheap certificate has been tried.

        Returns
        -------
        int
            One of the reasons of :mod:`relubias.dynamics.kernel`.
        """
        from relubias.dynamics import kernel

        limit = limits[1] if self.certificate_tried else limits[0]
        done, reason, n_events, changes, self.quiet, flops, self.anchor_steps = kernel.advance(
            self.operator.gram,
            self._factor,
            self._transposed,
            self.labels,
            self.signs,
            self.below,
            self.step_size,
            self.primal,
            self.dual,
            self.logged,
            self.last_change,
            self.zero,
            self.divergence,
            self._buffer,
            self.anchor,
            self.anchor_steps,
            self.near if self.steps >= self.near_from else np.zeros_like(self.zero),
            self.steps,
            max_steps,
            self.quiet,
            np.array(limits),
            limit,
        )
        self.steps += done
        self.flops += flops
        self.changes += changes
        if changes:
            self.certificate_tried = False
        self._list_events(self._buffer[:n_events])
        return int(reason)

    def copy(self) -> Iterate:
        """An independent iterate at the same state, with no events of its own."""
        return replace(
            self,
            primal=self.primal.copy(),
            dual=self.dual.copy(),
            logged=self.logged.copy(),
            last_change=self.last_change.copy(),
            anchor=self.anchor.copy(),
            events=[],
            recent=[],
            recent_count=0,
            remembers=False,
        )

    def move_to(self, primal: Array, dual: Array, steps: int) -> None:
        """Leap to the given state, `steps` steps on, without a change of pattern on the way."""
        self.primal, self.dual = np.ascontiguousarray(self.alike(primal)), np.ascontiguousarray(dual)
        self.steps += steps
        self.anchor, self.anchor_steps = self.primal.copy(), self.steps

    def repeat(self, period: int, times: int) -> None:
        """Go around a cycle: the state is the same `period` steps ago. One turn is stepped, the others are counted."""
        self.anchor, self.anchor_steps = self.primal.copy(), self.steps
        if times < 1:
            return
        first, changes, events = self.steps, self.changes, self.listed + self.dropped
        while self.steps < first + period:
            self.advance(first + period - self.steps, (np.inf, np.inf))
        skipped = (times - 1) * period
        self.changes += (times - 1) * (self.changes - changes)
        self.dropped += (times - 1) * (self.listed + self.dropped - events)
        self.last_change[self.last_change > first] += skipped
        self.steps += skipped
        self.recent, self.recent_count = [], 0
        self.anchor, self.anchor_steps = self.primal.copy(), self.steps

    def place(self, primal: Array) -> None:
        """Put the state where rounding-free steps would have it; α follows from β."""
        self.primal = np.ascontiguousarray(self.alike(primal))
        self.dual = np.ascontiguousarray(self.operator.pseudo_solve(self.primal))
        self.anchor, self.anchor_steps = self.primal.copy(), self.steps

    @property
    def near(self) -> Array:
        """How near each entry of β must come to an earlier one for a return, shape (n_samples,)."""
        return NEAR * self.zero

    @property
    def has_returned(self) -> bool:
        """Whether the state is the anchor's, bit by bit."""
        return np.array_equal(self.primal, self.anchor)

    def recent_events(self) -> NDArray[np.int64]:
        """The latest changes of pattern, shape (n_events, 4): step, neuron, sample, kind; in order of time."""
        if len(self.recent) > 1:
            self.recent = [np.concatenate(self.recent)]
        return self.recent[0] if self.recent else np.empty((0, 4), dtype=np.int64)

    def _list_events(self, rows: NDArray[np.int64]) -> None:
        if len(rows) and self.remembers:
            self.recent.append(rows.copy())
            self.recent_count += len(rows)
            if self.recent_count > 2 * RECENT_EVENTS or len(self.recent) > 1000:
                self.recent = [self.recent_events()[-RECENT_EVENTS:].copy()]
                self.recent_count = len(self.recent[0])
        kept = rows[: max(0, LISTED_EVENTS - self.listed)]
        if len(kept):
            listed = np.empty(len(kept), dtype=EVENT)
            for column, name in enumerate(EVENT.names or ()):
                listed[name] = kept[:, column]
            self.events.append(listed)
        self.listed += len(kept)
        self.dropped += len(rows) - len(kept)

    def all_events(self) -> NDArray[Any]:
        """The listed events in order of time."""
        return np.concatenate(self.events) if self.events else np.empty(0, dtype=EVENT)

    def resume(self) -> Resume:
        """What is needed to go on later, bit for bit."""
        return Resume(
            primal=self.primal.copy(),
            dual=self.dual.copy(),
            logged=self.logged.copy(),
            quiet=self.quiet,
            flops=self.flops,
            certificate_tried=self.certificate_tried,
        )

    def restore(
        self,
        saved: Resume,
        steps: int,
        changes: int,
        events: NDArray[Any],
        dropped: int,
        last_change: NDArray[np.int64],
    ) -> None:
        """Become the iterate that :meth:`resume` described."""
        self.primal, self.dual, self.logged = saved.primal.copy(), saved.dual.copy(), saved.logged.copy()
        self.quiet, self.flops, self.certificate_tried = saved.quiet, saved.flops, saved.certificate_tried
        self.steps, self.changes, self.last_change = steps, changes, last_change.copy()
        self.events, self.listed, self.dropped = [events], len(events), dropped
        self.anchor, self.anchor_steps = self.primal.copy(), steps
