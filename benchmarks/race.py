"""How a row is measured: a race against a rival in one and the same run, or a ceiling.

Where both sides give the same answer, the answers are compared first: a rival that gives another one is refused before
anything is timed. Then our function and the rival's are called alternately, so that whatever else the machine does hits
both alike. Each repeat gives one ratio, ours/rival. Reported are medians, and the quartiles as spread.

A race is timed in processor time of this process, in which both run on one thread: on an idle machine the same as time
on the clock, and on a busy one still the work that was done. A race whose work happens in processes of its own is timed
by the clock, and so is a ceiling, which is about what a person waits.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.row import NotMeasured, Remark, Row, Skipped, WrongAnswer
from benchmarks.sample import Sample

Clock = Callable[[], float]
Task = Callable[[], Any]


@dataclass(frozen=True)
class Check:
    """What is compared before anything is timed.

    Attributes
    ----------
    deviation : callable
        Does both jobs, and returns how far the answers are apart.
    at_most : float
        How far they may be.
    """

    deviation: Callable[[], float]
    at_most: float

    def passed(self, rival: str) -> float:
        """Return the deviation.

        Raises
        ------
        WrongAnswer
            If it is too large, or no number.
        """
        found = float(self.deviation())
        if not found <= self.at_most:
            raise WrongAnswer(f"the answers of relubias and {rival} differ by {found:.1e}, more than {self.at_most:g}.")
        return found


def race(
    name: str,
    ours: Task,
    rival_name: str,
    rival: Task,
    *,
    at_most: float | None = None,
    repeats: int = 9,
    peak: bool = False,
    clock: Clock = time.process_time,
    check: Check | None = None,
    residuals: Callable[[], tuple[float, float]] | None = None,
    factors: tuple[float, float] = (1.0, 1.0),
    extrapolated: str | None = None,
    patience: float = 20.0,
) -> Row:
    """Measure `ours` against `rival`, after the check or one uncounted call of each; who goes first alternates.

    Parameters
    ----------
    at_most : float, optional
        The goal: an upper bound of ours/rival.
    repeats : int
        Pairs of calls; fewer where they take longer than `patience`, but one.
    peak : bool
        Whether to measure the memory of `ours` as well.
    check : Check, optional
        Compares the answers first.
    residuals : callable, optional
        Returns the KKT residuals of our answer and of the rival's, NaN for one that is not known. Called once, before
        anything is timed.
    factors : tuple of float
        What the seconds of either are multiplied by: 1/1000 for each of 1000 steps, or the number of steps needed
        where the rival takes one. Ours is at most 1: our work is done whole.
    extrapolated : str, optional
        What the rival's time is extrapolated from, where its factor is larger than 1: "3000 steps". By default the
        part of its work that was done.
    patience : float
        Seconds.

    Raises
    ------
    NotMeasured
        If the answers differ, or something is missing; it knows whether there is a goal.
    ValueError
        If our own time would be extrapolated.
    """
    if factors[0] > 1:
        raise ValueError("our own time is not extrapolated: do the whole work, or divide both")
    if extrapolated is None and factors[1] > 1:
        extrapolated = f"1/{factors[1]:.3g} of it"
    try:
        deviation = None if check is None else check.passed(rival_name)
        found = None if residuals is None else residuals()
        if check is None:
            ours(), rival()
    except NotMeasured as reason:
        reason.has_goal = at_most is not None
        raise
    pairs = [
        (mine * factors[0], theirs * factors[1]) for mine, theirs in timed_pairs(ours, rival, repeats, patience, clock)
    ]
    return Row(
        name,
        Sample.of([mine for mine, _ in pairs]),
        rival=rival_name,
        rival_seconds=Sample.of([theirs for _, theirs in pairs]),
        ratio=Sample.of([mine / theirs for mine, theirs in pairs]),
        at_most=at_most,
        peak_bytes=peak_memory(ours) if peak else None,
        deviation=deviation,
        residuals=found,
        extrapolated=extrapolated,
    )


def timed_pairs(ours: Task, rival: Task, repeats: int, patience: float, clock: Clock) -> list[tuple[float, float]]:
    """Return the seconds of either for each pair of calls; who goes first alternates."""
    pairs: list[tuple[float, float]] = []
    began = clock()
    while len(pairs) < repeats and (not pairs or clock() - began < patience):
        if len(pairs) % 2 == 0:
            mine = elapsed(ours, clock)
            theirs = elapsed(rival, clock)
        else:
            theirs = elapsed(rival, clock)
            mine = elapsed(ours, clock)
        pairs.append((mine, theirs))
    return pairs


def entrants(races: Iterable[Callable[[], Row]]) -> Iterator[Row | Remark]:
    """Measure each of several races; a rival that is missing or refused takes no other with it."""
    for measured in races:
        try:
            yield measured()
        except NotMeasured as reason:
            yield remark(reason)


def remark(reason: NotMeasured) -> Remark:
    """Return what stands below the table in place of a row."""
    what = "Skipped" if isinstance(reason, Skipped) else "Refused"
    return Remark(f"{what}: {reason}", is_failure=not isinstance(reason, Skipped), has_goal=reason.has_goal)


def ceiling(name: str, ours: Task, *, at_most: float, repeats: int = 3, clock: Clock = time.perf_counter) -> Row:
    """Measure `ours` against a number of seconds, which the slowest of the calls has to keep, the first included.

    Timed by the clock, also in this process: a ceiling is about what a person waits.
    """
    seconds = [elapsed(ours, clock) for _ in range(repeats)]
    return Row(name, Sample.of(seconds), at_most=at_most, is_ceiling=True)


def elapsed(task: Task, clock: Clock) -> float:
    """Return the seconds that one call takes."""
    start = clock()
    task()
    return clock() - start


def peak_memory(task: Task) -> int:
    """Return the most bytes held at once during one call, NumPy's arrays included, beyond those held before."""
    tracemalloc.start()
    try:
        task()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
