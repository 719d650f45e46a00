"""The gap is Θ(√(n/‖λ‖₁)): exponents ½ in n, −½ in ‖λ‖₁, and 0 in d where ‖λ‖₁ stays the same.

With λ = 1, …, 1 the spectrum has ‖λ‖₁ = d, and the exponent in d is −½; that follows from rescaling alone. The
statement with ‖λ‖₁ says more: where the eigenvalues are L/d, dimensions alone change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.studies.fit import power_law
from relubias.studies.spec import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ID = "gap_exponents"
IN_D, IN_N, IN_L, FIXED = (f"{ID}-{word}" for word in ("d", "n", "trace", "fixed"))
FLOW = f"{ID}-flow"
N, D, VALUE = "problem.n_samples", "problem.features.n_features", "problem.features.spectrum.value"
#: An exponent counts as that of the claim if all of its interval is this close.
CLOSE = 0.02
#: Study, coordinate, exponent that is claimed, and what it is called.
EXPONENTS = (
    (IN_L, "problem.lambda_norm", -0.5, "exponent in ‖λ‖₁ at fixed d"),
    (IN_N, N, 0.5, "exponent in n"),
    (IN_D, D, -0.5, "exponent in d where ‖λ‖₁ = d"),
    (FIXED, D, 0.0, "exponent in d where ‖λ‖₁ is fixed"),
)


def studies(quick: bool) -> Sequence[Study]:
    """One study for each exponent."""
    repeats = 40 if quick else 100
    dimensions = [10**5, 10**6, 10**7, 10**8] if quick else [10**k for k in range(5, 12)]
    samples = [20, 60, 180] if quick else [20, 40, 80, 160, 320]
    values = [0.01, 1.0, 100.0] if quick else [0.01, 0.1, 1.0, 10.0, 100.0]
    fixed = [{D: dimensions, VALUE: [1e8 / d for d in dimensions]}]
    return [
        _study(IN_L, repeats, grid={VALUE: values}),
        _study(IN_N, (5 if quick else 3) * repeats, grid={N: samples}),  # ‖y₋‖ of few labels varies
        _study(IN_D, repeats, grid={D: dimensions}),
        _study(FIXED, repeats, linked=fixed),
    ]


def control(quick: bool) -> Sequence[Study]:
    """Gradient flow, which has no finite step, over d."""
    return [_study(FLOW, 10 if quick else 30, grid={D: [500, 1000, 2000, 4000]}, dynamics={"kind": "flow"})]


def _study(name: str, repeats: int, **tables: object) -> Study:
    features = {"kind": "gaussian", "n_features": 10**8, "spectrum": {"kind": "isotropic", "value": 1.0}}
    return study(
        name,
        repeats=repeats,
        measure=("run.status", "gap.absolute", "problem.lambda_norm"),
        problem={"kind": "random", "n_samples": 50, "features": features, "labels": "signs 0.5..2"},
        start={"scale": 1e-6},
        **({"dynamics": {"step_size": "0.5/trace"}} | tables),
    )


def judge(rows: Rows) -> Finding:
    """Each exponent with its interval by trial, all of which has to be within 0.02 of the claim."""
    quantities = []
    for name, x, claimed, words in EXPONENTS:
        fit = power_law(rows[name], y="gap.absolute", x=x)
        low, high = claimed - CLOSE, claimed + CLOSE
        quantities.append(Quantity.within(words, fit.exponent(), low, high, trials=int(fit.trials.sum())))
    measured = "; ".join(f"{quantity.name} {quantity}" for quantity in quantities)
    return Finding.of(quantities, f"Measured: {measured}.")


def figures(rows: Rows) -> dict[str, Figure]:
    """The gap over d and over n."""
    from relubias.report.study_figures import scaling

    return {
        "dimension": scaling(rows[IN_D], y="gap.absolute", x=D, slope=-0.5),
        "samples": scaling(rows[IN_N], y="gap.absolute", x=N, slope=0.5),
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
        "The exponent in d of gradient flow, which has no finite step; its gap vanishes faster, so that the same judge "
        "has to say no.",
        studies=control,
        rows=lambda rows: dict(rows) | {IN_D: rows[FLOW]},
    ),
    figures=figures,
    captions={
        "dimension": "The gap over the number of independent features of variance 1, where ‖λ‖₁ = d.",
        "samples": "The gap over the number of samples.",
    },
    method="One neuron, all samples active at ε = 1e-6, η = 0.5/‖λ‖₁, Gaussian features, labels ±U[½, 2]. Power laws "
    "through the medians over the trials, with bootstrap intervals by trial.",
)
