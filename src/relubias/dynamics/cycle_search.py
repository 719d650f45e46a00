"""The search for a cycle while training goes on: what raises a suspicion, and what it takes to prove it.

Suspicious are a state that comes back, bit by bit or nearly, and changes of pattern that recur. A proof
(:func:`relubias.dynamics.period_map.approach`) costs at most a part of the work done so far, and nothing of the iterate
is changed by it, so that an interrupt may come at any moment.
"""

from __future__ import annotations

from relubias.dynamics.cycles import RESTING, Cycle, cycle_ahead, kept_states
from relubias.dynamics.period_map import Approach, approach
from relubias.dynamics.stepping import Iterate

#: Work before the first look at the list of events, in flops.
FIRST_LOOK = 1e8
#: Another look is taken once so many times the work of the last one has been done.
LOOK_AGAIN = 1.25
#: A proof may cost this part of the work done so far, and for a state that is back bit by bit at least so many flops.
SHARE, EXACT_PROOF = 0.5, 3e9


class CycleSearch:
    """Looks for cycles of one run.

    Attributes
    ----------
    found : Approach or None
        A proven cycle, until it is taken.
    rounded : int or None
        The period of states that came back bit by bit without a proof that exact training does so too.
    """

    def __init__(self, iterate: Iterate) -> None:
        self.iterate = iterate
        self.next_look = iterate.flops + FIRST_LOOK
        self.suspected: int | None = None
        self.found: Approach | None = None
        self.rounded: int | None = None

    def suspect(self, period: int) -> None:
        """A state has come back, or nearly, after so many steps."""
        self.suspected = period

    def seek(self) -> None:
        """Try to prove what is suspected; look for more where enough work has been done since the last look."""
        it, period = self.iterate, self.suspected
        returned = period is not None
        if period is None and it.flops >= self.next_look:
            from relubias.dynamics.recurrence import period_of  # here because it brings numba with it

            period = period_of(it.recent_events())
            self.next_look = LOOK_AGAIN * it.flops
        if period is None:
            return
        exact = returned and it.has_returned
        allowed = max(SHARE * it.flops, EXACT_PROOF if exact else 0.0)
        self.found = self._shortest(period, allowed)
        if returned and self.found is None:
            # No cycle, or too dear yet to prove one: only returns to the bit are looked for a while.
            it.near_from = 2 * it.steps
            self.rounded = period if exact else None
        self.suspected = None
        self.next_look = max(self.next_look, LOOK_AGAIN * it.flops)

    def cycle(self, ahead: Approach) -> Cycle:
        """The cycle that was found."""
        return cycle_ahead(self.iterate, ahead)

    def _shortest(self, period: int, allowed: float) -> Approach | None:
        """The proof for this period, or for a part of it if the cycle has that period already."""
        it = self.iterate
        ahead = approach(it, period, allowed=allowed, kept=kept_states(it, period))
        if ahead is None or self.cycle(ahead).amplitude <= RESTING:
            return None
        for shorter in ahead.shorter_periods(it.near):
            proof = approach(it, shorter, allowed=allowed, kept=kept_states(it, shorter))
            if proof is not None:
                return proof
        return ahead
