r"""Gradient descent with a finite step is not gradient flow: their limits differ, by order η.

Over a fixed time the two differ by O(η). The limits keep that order as long as both go through the same patterns; a
step moves the moments at which samples change by less than one step, and each of these shifts is of order η again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.claims.usable import certified, completeness, told
from relubias.studies.fit import power_law
from relubias.studies.spec import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ID = "finite_step"
STEP, DISTANCE = "dynamics.step_size", "flow.distance"
#: The exponent 1 is claimed within this: over two decades terms of order η² still show.
CLOSE = 0.15


def studies(quick: bool) -> Sequence[Study]:
    """c = η‖λ‖₁ from 0.1 to 0.001, at n = 20 and d = 200."""
    steps = [0.1, 0.03, 0.01, 0.003, 0.001]
    tables = study(
        ID,
        repeats=30 if quick else 150,
        measure=("run.status", DISTANCE, "linear.distance"),
        problem={
            "kind": "random",
            "n_samples": 20,
            "features": {"kind": "gaussian", "n_features": 200},
            "labels": "signs 0.5..2",
        },
        start={"scale": 1e-3},
        grid={STEP: [f"{c:g}/trace" for c in steps]},
    )
    return [tables]


def judge(rows: Rows) -> Finding:
    """The exponent of the distance in the step, with its interval by trial, within 0.15 of 1."""
    table = rows[ID]
    _, tally = certified(table, DISTANCE)
    fit = power_law(table, y=DISTANCE, x=STEP)
    quantity = Quantity.within(
        "exponent of ‖w_∞(η) − w_∞(flow)‖ in η", fit.exponent(), 1 - CLOSE, 1 + CLOSE, trials=int(fit.trials.sum())
    )
    far, near = fit.medians[-1], fit.medians[0]
    return Finding.of(
        [
            quantity,
            Quantity("median relative distance to the flow's limit at c = 0.1", float(far)),
            Quantity("the same at c = 0.001", float(near)),
            completeness(tally),
        ],
        f"The distance is η to the power {quantity}, from {near:.2g} to {far:.2g} of the norm.{told(tally)}",
    )


def figures(rows: Rows) -> dict[str, Figure]:
    """The distance over the step."""
    from relubias.report.study_figures import scaling

    return {"step": scaling(rows[ID], y=DISTANCE, x=STEP, slope=1.0)}


CLAIM = Claim(
    id=ID,
    title="A finite step ends elsewhere, by order η",
    statement="The limit of gradient descent differs from that of gradient flow from the same start by a distance of "
    "order η, the step.",
    source="paper, discrete gradient descent; the order is ours",
    chapter="Other dynamics, activations and losses",
    place=2,
    studies=studies,
    judge=judge,
    control=Control(
        "The distance to the shortest linear interpolant in the place of that to the flow's limit: training does not "
        "tend to it as η → 0, so that the same judge has to say no.",
        rows=lambda rows: {ID: rows[ID].assign(**{DISTANCE: rows[ID]["linear.distance"]})},
    ),
    figures=figures,
    method="n = 20, d = 200, Gaussian features, labels ±U[½, 2], all samples active at ε = 1e-3; both limits are "
    "certified. A power law through the medians over the trials for c = η‖λ‖₁ = 0.1 to 0.001, each with draws of its "
    "own.",
)
