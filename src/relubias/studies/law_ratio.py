r"""A law with its constant: does measured / predicted tend to 1?

    ρ_s = median over the trials of y / prediction at size s,      claim: ρ_s → 1 as s grows (or shrinks).

A power law tests an exponent; the ratio tests exponent and constant at once. Each ρ_s has its exact interval between
order statistics, which assumes nothing about the noise. At a finite size a true asymptotic law is still off by its
next term, so that two findings are *consistent* with the claim:

1. **reached**: the interval of ρ at the last size on the way to the limit contains 1, and is no wider than a margin m
   around it, so that ρ is shown to be within m of 1 there;
2. **approaching**: |ρ_s − 1| ∝ x^q with the whole interval of q on the side of decrease, and without lack of fit. The
   second half matters: |ρ − 1| = 0.1 + x^{−½} shrinks as well, on its way to another limit, and it bends.

Where the interval contains 1 but leaves the margin, the trials are too few to tell, and nothing is *decided*. Anything
else is inconsistent. Where 1 is the ratio at every size, (1) is missed with the probability 1 − confidence. A limit
that differs from 1 by less than m, or a ratio that just passes 1 at the last size, is called consistent: a finding is
worth its margin, and the last size. The criterion is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from relubias.arguments import generator_of, is_number
from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.studies.bootstrap import (
    FEWEST_TRIALS,
    Estimate,
    checked_confidence,
    checked_resamples,
    median_interval,
    percentile,
    resampled_medians,
)
from relubias.studies.by_size import BySize, by_size
from relubias.studies.least_squares import least_squares
from relubias.studies.power_law import FEWEST_SIZES
from relubias.studies.tally import Tally, numbers_of
from relubias.wording import count, number

if TYPE_CHECKING:
    from pandas import DataFrame

#: Where the limit of a law is.
LIMITS = ("infinity", "zero")
#: A ratio this close to 1 is 1 up to rounding, and has no trend.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class LawRatio:
    """Measured over predicted, size by size, and whether it tends to 1.

    Attributes
    ----------
    y, prediction, x : str
        What was measured, what predicted it, and along which coordinate.
    towards : str
        "infinity" or "zero": where the claim puts the limit in x.
    sizes : ndarray, shape (S,)
        Values of x, in the order of the way to the limit.
    ratios : tuple of Estimate
        Median ratio at each size, with its exact interval.
    trials : ndarray of int, shape (S,)
    trend : Estimate or None
        q of |ρ − 1| ∝ x^q; None where a ratio is 1 up to rounding.
    lack_of_fit : float or None
        p-value of the hypothesis that |ρ − 1| follows a power law; None where there is no trend.
    margin : float
        m.
    reached, approaching : bool
        The two findings.
    consistent : bool or None
        Whether either of them was made; None where the last interval contains 1 and is too wide to tell.
    confidence : float
        Of each interval.
    message : str
        The verdict in words.
    tally : Tally
        What became of every cell.
    """

    y: str
    prediction: str
    x: str
    towards: str
    sizes: Array
    ratios: tuple[Estimate, ...]
    trials: np.ndarray[tuple[int], np.dtype[np.intp]]
    trend: Estimate | None
    lack_of_fit: float | None
    margin: float
    reached: bool
    approaching: bool
    confidence: float
    tally: Tally

    def __repr__(self) -> str:
        return f"<LawRatio: {self.message}>"

    @property
    def consistent(self) -> bool | None:
        """Whether the rows are consistent with a ratio that tends to 1; None where they are too few to tell."""
        if self.reached or self.approaching:
            return True
        return None if self.ratios[-1].contains(1.0) else False

    @property
    def message(self) -> str:
        """The verdict in words."""
        place = "→ ∞" if self.towards == "infinity" else "→ 0"
        verdict = {True: "consistent with 1", None: "not decided to be 1 or not", False: "inconsistent with 1"}
        how = f"the ratio is within {100 * self.margin:g} % of it" if self.reached else "it stays away"
        if not self.reached and self.consistent is not False:
            how = (
                "it approaches" if self.approaching else f"the interval is wider than {100 * self.margin:g} % around 1"
            )
        text = f"{self.y} / {self.prediction} is {verdict[self.consistent]} as "
        text += f"{self.x} {place}, {how}: {self.ratios[-1]} at {number(self.sizes[-1])} ({100 * self.confidence:g} %)"
        if self.trend is not None:
            text += f"; |ratio − 1| ∝ ({self.x})^{self.trend}, lack of fit p = {number(self.lack_of_fit or 0.0)}"
        return f"{text}; {count(len(self.sizes), 'size')}, {self.tally.message}."


def law_ratio(
    rows: DataFrame,
    *,
    y: str,
    prediction: str | Callable[[DataFrame], Any],
    x: str,
    towards: str = "infinity",
    margin: float = 0.1,
    confidence: float = 0.95,
    resamples: int = 4000,
    rng: int | np.random.Generator = 0,
    certified: bool = True,
) -> LawRatio:
    """Compare a measured column with a predicted one along a coordinate.

    Parameters
    ----------
    rows : pandas.DataFrame
        One row a cell, with the columns "status" and "trial".
    y : str
        What was measured.
    prediction : str or callable
        A column, or a function of the rows that returns one number a row in the unit of y.
    x : str
        Coordinate along which the law becomes exact.
    towards : str
        "infinity" or "zero": where in x it does.
    margin : float
        How far from 1 the last ratio may still be when it is said to be there.
    confidence, resamples, rng, certified
        As for :func:`power_law`.

    Returns
    -------
    LawRatio

    Raises
    ------
    ArgumentError
        If a column is missing, fewer than 3 sizes have enough trials for an interval, `towards` is neither word, or two
        cells share size and trial, or the margin is not between 0 and 1.
    """
    if not is_number(margin) or not 0 < margin < 1:
        raise ArgumentError(f"margin must be a number between 0 and 1; it is {margin!r:.80}.")
    confidence, resamples, generator = checked_confidence(confidence), checked_resamples(resamples), generator_of(rng)
    if towards not in LIMITS:
        raise ArgumentError(f"towards must be 'infinity' or 'zero'; it is {towards!r}.")
    name = prediction if isinstance(prediction, str) else getattr(prediction, "__name__", "<lambda>")
    name = "prediction" if name == "<lambda>" else name
    column = f"{y} / {name}"
    data = by_size(
        rows.assign(**{column: _ratio(rows, y, prediction)}),
        column,
        [x],
        positive=False,
        certified=certified,
        fewest=max(FEWEST_TRIALS, fewest_for_interval(confidence)),
    )
    if len(data.sizes) < FEWEST_SIZES:
        raise ArgumentError(
            f"{x} has {count(len(data.sizes), 'usable value')}, and a trend needs {FEWEST_SIZES} at least, with "
            f"{fewest_for_interval(confidence)} trials each; {data.tally.message}."
        )
    if not np.all(data.sizes > 0):
        raise ArgumentError(f"{x} has values that are not positive, and a trend is one in its logarithm.")
    ratios = [median_interval(values, confidence) for values in data.values]
    trend, lack = _trend(data, confidence, resamples, generator)
    falls = trend is not None and (trend.high < 0 if towards == "infinity" else trend.low > 0)
    order = slice(None) if towards == "infinity" else slice(None, None, -1)
    return LawRatio(
        y=y,
        prediction=name,
        x=x,
        towards=towards,
        sizes=data.sizes[order, 0],
        ratios=tuple(ratios[order]),
        trials=data.trials[order],
        trend=trend,
        lack_of_fit=lack,
        margin=margin,
        reached=_within(ratios[order][-1], margin),
        approaching=falls and lack is not None and lack >= 1.0 - confidence,
        confidence=confidence,
        tally=data.tally,
    )


def _within(ratio: Estimate, margin: float) -> bool:
    return 1.0 - margin <= ratio.low <= 1.0 <= ratio.high <= 1.0 + margin


def fewest_for_interval(confidence: float) -> int:
    """The fewest values whose whole range covers the median with this confidence: 2·2^{−T} ≤ 1 − confidence."""
    return int(np.ceil(1.0 - np.log2(1.0 - confidence) - 1e-12))


def _ratio(rows: DataFrame, y: str, prediction: str | Callable[[DataFrame], Any]) -> Array:
    measured_values = numbers_of(rows, y)
    if isinstance(prediction, str):
        predicted = numbers_of(rows, prediction)
    else:
        predicted = np.asarray(prediction(rows), dtype=np.float64)
        if predicted.shape != (len(rows),):
            raise ArgumentError(
                f"prediction must return one number a row, {len(rows)} of them, not the shape {predicted.shape}."
            )
    with np.errstate(divide="ignore", invalid="ignore"):
        return measured_values / predicted


def _trend(
    data: BySize, confidence: float, resamples: int, rng: np.random.Generator
) -> tuple[Estimate | None, float | None]:
    """The exponent of |ρ − 1| in x with its interval, and the p-value of lack of fit (as in power laws)."""
    off = np.abs(data.medians - 1.0)
    if np.any(off <= ROUNDING):
        return None, None
    again = np.log(np.maximum(np.abs(resampled_medians(data.values, resamples, rng) - 1.0), ROUNDING))
    logs = np.log(data.sizes[:, 0])
    fit = least_squares(np.column_stack([np.ones(len(logs)), logs - logs.mean()]), np.log(off), again)
    return percentile(fit.coefficients[1], fit.draws[1], confidence), fit.lack_of_fit
