"""Floor 4: what theory says about a problem, before and after training.

::

    theory.regime(problem)                                       inside, outside or undecided, with reasons
    theory.concentration(problem)                                how close K is to ‖λ‖₁ I
    theory.gap_law(problem, network, start, step_size=…)         the distance to the minimum norm, predicted
    theory.limit_after_one_change(problem, network, start, …)    the closed form of the limit
    theory.guarantee(problem, network, start, step_size=…)       what is certain about activity before training
    theory.depth_units(start)                                    how deep is deep enough to stay inactive
    theory.audit(run)                                            whether the two lemmas held, by how much
"""

from __future__ import annotations

from relubias.theory.concentration import Concentration, concentration
from relubias.theory.depth import depth_units
from relubias.theory.lemmas import Audit, Guarantee, audit, guarantee
from relubias.theory.predictions import GapLaw, gap_law, kappa, limit_after_one_change
from relubias.theory.regime import Membership, Regime, regime

__all__ = [
    "Audit",
    "Concentration",
    "GapLaw",
    "Guarantee",
    "Membership",
    "Regime",
    "audit",
    "concentration",
    "depth_units",
    "gap_law",
    "guarantee",
    "kappa",
    "limit_after_one_change",
    "regime",
]
