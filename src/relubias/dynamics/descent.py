"""Gradient descent with a fixed step, to any step or to its exact limit.

    w_k ← w_k − η s_k Σ_i 1[β_{k,i} > 0] r_i x_i,        L = ½‖f(X) − y‖²,

run in n-vectors (:mod:`~relubias.dynamics.stepping`), leapt over where the pattern keeps
(:mod:`~relubias.dynamics.leaping`) and ended by a certificate (:mod:`~relubias.dynamics.certificates`).

**Cost rule.** Plain steps while the pattern changes often; once the steps since the last change have cost as many
flops as a certificate, try it; once they have cost as many as an eigendecomposition, leap. At most about twice the work
of the better of the two is done, and since flops are counted, never seconds, a run is the same on a busy machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from relubias import step_sizes
from relubias.dynamics import certificates
from relubias.dynamics.cycles import RESTING, Cycle, cycle_of
from relubias.dynamics.leaping import INFINITY, Leap
from relubias.dynamics.run import INTERPOLATED, Progress, Run
from relubias.dynamics.stepping import Iterate
from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.problem import Problem
from relubias.state import State
from relubias.status import Status

#: Flops between two looks at the keyboard and the progress callback.
CHUNK_FLOPS = 1e8
#: Steps are integers below this bound.
LONGEST = 10**18
#: Work beyond arithmetic of one certificate and one leap, in flops: calls, allocations, small products.
_CERTIFICATE_OVERHEAD, _LEAP_OVERHEAD = 5e5, 2e6


@dataclass(frozen=True, kw_only=True)
class Descent:
    """Options of gradient descent; see :func:`gradient_descent`."""

    step_size: float | None = None
    until: int | None = None
    budget: float = 1e9

    def run(
        self, problem: Problem, network: Network, start: State, *, progress: Callable[[Progress], None] | None = None
    ) -> Run:
        """Run gradient descent with these options."""
        return gradient_descent(
            problem,
            network,
            start,
            step_size=self.step_size,
            until=self.until,
            budget=self.budget,
            progress=progress,
        )


def gradient_descent(
    problem: Problem,
    network: Network,
    start: State,
    *,
    step_size: float | None = None,
    until: int | None = None,
    budget: float = 1e9,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Run full-batch gradient descent on L = ½‖f(X) − y‖² with a fixed step.

    Parameters
    ----------
    problem : Problem
    network : Network
    start : State
        From :mod:`relubias.starts`.
    step_size : float, optional
        η; by default 1/(m λ_max(K)), half the largest step that is stable for every pattern.
    until : int or None
        Number of steps, up to 1e18; None is the exact limit.
    budget : float
        Work allowed, in equivalents of a plain step with all samples active; steps leapt over cost next to nothing.
    progress : callable, optional
        Called with a :class:`~relubias.dynamics.run.Progress` every few hundredths of a second of work.

    Returns
    -------
    Run
        Its status tells how it ended; `KeyboardInterrupt` ends it with what it has.

    Raises
    ------
    ArgumentError
        If `step_size`, `until` or `budget` is not a positive number in range.
    """
    if start.problem is not problem or start.network != network:
        raise ArgumentError(
            "the start belongs to another problem or network; make one with relubias.starts for this one."
        )
    eta = step_sizes.stable(problem, network) if step_size is None else step_sizes.checked(step_size)
    _check_until(until)
    iterate = Iterate.begin(start, eta)
    return _Descent(problem, network, start, iterate, _checked_budget(budget), progress).run(until)


