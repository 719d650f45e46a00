"""ReLU selects examples: the limit fits the positive labels, is 0 on the others, and is not the linear interpolator.

The linear minimum-norm interpolator fits all labels: for K ≈ ‖λ‖₁ I it has the coefficients y/‖λ‖₁. The limit of one
ReLU neuron has the same ones on positive labels, and what the first step left, −c|y_i|/‖λ‖₁, on negative ones. Hence

    ‖w_∞ − w_linear‖/‖w_linear‖ → |1 − c| ‖y₋‖/‖y‖,        c = η‖λ‖₁,                                    (ours)

which does not vanish with d, but for c = 1: there the two weight vectors approach each other, though one predicts y_i
and the other, through its ReLU, 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study, whole
from relubias.studies.bootstrap import median_interval
from relubias.studies.spec import Study
from relubias.studies.tally import numbers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ID = "selection"
CONTROL = f"{ID}-control"
STEP, D = "dynamics.step_size", "problem.features.n_features"
MEASURE = ("run.status", "run.positive_fitted", "run.negative_silent", "linear.distance")
#: The least probability that is claimed.
LEAST = 0.9
#: The distance that is claimed for c ≤ ½ and labels of equal sizes: half of |1 − c| ‖y₋‖/‖y‖ at c = ½, which is √½/2.
AWAY = 0.175


def studies(quick: bool) -> Sequence[Study]:
    """n = 50 over d and over c."""
    dimensions = [1e4, 1e7] if quick else [1e4, 1e5, 1e6, 1e8, 1e10, 1e12]
    return [_study(ID, 40 if quick else 100, grid={D: dimensions, STEP: ["0.1/trace", "0.5/trace", "1/trace"]})]


def control(quick: bool) -> Sequence[Study]:
    """The same without the ReLU."""
    grid = {D: [1e4, 1e7], STEP: ["0.5/trace"]}
    return [_study(CONTROL, 20 if quick else 50, grid=grid, network={"activation": "identity"})]


def _study(name: str, repeats: int, **tables: object) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=MEASURE,
        problem={
            "kind": "random",
            "n_samples": 50,
            "features": {"kind": "gaussian", "n_features": 10**4},
            "labels": "signs 0.5..2",
        },
        start={"scale": 1e-3},
        **tables,
    )


def judge(rows: Rows) -> Finding:
    """Both halves in all samples of a draw, and the distance at the largest d."""
    table = rows[ID]
    c = numbers_of(table, STEP)
    quantities = [
        Quantity.share("all positive labels are interpolated", whole(table, "run.positive_fitted"), least=LEAST),
        Quantity.share(
            "all negative labels are predicted as exactly 0", whole(table, "run.negative_silent"), least=LEAST
        ),
    ]
    last = table[D] == table[D].max()
    for value in np.unique(c[last.to_numpy()]):
        part = table[last & (c == value) & (table["status"] == "done")]
        values = np.sort(part["linear.distance"].to_numpy(dtype=float, na_value=np.nan))
        values = values[np.isfinite(values)]
        name = f"‖w − w_linear‖/‖w_linear‖ at c = {value:g}, d = {table[D].max():.0e}"
        if not len(values):
            quantities.append(Quantity(name, float("nan"), None, None, 0, "a usable cell", None))
            continue
        middle = median_interval(values, 0.95)
        target, met = (f"≥ {AWAY}", middle.low >= AWAY) if value <= 0.5 else ("", None)
        if met is False and middle.high >= AWAY:
            met = None
        quantities.append(Quantity(name, *middle, len(values), target, met))
    fitted, silent, *apart = quantities
    distances = ", ".join(
        f"{quantity.value:.3g} ({quantity.name.split(' at ')[1].split(',')[0]})" for quantity in apart
    )
    told = (
        f"all positive labels interpolated in {fitted} of the draws, all negative ones predicted as exactly 0 in "
        f"{silent}; relative distance to the linear interpolator, at the largest d: {distances}"
    )
    return Finding.of(
        quantities,
        f"The limit selects: {told}. Predicted is |1 − c| ‖y₋‖/‖y‖, here near |1 − c|/√2: at c = 1 the two meet.",
        otherwise=f"It is not shown that the limit selects and stays away from the linear interpolator: {told}.",
    )


def figures(rows: Rows) -> dict[str, Figure]:
    """The distance to the linear interpolator over d."""
    from relubias.report.study_figures import scaling

    return {"distance": scaling(rows[ID], y="linear.distance", x=D, by=STEP)}


CLAIM = Claim(
    id=ID,
    title="ReLU selects the positive labels",
    statement="The limit interpolates every positive label and predicts exactly 0 on negative ones; at steps "
    "c = η‖λ‖₁ ≤ ½ it stays away from the linear minimum-norm interpolator, which fits negative labels too.",
    source="paper, what gradient descent converges to, and its comparison with linear regression",
    chapter="One neuron",
    place=2,
    studies=studies,
    judge=judge,
    control=Control(
        "The same training without the ReLU, which interpolates all labels and ends at the linear interpolator: the "
        "same judge has to say no.",
        studies=control,
        rows=lambda rows: {ID: rows[CONTROL]},
    ),
    figures=figures,
    captions={
        "distance": "The distance from the linear interpolator does not depend on d, but for c = 1, where the "
        "two weight vectors meet as d grows."
    },
    method="n = 50, Gaussian features over d, labels ±U[½, 2], start β = 1e-3, c = η‖λ‖₁ = 0.1, ½ and 1. The distance "
    "is that of the weights, relative to the norm of the linear interpolator; our prediction is |1 − c| ‖y₋‖/‖y‖, and "
    "half of its value at c = ½ is demanded. At c = 1 it is only told.",
)
