"""The closed form of the limit: exact where the pattern changes at step 1 and never again.

    w_∞ = X_Aᵀ K_AA⁻¹ (y_A − K_AO α_O(1)) + X_Oᵀ α_O(1),        A active after step 1, O the rest,          (ours)

holds for any K: the certificate of a run says whether its pattern kept after step 1, and if so, the two have to agree
to rounding. Runs whose pattern changed later end elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.claims.usable import certified, completeness
from relubias.claims.usable import told as left_out
from relubias.studies.spec import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ID = "closed_form"
D, SETTLED, DISTANCE = "problem.features.n_features", "run.first_step_pattern", "closed_form.distance"
SIGNS = "network.signs"
N = 30
#: Rounding: 1e-16 times n times the condition number of K_AA, which is below 1e3 for d ≥ 1.3 n, and a margin.
ROUNDING = 1e-10


def studies(quick: bool) -> Sequence[Study]:
    """n = 30 over d, so that both kinds of runs occur; one neuron and a pair."""
    ratios = [4, 16, 64, 10**6] if quick else [2, 4, 8, 16, 32, 64, 10**3, 10**6, 10**10]
    return [
        study(
            ID,
            repeats=40 if quick else 150,
            measure=("run.status", SETTLED, DISTANCE),
            problem={
                "kind": "random",
                "n_samples": N,
                "features": {"kind": "gaussian", "n_features": N},
                "labels": "signs 0.5..2",
            },
            start={"scale": 1e-3},
            dynamics={"step_size": "0.5/trace"},
            grid={D: [N * ratio for ratio in ratios], SIGNS: ["single", "pair"]},
        )
    ]


def judge(rows: Rows) -> Finding:
    """The farthest of all certified runs that changed at step 1 at most."""
    table = rows[ID]
    tally = certified(table, by=[D, SIGNS])[1]
    settled, other = certified(table[table[SETTLED].fillna(False).astype(bool)], DISTANCE)
    worst = float(settled[DISTANCE].astype(float).max())
    quantities = [
        Quantity.at_most("farthest relative |Δβ| from the closed form", worst, ROUNDING, trials=len(settled)),
        Quantity("runs that settled at step 1", float(other.cells), trials=len(table)),
        Quantity("of these, without a closed form", float(other.cells - other.kept)),
        completeness(tally, other),
    ]
    told = (
        f"of {len(table):,} runs {other.cells:,} count as settled at step 1; the farthest of "
        f"{len(settled):,} is {worst:.1e} from the closed form"
    )
    rest = left_out(tally)
    return Finding.of(
        quantities, f"The closed form is exact: {told}.{rest}", otherwise=f"The closed form is not exact: {told}.{rest}"
    )


def later(rows: Rows) -> Rows:
    """Runs that changed later, as if they had settled at step 1."""
    table = rows[ID]
    rest = table[(table["status"] == "done") & ~table[SETTLED].fillna(False).astype(bool)]
    return {ID: rest.assign(**{SETTLED: True})}


def figures(rows: Rows) -> dict[str, Figure]:
    """The distances of both kinds of runs over d/n."""
    from relubias.report.study_page import LOOKS, page

    table: DataFrame = rows[ID]
    table = table[table[DISTANCE].notna()]
    at_once = table[SETTLED].astype(bool)
    with page() as (sheet, axes):
        for (name, part), (colour, _, marker) in zip(
            (("changed at step 1 only", table[at_once]), ("changed later", table[~at_once])), LOOKS, strict=False
        ):
            axes.plot(
                part[D] / N, part[DISTANCE].clip(lower=1e-17), marker, color=colour, markerfacecolor="none",
                markersize=4, label=f"{name}, {len(part):,} runs",
            )  # fmt: skip
        axes.axhline(ROUNDING, color="0.6", linewidth=0.8, linestyle=":")
        axes.set(xscale="log", yscale="log", xlabel="d/n", ylabel="largest relative |Δβ| from the closed form")
        axes.legend(fontsize=8)
    return {"distance": sheet}


CLAIM = Claim(
    id=ID,
    title="The closed form of the limit",
    statement="A run whose pattern changes at step 1 and never again ends, to rounding, at the closed form that is "
    "known after that step.",
    source="ours",
    chapter="One neuron",
    place=6,
    studies=studies,
    judge=judge,
    control=Control(
        "The runs of the same study whose pattern changed later, against the same closed form: the same judge "
        "has to say no.",
        rows=later,
    ),
    figures=figures,
    captions={"distance": "Runs whose pattern changed at step 1 only are at rounding, below the dotted line."},
    method="One neuron and a pair, n = 30, Gaussian features over d, all samples active at ε = 1e-3, labels ±U[½, 2], "
    "η = 0.5/‖λ‖₁. The distance is the largest difference of predictions before the ReLU, relative to the largest of "
    "them.",
)