def continue_run(
    run: Run,
    *,
    until: int | None = None,
    budget: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Go on from where a run of gradient descent stopped; see :meth:`relubias.dynamics.run.Run.continue_`."""
    _check_until(until)
    if run.resume is None or run.at_limit:
        return run
    if until is not None and until < run.steps:
        raise ArgumentError(
            f"until={until} lies before the {run.steps} steps that this run has taken; it cannot go back."
        )
    iterate = Iterate.begin(run.start, run.step_size)
    iterate.restore(run.resume, run.steps, run.pattern_changes, run.events, run.events_dropped, run.last_change)
    allowed = run.cost + (run.budget if budget is None else _checked_budget(budget))
    return _Descent(run.problem, run.network, run.start, iterate, allowed, progress).run(until)


def _check_until(until: int | None) -> None:
    if until is not None and not (0 <= until <= LONGEST and int(until) == until):
        raise ArgumentError(f"until={until!r} must be a whole number of steps from 0 to 1e18, or None for the limit.")


def _checked_budget(budget: float) -> float:
    if not (budget > 0 and not math.isnan(budget)):
        raise ArgumentError(f"budget={budget!r} must be a positive number of plain-step equivalents.")
    return float(budget)


@dataclass
class _End:
    """How the loop ended."""

    status: Status
    message: str
    primal: Array | None = None
    dual: Array | None = None
    at_rest: NDArray[np.intp] | None = None
    cycle: Cycle | None = None


class _Descent:
    """The loop of one run: step, certify, leap, until something ends it."""

    def __init__(
        self,
        problem: Problem,
        network: Network,
        start: State,
        iterate: Iterate,
        budget: float,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.problem, self.network, self.start, self.iterate, self.budget = problem, network, start, iterate, budget
        # Imported here because it brings numba with it.
        from relubias.dynamics import kernel

        self.progress, self.kernel = progress, kernel
        n = float(problem.n_samples)
        self.unit = iterate.step_flops
        self.certificate_flops = n**3 / 3 + 16 * network.n_neurons * n**2 + _CERTIFICATE_OVERHEAD
        self.leap_flops = (9 + 2 * network.n_neurons) * n**3 + _LEAP_OVERHEAD

    def run(self, until: int | None) -> Run:
        end = None
        try:
            while end is None:
                end = self.turn(until)
                self.report()
        except KeyboardInterrupt:
            end = _End(Status.INTERRUPTED, f"interrupted at step {self.iterate.steps}; continue_ goes on from there.")
        return self.record(end)

    def report(self) -> None:
        if self.progress is not None:
            it = self.iterate
            loss = 0.5 * float(np.sum(np.square(it.residual)))
            self.progress(Progress(it.steps, it.changes, loss, it.flops / self.unit, self.budget))

    def turn(self, until: int | None) -> _End | None:
        """Do one chunk of plain steps, and a certificate or a leap where the cost rule says so."""
        it, kernel = self.iterate, self.kernel
        if until is not None and it.steps >= until:
            return _End(Status.REACHED, f"step {it.steps} is reached; this is not the limit.")
        left = self.budget * self.unit - it.flops
        if left <= 0 or it.steps >= LONGEST:
            return self.spent()
        # The loop charges active columns only; a step may cost nothing when nothing is active.
        most = max(1, math.ceil(min(left, CHUNK_FLOPS) / self.unit))
        most = min(most, LONGEST - it.steps if until is None else until - it.steps)
        # A finite `until` needs no certificate, so the first limit is the leap's then.
        first = self.certificate_flops if until is None else self.leap_flops
        reason = it.advance(most, (first, self.leap_flops))
        if reason == kernel.FROZEN:
            return self.frozen()
        if reason == kernel.DIVERGED:
            return _End(Status.DIVERGED, self.too_large("the iterates grow without bound"))
        if reason == kernel.RETURNED:
            return self.returned(until)
        if reason == kernel.QUIET:
            if until is None and not it.certificate_tried:
                return self.certify()
            return self.leap(until)
        return None

    def certify(self) -> _End | None:
        it = self.iterate
        it.certificate_tried = True
        it.flops += self.certificate_flops
        limit = certificates.limit_by_cholesky(it)
        if limit is not None and bool(limit.frozen.all()):
            return self.at_limit(limit.primal, limit.dual, np.empty(0, dtype=np.intp))
        return None

    def leap(self, until: int | None) -> _End | None:
        it = self.iterate
        it.flops += self.leap_flops
        it.quiet = 0.0
        leap = Leap.of(it)
        if not leap.stable:
            return None
        outlook = leap.search(INFINITY if until is None else until - it.steps)
        if outlook.quiet_until == INFINITY:
            limit = certificates.limit_by_modes(it, leap)
            return self.at_limit(limit.primal, limit.dual, outlook.at_rest)
        if outlook.quiet_until > 0:
            ahead = outlook.quiet_until
            it.move_to(leap.primal_at(ahead), leap.dual_at(ahead), int(ahead))
        elif until is None:
            limit = certificates.limit_by_modes(it, leap)
            if bool(limit.frozen.all()):
                return self.at_limit(limit.primal, limit.dual, outlook.at_rest)
            if bool(np.all(np.abs(limit.primal - it.primal) <= leap.margin(INFINITY) + it.zero)):
                return self.converged(limit)
        return None

    def returned(self, until: int | None) -> _End | None:
        """An earlier state has come back bit by bit, so that the recursion repeats for ever."""
        it = self.iterate
        period = it.steps - it.anchor_steps
        if until is not None:
            # Whole periods change nothing; the rest is stepped.
            it.steps += (until - it.steps) // period * period
            it.anchor_steps = it.steps
            return None
        found = cycle_of(it, period)
        if found.amplitude <= RESTING:
            return self.leap(None) or self.converged(certificates.limit_by_modes(it, Leap.of(it)))
        message = (
            f"from step {it.steps - period} on, the same {period} states repeat for ever, so there is no limit; "
            "a smaller step may have one."
        )
        return _End(Status.CYCLING, message, cycle=found)

    def frozen(self) -> _End:
        """Nothing is active: no gradient, no further step."""
        it = self.iterate
        at_rest = np.flatnonzero((it.logged > 0).ravel())
        return self.at_limit(it.primal, it.dual, at_rest)

    def at_limit(self, primal: Array, dual: Array, at_rest: NDArray[np.intp]) -> _End:
        it = self.iterate
        primal = primal.copy()
        primal.ravel()[at_rest] = 0.0
        residual = it.signs @ np.maximum(primal, 0.0) - it.labels
        unfitted = np.abs(residual) > INTERPOLATED * np.abs(it.labels).max(initial=0.0)
        settled = int(it.last_change.max(initial=0))
        when = f"the pattern cannot change after step {settled}" if settled else "the pattern can never change"
        alive = it.pattern.any(axis=1)
        needed = [k for k in np.flatnonzero(~alive) if np.any(unfitted & (np.sign(it.labels) == it.signs[k]))]
        if needed:
            return _End(Status.DEAD, self.death(needed, unfitted), primal, dual, at_rest)
        if len(at_rest):
            names = _listed([self.problem.sample(int(i) % it.primal.shape[1]) for i in at_rest])
            message = f"{when}; the pre-activations of {names} tend to 0, where no sign can be certified."
            return _End(Status.CERTIFIED_DEGENERATE, message, primal, dual, at_rest)
        return _End(Status.CERTIFIED, f"{when}; the state is the exact limit.", primal, dual, at_rest)

    def death(self, dead: list[Any], unfitted: NDArray[np.bool_]) -> str:
        it = self.iterate
        which = "the neuron" if len(it.signs) == 1 else f"neuron {_listed([str(k + 1) for k in dead])}"
        steps = sorted({int(it.last_change[k].max(initial=0)) for k in dead})
        message = (
            f"{which} lost its last active sample at step {_listed([str(s) for s in steps])} and never moves again, "
            f"although {int(unfitted.sum())} labels are not fitted"
        )
        return self.too_large(message) if self.step_ratio() > 1 else f"{message}; try a smaller step or another start."

    def step_ratio(self) -> float:
        """η over the largest step that is stable for every pattern."""
        return self.iterate.step_size / step_sizes.stable(self.problem, self.network, fraction=1.0)

    def too_large(self, message: str) -> str:
        safe = step_sizes.stable(self.problem, self.network)
        return (
            f"{message}; the step {self.iterate.step_size:.6g} is {self.step_ratio():.3g} times the largest stable one "
            f"2/λ_max; {safe:.6g} is safe."
        )

    def converged(self, limit: certificates.PatternLimit) -> _End:
        n = self.problem.n_samples
        unsure = [self.problem.sample(int(i) % n) for i in np.flatnonzero(~limit.frozen.ravel())]
        message = (
            f"nothing moves beyond rounding, but the signs of {_listed(unsure)} are too close to 0 to be certified."
        )
        return _End(Status.CONVERGED, message)

    def spent(self) -> _End:
        it = self.iterate
        message = (
            f"the budget of {self.budget:.3g} plain-step equivalents is spent at step {it.steps} after "
            f"{it.changes} changes of pattern; continue_ goes on from there."
        )
        return _End(Status.BUDGET, message)

    def record(self, end: _End) -> Run:
        it = self.iterate
        primal = it.primal if end.primal is None else end.primal
        dual = it.dual if end.dual is None else end.dual
        dual = self.problem.operator.project(dual)
        state = State(
            self.problem, self.network, dual.copy(), primal.copy(), self.start.orthogonal_norms, self.start.orthogonal
        )
        at_rest = () if end.at_rest is None else end.at_rest
        n = self.problem.n_samples
        dead = np.flatnonzero(~it.pattern.any(axis=1))
        return Run(
            problem=self.problem,
            network=self.network,
            start=self.start,
            step_size=it.step_size,
            status=end.status,
            message=end.message,
            state=state,
            steps=it.steps,
            stabilised_at=int(it.last_change.max(initial=0)) if end.status.is_limit else None,
            pattern_changes=it.changes,
            events=it.all_events(),
            events_dropped=it.dropped,
            last_change=it.last_change.copy(),
            dead={int(k): int(it.last_change[k].max(initial=0)) for k in dead},
            at_zero=tuple((int(i) // n, int(i) % n) for i in at_rest),
            stable_step=_stable_step(it),
            cost=it.flops / self.unit,
            budget=self.budget,
            resume=it.resume(),
            cycle=end.cycle,
            continuation=continue_run,
        )


def _stable_step(iterate: Iterate) -> float:
    union, matrix = iterate.operator.curvature(iterate.pattern)
    if not len(union):
        return math.inf
    last = len(union) - 1
    largest = scipy.linalg.eigvalsh(matrix, subset_by_index=(last, last), check_finite=False)[0]
    return 2.0 / float(largest)


def _listed(names: list[str], most: int = 5) -> str:
    """Join names in a sentence, at most five of them."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
