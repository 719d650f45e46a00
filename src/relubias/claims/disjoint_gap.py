r"""The gap that the depth of a disjoint start makes: τ √(m − 1) √(n/L), L = ‖λ‖₁.

Each of the n samples starts at −τ in m − 1 neurons and stays there, with the coefficient −τ/L to leading order. The
minimum norm given the partition has no such coefficient. That makes ‖W − W*‖² ≈ n (m − 1) L (τ/L)².
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.claims.usable import certified, completeness, told
from relubias.studies.fit import law_ratio
from relubias.studies.spec import Study
from relubias.studies.tally import numbers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ID = "disjoint_gap"
SHALLOW = f"{ID}-shallow"
D, SIGNS, DEPTH = "problem.features.n_features", "network.signs", "start.depth"
NEURONS = {"+,+,-,-": 4, "+,+,+,-,-,-": 6}
MEASURE = (
    "run.status", "run.partition_kept", "reference.status", "gap.absolute", "law.worst_ratio", "problem.interference",
    "problem.n_samples", "problem.lambda_norm",
)  # fmt: skip
#: √(n/d₂) max|y| may be this fraction of τ, where the corrected law is claimed within `CLOSE` for each neuron.
REGIME, CLOSE = 0.05, 0.02
#: The bound of |y|.
LARGEST = 2.0


def studies(quick: bool) -> Sequence[Study]:
    """Over d in the range of the law, for two numbers of neurons and, in full, two depths."""
    n, depths = (50, [1.0]) if quick else (100, [0.3, 1.0])
    points = [(depth, _deepest(n, depth) * factor) for depth in depths for factor in (1, 100, 10**4)]
    return [_study(ID, n, 10 if quick else 30, points)]


def control(quick: bool) -> Sequence[Study]:
    """A start so shallow that nearly every draw is invaded."""
    return [_study(SHALLOW, 50, 10 if quick else 30, [(0.05, ratio * 50) for ratio in (200, 400, 800)])]


def _deepest(n: int, depth: float) -> int:
    """The least d at which √(n/d₂) max|y| is in the range for every draw, a tenth inside it."""
    return math.ceil(1.2 * n * (LARGEST / (REGIME * depth)) ** 2)


def _study(name: str, n: int, repeats: int, points: Sequence[tuple[float, int]]) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=MEASURE,
        problem={
            "kind": "random",
            "n_samples": n,
            "features": {"kind": "gaussian", "n_features": 10**5},
            "labels": "signs 0.5..2",
        },
        start={"kind": "disjoint", "scale": 1e-6},
        dynamics={"step_size": "0.5/trace", "budget": 1e5},
        grid={SIGNS: list(NEURONS)},
        linked=[{DEPTH: [depth for depth, _ in points], D: [d for _, d in points]}],
    )


def judge(rows: Rows) -> Finding:
    """Each neuron of each cell in the range of the corrected law, and the leading ratio for each m and τ."""
    table, tally = certified(rows[ID], "gap.absolute", "law.worst_ratio", by=[SIGNS, DEPTH, D])
    table = _with_leading(table)
    lost = int((table["run.partition_kept"].astype("float64") != 1.0).sum())
    ratios = table["law.worst_ratio"].to_numpy(dtype=float)
    worst = float(np.max(np.abs(ratios - 1.0), initial=0.0))
    quantities = [
        Quantity.at_most("farthest |gap/corrected law − 1| of a neuron", worst, CLOSE, trials=len(ratios)),
        *_leading(table),
        Quantity("cells whose partition was invaded, judged all the same", lost, trials=len(table)),
        completeness(tally),
    ]
    limits = ", ".join(str(quantity) for quantity in quantities[1:-2])
    return Finding.of(
        quantities,
        f"Of {len(ratios)} cells the neuron that is farthest off its corrected law is "
        f"{worst:.2%} off; at the largest d, gap/(τ√((m−1)n/L)) is {limits}.{told(tally)}",
    )


def _with_leading(table: DataFrame) -> DataFrame:
    neurons, depth = table[SIGNS].map(NEURONS), numbers_of(table, DEPTH)
    root = np.sqrt((neurons - 1) * table["problem.n_samples"] / table["problem.lambda_norm"])
    return table.assign(neurons=neurons, ease=table["problem.interference"] / depth, leading=depth * root)


def _leading(table: DataFrame) -> list[Quantity]:
    quantities = []
    for (m, depth), part in table.groupby(["neurons", DEPTH], sort=True):
        ratio = law_ratio(part, y="gap.absolute", prediction="leading", x=D)
        last, trials = ratio.ratios[-1], int(ratio.trials[-1])
        name = f"gap/(τ√((m−1)n/L)) at m = {m}, τ = {depth:g}, largest d"
        quantities.append(Quantity(name, last.value, last.low, last.high, trials, "tends to 1", ratio.consistent))
    return quantities


def figures(rows: Rows) -> dict[str, Figure]:
    """The leading ratio over the size of the interference, for the claim and for the control."""
    import pandas as pd

    from relubias.report.study_page import LOOKS, page

    table = pd.concat([rows[ID], rows[SHALLOW]], ignore_index=True)
    table = _with_leading(certified(table, "gap.absolute", "problem.interference")[0])
    with page() as (sheet, axes):
        for ((m, depth), part), (colour, _, marker) in zip(table.groupby(["neurons", DEPTH]), LOOKS, strict=False):
            ratio = part["gap.absolute"] / part["leading"]
            axes.plot(
                part["ease"], ratio, marker, color=colour, markersize=4, alpha=0.6, label=f"m = {m}, τ = {depth:g}"
            )
        axes.axhline(1.0, color="0.4", linewidth=1.0)
        axes.axvline(REGIME, color="0.7", linewidth=0.8, linestyle=":")
        axes.set(xscale="log", xlabel="√(n/d₂) max|y|/τ", ylabel="gap/(τ√((m−1)n/L))")
        axes.legend(fontsize=8)
    return {"ratio": sheet}


CLAIM = Claim(
    id=ID,
    title="The gap from a disjoint start",
    statement="From a disjoint start at depth τ the gap to the minimum norm given the partition is "
    "τ√(m−1)√(n/‖λ‖₁)(1 + o(1)) as n/d₂ → 0, and each neuron follows its corrected law.",
    source="ours",
    chapter="Several neurons",
    place=5,
    studies=studies,
    judge=judge,
    control=Control(
        "Starts at depth τ = 0.05 with n/d₂ from 1/200 to 1/800, so shallow that inactive samples come on: the same "
        "judge has to say no.",
        studies=control,
        rows=lambda rows: {ID: rows[SHALLOW]},
    ),
    figures=figures,
    method="m = 4 and 6, labels ±U[½, 2], η = 0.5/‖λ‖₁, active samples at ε = 1e-6, isotropic Gaussian features over "
    "d, all with √(n/d₂) max|y| ≤ 0.05 τ. Of the neurons of a cell the one farthest from its corrected law counts. "
    "Neurons of one sign that share the load have a smaller norm than the partition allows: the reference is the "
    "shortest given the partition.",
)
