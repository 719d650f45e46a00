"""A pair of neurons (+, −), all samples active in both: each ends active on exactly the labels of its sign.

Both neurons start alike, so that f = 0 and r = −y: the first step lifts β_i by about c y_i in the positive neuron and
by −c y_i in the negative one. Each keeps its own labels and loses the others, and from then on the two are trained on
disjoint samples, as two linear regressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study, whole
from relubias.claims.usable import completeness, measured, told
from relubias.studies.spec import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ID = "pair_decouples"
CONTROL = f"{ID}-control"
SHAPE = "problem.features.n_features"
MEASURE = ("run.status", "run.decoupled", "run.positive_fitted", "run.negative_fitted", "run.stabilised_at")
#: The least probability that is claimed.
LEAST = 0.9


def studies(quick: bool) -> Sequence[Study]:
    """n/d₂ = 1/500 at several n."""
    sizes = [20, 50] if quick else [20, 50, 100, 200]
    return [_study(ID, sizes, 500, 60 if quick else 150)]


def control(quick: bool) -> Sequence[Study]:
    """As many dimensions as samples."""
    return [_study(CONTROL, [20, 50], 1, 30 if quick else 100)]


def _study(name: str, sizes: list[int], ratio: int, repeats: int) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=MEASURE,
        problem={"kind": "random", "n_samples": 20, "features": {"kind": "gaussian"}, "labels": "signs 0.5..2"},
        network={"signs": "pair"},
        start={"scale": 1e-3},
        dynamics={"step_size": "0.5/trace", "budget": 1e5},  # at d = n some never settle
        linked=[{"problem.n_samples": sizes, SHAPE: [ratio * n for n in sizes]}],
    )


def judge(rows: Rows) -> Finding:
    """Each neuron on exactly its labels, and all labels fitted, in at least 0.9 of all draws."""
    table = rows[ID]
    shares = [whole(table, name) for name in ("run.decoupled", "run.positive_fitted", "run.negative_fitted")]
    names = (
        "each neuron ends active on exactly its labels",
        "all positive labels are fitted",
        "all negative labels are fitted",
    )
    quantities = [Quantity.share(name, share, least=LEAST) for name, share in zip(names, shares, strict=True)]
    tally = measured(table, *MEASURE[1:4], by="problem.n_samples")[1]
    said = f"the two neurons decouple ({quantities[0]}) and fit all positive ({quantities[1]}) and all negative labels "
    said += f"({quantities[2]}).{told(tally)}"
    return Finding.of(
        [*quantities, completeness(tally)],
        f"In nearly all draws {said}",
        otherwise=f"It is not in nearly all draws that {said}",
    )


def figures(rows: Rows) -> dict[str, Figure]:
    """When the pattern settles, in the regime and outside."""
    import pandas as pd

    from relubias.report.study_figures import survival

    parts = [rows[ID].assign(regime="d = 500 n"), rows[CONTROL].assign(regime="d = n")]
    return {"settling": survival(pd.concat(parts, ignore_index=True), by="regime")}


CLAIM = Claim(
    id=ID,
    title="A pair of neurons decouples",
    statement="One positive and one negative neuron, both active on all samples of a small start, end active on "
    "exactly the labels of their own sign and fit them, with high probability.",
    source="paper, two neurons",
    chapter="Several neurons",
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
    method="Gaussian features with d = 500 n, labels ±U[½, 2], η = 0.5/‖λ‖₁, start β = 1e-3 in both neurons. A draw "
    "counts only if its limit is certified, so that the pattern is that of all later steps, and every sample is where "
    "it should be.",
)
