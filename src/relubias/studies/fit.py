"""What is fitted to the rows of a study: all of it under one name.

::

    power_law(rows, y=…, x=…)                      exponents with intervals, and whether there is a power law
    exponent_test(fit, value)                      a hypothesised exponent
    law_ratio(rows, y=…, prediction=…, x=…)        a law with its constant: measured / predicted → 1
    proportion(rows, condition, needs=…)           a probability; proportions(…, by=…) at each value of coordinates
    threshold(places, successes)                   where a rising probability is one half

Rows are a pandas DataFrame with one row a cell: coordinates and measurements under their dotted names, "trial",
"status" ("done", "failed") and "failure". Every result carries its :class:`Tally`: which cells were left out, and why.
"""

from __future__ import annotations

from relubias.studies.bootstrap import Estimate
from relubias.studies.law_ratio import LawRatio, law_ratio
from relubias.studies.power_law import ExponentTest, PowerLaw, exponent_test, power_law
from relubias.studies.proportion import Proportion, proportion, proportions
from relubias.studies.tally import Loss, Tally
from relubias.studies.threshold import threshold

__all__ = [
    "Estimate",
    "ExponentTest",
    "LawRatio",
    "Loss",
    "PowerLaw",
    "Proportion",
    "Tally",
    "exponent_test",
    "law_ratio",
    "power_law",
    "proportion",
    "proportions",
    "threshold",
]
