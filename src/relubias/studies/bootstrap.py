r"""Bootstrap of medians by trial.

Trials are resampled with replacement within each size. Medians stand for a size because the laws here are about the
typical cell: log median = median log, so that a power law of the median is a straight line in logarithms whatever the
noise, and a cell that ended in a bad stationary point moves nothing.

**Only the middle of a resample is needed.** A resample of T values draws T independent ranks, uniform on 1, …, T: the
ranks ⌈T U⌉ of T uniform variates U. Its k-th smallest value therefore has the rank ⌈T U₍ₖ₎⌉, where

    U₍ₖ₎ ~ Beta(k, T − k + 1),      1 − U₍ₖ₊₁₎ = (1 − U₍ₖ₎) V^{1/(T−k)},      V uniform,

and the median of the resample is value k = (T + 1)/2, or the mean of values T/2 and T/2 + 1. One or two variates
replace T of them, exactly (a known property of order statistics; its use here is ours).

**Percentile intervals** are taken between the α/2 and 1 − α/2 quantiles of the resampled estimates. The bias-corrected
accelerated kind needs the jackknife, which is inconsistent for medians; studentised ones need a variance of each
median. From 5 trials a size on, intervals at 95 % were measured to cover 95 to 99 % (3 to 8 sizes; normal, skewed and
Cauchy noise in the logarithm); at 3 trials 88 to 97 %, which is why sizes with fewer than 5 are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from relubias.arguments import is_number, is_whole
from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.wording import number

#: Sizes with fewer usable trials are not bootstrapped.
FEWEST_TRIALS = 5
#: Fewer resamples leave too few beyond the ends of an interval.
FEWEST_RESAMPLES = 1000


class Estimate(NamedTuple):
    """A number and the ends of its interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{number(self.value)} [{number(self.low)}, {number(self.high)}]"

    def contains(self, value: float) -> bool:
        """Whether a number lies in the interval, its ends included.

        Parameters
        ----------
        value : float

        Returns
        -------
        bool
        """
        return self.low <= value <= self.high


def resampled_medians(groups: Sequence[Array], resamples: int, rng: np.random.Generator) -> Array:
    """Medians of resamples of each group, independent between groups.

    Parameters
    ----------
    groups : sequence of ndarray
        Values of each size, ascending.
    resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray, shape (S, resamples)
    """
    return np.array([_medians(values, resamples, rng) for values in groups]).reshape(len(groups), resamples)


def _medians(values: Array, resamples: int, rng: np.random.Generator) -> Array:
    trials = len(values)
    k = (trials + 1) // 2
    below = rng.beta(k, trials - k + 1, resamples)
    lower: Array = values[_index(below, trials)]
    if trials % 2:
        return lower
    above = 1.0 - (1.0 - below) * rng.random(resamples) ** (1.0 / (trials - k))
    return 0.5 * (lower + values[_index(above, trials)])


def _index(uniform: Array, trials: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.minimum((trials * uniform).astype(np.intp), trials - 1)


def percentile(value: float, draws: Array, confidence: float) -> Estimate:
    """The percentile interval of resampled estimates, with the estimate itself."""
    low, high = np.quantile(draws, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return Estimate(float(value), float(low), float(high))


def median_interval(values: Array, confidence: float) -> Estimate:
    """The median with its exact interval between order statistics; infinite ends where there are too few values.

    For a continuous law the number B of values below the median is Binomial(T, ½), and v₍ₖ₎ ≤ median ≤ v₍T−k+1₎ fails
    with probability 2 P(B < k): the largest k with P(B < k) ≤ α/2 is taken, with no assumption on the noise.

    Parameters
    ----------
    values : ndarray, shape (T,)
        Ascending.
    confidence : float
    """
    tail = (1.0 - confidence) / 2 * (1.0 + 1e-12)  # α/2, which may be met exactly
    k = int(np.count_nonzero(binom.cdf(np.arange(len(values) // 2), len(values), 0.5) <= tail))
    middle = float(np.median(values))
    return Estimate(middle, float(values[k - 1]), float(values[-k])) if k else Estimate(middle, -np.inf, np.inf)


def checked_confidence(confidence: float) -> float:
    """Refuse what is no probability strictly between 0 and 1.

    Raises
    ------
    ArgumentError
    """
    if not is_number(confidence) or not 0 < confidence < 1:
        raise ArgumentError(f"confidence must lie strictly between 0 and 1, 0.95 say; it is {confidence!r}.")
    return float(confidence)


def checked_resamples(resamples: int) -> int:
    """Refuse too few resamples.

    Raises
    ------
    ArgumentError
    """
    if not is_whole(resamples) or resamples < FEWEST_RESAMPLES:
        raise ArgumentError(f"resamples must be a whole number from {FEWEST_RESAMPLES}; it is {resamples!r}.")
    return int(resamples)
