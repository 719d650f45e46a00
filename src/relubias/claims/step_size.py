"""The step size: the gap is proportional to c = η‖λ‖₁, and training is stable up to c ≈ 2.

With K ≈ ‖λ‖₁ I, λ_max(H) ≈ ‖λ‖₁, so that the bound of stability 2/λ_max(H) is c = 2. Above it training diverges
until no sample is active: the neuron is dead, and nothing else says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study, whole
from relubias.claims.usable import certified, completeness, measured, straight
from relubias.claims.usable import told as left_out
from relubias.studies.fit import power_law, proportion
from relubias.studies.spec import Study
from relubias.studies.tally import numbers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ID = "step_size"
EDGE, LARGE = f"{ID}-edge", f"{ID}-large-start"
STEP, FITTED = "dynamics.step_size", "run.positive_fitted"
#: An exponent counts as 1 if all of its interval is this close; behaviours are claimed with this probability.
CLOSE, LEAST = 0.02, 0.9
#: c on both sides of the bound.
BELOW, ABOVE = 1.9, 2.1


def studies(quick: bool) -> Sequence[Study]:
    """c from 0.01 to 1.5; and both sides of 2."""
    steps = [0.01, 0.1, 0.5, 1.5] if quick else [0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 1.5]
    repeats = 40 if quick else 150
    return [_study(ID, steps, repeats, 1e-6), _study(EDGE, [BELOW, ABOVE], repeats, 1e-6)]


def control(quick: bool) -> Sequence[Study]:
    """A start that is not small."""
    return [_study(LARGE, [0.3, 0.5, 1.0, 1.5], 20 if quick else 60, 0.2)]


def _study(name: str, steps: Sequence[float], repeats: int, scale: float) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=("run.status", "reference.status", "gap.absolute", FITTED, "run.dead"),
        problem={
            "kind": "random",
            "n_samples": 50,
            "features": {"kind": "gaussian", "n_features": 10**9},
            "labels": "signs 0.5..2",
        },
        start={"scale": scale},
        grid={STEP: [f"{c}/trace" for c in steps]},
    )


def judge(rows: Rows) -> Finding:
    """The exponent in c, and what becomes of training on both sides of c = 2."""
    table, tally = certified(rows[ID], "gap.absolute", by=STEP)
    fit = power_law(table, y="gap.absolute", x=STEP)
    other = measured(rows[EDGE], FITTED, by=STEP)[1]
    edge = rows[EDGE].assign(c=numbers_of(rows[EDGE], STEP))
    below, above = edge[edge["c"] == BELOW], edge[edge["c"] == ABOVE]
    dead = proportion(above, lambda part: part["run.dead"] > 0, needs="run.dead")
    quantities = [
        Quantity.within("exponent in c", fit.exponent(), 1 - CLOSE, 1 + CLOSE, trials=int(fit.trials.sum())),
        Quantity.share(f"all positive labels interpolated at c = {BELOW:g}", whole(below, FITTED), least=LEAST),
        Quantity.share(f"all positive labels interpolated at c = {ABOVE:g}", whole(above, FITTED), most=1 - LEAST),
        Quantity.share(f"the neuron is dead at c = {ABOVE:g}", dead),
        straight(fit),
        completeness(tally, other),
    ]
    exponent, fitted, lost, died = quantities[:4]
    c = fit.sizes[:, 0]
    told = (
        f"between c = {c.min():g} and {c.max():g} the exponent of the gap in c is {exponent}; labels are interpolated "
        f"in {fitted} of the runs at c = {BELOW:g} and in {lost} at c = {ABOVE:g}, where the neuron is dead "
        f"in {died}"
    )
    rest = left_out(tally, other)
    return Finding.of(
        quantities,
        f"The gap is proportional to c, up to c ≈ 2: {told}.{rest}",
        otherwise=f"It is not as claimed: {told}.{rest}",
    )


def figures(rows: Rows) -> dict[str, Figure]:
    """The gap over c, from a small start and from a large one."""
    import pandas as pd

    from relubias.report.study_figures import scaling

    parts: list[DataFrame] = [rows[ID].assign(start="ε = 1e-6"), rows[LARGE].assign(start="ε = 0.2")]
    table = pd.concat(parts, ignore_index=True)
    table = table.assign(c=np.asarray(numbers_of(table, STEP)))
    return {"steps": scaling(table, y="gap.absolute", x="c", by="start", slope=1.0)}


CLAIM = Claim(
    id=ID,
    title="The gap is proportional to the step size",
    statement="From a small start the gap is proportional to c = η‖λ‖₁ from c = 0.01 to 1.5, and training is stable "
    "up to c ≈ 2.",
    source="ours",
    chapter="The distance to the minimum norm",
    place=5,
    studies=studies,
    judge=judge,
    control=Control(
        "The exponent in c from a start that is not small, ε = 0.2, where ε(1 − c) is not small against c: the same "
        "judge has to say no.",
        studies=control,
        rows=lambda rows: dict(rows) | {ID: rows[LARGE]},
    ),
    figures=figures,
    captions={
        "steps": "From a small start the gap is proportional to c; from a large one it is not, until ε(1 − c) is small."
    },
    method="n = 50, d = 1e9, Gaussian features, labels ±U[½, 2], ε = 1e-6. A power law through the medians, with "
    "intervals by trial; and runs with c = 1.9 and 2.1.",
)
