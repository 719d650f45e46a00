"""Repeated measurements of one thing, and their summary: the median with the quartiles around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import quantiles


@dataclass(frozen=True)
class Sample:
    """The median of repeated measurements, and the quartiles around it.

    Attributes
    ----------
    median, low, high : float
    count : int
        How many measurements; a single one has no spread.
    values : tuple of float
        The measurements in the order in which they were taken, where they are known.
    """

    median: float
    low: float
    high: float
    count: int = 1
    values: tuple[float, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, values: Sequence[float]) -> Sample:
        """Summarise values; a single one is its own median and quartiles."""
        low, middle, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [*values] * 3
        return cls(middle, low, high, len(values), tuple(values))

    @property
    def largest(self) -> float:
        """The largest measurement; the upper quartile where the measurements are not known."""
        return max(self.values, default=self.high)
