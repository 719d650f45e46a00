r"""In the worst case no norm describes the bias: one set of solutions, another limit for each γ.

The family of Vardi and Shamir (2021): one ReLU in R³, rows (3, −1, 0), (4, 2, 0), (0, γ, γ), y = (16, 18, 0). For every
γ > 0 the global minimisers are {(5, −1, c): c ≤ 1}, whose shortest is (5, −1, 0). So whatever is to be least at the
limit, as a function of the set of minimisers, would pick the same c for every γ. Gradient descent does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.claims.usable import certified, completeness, told
from relubias.studies.spec import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ID = "worst_case"
CONTROL = f"{ID}-control"
GAMMA, GAP, NORM = "problem.gamma", "gap.absolute", "reference.norm"
GAMMAS = (1.0, 2.0, 5.0, 20.0)
#: |c| at these γ, computed before, to four digits.
BEFORE = (0.0400, 0.1104, 0.2092, 0.2302)
#: Half a unit of the last digit, with room for rounding; and what is another limit, far above that.
DIGITS, APART = 6e-5, 1e-3


def studies(quick: bool) -> Sequence[Study]:
    """From 1e-3·(1, 1, 1), where all samples are active."""
    return [_study(ID, [1e-3, 1e-3, 1e-3])]


def control(quick: bool) -> Sequence[Study]:
    """From a start in which the third sample, the only one with γ, is inactive and stays so."""
    return [_study(CONTROL, [1e-3, 1e-3, -2.0])]


def _study(name: str, weights: list[float]) -> Study:
    return study(
        name,
        repeats=1,
        measure=("run.status", "reference.status", "run.loss", GAP, NORM),
        problem={"kind": "vardi-shamir"},
        start={"kind": "weights", "weights": weights},
        dynamics={"step_size": 1e-4},
        grid={GAMMA: list(GAMMAS)},
    )


def judge(rows: Rows) -> Finding:
    """One w* for all γ, and limits that are all different; |c| is the distance to w* = (5, −1, 0)."""
    table, tally = certified(rows[ID], GAP, NORM)
    table = table.sort_values(GAMMA)
    distances = table[GAP].to_numpy(dtype=float)
    same = float(np.abs(table[NORM].to_numpy(dtype=float) - math.sqrt(26.0)).max())
    nearest = float(np.diff(np.sort(distances)).min())
    before = np.array([dict(zip(GAMMAS, BEFORE, strict=True))[float(gamma)] for gamma in table[GAMMA]])
    quantities = [
        Quantity.at_least("least distance between the limits of two γ", nearest, APART, trials=len(table)),
        Quantity.at_most("farthest ‖w*‖ from √26", same, 1e-9, trials=len(table)),
        Quantity.at_most("farthest |c| from what was computed before", float(np.abs(distances - before).max()), DIGITS),
        Quantity.at_most("largest loss at the limit", float(table["run.loss"].max()), 1e-12),
        completeness(tally),
    ]
    each = ", ".join(f"{d:.4f} at γ = {g:g}" for d, g in zip(distances, table[GAMMA], strict=True))
    return Finding.of(
        quantities,
        f"The shortest solution has the norm √26 for every γ, and training ends at the distance {each} from it; the "
        f"limits of two γ differ by {nearest:.4f} at least.{told(tally)}",
    )


def figures(rows: Rows) -> dict[str, Figure]:
    """The distance over γ, from both starts."""
    from relubias.report.study_page import LOOKS, page

    with page() as (sheet, axes):
        names = {ID: "from 1e-3·(1, 1, 1)", CONTROL: "from (1e-3, 1e-3, −2): third sample inactive"}
        for (name, words), (colour, line, marker) in zip(names.items(), LOOKS, strict=False):
            part = rows[name].sort_values(GAMMA)
            axes.plot(part[GAMMA], part[GAP], marker, linestyle=line, color=colour, label=words)
        axes.set(xscale="log", yscale="log", xlabel="γ", ylabel="‖w_∞ − w*‖ = |c|")
        axes.legend(fontsize=8)
    return {"limits": sheet}


CLAIM = Claim(
    id=ID,
    title="In the worst case the limit is no function of the set of solutions",
    statement="In the family of Vardi and Shamir all γ have the same solutions and the same w*, and yet gradient "
    "descent from the same small start ends at another one for each γ.",
    source="paper, exceptions (Vardi and Shamir 2021)",
    chapter="Where it ends",
    place=2,
    studies=studies,
    judge=judge,
    control=Control(
        "From a start in which the third sample, the only one that has γ in it, is inactive and stays so, every γ "
        "leads to the same limit: the same judge has to say no.",
        studies=control,
        rows=lambda rows: {ID: rows[CONTROL]},
    ),
    figures=figures,
    method="γ = 1, 2, 5, 20, η = 1e-4, start 1e-3·(1, 1, 1); nothing is random. All limits are (5, −1, c) with the "
    "exact zero loss, so that the distance to w* = (5, −1, 0) is |c|.",
)
