"""What a run looked like on the way: states at chosen steps, exact also where steps are leapt over.

A run that takes plain steps stops at each chosen step; a run that leaps evaluates the same closed form at each of
them. So a trajectory costs next to nothing, and its states are those of separate runs with that `until`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from relubias.arguments import is_number, is_whole
from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.losses import SQUARED, Loss
from relubias.state import State

#: Chosen steps per factor of ten where they are spaced logarithmically.
PER_DECADE = 20
#: Steps are integers up to this bound.
LONGEST = 10**18
#: Decades over which the times of a flow without an end are spaced; recording stops earlier, where nothing moves.
DECADES = 30

Record = Literal["log"] | Iterable[float] | None


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States of a run at chosen steps.

    Attributes
    ----------
    times : ndarray of int64 or, for gradient flow, float64, shape (T,)
        Steps or time since the start, ascending.
    primal, dual : ndarray, shape (T, n_neurons, n_samples)
        β in label units, and the raw α of the recursion, whose part in the kernel of K may drift.
    loss : ndarray, shape (T,)
        The loss in use, Σ_i ℓ(f_i, y_i): ½‖f − y‖² if it is the squared one.
    norms : ndarray, shape (T, n_neurons)
        ‖w_k‖, the part outside the span of the samples included.
    outer : ndarray, shape (T, n_neurons), or None
        The output weights a_k where they are trained.
    """

    times: NDArray[np.int64] | NDArray[np.float64]
    primal: Array
    dual: Array
    loss: Array
    norms: Array
    outer: Array | None = None

    def __repr__(self) -> str:
        what = "steps" if self.times.dtype.kind == "i" else "times"
        return f"<Trajectory: {len(self)} {what} from {self.times[0]:,} to {self.times[-1]:,}>"

    @property
    def pattern(self) -> NDArray[np.bool_]:
        """Which samples are active in which neuron, shape (T, n_neurons, n_samples)."""
        return np.asarray(self.primal > 0)

    def __len__(self) -> int:
        return len(self.times)


def logarithmic(last: int) -> list[int]:
    """Return 0, 1, 2, … up to `last`, spaced logarithmically as soon as whole numbers allow it."""
    times = {0, last}
    for step in range(math.ceil(PER_DECADE * math.log10(max(1, last))) + 1):
        times.add(min(last, round(10 ** (step / PER_DECADE))))
    return sorted(times)


def wanted_times(record: Record, until: int | None) -> list[int]:
    """Return the steps to record, ascending.

    Raises
    ------
    ArgumentError
        If `record` is not ``"log"``, None or whole numbers from 0 to 1e18 that do not exceed `until`.
    """
    if record is None:
        return []
    last = LONGEST if until is None else until
    if isinstance(record, str):
        if record != "log":
            raise ArgumentError(f'record={record!r} is not known; give "log", a list of steps, or None.')
        return logarithmic(last)
    if not isinstance(record, Iterable):
        raise ArgumentError(f'record={record!r} is not known; give "log", a list of steps, or None.')
    times = list(record)
    for time in times:
        if not (is_whole(time) and 0 <= time <= last):
            limit = "1e18" if until is None else f"until={until}"
            raise ArgumentError(f"record has step {time!r}; steps are whole numbers from 0 to {limit}.")
    return sorted({int(time) for time in times})


def wanted_moments(record: Record, until: float | None, first: float) -> list[float]:
    """Return the times of a flow to record, ascending; logarithmic spacing begins with 0 and `first`.

    Raises
    ------
    ArgumentError
        If `record` is not ``"log"``, None or finite times from 0 on that do not exceed `until`.
    """
    if record is None:
        return []
    last = math.inf if until is None else until
    if isinstance(record, str):
        if record != "log":
            raise ArgumentError(f'record={record!r} is not known; give "log", a list of times, or None.')
        decades = DECADES if until is None else math.log10(max(until / first, 1.0))
        times = [first * 10 ** (step / PER_DECADE) for step in range(math.ceil(PER_DECADE * decades) + 1)]
        return sorted({0.0, *(time for time in times if time <= last)} | ({last} if last < math.inf else set()))
    if not isinstance(record, Iterable):
        raise ArgumentError(f'record={record!r} is not known; give "log", a list of times, or None.')
    moments = list(record)
    for time in moments:
        if not (is_number(time) and 0 <= time <= last and time < math.inf):
            limit = "on" if until is None else f"to until={until!r}"
            raise ArgumentError(f"record has time {time!r}; times are finite numbers from 0 {limit}.")
    return sorted({float(time) for time in moments})


Moment = TypeVar("Moment", int, float)


class Recorder(Generic[Moment]):
    """Collects states at the wanted moments while a run moves on: steps of descent, times of a flow."""

    def __init__(self, times: Sequence[Moment]) -> None:
        self._pending: list[Moment] = list(reversed(times))
        self._kept: list[tuple[Moment, Array, Array, Array | None]] = []

    @property
    def next_time(self) -> Moment | None:
        """The next step to record; None where nothing is left to do."""
        return self._pending[-1] if self._pending else None

    def due(self, last: float) -> list[Moment]:
        """Take the pending steps up to `last` off the list; what is returned has to be recorded."""
        times = []
        while self._pending and self._pending[-1] <= last:
            times.append(self._pending.pop())
        return times

    def keep(self, time: Moment, primal: Array, dual: Array, outer: Array | None = None) -> None:
        """Record the state at `time`; the arrays are copied."""
        self._kept.append((time, primal.copy(), dual.copy(), None if outer is None else outer.copy()))

    @property
    def kept(self) -> list[tuple[Moment, Array, Array, Array | None]]:
        """Steps, β, α and trained output weights recorded so far."""
        return self._kept


def trajectory_of(recorder: Recorder[Any], start: State, labels: Array, loss: Loss = SQUARED) -> Trajectory | None:
    """Build the record of what was kept; None where nothing was."""
    if not recorder.kept:
        return None
    columns = list(zip(*recorder.kept, strict=True))
    times, primal, dual = (np.array(column) for column in columns[:3])
    outer = None if columns[3][0] is None else np.array(columns[3])
    signs = np.broadcast_to(start.network.output_weights, (len(times), len(primal[0])))
    predictions = np.einsum("tk,tkn->tn", signs if outer is None else outer, start.network.activation.value(primal))
    m, n = start.primal.shape
    lengths = start.problem.operator.lengths(dual.reshape(-1, n)).reshape(-1, m)
    return Trajectory(
        times=times,
        primal=primal,
        dual=dual,
        loss=loss.value(predictions, np.broadcast_to(labels, predictions.shape)).sum(axis=1),
        norms=np.hypot(lengths, start.orthogonal_norms),
        outer=outer,
    )


def joined(first: Trajectory | None, second: Trajectory | None) -> Trajectory | None:
    """Put the trajectories of a run and of its continuation together."""
    if first is None or second is None:
        return first or second
    pairs = [(getattr(first, f.name), getattr(second, f.name)) for f in fields(Trajectory)]
    columns: list[Any] = [None if pair[0] is None else np.concatenate(pair) for pair in pairs]
    return Trajectory(*columns)
