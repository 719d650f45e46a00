"""Do the theorems apply to these data, and how many digits can be trusted?"""

from __future__ import annotations

from relubias.problem import TRUSTED_CONDITION
from relubias.theory.regime import Membership
from relubias.verdict.parts import Parts

#: Fewer trustworthy digits than this, half of what a float64 has, are worth a warning.
FEW_DIGITS = 8.0


def membership(parts: Parts) -> list[str]:
    """Is the problem in the regime of the theorems, and how do we know?"""
    known = parts.run.problem.population is not None
    told = ", if the distribution is the one that is stated" if known else ", as far as d₂ tells"
    opening = {
        Membership.INSIDE: f"the data are in the regime of the paper's theorems{told}",
        Membership.OUTSIDE: "the data are outside the regime of the paper's theorems, which say nothing about them",
        Membership.UNDECIDED: "whether the data are in the regime of the paper's theorems is undecided",
    }
    return [opening[parts.regime.verdict], parts.regime.reasons[0], parts.start_note]


def precision(parts: Parts) -> list[str]:
    """How many digits can be trusted, and what carries them: K, or the features themselves?"""
    problem = parts.run.problem
    facts = problem.facts
    if facts.rank == 0:
        return []
    digits = f"about {facts.digits:.0f} digits can be trusted in the worst direction"
    moments = "times" if parts.run.is_flow else "steps"
    shift = f"{moments} of late changes of pattern may shift by rounding" if facts.digits < FEW_DIGITS else ""
    if problem.operator.factor is not None:
        text = (
            f"K has condition number {facts.condition:.2g} and has lost digits that the features still have, so that "
            f"training and references were computed from a factor of the features: {digits}"
        )
        return [f"{text}; {shift}" if shift else text]
    if not shift:
        return []
    text = f"K has condition number {facts.condition:.2g}, so that {digits}; {shift}"
    if facts.condition > TRUSTED_CONDITION:  # here a factor would have taken the place of K, had there been features
        text += "; the features themselves (Problem.from_features) would carry about twice as many digits as K alone"
    return [text]
