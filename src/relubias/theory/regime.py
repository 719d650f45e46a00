"""Is a problem in the regime for which the paper proves its theorems?

The theorems are about n independent samples whose features have a covariance spectrum λ with

    n ≪ d₂ = ‖λ‖₁²/‖λ‖₂²   and   n ≪ d_∞ = ‖λ‖₁/‖λ‖_∞,        √d₂ ≤ d_∞ ≤ d₂ ≤ d.

There samples are nearly orthogonal: K ≈ ‖λ‖₁ I. Through the off-diagonal of K the other n − 1 samples move the
prediction at one of them by about √(n/d₂) times the size of the labels, because E K_ij² = ‖λ‖₂² and the n
contributions add up like a random walk. That number, the *interference*, decides here:

    inside     interference ≤ 1/10    (n/d₂ ≤ 1/100): the others move a prediction by a tenth of a label;
    outside    interference ≥ 1       (n/d₂ ≥ 1):     they move it by as much as a label;
    undecided  in between, or where the interval of n/d₂ reaches across one of these bounds.

The two bounds are a convention of ours; the theorems are asymptotic and name none. d₂ is estimated from K
(:mod:`relubias.facts`). d_∞ cannot be told from n samples; the chain above bounds it through d₂ alone.

Where the samples were drawn from a known distribution, d₂ and d_∞ are known and nothing has to be estimated. Then
n/d_∞ decides too: it is the length of the samples along the leading direction, n λ_max in K, against ‖λ‖₁. Inside
asks for n/d_∞ ≤ 1/10; from n/d_∞ = 1 on, one direction alone spoils K ≈ ‖λ‖₁ I, and the problem is outside. So is
one whose features have no variance. d₂ is that of one row; where K shows a far smaller one, the rows are not
independent, and the verdict is left open. So it is where the distribution is known to be, or not known not to be, one
that the theorems do not assume: with heavy tails, or with rows that depend on each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from relubias.facts import Estimate, Facts
from relubias.population import Population
from relubias.problem import Problem

#: n/d₂ up to this is inside: interference up to a tenth.
INSIDE = 0.01

#: n/d₂ from this on is outside: interference as large as a label.
OUTSIDE = 1.0

#: n/d_∞ up to this is inside, where d_∞ is known.
LEADING = 0.1

#: d₂ as drawn is believed unless it is this many times the upper end of its estimate.
DISAGREES = 2.0

#: Two samples with a larger cosine are not two independent samples of the regime: there, for n/d₂ ≤ 1/100, the
#: largest of the n(n−1)/2 cosines is about 2√(log n/d₂) ≤ 0.13.
ALIKE = 0.5


class Membership(StrEnum):
    """Whether a problem is in the regime, as far as its samples tell."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Regime:
    """Whether a problem is in the regime of the theorems, and the evidence.

    Attributes
    ----------
    verdict : Membership
        ``inside`` means: as far as d₂ tells, unless the samples were drawn from a known distribution.
    ratio : Estimate or None
        n/d₂ with its interval, which is a point where d₂ is known; None where d₂ cannot be estimated.
    leading : float or None
        n/d_∞, where it is known.
    reasons : tuple of str
        One sentence each; the first says what decided.
    """

    verdict: Membership
    ratio: Estimate | None
    reasons: tuple[str, ...]
    leading: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The regime as JSON-able values; an infinite end of an interval is None."""
        ratio = None
        if self.ratio is not None:
            ratio = {key: value if math.isfinite(value) else None for key, value in self.ratio._asdict().items()}
        return {
            "verdict": str(self.verdict),
            "n_over_d2": ratio,
            "n_over_dinf": self.leading,
            "reasons": list(self.reasons),
        }


def regime(problem: Problem) -> Regime:
    """Judge whether `problem` is in the regime n ≪ d₂, with reasons.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    Regime
    """
    facts, population = problem.facts, problem.population
    if population is None:
        ratio, leading = samples_per_dimension(facts), None
        verdict, decisive = _decide(facts, ratio)
    else:
        known = facts.n_samples / population.d2
        ratio, leading = Estimate(known, known, known, 1.0), facts.n_samples / population.dinf
        verdict, decisive = _decide_known(facts, population)
    alike = _alike(problem, facts)
    if alike and verdict is Membership.INSIDE:
        verdict = Membership.UNDECIDED
        decisive = f"{decisive[:-1]}, but two samples are far more alike than independent ones would be."
    remarks = (decisive, *alike, *_spectrum(facts), *_labels(facts), *_features(facts))
    return Regime(verdict, ratio, remarks, leading)


def samples_per_dimension(facts: Facts) -> Estimate | None:
    """Estimate n/d₂ with its interval; d₂ ≤ d holds for every spectrum and bounds it from below."""
    estimate = facts.d2_estimate
    if estimate is None:
        return None
    n = facts.n_samples
    floor = n / facts.n_features if facts.n_features else 0.0

    def ratio(d2: float) -> float:
        return max(floor, n / d2 if d2 > 0 else math.inf)

    return Estimate(ratio(estimate.value), ratio(estimate.high), ratio(estimate.low), estimate.confidence)


def _decide(facts: Facts, ratio: Estimate | None) -> tuple[Membership, str]:
    if ratio is None or facts.d2_estimate is None:
        return Membership.UNDECIDED, "d₂ cannot be estimated from fewer than 4 nonzero samples."
    if math.isinf(facts.d2_estimate.value):
        return Membership.INSIDE, (
            "All samples are exactly orthogonal, the limiting case d₂ = ∞ of the regime, where they do not interfere "
            "at all."
        )
    n = facts.n_samples
    evidence = (
        f"n/d₂ = {ratio.value:.3g} ({ratio.confidence:.0%} interval {ratio.low:.3g} to {ratio.high:.3g}; n = {n}, "
        f"d₂ ≈ {n / ratio.value:.4g})"
    )
    effect = f"the other samples move a prediction by about √(n/d₂) = {math.sqrt(ratio.value):.2g} label sizes"
    if ratio.high <= INSIDE:
        lower = math.sqrt(n / ratio.high)
        return Membership.INSIDE, (
            f"{evidence} is at most {INSIDE}: {effect}; this is as far as d₂ tells, since d_∞ cannot be told from "
            f"{n} samples (any spectrum with this d₂ has d_∞ ≥ √d₂ ≥ {lower:.2g}, so n/d_∞ ≤ {n / lower:.2g})."
        )
    if ratio.low >= OUTSIDE:
        return Membership.OUTSIDE, f"{evidence} is at least {OUTSIDE:g}: {effect}, as much as a label or more."
    return Membership.UNDECIDED, f"{evidence} is neither surely below {INSIDE} nor surely above {OUTSIDE:g}: {effect}."


def _decide_known(facts: Facts, population: Population) -> tuple[Membership, str]:
    n = facts.n_samples
    ratio, leading = n / population.d2, n / population.dinf
    evidence = (
        f"The samples were drawn from a known distribution: n/d₂ = {ratio:.3g} and n/d_∞ = {leading:.3g} (n = {n}, "
        f"d₂ = {population.d2:.4g}, d_∞ = {population.dinf:.4g})"
    )
    effect = f"the other samples move a prediction by about √(n/d₂) = {math.sqrt(ratio):.2g} label sizes"
    if math.isinf(population.trace):
        return Membership.OUTSIDE, "The samples were drawn from a known distribution, whose variance is infinite."
    if ratio >= OUTSIDE:
        return Membership.OUTSIDE, f"{evidence}; n/d₂ is at least {OUTSIDE:g}: {effect}, as much as a label or more."
    if leading >= OUTSIDE:
        return Membership.OUTSIDE, (
            f"{evidence}; n/d_∞ is at least {OUTSIDE:g}: the leading direction alone is as large in K as ‖λ‖₁ is."
        )
    estimate = facts.d2_estimate
    if estimate is not None and DISAGREES * estimate.high < population.d2:
        return Membership.UNDECIDED, (
            f"{evidence}, but K shows a far smaller d₂ ≈ {estimate.value:.4g} ({estimate.confidence:.0%} interval up "
            f"to {estimate.high:.4g}): the samples are not independent, or have heavy tails."
        )
    if ratio <= INSIDE and leading <= LEADING:
        if broken := _broken_assumptions(population):
            return Membership.UNDECIDED, f"{evidence} are at most {INSIDE} and {LEADING}, but {broken}."
        return Membership.INSIDE, f"{evidence} are at most {INSIDE} and {LEADING}: {effect}."
    return Membership.UNDECIDED, f"{evidence} are neither at most {INSIDE} and {LEADING}, nor as large as 1: {effect}."


def _broken_assumptions(population: Population) -> str:
    """Which assumption of the theorems does not hold, or is not known to; empty where both hold."""
    texts = []
    if population.independent is False:
        texts.append("its rows depend on each other, unlike the independent ones")
    if population.sub_gaussian is False:
        texts.append("its components have heavier tails than the sub-Gaussian ones")
    if texts:
        return f"{' and '.join(texts)} that the theorems assume"
    if None in (population.independent, population.sub_gaussian):
        return (
            "it is not said whether its rows are independent and its components sub-Gaussian, as the theorems assume "
            "(independent= and sub_gaussian= of the population)"
        )
    return ""


def _alike(problem: Problem, facts: Facts) -> list[str]:
    remarks = []
    if facts.duplicates:
        first = " and ".join(problem.sample(i) for i in facts.duplicates[0][:2])
        more = f" ({len(facts.duplicates)} such groups)" if len(facts.duplicates) > 1 else ""
        remarks.append(f"Some samples coincide, for instance {first}{more}; independent samples do not.")
    cosine = facts.largest_cosine
    if cosine is not None and cosine.value > ALIKE and not facts.duplicates:
        gap = f"1 − {1 - cosine.value:.1g}" if cosine.value > 0.99 else f"{cosine.value:.2f}"
        remarks.append(
            f"The largest cosine between two samples is {gap} ({problem.sample(cosine.first)} and "
            f"{problem.sample(cosine.second)}); in the regime all cosines are small."
        )
    return remarks


def _spectrum(facts: Facts) -> list[str]:
    remarks = []
    nonzero = facts.n_samples - len(facts.zero_rows)
    if facts.rank < nonzero:
        remarks.append(f"K has rank {facts.rank} for {nonzero} nonzero samples: the samples are linearly dependent.")
    if facts.condition > 10 and math.isfinite(facts.condition):
        remarks.append(
            f"The condition number of K is {facts.condition:.2g}; in the regime K is close to a multiple of the "
            "identity."
        )
    return remarks


def _labels(facts: Facts) -> list[str]:
    zero = facts.label_counts["zero"]
    if not zero:
        return []
    return [f"{zero} of {facts.n_samples} labels are 0, a case about which the theorems say nothing."]


def _features(facts: Facts) -> list[str]:
    if facts.n_features is None:
        return ["The number of features is not known; d₂ is judged by K alone."]
    if facts.n_features <= facts.n_samples:
        return [f"There are no more features ({facts.n_features}) than samples ({facts.n_samples})."]
    return []
