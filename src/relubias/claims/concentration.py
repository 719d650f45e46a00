"""How far is K from ‖λ‖₁ I? About 2√(n/d₂) + n/d_∞ in the largest eigenvalue, whatever the spectrum.

    ‖K/L − I‖ / (2√(n/d₂) + n/d_∞) → 1,        n → ∞,  d₂/n² → ∞,

for spectra without a dominant direction (Wigner; Marchenko and Pastur for isotropic features). At a finite n the
largest eigenvalues fall short by a relative n^(−⅔) or so. With a dominant direction the sum is a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.claims.usable import completeness, measured
from relubias.studies.fit import law_ratio
from relubias.studies.spec import Study
from relubias.studies.tally import numbers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ID = "concentration"
BULK, SPIKE = f"{ID}-blocks", f"{ID}-spike"
N, D = "problem.n_samples", "problem.features.n_features"
DEVIATION, PREDICTED = "concentration.deviation", "concentration.predicted"
#: A bound may be exceeded by this fraction, the finite n of both edges and its scatter.
MARGIN = 0.15


def studies(quick: bool) -> Sequence[Study]:
    """Isotropic features over n; two eigenvalues, whose d₂ is far below d; and one dominant direction."""
    sizes = [25, 50, 100, 200] if quick else [25, 50, 100, 200, 400]
    repeats = 30 if quick else 100
    one = [({"kind": "isotropic", "value": 1.0}, 1000 * n * n) for n in sizes]
    two = [({"kind": "blocks", "parts": [[1000.0, n * n], [1.0, 1000 * n * n]]}, 1001 * n * n) for n in sizes]
    spike = [({"kind": "blocks", "parts": [[float(20 * n), 1], [1.0, 1000 * n * n]]}, 1000 * n * n + 1) for n in sizes]
    points = ((ID, one), (BULK, two), (SPIKE, spike))
    return [_study(name, sizes, found, repeats) for name, found in points]


def _study(name: str, sizes: list[int], spectra: Sequence[tuple[dict[str, Any], int]], repeats: int) -> Study:
    varied = {
        N: sizes,
        D: [d for _, d in spectra],
        "problem.features.spectrum": [spectrum for spectrum, _ in spectra],
    }
    return study(
        name,
        repeats=repeats,
        measure=(DEVIATION, PREDICTED),
        problem={"kind": "random", "n_samples": 25, "features": {"kind": "gaussian"}, "labels": "signs 0.5..2"},
        dynamics={"step_size": "1/trace", "until": 1},
        linked=[varied],
    )


def judge(rows: Rows) -> Finding:
    """The ratio tends to 1 without a dominant direction; with one its median is at most 1."""
    tally = completeness(*(measured(table, DEVIATION, PREDICTED, by=N)[1] for table in rows.values()))
    quantities = []
    for name, words in ((ID, "isotropic"), (BULK, "two eigenvalues")):
        ratio = law_ratio(rows[name], y=DEVIATION, prediction=PREDICTED, x=N, certified=False)
        last, n = ratio.ratios[-1], ratio.sizes[-1]
        told = f"‖K/‖λ‖₁ − I‖ over its prediction, {words}, n = {n:g}"
        quantities.append(Quantity(told, *last, int(ratio.trials[-1]), "tends to 1", ratio.consistent))
        worst = float(max(estimate.value for estimate in ratio.ratios))
        quantities.append(Quantity.at_most(f"largest median of that over n, {words}", worst, 1 + MARGIN))
    spike = law_ratio(rows[SPIKE], y=DEVIATION, prediction=PREDICTED, x=N, certified=False)
    worst = float(max(estimate.value for estimate in spike.ratios))
    quantities.append(Quantity.at_most("largest median of that over n, one dominant direction", worst, 1.0))
    every = rows[SPIKE][DEVIATION] / rows[SPIKE][PREDICTED]
    quantities.append(Quantity("largest of all cells, one dominant direction", float(every.max()), trials=len(every)))
    one, _, two, _, bound, _ = quantities
    told = (
        f"over 2√(n/d₂) + n/d_∞ the deviation of K is {one} for isotropic features and {two} for two eigenvalues at "
        f"the largest n; with a dominant direction its largest median is {bound}"
    )
    return Finding.of([*quantities, tally], f"K concentrates as predicted: {told}.", otherwise=f"K does not: {told}.")


def other_dimension(rows: Rows) -> Rows:
    """d in the place of d₂, and d for d_∞ too."""
    changed = {}
    for name in (ID, BULK, SPIKE):
        ratio = numbers_of(rows[name], N) / numbers_of(rows[name], D)
        changed[name] = rows[name].assign(**{PREDICTED: 2 * np.sqrt(ratio) + ratio})
    return changed


def figures(rows: Rows) -> dict[str, Figure]:
    """The ratio over n."""
    from relubias.report.study_page import LOOKS, page

    with page() as (sheet, axes):
        for (name, words), (colour, _, marker) in zip(
            ((ID, "isotropic"), (BULK, "two eigenvalues"), (SPIKE, "a dominant direction")), LOOKS, strict=False
        ):
            table: DataFrame = rows[name]
            axes.plot(
                table[N], table[DEVIATION] / table[PREDICTED], marker, color=colour, markerfacecolor="none",
                markersize=4, alpha=0.5, label=words,
            )  # fmt: skip
        axes.axhline(1.0, color="0.4", linewidth=1.0)
        axes.set(xscale="log", xlabel="number of samples n", ylabel="‖K/‖λ‖₁ − I‖/(2√(n/d₂) + n/d_∞)")
        axes.legend(fontsize=8)
    return {"ratio": sheet}


CLAIM = Claim(
    id=ID,
    title="K is nearly a multiple of the identity",
    statement="‖K/‖λ‖₁ − I‖ tends to 2√(n/d₂) + n/d_∞ as n and d₂/n² grow, and in the median is not larger where a "
    "direction of the covariance dominates.",
    source="paper, that K concentrates; its size is ours, after Wigner, Marchenko and Pastur",
    chapter="Where it ends",
    place=3,
    studies=studies,
    judge=judge,
    control=Control(
        "The same with d in the place of d₂ and d_∞; the two agree for isotropic features alone, so that the same "
        "judge has to say no.",
        rows=other_dimension,
    ),
    figures=figures,
    captions={"ratio": "Each point is one draw; the ratio of measured and predicted deviation scatters less and less."},
    method="Gaussian features: λ = 1 with d = 1000 n²; n² eigenvalues 1000 beside 1000 n² eigenvalues 1; and "
    "one eigenvalue 20 n beside them. The ratio of measured and predicted deviation has to tend to 1 over n, as "
    "fits of laws judge it. With a dominant direction λ₁ the largest eigenvalue scatters by √(2/n), as ‖z₁‖² does, "
    "so that medians are judged; the largest of all cells is told.",
)
