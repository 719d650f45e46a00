r"""The gap law of a pair of neurons: gap → η‖λ‖₁^½ ‖y‖₂, with the whole vector of labels.

The first step leaves the labels of the other sign at −c|y_i| in each neuron, for ever; the minimum-norm solution has no
such coefficients. So the negative labels make the gap of the positive neuron, c‖y₋‖/√L with L = ‖λ‖₁, the positive
labels that of the negative neuron, and both together c‖y‖/√L = ηL^½‖y‖. At finite n/d₂ the interference of the other
samples lowers each of the two in its own way, which the corrected law says neuron by neuron.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.claims.usable import certified, completeness, told
from relubias.studies.fit import law_ratio
from relubias.studies.spec import Study
from relubias.studies.tally import numbers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ID = "pair_law"
STEP, D = "dynamics.step_size", "problem.features.n_features"
MEASURE = (
    "run.status", "reference.status", "gap.absolute", "law.worst_ratio", "problem.label_norm", "problem.lambda_norm",
    "problem.n_samples", "problem.d2",
)  # fmt: skip
#: √(n/d₂) may be this fraction of c, where the corrected law is claimed within `CLOSE` for each neuron.
REGIME, CLOSE = 0.05, 0.02


def studies(quick: bool) -> Sequence[Study]:
    """Isotropic features over d, for several c."""
    steps = ["1/trace", "0.1/trace"] if quick else ["1/trace", "0.5/trace", "0.1/trace"]
    dimensions = [10**5, 10**7, 10**9] if quick else [10**k for k in range(5, 11)]
    tables = study(
        ID,
        repeats=15 if quick else 40,
        measure=MEASURE,
        problem={
            "kind": "random",
            "n_samples": 50 if quick else 100,
            "features": {"kind": "gaussian", "n_features": 10**5},
            "labels": "signs 0.5..2",
        },
        network={"signs": "pair"},
        start={"scale": 1e-6},
        grid={STEP: steps, D: dimensions},
    )
    return [tables]


def judge(rows: Rows) -> Finding:
    """Each neuron of each cell in the range of the corrected law, and the leading ratio for each c."""
    table, tally = certified(rows[ID], "gap.absolute", "law.worst_ratio")
    table = _with_leading(table)
    near = table[table["ease"] <= REGIME]["law.worst_ratio"].to_numpy(dtype=float)
    worst = float(np.max(np.abs(near - 1.0)))
    quantities = [
        Quantity.at_most("farthest |gap/corrected law − 1| of a neuron", worst, CLOSE, trials=len(near)),
        *_leading(table),
        completeness(tally),
    ]
    limits = " and ".join(str(quantity) for quantity in quantities[1:-1])
    return Finding.of(
        quantities,
        f"Of {len(near)} cells with √(n/d₂) ≤ {REGIME} c, the neuron that is farthest off its corrected law is "
        f"{worst:.2%} off; at the largest d, gap/(ηL^½‖y‖) is {limits}.{told(tally)}",
    )


def _with_leading(table: DataFrame) -> DataFrame:
    c = numbers_of(table, STEP)
    ease = np.sqrt(numbers_of(table, "problem.n_samples") / numbers_of(table, "problem.d2")) / c
    leading = c * table["problem.label_norm"] / np.sqrt(table["problem.lambda_norm"])
    return table.assign(c=c, ease=ease, leading=leading)


def _leading(table: DataFrame) -> list[Quantity]:
    quantities = []
    for c, part in table.groupby("c", sort=True):
        ratio = law_ratio(part, y="gap.absolute", prediction="leading", x=D)
        last = ratio.ratios[-1]
        name = f"gap/(ηL^½‖y‖) at c = {c:g}, largest d"
        trials = int(ratio.trials[-1])
        quantities.append(Quantity(name, last.value, last.low, last.high, trials, "tends to 1", ratio.consistent))
    return quantities


def one_neuron(rows: Rows) -> Rows:
    """The gaps as they were, and the law of a single neuron, ηL^½‖y₋‖, which counts the labels of one sign only."""
    half = np.sqrt(0.5)  # as many labels have either sign, of the same sizes
    table = rows[ID]
    changed = {"law.worst_ratio": table["law.worst_ratio"] / half, "problem.label_norm": table["problem.label_norm"]}
    changed["problem.label_norm"] = changed["problem.label_norm"] * half
    return {ID: table.assign(**changed)}


def figures(rows: Rows) -> dict[str, Figure]:
    """The leading ratio over √(n/d₂)/c."""
    from relubias.report.study_page import LOOKS, page

    table = _with_leading(certified(rows[ID], "gap.absolute")[0])
    with page() as (sheet, axes):
        for (c, part), (colour, _, marker) in zip(table.groupby("c"), LOOKS, strict=False):
            ratio = part["gap.absolute"] / part["leading"]
            axes.plot(part["ease"], ratio, marker, color=colour, markersize=4, alpha=0.6, label=f"c = {c:g}")
        axes.axhline(1.0, color="0.4", linewidth=1.0)
        axes.axvline(REGIME, color="0.7", linewidth=0.8, linestyle=":")
        axes.set(xscale="log", xlabel="√(n/d₂)/c", ylabel="gap/(ηL^½‖y‖)")
        axes.legend(fontsize=8)
    return {"ratio": sheet}


CLAIM = Claim(
    id=ID,
    title="The gap law of a pair",
    statement="For one positive and one negative neuron, both active on all samples of a small start, the gap to the "
    "minimum norm tends to η‖λ‖₁^½‖y‖₂ as n/d₂ → 0, and each neuron follows its corrected law.",
    source="ours",
    chapter="Several neurons",
    place=2,
    studies=studies,
    judge=judge,
    control=Control(
        "The same gaps against the law of one neuron, which counts the labels of one sign only, 1/√2 of ‖y‖: the same "
        "judge has to say no.",
        rows=one_neuron,
    ),
    figures=figures,
    method="All samples active at ε = 1e-6, labels ±U[½, 2], isotropic Gaussian features over d, w* the global "
    "minimum norm of the pair, by branch and bound with a certificate. Of the two neurons of a cell the one farther "
    "from its corrected law counts.",
)
