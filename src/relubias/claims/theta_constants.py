"""gap = Θ(√(n/‖λ‖₁)) has two constants: a lower and an upper one, which hold for all n, d and spectra at once.

By the gap law the quotient gap·√(‖λ‖₁/n) tends to c‖y₋‖/√n, c √(n₋/n) times the root mean square of negative labels.
Both constants so follow from the labels of a draw,

    0.95 c‖y₋‖/√n ≤ gap·√(‖λ‖₁/n) ≤ 1.05 c‖y₋‖/√n,        √(n/d₂) ≤ 0.1 c,  c = η‖λ‖₁,

where 5 % are left for the correction κ√(n/d₂)/c ≤ 0.03. No other power of n, d or ‖λ‖₁ can stay between bounds this
narrow over the sizes that are measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.claims.usable import certified, completeness, told
from relubias.studies.by_size import by_size
from relubias.studies.fit import proportion
from relubias.studies.spec import Study
from relubias.studies.tally import numbers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: n, d, spectrum and step.
Point = tuple[int, int, dict[str, object], str]
ID = "theta_constants"
CONTROL = f"{ID}-control"
N, D, SPECTRUM = "problem.n_samples", "problem.features.n_features", "problem.features.spectrum"
STEP, GAP, TRACE = "dynamics.step_size", "gap.absolute", "problem.lambda_norm"
NEGATIVE, RELATION = "problem.negative_norm", "gap·√‖λ‖₁/(c‖y₋‖)"
#: Steps, and the least d/n from which √(n/d₂) ≤ 0.1 c for each.
STEPS = {1.0: 400, 0.5: 400, 0.1: 10**4}
LOWER, UPPER = 0.95, 1.05
#: The least probability that is claimed.
LEAST = 0.95


def studies(quick: bool) -> Sequence[Study]:
    """Over n, d, c, and three kinds of spectra."""
    sizes, farther = ([20, 40, 80], [10**5]) if quick else ([20, 40, 80, 160], [10**4, 10**6])
    points: list[Point] = []
    for n in sizes:
        for c, least in STEPS.items():
            for ratio in sorted({least, *farther}):
                points += _spectra(n, ratio * n, c)
    return [_study(ID, points, 10 if quick else 40)]


def _spectra(n: int, d: int, c: float) -> list[Point]:
    return [
        (n, d, {"kind": "isotropic", "value": 1.0}, f"{c:g}/trace"),
        (n, d, {"kind": "isotropic", "value": 1e-4}, f"{c:g}/trace"),
        (n, 2 * d, {"kind": "blocks", "parts": [[9.0, d], [1.0, d]]}, f"{c:g}/trace"),
    ]


def control(quick: bool) -> Sequence[Study]:
    """As many dimensions as samples."""
    isotropic: dict[str, object] = {"kind": "isotropic", "value": 1.0}
    points = [(n, n, isotropic, f"{c:g}/trace") for n in (20, 40) for c in (0.3, 0.1)]  # below 2/λ_max(K) ≈ ½ at d = n
    return [_study(CONTROL, points, 10 if quick else 40)]


def _study(name: str, points: Sequence[Point], repeats: int) -> Study:
    varied = {key: [point[place] for point in points] for place, key in enumerate((N, D, SPECTRUM, STEP))}
    return study(
        name,
        repeats=repeats,
        measure=("run.status", "reference.status", GAP, TRACE, NEGATIVE, "problem.d2"),
        problem={"kind": "random", "n_samples": 20, "features": {"kind": "gaussian"}, "labels": "signs 0.5..2"},
        start={"scale": 1e-6},
        linked=[varied],
    )


def _with_relation(table: DataFrame) -> DataFrame:
    c = numbers_of(table, STEP)
    return table.assign(c=c, **{RELATION: table[GAP] * table[TRACE] ** 0.5 / (c * table[NEGATIVE])})


def judge(rows: Rows) -> Finding:
    """The quotient of each draw between its two constants; and the least and greatest median of the sizes."""
    used, tally = certified(rows[ID], GAP, TRACE, NEGATIVE, by=[N, D, TRACE, STEP])
    table = _with_relation(used)
    data = by_size(table, RELATION, [N, D, TRACE, "c"], positive=True, certified=True)
    inside = proportion(table, lambda part: part[RELATION].between(LOWER, UPPER), needs=RELATION)
    quantities = [Quantity.share("draws with the quotient between both constants", inside, least=LEAST)]
    order = np.argsort(data.medians)
    for name, at in (("least", order[0]), ("greatest", order[-1])):
        n, d, trace, c = data.sizes[at]
        size = f"n = {n:.0f}, d = {d:.0e}, ‖λ‖₁ = {trace:.0e}, c = {c:g}"
        value, trials = float(data.medians[at]), int(data.trials[at])
        name = f"{name} median of {RELATION} of {len(order)} sizes ({size})"
        quantities.append(Quantity.within(name, value, LOWER, UPPER, trials=trials))
    every = np.concatenate(data.values)
    quantities.append(Quantity("least of all draws", float(every.min()), trials=len(every)))
    quantities.append(Quantity("greatest of all draws", float(every.max()), trials=len(every)))
    share, least, greatest, *_ = quantities
    measured = (
        f"gap·√(‖λ‖₁/n) is between {LOWER:g} and {UPPER:g} of c‖y₋‖/√n in {share} of {share.trials} draws of "
        f"{len(order)} sizes; medians of the sizes are from {least} to {greatest}, all draws from {every.min():.3f} to "
        f"{every.max():.3f}"
    )
    return Finding.of(
        [*quantities, completeness(tally)],
        f"Two constants do: {measured}.{told(tally)}",
        otherwise=f"These constants do not do: {measured}.{told(tally)}",
    )


def figures(rows: Rows) -> dict[str, Figure]:
    """All quotients over √(n/d₂)/c, in the regime and outside, beside the two constants."""
    from relubias.report.study_page import LOOKS, page

    with page() as (sheet, axes):
        for (name, words), (colour, _, marker) in zip(((ID, "d ≫ n"), (CONTROL, "d = n")), LOOKS, strict=False):
            table = _with_relation(certified(rows[name], GAP, TRACE, NEGATIVE)[0])
            axes.plot(
                (table[N] / table["problem.d2"]) ** 0.5 / table["c"], table[RELATION], marker, color=colour,
                markerfacecolor="none", markersize=4, label=words,
            )  # fmt: skip
        for bound in (LOWER, UPPER):
            axes.axhline(bound, color="0.4", linewidth=1.0, linestyle="--")
        axes.set(xscale="log", yscale="log", xlabel="√(n/d₂)/c", ylabel="gap·√‖λ‖₁/(c‖y₋‖)")
        axes.legend(fontsize=8)
    return {"constants": sheet}


CLAIM = Claim(
    id=ID,
    title="Lower and upper constant of the Θ",
    statement="The quotient gap·√(‖λ‖₁/n) stays between two constants, 0.95 and 1.05 times c‖y₋‖/√n with c = η‖λ‖₁, "
    "over all n, d, c and spectra with √(n/d₂) ≤ 0.1 c.",
    source="paper, main theorem: gap = Θ(√(n/‖λ‖₁)); the constants are ours",
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
    captions={"constants": "Each point is one draw, over its own c‖y₋‖; the dashed lines are the two constants."},
    method="Gaussian features with λ = 1, λ = 1e-4, and half of the eigenvalues 9 times the others; labels ±U[½, 2], "
    "half of them negative, ε = 1e-6, c = 1, ½ and 0.1, d from 400 n, or 10 000 n at c = 0.1. Every draw is compared "
    "with its own labels.",
)
