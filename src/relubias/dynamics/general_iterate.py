"""The moving state of gradient descent by its definition, and one step of it.

As in :mod:`relubias.dynamics.stepping`, β is carried by its own recursion, β_k ← β_k − K (η a_k σ′(β_k) ∘ ℓ′), and
products with K pass through its factor where it has one. What is to come depends on β and a alone, so that a state of
the two that returns bit by bit repeats for ever (Brent: earlier states are kept at doubling steps). Over each of these
doubling windows it is also asked whether anything has moved beyond rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relubias.activations import Activation
from relubias.dynamics.run import EVENT, GeneralResume, Run
from relubias.dynamics.stepping import DIVERGENCE, LISTED_EVENTS, ZONE
from relubias.linalg.factor import EPS, GramOperator
from relubias.linalg.gram import Array
from relubias.losses import Loss
from relubias.state import State

#: Why `advance` came back: all steps done; the gradient is exactly zero; nothing has moved beyond rounding over a
#: window; an earlier state has returned bit by bit; overflow.
STEPS, FROZEN, RESTING, RETURNED, DIVERGED = "steps", "frozen", "resting", "returned", "diverged"
#: The shortest window over which rest is looked for, in steps.
WINDOW = 1024
#: Rounding errors beyond one a step that are no motion.
REST = 64.0


@dataclass
class GeneralIterate:
    """Gradient descent in motion: everything that a step reads or writes.

    Attributes
    ----------
    trained : bool
        Whether the output weights move.
    primal, dual : ndarray, shape (n_neurons, n_samples)
        β and the raw α, whose part in the kernel of K may drift.
    outer : ndarray, shape (n_neurons,)
        a.
    logged, last_change : ndarray, shape (n_neurons, n_samples)
        +1 where a sample was last reported active, −1 where inactive, and the step of that; for activations for which
        the sign of β matters by itself.
    zero : ndarray, shape (n_samples,)
        |β| up to this may be rounding, so that a change of sign within is not an event.
    anchor, anchor_outer, anchor_steps
        An earlier state and its step.
    """

    operator: GramOperator
    labels: Array
    activation: Activation
    loss: Loss
    trained: bool
    step_size: float
    primal: Array
    dual: Array
    outer: Array
    logged: NDArray[np.int8]
    last_change: NDArray[np.int64]
    zero: Array
    divergence: float
    anchor: Array
    anchor_outer: Array
    anchor_steps: int = 0
    steps: int = 0
    changes: int = 0
    events: list[NDArray[Any]] = field(default_factory=list)
    listed: int = 0
    dropped: int = 0

    @classmethod
    def begin(cls, start: State, loss: Loss, step_size: float) -> GeneralIterate:
        """The iterate at step 0."""
        operator, labels = start.problem.operator, start.problem.labels
        reach = float(np.linalg.norm(labels) + np.linalg.norm(start.primal))
        trace = float(operator.diagonal.sum())
        outer = np.array(start.output_weights, dtype=np.float64)
        largest = max(float(np.abs(values).max()) for values in (labels, start.primal, outer))
        return cls(
            operator=operator,
            labels=labels,
            activation=start.network.activation,
            loss=loss,
            trained=start.network.train_output,
            step_size=step_size,
            primal=np.array(start.primal, order="C"),
            dual=np.array(start.dual, order="C"),
            outer=outer,
            logged=np.where(start.pattern, 1, -1).astype(np.int8),
            last_change=np.zeros(start.primal.shape, dtype=np.int64),
            zero=ZONE * EPS * operator.roots * step_size * np.sqrt(trace) * reach,
            divergence=DIVERGENCE * (largest or 1.0),
            anchor=start.primal.copy(),
            anchor_outer=outer.copy(),
        )

    @property
    def hidden(self) -> Array:
        """σ(β), shape (n_neurons, n_samples)."""
        return self.activation.value(self.primal)

    @property
    def slopes(self) -> Array:
        """a_k σ′(β_k), shape (n_neurons, n_samples): what a sample moves of each neuron, by its ℓ′."""
        return self.outer[:, None] * self.activation.slope(self.primal)

    @property
    def predictions(self) -> Array:
        """f, shape (n_samples,)."""
        return self.outer @ self.hidden

    def advance(self, max_steps: int, limits: tuple[float, float] | None = None, /) -> str:
        """Take up to `max_steps` steps and say why it ended; a `limits` as of other iterates has no effect."""
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(max_steps):
                reason = self._step()
                if reason != STEPS:
                    return reason
        return STEPS

    def _step(self) -> str:
        hidden = self.hidden
        pull = self.loss.slope(self.outer @ hidden, self.labels)
        # A sample that is zero moves no weights.
        moves = self.step_size * self.slopes * (pull * (self.operator.diagonal > 0))
        outer = self.outer - self.step_size * (hidden @ pull) if self.trained else self.outer
        if not moves.any() and np.array_equal(outer, self.outer):
            return FROZEN
        primal = self.primal - self.operator.matvec(moves.T).T
        peak = max(float(np.abs(primal).max()), float(np.abs(outer).max()))
        if not peak < self.divergence:
            return DIVERGED  # the state before is the last one with which one can still reckon
        self.dual = self.dual - moves
        self.primal, self.outer = primal, outer
        self.steps += 1
        if self.activation.has_pattern:
            self._log()
        return self._compare()

    def _compare(self) -> str:
        """Compare with the earlier state, which is renewed at doubling steps."""
        if (
            self.primal[0, 0] == self.anchor[0, 0]
            and np.array_equal(self.primal, self.anchor)
            and np.array_equal(self.outer, self.anchor_outer)
        ):
            return RETURNED
        if self.steps < 2 * self.anchor_steps:
            return STEPS
        resting = self.steps - self.anchor_steps >= WINDOW and self._rests()
        self.anchor, self.anchor_outer, self.anchor_steps = self.primal, self.outer, self.steps
        return RESTING if resting else STEPS

    def _rests(self) -> bool:
        """Whether no neuron has moved beyond rounding since the earlier state; one that fades away is at rest too.

        Where several neurons share a sample, or samples are dependent, there are directions in which nothing pulls back
        and rounding errors add up. So a window may be as wide as the rounding errors of all its steps together: those
        of f, which ℓ′ passes on, and those of the result.
        """
        hidden, length = self.hidden, self.steps - self.anchor_steps
        blur = EPS * (np.abs(self.outer) @ np.abs(hidden) + np.abs(self.labels)) * self.loss.curvature(self.labels)
        roots = np.sqrt(self.operator.diagonal)
        reach = self.step_size * np.outer(np.abs(self.slopes) @ (roots * blur), roots)
        layers = [(self.primal, self.anchor, reach)]
        if self.trained:
            width = self.step_size * (np.abs(hidden) @ blur)
            layers.append((self.outer[:, None], self.anchor_outer[:, None], width[:, None]))
        scale = max(float(np.abs(self.primal).max()), float(np.abs(self.labels).max()))
        rests = True
        for now, before, width in layers:
            size, earlier = np.abs(now).max(axis=1), np.abs(before).max(axis=1)
            still = np.all(np.abs(now - before) <= (REST + length) * (width + EPS * size[:, None]), axis=1)
            rests &= bool(np.all(still | ((size <= earlier) & (size <= EPS * scale))))
        return rests

    def _log(self) -> None:
        """List the samples whose β has changed its sign."""
        changed = ((self.primal > 0) != (self.logged > 0)) & (np.abs(self.primal) > self.zero)
        if not changed.any():
            return
        neurons, samples = np.nonzero(changed)
        self.logged[changed] *= -1
        self.last_change[changed] = self.steps
        self.changes += 1
        kept = max(0, min(len(neurons), LISTED_EVENTS - self.listed))
        rows = np.empty(kept, dtype=EVENT)
        rows["time"], rows["neuron"], rows["sample"] = self.steps, neurons[:kept], samples[:kept]
        rows["kind"] = self.logged[neurons[:kept], samples[:kept]]
        self.events.append(rows)
        self.listed += kept
        self.dropped += len(neurons) - kept

    def repeat(self, period: int, turns: int) -> None:
        """Go `turns` times round the cycle of `period` steps that the state is on: only α and the counts move."""
        walker = self.copy()
        walker.advance(period)
        self.dual = self.dual + turns * (walker.dual - self.dual)
        self.changes += turns * (walker.changes - self.changes)
        self.dropped += turns * (walker.dropped + walker.listed - self.dropped - self.listed)
        again = walker.last_change > self.last_change
        self.last_change[again] = walker.last_change[again] + (turns - 1) * period
        self.steps += turns * period

    def copy(self) -> GeneralIterate:
        """An independent iterate at the same state, with no events of its own."""
        return replace(self, logged=self.logged.copy(), last_change=self.last_change.copy(), events=[])

    def all_events(self) -> NDArray[Any]:
        """The listed events in order of time."""
        return np.concatenate(self.events) if self.events else np.empty(0, dtype=EVENT)

    def resume(self) -> GeneralResume:
        """What is needed to go on later, bit for bit."""
        return GeneralResume(self.primal.copy(), self.dual.copy(), self.outer.copy(), self.logged.copy())

    def restore(self, saved: GeneralResume, run: Run) -> None:
        """Become the iterate that `run` ended with."""
        self.primal, self.dual, self.outer = saved.primal.copy(), saved.dual.copy(), saved.outer.copy()
        self.logged, self.last_change = saved.logged.copy(), run.last_change.astype(np.int64)
        self.steps, self.changes, self.dropped = run.steps, run.pattern_changes, run.events_dropped
        self.events, self.listed = [run.events], len(run.events)
        self.anchor, self.anchor_outer, self.anchor_steps = self.primal, self.outer, self.steps
