"""One law for any number of neurons: measured gap over the corrected law at m = 1, 2, 4, 6 and equal steps.

One neuron and a pair start with all samples active, four and six neurons disjoint at the usual depth. The law knows the
start, the labels, ‖λ‖₁ and d₂ only; the constant in front of √(n/‖λ‖₁) differs for each m, and the ratio must not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.claims.usable import certified, completeness, told
from relubias.studies.bootstrap import median_interval
from relubias.studies.spec import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ID = "equal_steps_many"
SIGNS = "network.signs"
NEURONS = {"single": 1, "pair": 2, "+,+,-,-": 4, "+,+,+,-,-,-": 6}
MEASURE = ("run.status", "reference.status", "gap.absolute", "gap.relative", "law.gap", "law.corrected")
#: The median ratio is claimed within this of 1.
CLOSE = 0.02


def studies(quick: bool) -> Sequence[Study]:
    """(n, d) = (100, 1e4) and c = 1."""
    kinds = ["all-active", "all-active", "disjoint", "disjoint"]
    tables = study(
        ID,
        repeats=12 if quick else 60,
        measure=MEASURE,
        problem={
            "kind": "random",
            "n_samples": 100,
            "features": {"kind": "gaussian", "n_features": 10_000},
            "labels": "signs 0.5..2",
        },
        start={"scale": 1e-3},
        dynamics={"step_size": "1/trace", "budget": 1e5},
        linked=[{SIGNS: list(NEURONS), "start.kind": kinds}],
    )
    return [tables]


def judge(rows: Rows) -> Finding:
    """The median ratio of each m, with its interval, within 2 % of 1."""
    table, tally = certified(rows[ID], "gap.absolute", "law.corrected")
    quantities, told_each = [], []
    for signs, m in NEURONS.items():
        part = table[table[SIGNS] == signs]
        ratios = np.sort((part["gap.absolute"] / part["law.corrected"]).to_numpy(dtype=float))
        ratio = median_interval(ratios, 0.95)
        leading = float((part["gap.absolute"] / part["law.gap"]).median())
        name = f"gap/corrected law, m = {m}"
        quantities.append(Quantity.within(name, ratio, 1 - CLOSE, 1 + CLOSE, trials=len(ratios)))
        told_each.append(
            f"m = {m}: gap {part['gap.absolute'].median():.4f}, relative {part['gap.relative'].median():.3f}, over the "
            f"law {ratio}, over its leading order {leading:.3f}"
        )
    return Finding.of([*quantities, completeness(tally)], f"Medians at {'; '.join(told_each)}.{told(tally)}")


def figures(rows: Rows) -> dict[str, Figure]:
    """The ratio to the leading order and to the corrected law, for each m."""
    from relubias.report.study_page import LOOKS, page

    table = certified(rows[ID], "gap.absolute", "law.corrected")[0]
    with page() as (sheet, axes):
        for shift, law, words in ((-0.12, "law.gap", "leading order"), (0.12, "law.corrected", "corrected law")):
            colour, _, marker = LOOKS[0 if shift < 0 else 1]
            for place, signs in enumerate(NEURONS):
                part = table[table[SIGNS] == signs]
                ratio = part["gap.absolute"] / part[law]
                named = words if place == 0 else None
                axes.plot(
                    np.full(len(ratio), place + shift),
                    ratio,
                    marker,
                    color=colour,
                    markersize=4,
                    alpha=0.5,
                    label=named,
                )
        axes.axhline(1.0, color="0.4", linewidth=1.0)
        axes.set_xticks(range(len(NEURONS)), [f"m = {m}" for m in NEURONS.values()])
        axes.set(ylabel="gap over the law")
        axes.legend(fontsize=8)
    return {"ratios": sheet}


CLAIM = Claim(
    id=ID,
    title="One law for one, two, four and six neurons",
    statement="At (n, d) = (100, 10 000) and c = 1 the median gap is within 2 % of the corrected law for m = 1, 2, 4 "
    "and 6 alike.",
    source="ours",
    chapter="Several neurons",
    place=6,
    studies=studies,
    judge=judge,
    control=Control(
        "The same gaps against the leading order of the law, which leaves the interference of the other samples out; "
        "√(n/d₂) = 0.1 is too large for it, and the same judge has to say no.",
        rows=lambda rows: {ID: rows[ID].assign(**{"law.corrected": rows[ID]["law.gap"]})},
    ),
    figures=figures,
    method="Isotropic Gaussian features, labels ±U[½, 2], ε = 1e-3. m = 1 and 2: all samples active, against the "
    "global minimum norm. m = 4 and 6: disjoint start at depth 3√(n/d₂) max|y|, against the minimum norm given the "
    "partition.",
)
