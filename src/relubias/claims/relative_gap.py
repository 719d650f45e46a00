"""Relative to ‖w*‖ the gap does not vanish, however many dimensions there are.

The gap and ‖w*‖ ≈ ‖y₊‖/√‖λ‖₁ fall alike, so that

    ‖w_∞ − w*‖/‖w*‖ → c ‖y₋‖/‖y₊‖,        c = η‖λ‖₁ fixed, d → ∞.                                        (ours)

The gap is an effect of the finite step. Under gradient flow, c → 0, a relative gap remains at every d, 0.7e-2 at
n/d = ¼ say; it vanishes as n/d → 0, and that of a finite step does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.claims.usable import certified, completeness, straight, told
from relubias.studies.bootstrap import median_interval
from relubias.studies.by_size import by_size
from relubias.studies.fit import power_law
from relubias.studies.spec import Study
from relubias.studies.tally import numbers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ID = "relative_gap"
FLOW = f"{ID}-flow"
STEP, D = "dynamics.step_size", "problem.features.n_features"
RELATIVE, LAW = "gap.relative", "law.relative"
#: An exponent is 0 if all of its interval is this close; the limit is reached if the ratio is this close to 1.
CLOSE, REACHED = 0.02, 0.02


def studies(quick: bool) -> Sequence[Study]:
    """n = 50 over d up to 1e12, for several c."""
    dimensions = [1e6, 1e8, 1e10, 1e12] if quick else [1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12]
    steps = ["0.1/trace", "1/trace"] if quick else ["0.1/trace", "0.5/trace", "1/trace"]
    return [_study(ID, 40 if quick else 200, grid={D: dimensions, STEP: steps})]


def control(quick: bool) -> Sequence[Study]:
    """Gradient flow over d."""
    grid = {D: [500, 1000, 2000, 4000]}
    return [_study(FLOW, 10 if quick else 30, columns=(), grid=grid, dynamics={"kind": "flow"})]


def _study(name: str, repeats: int, *, columns: tuple[str, ...] = (LAW,), **tables: object) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=("run.status", "reference.status", "gap.absolute", RELATIVE, *columns),
        problem={
            "kind": "random",
            "n_samples": 50,
            "features": {"kind": "gaussian", "n_features": 10**6},
            "labels": "signs 0.5..2",
        },
        start={"scale": 1e-6},
        **tables,
    )


def judge(rows: Rows) -> Finding:
    """For each c the exponent in d, and at the largest d the ratio to c‖y₋‖/‖y₊‖, draw by draw."""
    table, tally = certified(rows[ID], RELATIVE, LAW, by=[STEP, D])
    table = table.assign(c=numbers_of(table, STEP), ratio=table[RELATIVE] / table[LAW])
    exponents, fits, ratios, values = [], [], [], []
    for c, part in table.groupby("c", sort=True):
        fit = power_law(part, y=RELATIVE, x=D)
        exponents.append(
            Quantity.within(f"exponent in d at c = {c:g}", fit.exponent(), -CLOSE, CLOSE, trials=int(fit.trials.sum()))
        )
        fits.append(straight(fit, f"c = {c:g}"))
        last = by_size(part, "ratio", [D], positive=True, certified=True)
        ratio = median_interval(last.values[-1], 0.95)
        name = f"relative gap over c‖y₋‖/‖y₊‖ at c = {c:g}, d = {last.sizes[-1, 0]:.0e}"
        ratios.append(Quantity.within(name, ratio, 1 - REACHED, 1 + REACHED, trials=int(last.trials[-1])))
        largest = by_size(part, RELATIVE, [D], positive=True, certified=True)
        value = median_interval(largest.values[-1], 0.95)
        values.append(Quantity(f"relative gap there, c = {c:g}", *value, int(largest.trials[-1])))
    measured = "; ".join(
        f"at c = {c:g} the exponent in d is {exponent}, and at the largest d the relative gap {value} and {ratio} of "
        "c‖y₋‖/‖y₊‖"
        for c, exponent, ratio, value in zip(sorted(set(table["c"])), exponents, ratios, values, strict=True)
    )
    return Finding.of(
        [*exponents, *ratios, *fits, *values, completeness(tally)],
        f"The relative gap stays: {measured}.{told(tally)}",
        otherwise=f"The relative gap is not c‖y₋‖/‖y₊‖ at all d: {measured}.{told(tally)}",
    )


def flow(rows: Rows) -> Rows:
    """The flow at what would be c = 1, beside the limit of c = 1."""
    table = rows[ID]
    limit = float(table.loc[numbers_of(table, STEP) == 1.0, LAW].median())
    return {ID: rows[FLOW].assign(**{STEP: 1.0, LAW: limit})}


def figures(rows: Rows) -> dict[str, Figure]:
    """Absolute and relative gap over d."""
    from relubias.report.study_figures import scaling

    table: DataFrame = rows[ID]
    return {
        "relative": scaling(table, y=RELATIVE, x=D, by=STEP, slope=0.0),
        "absolute": scaling(table, y="gap.absolute", x=D, by=STEP, slope=-0.5),
    }


CLAIM = Claim(
    id=ID,
    title="The relative gap does not vanish",
    statement="At a fixed c = η‖λ‖₁ the relative gap ‖w_∞ − w*‖/‖w*‖ does not vanish as d grows: it tends "
    "to c‖y₋‖/‖y₊‖.",
    source="ours",
    chapter="The distance to the minimum norm",
    place=3,
    studies=studies,
    judge=judge,
    control=Control(
        "Gradient flow, which has no finite step, and whose relative gap vanishes as d grows: the same judge has to "
        "say no.",
        studies=control,
        rows=flow,
    ),
    figures=figures,
    captions={
        "relative": "The relative gap is the same from 1e6 to 1e12 dimensions, and the larger the larger the step.",
        "absolute": "The absolute gap of the same draws falls as 1/√d, because everything does.",
    },
    method="n = 50, isotropic Gaussian features with up to 1e12 dimensions, labels ±U[½, 2], ε = 1e-6. The exponent is "
    "that of a power law through the medians, with intervals by trial; at the largest d the relative gap is held "
    "against c‖y₋‖/‖y₊‖ of the same draw.",
)
