"""What an analysis means, in sentences.

Pure functions from the parts of an analysis to sentences: is the problem in the regime of the theorems, which
samples did the ReLU select, how do several neurons divide them, when did the activation pattern settle, what is
interpolated and what cannot be, what died, how far is the limit from the minimum-norm solution (always in absolute
*and* relative terms: at a fixed step in natural units, η‖λ‖₁, the relative distance does not vanish as the dimension
grows, although the absolute one does), how many solutions there are to choose from, how many digits can be trusted,
and what to try next.
"""

from __future__ import annotations

from relubias.verdict.advice import advice
from relubias.verdict.distance import distance, solutions
from relubias.verdict.division import division
from relubias.verdict.fit import fit
from relubias.verdict.parts import Parts, active_pattern, is_silent, step_ratio
from relubias.verdict.selection import selection
from relubias.verdict.training import balance, cycling, deaths, outcome, settling
from relubias.verdict.trust import membership, precision
from relubias.wording import sentence

__all__ = ["Parts", "active_pattern", "is_silent", "step_ratio", "verdict"]

#: In the order in which a reader asks.
GROUPS = (
    *(membership, outcome, cycling, selection, division, settling, balance, deaths),
    *(fit, distance, solutions, precision, advice),
)


def verdict(parts: Parts) -> tuple[str, ...]:
    """Return the verdict as sentences, in the order in which a reader asks.

    Parameters
    ----------
    parts : Parts

    Returns
    -------
    tuple of str
    """
    return tuple(sentence(text) for group in GROUPS for text in group(parts) if text)
