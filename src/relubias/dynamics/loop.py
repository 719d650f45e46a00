"""The loop of one run of gradient descent: step, certify, leap, until something ends it.

**Cost rule.** Plain steps while the pattern changes often; once the steps since the last change have cost as many
flops as a certificate, try it; once they have cost as many as an eigendecomposition, leap. At most about twice the work
of the better of the two is done, and since flops are counted, never seconds, a run is the same on a busy machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy.linalg

from relubias.dynamics import certificates
from relubias.dynamics.cycle_search import CycleSearch
from relubias.dynamics.cycles import RESTING, cycle_of
from relubias.dynamics.endings import Ending, Endings
from relubias.dynamics.interrupts import undisturbed
from relubias.dynamics.leaping import INFINITY, Leap
from relubias.dynamics.run import Progress, Run
from relubias.dynamics.stepping import Iterate
from relubias.dynamics.trajectory import LONGEST, Recorder, trajectory_of
from relubias.state import State

#: Flops between two looks at the keyboard and the progress callback.
CHUNK_FLOPS = 1e8
#: Work beyond arithmetic of one certificate and one leap, in flops: calls, allocations, small products.
_CERTIFICATE_OVERHEAD, _LEAP_OVERHEAD = 5e5, 2e6
#: A mode has decayed to nothing when only e to minus this is left of it.
_DECAYED = 40.0


class Loop:
    """One run in progress.

    Parameters
    ----------
    start : State
    iterate : Iterate
        Where the run is.
    until : int or None
        Step at which to stop; None for the limit.
    budget : float
        Plain-step equivalents, beyond those that the iterate has used already.
    recorder : Recorder
    endless : bool
        Whether the recorded steps have no end of their own, so that they stop where nothing moves any more.
    progress : callable or None
    """

    def __init__(
        self,
        start: State,
        iterate: Iterate,
        *,
        until: int | None,
        budget: float,
        recorder: Recorder[int],
        endless: bool,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.start, self.iterate, self.until, self.budget = start, iterate, until, budget
        self.recorder, self.endless, self.progress = recorder, endless, progress
        self.ends = Endings(start.problem, start.network, iterate)
        n, m = float(start.problem.n_samples), start.network.n_neurons
        self.unit = iterate.step_flops
        self.allowed = budget * self.unit + iterate.flops
        self.certificate_flops = n**3 / 3 + 16 * m * n**2 + _CERTIFICATE_OVERHEAD
        self.leap_flops = (9 + 2 * m) * n**3 + _LEAP_OVERHEAD
        self.search = CycleSearch(iterate)

    def run(self) -> Ending:
        """Go on until something ends it; an interrupt from the keyboard does."""
        try:
            while True:
                self.search.seek()
                with undisturbed():
                    end = self._turn()
                if end is not None:
                    return end
                self._report()
        except KeyboardInterrupt:
            return self.ends.interrupted()

    def _report(self) -> None:
        if self.progress is not None:
            it = self.iterate
            loss = 0.5 * float(np.sum(np.square(it.residual)))
            self.progress(Progress(it.steps, it.changes, loss, it.flops / self.unit, self.allowed / self.unit))

    def _turn(self) -> Ending | None:
        """Do one chunk of plain steps, and a certificate or a leap where the cost rule says so."""
        from relubias.dynamics import kernel  # here because it brings numba with it

        it, until = self.iterate, self.until
        for time in self.recorder.due(it.steps):
            self.recorder.keep(time, it.primal, it.dual)
        if until is not None and it.steps >= until:
            return self.ends.reached()
        left = self.allowed - it.flops
        if left <= 0 or it.steps >= LONGEST:
            return self.ends.spent(self.budget)
        if self.search.found is not None or self.search.rounded is not None:
            return self._cycle()
        most = min(max(1, math.ceil(min(left, CHUNK_FLOPS) / self.unit)), self._next_stop() - it.steps)
        # A finite `until` needs no certificate, so the first limit is the leap's then.
        first = self.certificate_flops if until is None else self.leap_flops
        reason = it.advance(most, (first, self.leap_flops))
        if reason == kernel.FROZEN:
            return self._frozen()
        if reason == kernel.DIVERGED:
            return self.ends.diverged()
        if reason == kernel.RETURNED:
            return self._returned()
        if reason == kernel.QUIET:
            return self._certify() if until is None and not it.certificate_tried else self._leap()
        return None

    def _next_stop(self) -> int:
        stops = (self.until, self.recorder.next_time, LONGEST)
        return min(stop for stop in stops if stop is not None)

    def _certify(self) -> Ending | None:
        it = self.iterate
        it.certificate_tried = True
        if not it.slopes.any():
            return None  # the next step finds that nothing moves
        it.flops += self.certificate_flops
        limit = certificates.limit_by_cholesky(it, promising=True)
        if limit is None or not limit.frozen.all():
            return None
        if self.recorder.next_time is not None:
            self._record_approach(Leap.of(it))
        return self.ends.at_limit(limit.primal, limit.dual)

    def _leap(self) -> Ending | None:
        it = self.iterate
        it.flops += self.leap_flops
        it.quiet = 0.0
        if not it.slopes.any():
            return None  # the next step finds that nothing moves
        leap = Leap.of(it)
        if not leap.stable:
            return None
        outlook = leap.search(INFINITY if self.until is None else self.until - it.steps)
        ahead = outlook.quiet_until
        if ahead == INFINITY:
            limit = certificates.limit_by_modes(it, leap)
            if certificates.agrees(limit, leap, outlook.at_rest):
                self._record_approach(leap)
                return self.ends.at_limit(limit.primal, limit.dual, tuple(map(int, outlook.at_rest)))
            # The refined limit is on the other side of zero, or too near: go as far as that cannot matter.
            ahead = leap.search(self._settling_time(leap)).quiet_until
        ahead = min(ahead, LONGEST - it.steps)
        if ahead > 0:
            self._record_leap(leap, it.steps + ahead)
            it.move_to(leap.primal_at(ahead), leap.dual_at(ahead), int(ahead))
        return self._settled(leap) if self.until is None and ahead < 1.0 else None

    def _settled(self, leap: Leap) -> Ending | None:
        """The search can exclude nothing: perhaps because nothing moves any more."""
        it = self.iterate
        limit = certificates.limit_by_modes(it, leap)
        if limit.frozen.all():
            self._record_approach(leap)
            return self.ends.at_limit(limit.primal, limit.dual)
        if np.all(np.abs(limit.primal - it.primal) <= leap.margin(INFINITY) + it.zero):
            return self.ends.converged(limit)
        return None

    @staticmethod
    def _settling_time(leap: Leap) -> int:
        """Steps after which every mode has decayed to nothing."""
        slowest = float(np.max(np.abs(1.0 - leap.step_size * leap.modes.values), initial=0.0))
        if slowest >= 1.0:
            return LONGEST  # so slow that not even rounding shows it
        return min(LONGEST, math.ceil(_DECAYED / -math.log(slowest))) if slowest > 0 else 1

    def _record_leap(self, leap: Leap, last: float) -> None:
        """Record the wanted steps up to `last` in closed form."""
        for time in self.recorder.due(last):
            ahead = time - self.iterate.steps
            self.recorder.keep(time, leap.primal_at(ahead), leap.dual_at(ahead))

    def _record_approach(self, leap: Leap) -> None:
        """The pattern is settled: record the way to its limit, where it has no end of its own until it is there."""
        self._record_leap(leap, self.iterate.steps + self._settling_time(leap) if self.endless else INFINITY)

    def _returned(self) -> Ending | None:
        """An earlier state has come back, bit by bit, so that the rounded recursion repeats for ever, or nearly.

        Where the pattern has changed in between, rounding may have changed it, and more is needed for a proof.
        """
        it = self.iterate
        period = it.steps - it.anchor_steps
        if not it.has_returned:
            self.search.suspect(period)
            return None
        if self.until is None and not it.certificate_tried:
            end = self._certify()  # at rest, as a rule, and cheaper than a leap
            if end is not None:
                return end
        if self._must_go_on:
            it.repeat(period, (self._next_stop() - it.steps) // period)
            return None
        if int(it.last_change.max()) > it.anchor_steps:
            self.search.suspect(period)
            return None
        cycle = cycle_of(it, period)
        if cycle.amplitude > RESTING:
            return self.ends.cycling(cycle)
        before = it.steps
        end = self._leap()
        if end is None and it.steps == before and it.slopes.any():
            return self.ends.converged(certificates.limit_by_modes(it, Leap.of(it)))
        return end

    def _cycle(self) -> Ending | None:
        """Training repeats itself: say so, or go on in whole turns where there are steps to reach."""
        it, ahead, rounded = self.iterate, self.search.found, self.search.rounded
        self.search.found = self.search.rounded = None
        if ahead is not None and not self._must_go_on:
            return self.ends.cycling(self.search.cycle(ahead))
        if rounded is not None:
            return self.ends.repeating(rounded)
        if ahead is not None:
            turns = (self._next_stop() - it.steps) // ahead.map.period
            if turns > 1:
                it.repeat(ahead.map.period, turns)
                it.place(ahead.primal_after(turns))
        return None

    @property
    def _must_go_on(self) -> bool:
        """Whether there are steps to reach even though training repeats itself."""
        return self.until is not None or (self.recorder.next_time is not None and not self.endless)

    def _frozen(self) -> Ending:
        """Nothing is active: no gradient, no further step."""
        it = self.iterate
        for time in self.recorder.due(it.steps if self.endless else INFINITY):
            self.recorder.keep(time, it.primal, it.dual)
        return self.ends.at_limit(it.primal, it.dual)

    def record_of(self, end: Ending, continuation: Callable[..., Run]) -> Run:
        """Build the record of the run."""
        it, start = self.iterate, self.start
        problem = start.problem
        primal = it.alike(it.primal if end.primal is None else end.primal)
        dual = problem.operator.project(it.dual if end.dual is None else end.dual)
        state = State(problem, start.network, dual.copy(), primal.copy(), start.orthogonal_norms, start.orthogonal)
        dead = np.flatnonzero(~it.slopes.any(axis=1))
        return Run(
            problem=problem,
            network=start.network,
            start=start,
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
            at_zero=tuple(divmod(i, problem.n_samples) for i in end.at_rest),
            stable_step=_stable_step(it),
            cost=it.flops / self.unit,
            budget=self.budget,
            cycle=end.cycle,
            trajectory=trajectory_of(self.recorder, start, it.labels),
            resume=it.resume(),
            continuation=continuation,
        )


def _stable_step(iterate: Iterate) -> float:
    union, matrix = iterate.operator.curvature(iterate.slopes)
    if not len(union):
        return math.inf
    largest = scipy.linalg.eigvalsh(matrix, check_finite=False)[-1]
    return 2.0 / float(largest)
