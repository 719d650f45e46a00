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
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from relubias.facts import Estimate, Facts
from relubias.problem import Problem

#: n/d₂ up to this is inside: interference up to a tenth.
INSIDE = 0.01

#: n/d₂ from this on is outside: interference as large as a label.
OUTSIDE = 1.0

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
        ``inside`` always means: as far as d₂ tells.
    ratio : Estimate or None
        n/d₂ with its interval; None where d₂ cannot be estimated.
    reasons : tuple of str
        One sentence each; the first says what decided.
    """

    verdict: Membership
    ratio: Estimate | None
    reasons: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The regime as JSON-able values; an infinite end of an interval is None."""
        ratio = None
        if self.ratio is not None:
            ratio = {key: value if math.isfinite(value) else None for key, value in self.ratio._asdict().items()}
        return {"verdict": str(self.verdict), "n_over_d2": ratio, "reasons": list(self.reasons)}


def regime(problem: Problem) -> Regime:
    """Judge whether `problem` is in the regime n ≪ d₂, with reasons.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    Regime
    """
    facts = problem.facts
    ratio = samples_per_dimension(facts)
    verdict, decisive = _decide(facts, ratio)
    alike = _alike(problem, facts)
    if alike and verdict is Membership.INSIDE:
        verdict = Membership.UNDECIDED
        decisive = f"{decisive[:-1]}, but two samples are far more alike than independent ones would be."
    remarks = (decisive, *alike, *_spectrum(facts), *_labels(facts), *_features(facts))
    return Regime(verdict, ratio, remarks)


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
