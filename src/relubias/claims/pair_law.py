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
LARGE = f"{ID}-large-start"
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
    return [_study(ID, 50 if quick else 100, 15 if quick else 40, 1e-6, {STEP: steps, D: dimensions})]


def control(quick: bool) -> Sequence[Study]:
    """A start as large as the step, c = 0.1 and ε = 0.1."""
    return [_study(LARGE, 50, 12 if quick else 40, 0.1, {STEP: ["0.1/trace"], D: [10**7, 10**8, 10**9]})]


def _study(name: str, n: int, repeats: int, scale: float, grid: dict[str, object]) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=MEASURE,
        problem={
            "kind": "random",
            "n_samples": n,
            "features": {"kind": "gaussian", "n_features": 10**5},
            "labels": "signs 0.5..2",
        },
        network={"signs": "pair"},
        start={"scale": scale},
        grid=grid,
    )


def judge(rows: Rows) -> Finding:
    """Each neuron of each cell in the range of the corrected law, and the leading ratio for each c."""
    table, tally = certified(rows[ID], "gap.absolute", "law.worst_ratio", by=[STEP, D])
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


def figures(rows: Rows) -> dict[str, Figure]:
    """The leading ratio over √(n/d₂)/c, for small starts and for the control."""
    from relubias.report.study_page import LOOKS, page

    names = {ID: "", LARGE: ", ε = 0.1 (control)"}
    tables = {words: _with_leading(certified(rows[name], "gap.absolute")[0]) for name, words in names.items()}
    parts = [(f"c = {c:g}{words}", part) for words, table in tables.items() for c, part in table.groupby("c")]
    with page() as (sheet, axes):
        for (words, part), (colour, _, marker) in zip(parts, LOOKS, strict=False):
            ratio = part["gap.absolute"] / part["leading"]
            axes.plot(part["ease"], ratio, marker, color=colour, markersize=4, alpha=0.6, label=words)
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
        "The same from a start as large as the step, c = ε = 0.1, in which the first step leaves each neuron on some "
        "samples of the other sign: the same judge has to say no.",
        studies=control,
        rows=lambda rows: {ID: rows[LARGE]},
    ),
    figures=figures,
    method="All samples active at ε = 1e-6, labels ±U[½, 2], isotropic Gaussian features over d, w* the global "
    "minimum norm of the pair, by branch and bound with a certificate. Of the two neurons of a cell the one farther "
    "from its corrected law counts.",
)
