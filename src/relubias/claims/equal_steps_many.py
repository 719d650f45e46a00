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
TAILS, SHALLOW = f"{ID}-tails", f"{ID}-shallow"
D = 10_000
SIGNS = "network.signs"
NEURONS = {"single": 1, "pair": 2, "+,+,-,-": 4, "+,+,+,-,-,-": 6}
MEASURE = ("run.status", "reference.status", "gap.absolute", "gap.relative", "law.gap", "law.corrected")
#: The median ratio is claimed within this of 1.
CLOSE = 0.02


def studies(quick: bool) -> Sequence[Study]:
    """(n, d) = (100, 1e4) and c = 1."""
    kinds = ["all-active", "all-active", "disjoint", "disjoint"]
    return [_study(ID, 12 if quick else 60, list(NEURONS), {}, linked=[{SIGNS: list(NEURONS), "start.kind": kinds}])]


def control(quick: bool) -> Sequence[Study]:
    """Features with heavy tails at the same n and d for m = 1 and 2, and a shallow start for m = 4 and 6."""
    one, pair, *more = NEURONS
    tails = {"kind": "student-t", "degrees": 2.1, "n_features": D}
    repeats = 30 if quick else 60
    return [
        _study(TAILS, repeats, [one, pair], {}, features=tails),
        _study(SHALLOW, repeats, more, {"kind": "disjoint", "depth": 0.05}),
    ]


def _study(
    name: str,
    repeats: int,
    signs: Sequence[str],
    start: dict[str, object],
    *,
    features: dict[str, object] | None = None,
    linked: Sequence[dict[str, object]] = (),
) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=MEASURE,
        problem={
            "kind": "random",
            "n_samples": 100,
            "features": features or {"kind": "gaussian", "n_features": D},
            "labels": "signs 0.5..2",
        },
        start={"scale": 1e-3} | start,
        dynamics={"step_size": "1/trace", "budget": 1e5},
        **({"linked": list(linked)} if linked else {"grid": {SIGNS: list(signs)}}),
    )


def judge(rows: Rows) -> Finding:
    """The median ratio of each m, with its interval, within 2 % of 1."""
    table, tally = certified(rows[ID], "gap.absolute", "law.corrected", by=SIGNS)
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
    """The ratio to the leading order and to the corrected law for each m, and the latter for the control."""
    from relubias.report.study_page import LOOKS, page

    lines = (
        (-0.2, rows[ID], "law.gap", "leading order"),
        (0.0, rows[ID], "law.corrected", "corrected law"),
        (0.2, others(rows)[ID], "law.corrected", "corrected law, control"),
    )
    with page() as (sheet, axes):
        for (shift, given, law, words), (colour, _, marker) in zip(lines, LOOKS, strict=False):
            table = certified(given, "gap.absolute", law)[0]
            places = table[SIGNS].map(list(NEURONS).index) + shift
            ratio = table["gap.absolute"] / table[law]
            axes.plot(places, ratio, marker, color=colour, markersize=4, alpha=0.5, label=words)
        axes.axhline(1.0, color="0.4", linewidth=1.0)
        axes.set_xticks(range(len(NEURONS)), [f"m = {m}" for m in NEURONS.values()])
        axes.set(ylabel="gap over the law")
        axes.legend(fontsize=8)
    return {"ratios": sheet}


def others(rows: Rows) -> Rows:
    """The cells of the control that have a proven limit, of all numbers of neurons.

    After an invasion two neurons share a sample, for which c = 1 is at the bound of stability: some runs have no limit.
    """
    import pandas as pd

    table = pd.concat([rows[TAILS], rows[SHALLOW]], ignore_index=True)
    return {ID: certified(table, "gap.absolute", "law.corrected", by=SIGNS)[0]}


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
        "Features with heavy tails, Student's t with ν = 2.1, at the same n and d for m = 1 and 2, and starts at the "
        "depth 0.05 for m = 4 and 6, where √(n/d₂) = 0.1, of which those with a proven limit are judged: the same "
        "judge has to say no.",
        studies=control,
        rows=others,
    ),
    figures=figures,
    method="Isotropic Gaussian features, labels ±U[½, 2], ε = 1e-3. m = 1 and 2: all samples active, against the "
    "global minimum norm. m = 4 and 6: disjoint start at depth 3√(n/d₂) max|y|, against the minimum norm given the "
    "partition.",
)
