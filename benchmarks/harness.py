"""Rows of the benchmark table, and how they are measured.

Ours and the rival's function are called alternately, so that whatever else the machine does hits both alike.
Each repeat gives one ratio, ours/rival. Reported are medians, and the interquartile range as spread.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Any

Clock = Callable[[], float]
Task = Callable[[], Any]


class Skipped(Exception):
    """A row cannot be measured here; the message says why."""


@dataclass(frozen=True)
class Sample:
    """The median of repeated measurements, and the quartiles around it."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Sample:
        """Summarise values; a single one is its own spread."""
        low, middle, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [*values] * 3
        return cls(middle, low, high)


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

    @property
    def met(self) -> bool | None:
        """Whether the goal is met, in time by the median; None where there is no goal."""
        if self.peak_at_most is not None and self.peak_bytes is not None:
            return self.peak_bytes <= self.peak_at_most
        reached = self.seconds if self.is_ceiling else self.ratio
        return None if self.at_most is None or reached is None else reached.median <= self.at_most


def race(
    name: str,
    ours: Task,
    rival_name: str,
    rival: Task,
    *,
    at_most: float | None = None,
    repeats: int = 9,
    peak: bool = False,
    clock: Clock = time.perf_counter,
) -> Row:
    """Measure `ours` against `rival`, after one uncounted call of each; who goes first alternates."""
    ours(), rival()
    pairs = []
    for repeat in range(repeats):
        order = (ours, rival) if repeat % 2 == 0 else (rival, ours)
        first, second = elapsed(order[0], clock), elapsed(order[1], clock)
        pairs.append((first, second) if repeat % 2 == 0 else (second, first))
    return Row(
        name,
        Sample.of([mine for mine, _ in pairs]),
        rival=rival_name,
        rival_seconds=Sample.of([theirs for _, theirs in pairs]),
        ratio=Sample.of([mine / theirs for mine, theirs in pairs]),
        at_most=at_most,
        peak_bytes=peak_memory(ours) if peak else None,
    )


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
