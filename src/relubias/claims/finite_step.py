r"""Gradient descent with a finite step is not gradient flow: their limits differ, by order η.

Over a fixed time the two differ by O(η). The limits keep that order as long as both go through the same patterns; a
step moves the moments at which samples change by less than one step, and each of these shifts is of order η again.

The start is far below every step that is taken, ε ≪ c min|y|, c = η‖λ‖₁: then all negative labels go off in the first
step, by c|y_i|. With ε ≫ c they go off later, at depths anywhere between 0 and c|y_i|; the order is the same and the
constant smaller, and a range of c around ε would show a mixture of both that is no power.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.claims.usable import certified, completeness, straight, told
from relubias.studies.fit import power_law
from relubias.studies.spec import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ID = "finite_step"
STEP, DISTANCE = "dynamics.step_size", "flow.distance"
STEPS = (0.1, 0.03, 0.01, 0.003, 0.001)
#: The exponent 1 is claimed within this.
CLOSE = 0.05


def studies(quick: bool) -> Sequence[Study]:
    """c = η‖λ‖₁ from 0.1 to 0.001, at n = 20 and d = 200."""
    return [_study(ID, 30 if quick else 150, "relu")]


def control(quick: bool) -> Sequence[Study]:
    """The same without the ReLU."""
    return [_study(f"{ID}-control", 30 if quick else 100, "identity")]


def _study(name: str, repeats: int, activation: str) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=("run.status", DISTANCE),
        problem={
            "kind": "random",
            "n_samples": 20,
            "features": {"kind": "gaussian", "n_features": 200},
            "labels": "signs 0.5..2",
        },
        network={"activation": activation},
        start={"scale": 1e-6},
        grid={STEP: [f"{c:g}/trace" for c in STEPS]},
    )


def judge(rows: Rows) -> Finding:
    """The exponent of the distance in the step, all of its interval within 0.05 of 1, and no lack of fit."""
    table = rows[ID]
    tally = certified(table, DISTANCE, by=STEP)[1]
    fit = power_law(table, y=DISTANCE, x=STEP)
    exponent = Quantity.within(
        "exponent of ‖w_∞(η) − w_∞(flow)‖ in η", fit.exponent(), 1 - CLOSE, 1 + CLOSE, trials=int(fit.trials.sum())
    )
    far, near = fit.medians[-1], fit.medians[0]
    return Finding.of(
        [
            exponent,
            straight(fit),
            Quantity("median relative distance to the flow's limit at the largest step", float(far)),
            Quantity("the same at the smallest step", float(near)),
            completeness(tally),
        ],
        f"The distance is η to the power {exponent}, from {near:.2g} to {far:.2g} of the norm "
        f"(p = {fit.lack_of_fit:.2g} of a power law).{told(tally)}",
        otherwise=f"The mean slope of the distance in η is {exponent}, from {near:.2g} to {far:.2g} of the norm "
        f"(p = {fit.lack_of_fit:.2g} of a power law).{told(tally)}",
    )


def figures(rows: Rows) -> dict[str, Figure]:
    """The distance over the step."""
    from relubias.report.study_figures import scaling

    return {"step": scaling(rows[ID], y=DISTANCE, x=STEP, slope=1.0)}


CLAIM = Claim(
    id=ID,
    title="A finite step ends elsewhere, by order η",
    statement="From a start far below c = η‖λ‖₁ the limit of gradient descent differs from that of gradient flow, from "
    "the same start, by a distance proportional to η, the step.",
    source="paper, discrete gradient descent; the order is ours",
    chapter="Other dynamics, activations and losses",
    place=2,
    studies=studies,
    judge=judge,
    control=Control(
        "The same without the ReLU: from every step, as from the flow, training ends in the shortest interpolant, and "
        "what is left is rounding, which is no power of η, so that the same judge has to say no.",
        studies=control,
        rows=lambda rows: {ID: rows[f"{ID}-control"]},
    ),
    figures=figures,
    method="n = 20, d = 200, Gaussian features, labels ±U[½, 2], all samples active at ε = 1e-6; both limits are "
    "certified. A power law through the medians over the trials for c = η‖λ‖₁ = 0.1 to 0.001, each with draws of its "
    "own.",
)
