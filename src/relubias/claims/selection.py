"""ReLU selects examples: the limit fits the positive labels, is 0 on the others, and is not the linear interpolator.

The linear minimum-norm interpolator fits all labels: for K ≈ ‖λ‖₁ I it has the coefficients y/‖λ‖₁. The limit of one
ReLU neuron has the same ones on positive labels, and what the first step left, −c|y_i|/‖λ‖₁, on negative ones. Hence

    ‖w_∞ − w_linear‖/‖w_linear‖ → |1 − c| ‖y₋‖/‖y‖,        c = η‖λ‖₁,                                    (ours)

draw by draw, which does not vanish with d, but for c = 1: there the two weight vectors approach each other, though one
predicts y_i and the other, through its ReLU, 0. What is left is interference, of order √(n/d).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study, whole
from relubias.claims.usable import certified, completeness, told
from relubias.studies.fit import power_law
from relubias.studies.spec import Study
from relubias.studies.tally import numbers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ID = "selection"
CONTROL = f"{ID}-control"
STEP, D = "dynamics.step_size", "problem.features.n_features"
DISTANCE, NEGATIVE, LABELS = "linear.distance", "problem.negative_norm", "problem.label_norm"
MEASURE = ("run.status", "run.positive_fitted", "run.negative_silent", DISTANCE, NEGATIVE, LABELS)
#: c = η‖λ‖₁ at which the distance has a limit, and the one at which it vanishes.
AWAY, MEETING = (0.1, 0.5, 1.5), 1.0
#: The least probability that is claimed.
LEAST = 0.9
#: The distance of each draw is claimed within this fraction of its law at the largest d.
CLOSE = 0.02
#: At c = 1 interference alone is left, which falls as √(n/d).
FALL = (-0.55, -0.45)


def studies(quick: bool) -> Sequence[Study]:
    """n = 50 over d and over c."""
    return [_study(ID, [1e4, 1e5, 1e7] if quick else [1e4, 1e5, 1e6, 1e7, 1e9, 1e12], 30 if quick else 100)]


def control(quick: bool) -> Sequence[Study]:
    """The same without the ReLU."""
    return [_study(CONTROL, [1e4, 1e5, 1e7], 12 if quick else 40, network={"activation": "identity"})]


def _study(name: str, dimensions: list[float], repeats: int, **tables: object) -> Study:
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
        start={"scale": 1e-6},
        grid={D: dimensions, STEP: [f"{c:g}/trace" for c in sorted((*AWAY, MEETING))]},
        **tables,
    )


def judge(rows: Rows) -> Finding:
    """Both halves in all samples of a draw; the distance of each draw at the largest d; and its fall at c = 1."""
    used, tally = certified(rows[ID], DISTANCE, NEGATIVE, LABELS, by=[D, STEP])
    table = used.assign(c=numbers_of(used, STEP))
    last = table[table[D] == rows[ID][D].max()]
    selected = [
        Quantity.share("all positive labels are interpolated", whole(rows[ID], "run.positive_fitted"), least=LEAST),
        Quantity.share(
            "all negative labels are predicted as exactly 0", whole(rows[ID], "run.negative_silent"), least=LEAST
        ),
    ]
    apart = [_apart(last[last["c"] == c], c) for c in AWAY]
    meeting = table[table["c"] == MEETING]
    exponent = power_law(meeting, y=DISTANCE, x=D).exponent()
    met = last.loc[last["c"] == MEETING, DISTANCE]
    quantities = [
        *selected,
        *apart,
        Quantity.within("exponent in d of the distance at c = 1", exponent, *FALL, trials=len(meeting)),
        Quantity.at_most("largest distance at c = 1 and the largest d", float(met.max()), CLOSE, trials=len(met)),
        completeness(tally),
    ]
    fitted, silent = selected
    worst = max(quantity.value for quantity in apart)
    measured = (
        f"all positive labels interpolated in {fitted} of the draws, all negative ones predicted as exactly 0 in "
        f"{silent}; at the largest d the distance to the linear interpolator is a fraction {worst:.2g} off "
        f"|1 − c| ‖y₋‖/‖y‖ at most, and at c = 1 it is d to the power {exponent}, {met.max():.2g} at most"
    )
    return Finding.of(
        quantities,
        f"The limit selects: {measured}.{told(tally)}",
        otherwise=f"It is not shown that the limit selects and where it ends: {measured}.{told(tally)}",
    )


def _apart(part: DataFrame, c: float) -> Quantity:
    """How far the draw farthest from the law is off."""
    ratios = part[DISTANCE] / (abs(1.0 - c) * part[NEGATIVE] / part[LABELS])
    farthest = float(np.abs(ratios - 1.0).max())
    name = f"farthest |distance/(|1 − c| ‖y₋‖/‖y‖) − 1| at c = {c:g}, largest d"
    return Quantity.at_most(name, farthest, CLOSE, trials=len(part))


def figures(rows: Rows) -> dict[str, Figure]:
    """The distance to the linear interpolator over d."""
    from relubias.report.study_figures import scaling

    return {"distance": scaling(rows[ID], y=DISTANCE, x=D, by=STEP)}


CLAIM = Claim(
    id=ID,
    title="ReLU selects the positive labels",
    statement="The limit interpolates every positive label and predicts exactly 0 on negative ones; from the linear "
    "minimum-norm interpolator, which fits negative labels too, its distance tends to |1 − c| ‖y₋‖/‖y‖ of that one's "
    "norm, c = η‖λ‖₁.",
    source="paper, what gradient descent converges to, and its comparison with linear regression; the distance is ours",
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
    method="n = 50, Gaussian features over d, labels ±U[½, 2], start β = 1e-6, c = η‖λ‖₁ = 0.1, ½, 1 and 1.5. The "
    "distance is that of the weights, relative to the norm of the linear interpolator. At the largest d every draw has "
    "to be within 2 % of |1 − c| ‖y₋‖/‖y‖ with its own labels; at c = 1, where that is 0, the distance has to fall "
    "as d^(−½), and to be below 2 %.",
)
