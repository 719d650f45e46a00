"""The gap is Θ(√(n/‖λ‖₁)): exponents ½ in n, −½ in ‖λ‖₁, and 0 in d where ‖λ‖₁ stays the same.

Not every exponent is a test. Features X → bX with η → η/b² make the same predictions at each step, and a gap 1/b times
as large. So the exponent in ‖λ‖₁ of features that are only rescaled is −½ identically, whatever training does; and the
exponents in d of λ = 1, …, 1 and of λ = L/d, …, L/d differ by exactly ½, so that they are one measurement. What can
fail is that dimensions alone change nothing, the exponent 0 at fixed ‖λ‖₁; the exponent in n; and that in ‖λ‖₁ where a
part of the spectrum grows alone, which is no rescaling.
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

ID = "gap_exponents"
IN_D, IN_N, IN_L, FIXED = (f"{ID}-{word}" for word in ("d", "n", "trace", "fixed"))
FLOW = f"{ID}-flow"
N, D = "problem.n_samples", "problem.features.n_features"
SPECTRUM, TRACE = "problem.features.spectrum", "problem.lambda_norm"
#: An exponent counts as that of the claim if all of its interval is this close.
CLOSE = 0.02
#: Study, coordinate, exponent that is claimed, and what it is called.
EXPONENTS = (
    (FIXED, D, 0.0, "exponent in d where ‖λ‖₁ is fixed"),
    (IN_L, TRACE, -0.5, "exponent in ‖λ‖₁ where a part of the spectrum grows"),
    (IN_N, N, 0.5, "exponent in n"),
    (IN_D, D, -0.5, "exponent in d where ‖λ‖₁ = d (the first one and −½, by rescaling)"),
)
#: Eigenvalues that grow, beside 1e8 eigenvalues 1.
GROWING = 10**5


def studies(quick: bool) -> Sequence[Study]:
    """One study for each exponent."""
    repeats = 100  # ‖y₋‖ of 25 labels varies by 6 %, and medians have to be known to 2 %
    dimensions = [10**5, 10**6, 10**7, 10**8] if quick else [10**k for k in range(5, 12)]
    samples = [20, 60, 180] if quick else [20, 40, 80, 160, 320]
    values = [1.0, 1e3, 1e4, 1e5] if quick else [1.0, 1e3, 3e3, 1e4, 3e4, 1e5]
    grown = [{"kind": "blocks", "parts": [[value, GROWING], [1.0, 10**8 - GROWING]]} for value in values]
    return [
        _study(FIXED, repeats, linked=_fixed(dimensions)),
        _study(IN_L, repeats, grid={SPECTRUM: grown}),
        _study(IN_N, (2 if quick else 3) * repeats, grid={N: samples}),  # that of ten by more
        _study(IN_D, repeats, grid={D: dimensions}),
    ]


def control(quick: bool) -> Sequence[Study]:
    """Gradient flow, which has no finite step, over d at a fixed ‖λ‖₁."""
    return [_study(FLOW, 10 if quick else 30, linked=_fixed([500, 1000, 2000, 4000]), dynamics={"kind": "flow"})]


def _fixed(dimensions: Sequence[int]) -> list[dict[str, list[object]]]:
    """Isotropic features with ‖λ‖₁ = 1e8 over d."""
    return [{D: list(dimensions), SPECTRUM: [{"kind": "isotropic", "value": 1e8 / d} for d in dimensions]}]


def _study(name: str, repeats: int, **tables: object) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=("run.status", "reference.status", "gap.absolute", TRACE),
        problem={
            "kind": "random",
            "n_samples": 50,
            "features": {"kind": "gaussian", "n_features": 10**8},
            "labels": "signs 0.5..2",
        },
        start={"scale": 1e-6},
        **({"dynamics": {"step_size": "0.5/trace"}} | tables),
    )


def judge(rows: Rows) -> Finding:
    """Each exponent with its interval by trial, all of which has to be within 0.02 of the claim, of a power law."""
    exponents, fits, tallies = [], [], []
    for name, x, claimed, words in EXPONENTS:
        table, tally = certified(rows[name], "gap.absolute", by=x)
        fit = power_law(table, y="gap.absolute", x=x)
        low, high = claimed - CLOSE, claimed + CLOSE
        exponents.append(Quantity.within(words, fit.exponent(), low, high, trials=int(fit.trials.sum())))
        fits.append(straight(fit, words.partition(" (")[0]))
        tallies.append(tally)
    measured = "; ".join(f"{quantity.name} {quantity}" for quantity in exponents)
    return Finding.of([*exponents, *fits, completeness(*tallies)], f"Measured: {measured}.{told(*tallies)}")


def figures(rows: Rows) -> dict[str, Figure]:
    """The gap over each coordinate; that over d beside the flow's."""
    import pandas as pd

    from relubias.report.study_figures import scaling

    fixed = [rows[FIXED].assign(dynamics="gradient descent"), rows[FLOW].assign(dynamics="gradient flow (control)")]
    return {
        "fixed": scaling(pd.concat(fixed, ignore_index=True), y="gap.absolute", x=D, by="dynamics", slope=0.0),
        "trace": scaling(rows[IN_L], y="gap.absolute", x=TRACE, slope=-0.5),
        "samples": scaling(rows[IN_N], y="gap.absolute", x=N, slope=0.5),
        "dimension": scaling(rows[IN_D], y="gap.absolute", x=D, slope=-0.5),
    }


CLAIM = Claim(
    id=ID,
    title="The gap is Θ(√(n/‖λ‖₁))",
    statement="The gap grows as √n and falls as 1/√‖λ‖₁; the number of dimensions alone does not change it.",
    source="paper, main theorem",
    chapter="The distance to the minimum norm",
    place=2,
    studies=studies,
    judge=judge,
    control=Control(
        "The exponent in d of gradient flow at the same ‖λ‖₁; it has no finite step, and its gap vanishes with d, so "
        "that the same judge has to say no.",
        studies=control,
        rows=lambda rows: dict(rows) | {FIXED: rows[FLOW]},
    ),
    figures=figures,
    captions={
        "fixed": "At a fixed ‖λ‖₁ dimensions alone do not change the gap of gradient descent; the flow's falls.",
        "trace": "The gap over ‖λ‖₁, which grows with 1e5 of 1e8 eigenvalues.",
        "dimension": "The gap over the number of independent features of variance 1, where ‖λ‖₁ = d.",
        "samples": "The gap over the number of samples.",
    },
    method="One neuron, all samples active at ε = 1e-6, η = 0.5/‖λ‖₁, Gaussian features, labels ±U[½, 2]. Power laws "
    "through the medians over the trials, with bootstrap intervals by trial. That in ‖λ‖₁ is over spectra of 1e8 "
    "eigenvalues 1 of which 1e5 grow to 1e5: where all grow alike, −½ is an identity of rescaling and no finding. So "
    "is the difference ½ of the two exponents in d, which are one measurement.",
)
