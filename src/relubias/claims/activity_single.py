"""One neuron, all samples active: positive labels stay active, negative ones go off at the first step and stay off.

At a small start r ≈ −y, so that one step changes β_i by about η‖λ‖₁ y_i: up where y_i > 0, below zero where y_i < 0.
What the other samples add is of order η‖λ‖₁ √(n/d₂)‖y‖/√n, so that it needs n ≪ d₂. With d ≈ n it does not hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study, whole
from relubias.claims.usable import completeness, measured
from relubias.claims.usable import told as left_out
from relubias.studies.spec import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ID = "activity_single"
CONTROL = f"{ID}-control"
MEASURE = ("run.status", "run.positive_kept", "run.negative_off", "run.stabilised_at")
SHAPE = "problem.features.n_features"
#: The least probability that is claimed.
LEAST = 0.9
#: d/n where it is claimed.
RATIO = 500


def studies(quick: bool) -> Sequence[Study]:
    """n/d₂ = 1/500 at several n."""
    sizes = [20, 50] if quick else [20, 50, 100, 200]
    return [_study(ID, sizes, RATIO, 60 if quick else 200)]


def control(quick: bool) -> Sequence[Study]:
    """As many dimensions as samples."""
    return [_study(CONTROL, [20, 50], 1, 40 if quick else 100)]


def _study(name: str, sizes: list[int], ratio: int, repeats: int) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=MEASURE,
        problem={"kind": "random", "n_samples": 20, "features": {"kind": "gaussian"}, "labels": "signs 0.5..2"},
        start={"scale": 1e-3},
        dynamics={"step_size": "0.5/trace"},
        linked=[{"problem.n_samples": sizes, SHAPE: [ratio * n for n in sizes]}],
    )


def judge(rows: Rows) -> Finding:
    """Each of the two halves in all samples of a draw, with a probability whose exact interval is above 0.9."""
    quantities = [
        Quantity.share("all positive labels stay active for ever", whole(rows[ID], "run.positive_kept"), least=LEAST),
        Quantity.share(
            "all negative labels go off at step 1 for ever", whole(rows[ID], "run.negative_off"), least=LEAST
        ),
    ]
    stay, off = quantities
    tally = measured(rows[ID], *MEASURE[1:3], by="problem.n_samples")[1]
    told = "every sample with a positive label stays active for ever "
    told += f"({stay}), and every one with a negative label goes off at the first step and stays off ({off})."
    told += left_out(tally)
    return Finding.of(
        [*quantities, completeness(tally)],
        f"In nearly all draws {told}",
        otherwise=f"It is not in nearly all draws that {told}",
    )


def figures(rows: Rows) -> dict[str, Figure]:
    """When the pattern settles, in the regime and outside."""
    import pandas as pd

    from relubias.report.study_figures import survival

    parts: list[DataFrame] = [rows[ID].assign(**{"d/n": RATIO}), rows[CONTROL].assign(**{"d/n": 1})]
    return {"settling": survival(pd.concat(parts, ignore_index=True), by="d/n")}


CLAIM = Claim(
    id=ID,
    title="Positive labels stay active, negative ones go off at once",
    statement="From a small start with all samples active, the samples with positive labels stay active for ever, "
    "those with negative labels become inactive in the first step and stay so, with high probability.",
    source="paper, Lemmas 5 and 6",
    chapter="One neuron",
    place=1,
    studies=studies,
    judge=judge,
    control=Control(
        "The same with as many dimensions as samples, d = n, where other samples move a prediction as much as the "
        "label does: the same judge has to say no.",
        studies=control,
        rows=lambda rows: {ID: rows[CONTROL]},
    ),
    figures=figures,
    captions={"settling": "In the regime all draws settle at step 1; with d = n they take many steps."},
    method="Gaussian features with d = 500 n, labels ±U[½, 2], η = 0.5/‖λ‖₁, start β = 1e-3. Each draw counts only if "
    "every one of its samples behaves as claimed; the certificate of the run covers all steps to infinity.",
)
