"""Rows of the benchmark table, and how they are measured.

First the answers are compared: whoever gives another answer is refused before anything is timed. Then ours and the
rival's function are called alternately, so that whatever else the machine does hits both alike. Each repeat gives one
ratio, ours/rival. Reported are medians, and the interquartile range as spread.

Time is processor time of this process, in which both run on one thread: on an idle machine the same as time on the
clock, and on a busy one still the work that was done. What happens in processes of its own is timed by the clock.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Any

Clock = Callable[[], float]
Task = Callable[[], Any]


class Skipped(Exception):
    """A row cannot be measured here; the message says why."""


class WrongAnswer(Exception):
    """Ours and the rival's answers differ by more than they may; the message says by how much."""


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


@dataclass(frozen=True)
class Sample:
    """The median of repeated measurements, and the quartiles around it."""

    median: float
    low: float
    high: float
    count: int = 1

    @classmethod
    def of(cls, values: Sequence[float]) -> Sample:
        """Summarise values; a single one is its own spread."""
        low, middle, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [*values] * 3
        return cls(middle, low, high, len(values))


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    name : str
    seconds : Sample
        Our time.
    rival : str or None
        Whom we race; None for a ceiling.
    rival_seconds, ratio : Sample or None
        The rival's time, and ours/rival repeat by repeat.
    at_most : float or None
        The goal: an upper bound of the ratio, or of our seconds where `is_ceiling`. None where there is no goal.
    is_ceiling : bool
        True where the goal is about our seconds alone.
    peak_bytes : int or None
        Most memory that our function held at once beyond what was there before, where it was measured.
    peak_at_most : float or None
        The goal, where it is about that memory, in bytes.
    deviation : float or None
        How far the two answers were apart, where they were compared.
    """

    name: str
    seconds: Sample
    rival: str | None = None
    rival_seconds: Sample | None = None
    ratio: Sample | None = None
    at_most: float | None = None
    is_ceiling: bool = False
    peak_bytes: int | None = None
    peak_at_most: float | None = None
    deviation: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the goal is met, in time by the median; None where there is no goal."""
        if self.peak_at_most is not None and self.peak_bytes is not None:
            return self.peak_bytes <= self.peak_at_most
        reached = self.seconds if self.is_ceiling else self.ratio
        return None if self.at_most is None or reached is None else reached.median <= self.at_most


@dataclass(frozen=True)
class Remark:
    """Why there is no line in the table: the rival is not installed, or it was refused."""

    text: str
    is_failure: bool


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
    factors: tuple[float, float] = (1.0, 1.0),
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
    factors : tuple of float
        What the seconds of either are multiplied by: 1/1000 for each of 1000 steps, or the number of steps needed
        where the rival takes one.
    patience : float
        Seconds.

    Raises
    ------
    WrongAnswer
        If the answers differ.
    """
    deviation = None if check is None else check.passed(rival_name)
    if check is None:
        ours(), rival()
    pairs: list[tuple[float, float]] = []
    began = clock()
    while len(pairs) < repeats and (not pairs or clock() - began < patience):
        ours_first = len(pairs) % 2 == 0
        order = (ours, rival) if ours_first else (rival, ours)
        first, second = elapsed(order[0], clock), elapsed(order[1], clock)
        mine, theirs = (first, second) if ours_first else (second, first)
        pairs.append((mine * factors[0], theirs * factors[1]))
    return Row(
        name,
        Sample.of([mine for mine, _ in pairs]),
        rival=rival_name,
        rival_seconds=Sample.of([theirs for _, theirs in pairs]),
        ratio=Sample.of([mine / theirs for mine, theirs in pairs]),
        at_most=at_most,
        peak_bytes=peak_memory(ours) if peak else None,
        deviation=deviation,
    )


def entrants(races: Iterable[Callable[[], Row]]) -> Iterator[Row | Remark]:
    """Measure each of several races; a rival that is missing or refused takes no other with it."""
    for measured in races:
        try:
            yield measured()
        except Skipped as reason:
            yield Remark(f"Skipped: {reason}", is_failure=False)
        except WrongAnswer as reason:
            yield Remark(f"Refused: {reason}", is_failure=True)


def ceiling(name: str, ours: Task, *, at_most: float, repeats: int = 3, clock: Clock = time.perf_counter) -> Row:
    """Measure `ours` against a number of seconds. The first call counts: a ceiling is about what a person waits."""
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
