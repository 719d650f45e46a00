"""Floor 7: the claims of the paper, and ours, as data, each with the studies that test it and a judge who can say no.

::

    found = relubias.claims.reproduce(["gap_law"], quick=True, output="reproduction")
    found.results[0].verdict, found.report

A claim is one file of this folder; :func:`relubias.claims.ids` lists them, :func:`relubias.claims.load` returns one.
"""

from __future__ import annotations

from relubias.claims.claim import Claim, Control, Finding, Quantity, Verdict
from relubias.claims.registry import chosen, ids, load
from relubias.claims.reproduce import Reproduction, Stage, reproduce
from relubias.claims.result import Result

__all__ = [
    "Claim",
    "Control",
    "Finding",
    "Quantity",
    "Reproduction",
    "Result",
    "Stage",
    "Verdict",
    "chosen",
    "ids",
    "load",
    "reproduce",
]
