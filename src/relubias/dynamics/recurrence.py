"""Recurrence of events: does the end of a list of events repeat itself?

Events are compared by the steps since the one before, the neuron, the sample and the kind. With s the list read
backwards, z_q is the length of the longest common beginning of s and s[q:]; the list ends in z_q/q + 1 repetitions
of its last q events. All z_q together cost O(length).

Imported only where a run looks for a cycle, because its compiled loop brings numba with it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relubias.dynamics.kernel import compiled

#: Repetitions that make a recurrence worth proving.
REPETITIONS = 3


@compiled
def common_beginnings(sequence: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return z, z_q the length of the longest common beginning of `sequence` and `sequence[q:]`; z_0 is 0."""
    n = sequence.shape[0]
    z = np.zeros(n, dtype=np.int64)
    left, right = 0, 0  # the match that reaches farthest to the right
    for q in range(1, n):
        length = 0
        if q < right:
            length = min(right - q, z[q - left])
        while q + length < n and sequence[length] == sequence[q + length]:
            length += 1
        if q + length > right:
            left, right = q, q + length
        z[q] = length
    return z


def period_of(events: NDArray[np.int64]) -> int | None:
    """Return after how many steps the events at the end of the list recur; None if they do not.

    Parameters
    ----------
    events : ndarray, shape (n_events, 4)
        Time, neuron, sample and kind of each event, in order of time.
    """
    if len(events) <= REPETITIONS:
        return None
    times = events[:, 0]
    neurons, samples, kinds = events[1:, 1], events[1:, 2], events[1:, 3]
    what = 2 * ((int(samples.max()) + 1) * neurons + samples) + (kinds > 0)
    sequence = np.diff(times) * (int(what.max()) + 1) + what
    z = common_beginnings(np.ascontiguousarray(sequence[::-1]))
    recurring = np.flatnonzero(z[1:] >= (REPETITIONS - 1) * np.arange(1, len(z)))
    if not len(recurring):
        return None
    return int(times[-1] - times[-2 - recurring[0]])
