"""How small does the start have to be? The law holds as long as the first step turns the negative samples off.

One step takes β_i from ε to ε − c(ε + |y_i|) where y_i < 0, up to interference. That is below zero if and only if

    ε (1 − c) < c |y_i|,                                                                                  (ours)

and up to there the gap is ‖λ‖₁^(−½) ‖c y₋ + ε(1 − c)1‖: larger starts give *smaller* gaps for c < 1. Beyond, negative
samples are still active after the first step, and the law is about another pattern. For c ≥ 1 no start is too large.
With |y_i| = 1 for all samples the end is sharp.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study, whole
from relubias.claims.usable import certified, completeness
from relubias.claims.usable import told as left_out
from relubias.studies.spec import Study
from relubias.studies.tally import numbers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ID = "start_scale"
SCALE, STEP, OFF = "start.scale", "dynamics.step_size", "run.negative_off"
#: ε(1 − c)/c at which the first step leaves a sample at zero, |y| = 1.
SMALL, LARGE = 0.9, 1.1
#: The corrected law is claimed this closely, and behaviours with this probability.
CLOSE, LEAST = 0.02, 0.9
#: Values of ε(1 − c)/c.
PARTS = (1e-6, 1e-3, 0.1, 0.3, 0.6, 0.9, 1.1, 1.5, 3.0)


def studies(quick: bool) -> Sequence[Study]:
    """n = 50, d = 1e8, over ε for c < 1."""
    steps = [0.5] if quick else [0.2, 0.5, 0.8]
    points = [(c, part * c / (1 - c)) for c in steps for part in PARTS]
    return [
        study(
            ID,
            repeats=30 if quick else 100,
            measure=("run.status", "reference.status", "gap.absolute", "law.corrected", "problem.lambda_norm", OFF),
            problem={
                "kind": "random",
                "n_samples": 50,
                "features": {"kind": "gaussian", "n_features": 10**8},
                "labels": {"kind": "signs", "low": 1.0, "high": 1.0},
            },
            linked=[{STEP: [f"{c}/trace" for c, _ in points], SCALE: [scale for _, scale in points]}],
        )
    ]


def _with_part(table: DataFrame) -> DataFrame:
    """With ε(1 − c)/c, and the gap over the law."""
    c = numbers_of(table, STEP)
    return table.assign(part=table[SCALE] * (1 - c) / c, ratio=table["gap.absolute"] / table["law.corrected"])


def judge(rows: Rows) -> Finding:
    """The law cell by cell below the end, and what the first step does on both sides of it."""
    table = _with_part(rows[ID])
    small, large = table[table["part"] <= SMALL * 1.001], table[table["part"] >= LARGE * 0.999]
    (near, tally), (far, other) = (
        certified(part, "gap.absolute", "ratio", OFF, by=[STEP, SCALE]) for part in (small, large)
    )
    ratios, beyond = near["ratio"].to_numpy(dtype=float), far["ratio"].to_numpy(dtype=float)
    worst = float(np.abs(ratios - 1).max(initial=0.0))
    quantities = [
        Quantity.at_most("farthest |gap/law − 1|, ε(1−c) ≤ 0.9 c|y|", worst, CLOSE, trials=len(ratios)),
        Quantity.share("all negative samples go off at step 1 for ever there", whole(small, OFF), least=LEAST),
        Quantity.share("the same beyond, ε(1−c) ≥ 1.1 c|y|", whole(large, OFF), most=1 - LEAST),
        Quantity("median |gap/law − 1| beyond", float(np.median(np.abs(beyond - 1))), trials=len(beyond)),
        completeness(tally, other),
    ]
    law, there, after, off, _ = quantities
    told = (
        f"up to ε(1−c) = 0.9 c|y| the farthest of {law.trials} cells is {law.value:.2%} off the law, and the negative "
        f"samples go off at step 1 in {there} of the runs; from 1.1 on they do in {after}, and the median cell is "
        f"{off.value:.0%} off the law"
    )
    rest = left_out(tally, other)
    return Finding.of(
        quantities,
        f"The law ends where it should: {told}.{rest}",
        otherwise=f"The law does not end there: {told}.{rest}",
    )


def other_law(rows: Rows) -> Rows:
    """The law ‖λ‖₁^(−½) c ‖y₋‖, in which the start does not occur."""
    table = rows[ID]
    c, negative = numbers_of(table, STEP), 25
    return {ID: table.assign(**{"law.corrected": c * np.sqrt(negative / table["problem.lambda_norm"])})}


def figures(rows: Rows) -> dict[str, Figure]:
    """The gap over the scale of the start, beside the law."""
    from relubias.report.study_page import LOOKS, page

    table = _with_part(rows[ID]).assign(c=numbers_of(rows[ID], STEP))
    table = table.assign(size=table["gap.absolute"] * table["problem.lambda_norm"] ** 0.5 / 5.0 / table["c"])
    with page() as (sheet, axes):
        for (c, group), (colour, _, marker) in zip(table.groupby("c"), LOOKS, strict=False):
            axes.plot(
                group["part"],
                group["size"],
                marker,
                color=colour,
                markerfacecolor="none",
                markersize=4,
                label=f"c = {c}",
            )
        x = np.geomspace(1e-6, 1.0, 400)[:-1]
        axes.plot(x, 1 - x, "-", color="0.4", linewidth=1.2, label="law")
        axes.axvline(1.0, color="0.6", linewidth=0.8, linestyle=":")
        axes.set(xscale="log", xlabel="ε(1 − c)/(c|y|)", ylabel="gap √‖λ‖₁/(c ‖y₋‖)")
        axes.legend(fontsize=8)
    return {"scale": sheet}


CLAIM = Claim(
    id=ID,
    title="How small the start has to be",
    statement="The gap law, with ε(1 − c) in it, holds up to ε(1 − c) = c·min|y₋|, where the first step no longer "
    "turns all negative samples off.",
    source="ours",
    chapter="The distance to the minimum norm",
    place=6,
    studies=studies,
    judge=judge,
    control=Control(
        "The same cells against c‖y₋‖/√‖λ‖₁, the law without the start in it: the same judge has to say no.",
        rows=other_law,
    ),
    figures=figures,
    captions={
        "scale": "Each point is one draw. Up to the dotted line the gap follows the law; beyond, the first step leaves "
        "negative samples active."
    },
    method="n = 50, d = 1e8, Gaussian features, labels ±1, c < 1. The scale ε of the start goes from 1e-6 to three "
    "times what the law allows; below the end each cell is held against the corrected law.",
)
