"""gap = Θ(√(n/‖λ‖₁)) has two constants: a lower and an upper one, which hold for all n, d and spectra at once.

By the gap law the quotient gap·√(‖λ‖₁/n) is c √(n₋/n) times the root mean square of the negative labels, as n/d₂ → 0.
For labels ±U[½, 2], half of them negative, both constants follow from the labels alone:

    c √½ · ½ (1 − 0.05) ≤ gap·√(‖λ‖₁/n) ≤ c √½ · 2,        √(n/d₂) ≤ 0.05,  c = ½,

where 5 % are left for the correction κ√(n/d₂)/c ≤ 0.03. The constants that are found lie inside and are told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.studies.bootstrap import median_interval
from relubias.studies.by_size import by_size
from relubias.studies.fit import proportion
from relubias.studies.spec import Study
from relubias.studies.tally import LIMITS

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame, Series

ID = "theta_constants"
CONTROL = f"{ID}-control"
N, D, SPECTRUM = "problem.n_samples", "problem.features.n_features", "problem.features.spectrum"
TRACE, QUOTIENT = "problem.lambda_norm", "gap·√(‖λ‖₁/n)"
C, SMALLEST, LARGEST = 0.5, 0.5, 2.0
LOWER, UPPER = C * math.sqrt(0.5) * SMALLEST * 0.95, C * math.sqrt(0.5) * LARGEST
#: The least probability that is claimed.
LEAST = 0.95


def studies(quick: bool) -> Sequence[Study]:
    """Over n, d = 400 n and more, and three kinds of spectra."""
    sizes, ratios = ([20, 40, 80], [400, 10**5]) if quick else ([20, 40, 80, 160], [400, 10**4, 10**6])
    points = []
    for n in sizes:
        for ratio in ratios:
            d = ratio * n
            points.append((n, d, {"kind": "isotropic", "value": 1.0}))
            points.append((n, d, {"kind": "isotropic", "value": 1e-4}))
            points.append((n, 2 * d, {"kind": "blocks", "parts": [[9.0, d], [1.0, d]]}))
    return [_study(ID, points, 10 if quick else 40)]


def control(quick: bool) -> Sequence[Study]:
    """As many dimensions as samples."""
    isotropic = {"kind": "isotropic", "value": 1.0}
    return [_study(CONTROL, [(n, n, isotropic) for n in (20, 40)], 20 if quick else 60)]


def _study(name: str, points: Sequence[tuple[int, int, object]], repeats: int) -> Study:
    varied = {key: [point[place] for point in points] for place, key in enumerate((N, D, SPECTRUM))}
    return study(
        name,
        repeats=repeats,
        measure=("run.status", "gap.absolute", TRACE, "problem.d2"),
        problem={"kind": "random", "n_samples": 20, "features": {"kind": "gaussian"}, "labels": "signs 0.5..2"},
        start={"scale": 1e-6},
        dynamics={"step_size": f"{C}/trace"},
        linked=[varied],
    )


def _with_quotient(table: DataFrame) -> DataFrame:
    return table.assign(**{QUOTIENT: table["gap.absolute"] * (table[TRACE] / table[N]) ** 0.5})


def _inside(rows: DataFrame) -> Series[bool]:
    return rows[QUOTIENT].between(LOWER, UPPER) & rows["run.status"].isin(LIMITS)


def judge(rows: Rows) -> Finding:
    """All quotients between the two constants; and the least and greatest median of the sizes."""
    table = _with_quotient(rows[ID])
    data = by_size(table, QUOTIENT, [N, D, TRACE], positive=True, certified=True)
    inside = proportion(table, _inside, needs=[QUOTIENT, "run.status"])
    quantities = [Quantity.share("cells with the quotient between both constants", inside, least=LEAST)]
    medians = [median_interval(values, 0.95) for values in data.values]
    order = np.argsort([estimate.value for estimate in medians])
    for name, at in (("least", order[0]), ("greatest", order[-1])):
        n, d, trace = data.sizes[at]
        told = f"{name} median of a size (n = {n:.0f}, d = {d:.0e}, ‖λ‖₁ = {trace:.0e})"
        quantities.append(Quantity.within(told, medians[at], LOWER, UPPER, trials=int(data.trials[at])))
    every = np.concatenate(data.values)
    quantities.append(Quantity("least of all cells", float(every.min()), trials=len(every)))
    quantities.append(Quantity("greatest of all cells", float(every.max()), trials=len(every)))
    share, least, greatest, *_ = quantities
    told = (
        f"gap·√(‖λ‖₁/n) is between {LOWER:.3f} and {UPPER:.3f} in {share} of {share.trials} cells of {len(data.sizes)} "
        f"sizes; the medians of the sizes are from {least} to {greatest}, all cells from {every.min():.3f} to "
        f"{every.max():.3f}"
    )
    return Finding.of(quantities, f"Two constants do: {told}.", otherwise=f"These constants do not do: {told}.")


def figures(rows: Rows) -> dict[str, Figure]:
    """All quotients over n/d₂, in the regime and outside, beside the two constants."""
    from relubias.report.study_page import LOOKS, page

    with page() as (sheet, axes):
        for (name, words), (colour, _, marker) in zip(((ID, "d ≥ 400 n"), (CONTROL, "d = n")), LOOKS, strict=False):
            table = _with_quotient(rows[name])
            axes.plot(
                table[N] / table["problem.d2"], table[QUOTIENT], marker, color=colour, markerfacecolor="none",
                markersize=4, label=words,
            )  # fmt: skip
        for bound in (LOWER, UPPER):
            axes.axhline(bound, color="0.4", linewidth=1.0, linestyle="--")
        axes.set(xscale="log", yscale="log", xlabel="n/d₂", ylabel=QUOTIENT)
        axes.legend(fontsize=8)
    return {"constants": sheet}


CLAIM = Claim(
    id=ID,
    title="Lower and upper constant of the Θ",
    statement="At a fixed c = η‖λ‖₁ the quotient gap·√(‖λ‖₁/n) stays between two positive constants over all n, d and "
    "spectra with large d₂.",
    source="paper, main theorem: gap = Θ(√(n/‖λ‖₁))",
    chapter="The distance to the minimum norm",
    place=4,
    studies=studies,
    judge=judge,
    control=Control(
        "The same with as many dimensions as samples, where the theorem does not hold: the same judge has to say no.",
        studies=control,
        rows=lambda rows: {ID: rows[CONTROL]},
    ),
    figures=figures,
    captions={
        "constants": "Each point is one draw; the dashed lines are the two constants that follow from the labels alone."
    },
    method="Gaussian features with λ = 1, λ = 1e-4, and half of the eigenvalues 9 times the others; labels ±U[½, 2], "
    "half of them negative, ε = 1e-6, c = ½, d from 400 n. The constants follow from the smallest and the largest "
    "label.",
)
