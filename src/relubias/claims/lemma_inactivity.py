"""Lemma 6: a sample that is inactive deeply enough is inactive for ever, in a neuron of either sign.

How negative is negative enough? The samples that a neuron fits move its prediction elsewhere by ξ ~ N(0, ‖y_k‖²/d₂),
so that a depth of the size

    √(n/d₂) max|y|                                                                                       (ours)

is enough, and a small part of it is not. Disjoint starts put every inactive pair at one chosen depth: at twice that
size nothing may come back, at a tenth of it something has to. The size, not the depth itself, has to decide: it is the
same for d₂ that differ by a factor 100, and for a spectrum whose d₂ is far below its number of dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.studies.fit import Proportion, proportion
from relubias.studies.spec import Study
from relubias.studies.tally import LIMITS

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ID = "lemma_inactivity"
CONTROL = f"{ID}-control"
BACK, SIZE, DEPTH = "lemmas.inactivity_violations", "problem.interference", "start.depth"
MEASURE = (
    "run.status", SIZE, "problem.d2", "lemmas.inactivity_tested", BACK, "lemmas.own_back", "lemmas.others_back",
)  # fmt: skip
#: n, and the bound of |y|.
SAMPLES, LARGEST = 60, 2.0
#: Depths over √(n/d₂) max|y|; what counts as deep and as shallow.
DEPTHS = (0.1, 0.25, 0.5, 1.0, 2.0)
DEEP, SHALLOW = 1.9, 0.15
#: The least probability that is claimed.
LEAST = 0.9
#: Eigenvalues and their multiplicities.
Parts = tuple[tuple[float, int], ...]
SPECTRA: tuple[Parts, ...] = (
    ((1.0, 6_000),),
    ((1.0, 600_000),),
    ((1.0, 60_000), (300.0, 200)),
)


def studies(quick: bool) -> Sequence[Study]:
    """Over the depth for three spectra."""
    points = [(parts, depth * _size(_d2(parts))) for parts in SPECTRA for depth in DEPTHS]
    return [_study(ID, points, 14 if quick else 60)]


def control(quick: bool) -> Sequence[Study]:
    """The spectrum whose d₂ is far below d, at depths in units of √(n/d) max|y|."""
    parts = SPECTRA[-1]
    points = [(parts, depth * _size(_d(parts))) for depth in DEPTHS]
    return [_study(CONTROL, points, 14 if quick else 60)]


def _d(parts: Parts) -> int:
    return sum(count for _, count in parts)


def _d2(parts: Parts) -> float:
    return sum(v * k for v, k in parts) ** 2 / sum(v * v * k for v, k in parts)


def _size(dimension: float) -> float:
    return math.sqrt(SAMPLES / dimension) * LARGEST


def _study(name: str, points: Sequence[tuple[Parts, float]], repeats: int) -> Study:
    varied = {
        "problem.features.n_features": [_d(parts) for parts, _ in points],
        "problem.features.spectrum": [{"kind": "blocks", "parts": [list(part) for part in p]} for p, _ in points],
        DEPTH: [depth for _, depth in points],
    }
    return study(
        name,
        repeats=repeats,
        measure=MEASURE,
        problem={"kind": "random", "n_samples": SAMPLES, "features": {"kind": "gaussian"}, "labels": "signs 0.5..2"},
        network={"signs": "+,-,+,-,+,-"},
        start={"kind": "disjoint", "scale": 1e-3},
        dynamics={"step_size": "0.5/trace"},
        linked=[varied],
    )


def _relative(table: DataFrame) -> DataFrame:
    """With the depth over √(n/d₂) max|y|, where the largest label is that of the draw."""
    return table.assign(depth=table[DEPTH] / table[SIZE])


def _back(table: DataFrame, column: str) -> Proportion:
    """Runs in which some sample came back."""
    return proportion(table, lambda part: part[column] > 0, needs=[column, SIZE])


def _back_or_unknown(table: DataFrame, column: str) -> Proportion:
    """The same, and those without a certified limit, in which one might still come back."""
    needs = [column, SIZE, "run.status"]
    return proportion(table, lambda part: (part[column] > 0) | ~part["run.status"].isin(LIMITS), needs=needs)


def judge(rows: Rows) -> Finding:
    """Nothing comes back from twice the size, something from a tenth of it."""
    table = _relative(rows[ID])
    deep, shallow = table[table["depth"] >= DEEP], table[table["depth"] <= SHALLOW]
    name = "runs in which a deep sample came back"
    quantities = [
        Quantity.share(f"{name}, neuron of its sign", _back_or_unknown(deep, "lemmas.own_back"), most=1 - LEAST),
        Quantity.share(
            f"{name}, neuron of the other sign", _back_or_unknown(deep, "lemmas.others_back"), most=1 - LEAST
        ),
        Quantity.share("runs in which a shallow sample came back", _back(shallow, BACK), least=LEAST),
    ]
    own, others, again = quantities
    just = table[(table["depth"] > SHALLOW) & (table["depth"] < DEEP)]
    for depth in DEPTHS[1:-1]:
        part = just[(just["depth"] >= 0.99 * depth) & (just["depth"] < 1.2 * depth)]
        if not len(part):
            continue
        share = float(part[BACK].sum() / part["lemmas.inactivity_tested"].sum())
        quantities.append(Quantity(f"share of samples that came back from {depth:g} of the size", share))
    told = (
        f"from twice the depth √(n/d₂) max|y| some sample came back in {own} of the runs in neurons of the sign of its "
        f"label, in {others} in the others; from a tenth of it in {again}"
    )
    return Finding.of(
        quantities, f"Deep samples stay inactive for ever: {told}.", otherwise=f"This size is not what decides: {told}."
    )


def other_size(rows: Rows) -> Rows:
    """Depths over √(n/d) max|y|."""
    table = rows[CONTROL]
    return {ID: table.assign(**{SIZE: table[SIZE] * (table["problem.d2"] / _d(SPECTRA[-1])) ** 0.5})}


def figures(rows: Rows) -> dict[str, Figure]:
    """The share of pairs that come back over the depth, for each d₂."""
    from relubias.report.study_page import LOOKS, page

    table = _relative(rows[ID])
    table = table[table["status"] == "done"]
    table = table.assign(share=table[BACK] / table["lemmas.inactivity_tested"], at=table["problem.d2"].round(0))
    with page() as (sheet, axes):
        for (d2, part), (colour, line, marker) in zip(table.groupby("at"), LOOKS, strict=False):
            means = part.groupby(part[DEPTH])[["depth", "share"]].mean()
            axes.plot(
                means["depth"], means["share"], marker=marker, linestyle=line, color=colour, markerfacecolor="none",
                label=f"d₂ = {d2:,.0f}",
            )  # fmt: skip
        axes.set_yscale("symlog", linthresh=1e-4)
        axes.set(xscale="log", xlabel="depth/(√(n/d₂) max|y|)", ylabel="share of samples that came back")
        axes.legend(fontsize=8)
    return {"depth": sheet}


CLAIM = Claim(
    id=ID,
    title="Deep inactivity is kept (Lemma 6)",
    statement="A sample that is inactive deeply enough stays inactive for ever, in neurons of either sign; deeply "
    "enough is a depth of the size √(n/d₂) max|y|.",
    source="paper, Lemma 6; the size of the depth is ours",
    chapter="One neuron",
    place=4,
    studies=studies,
    judge=judge,
    control=Control(
        "Depths in units of √(n/d) max|y|, for a spectrum whose d₂ is far below d; twice that size is not deep, so "
        "that the same judge has to say no.",
        studies=control,
        rows=other_size,
    ),
    figures=figures,
    captions={"depth": "Spectra with very different d₂ fall on one curve over the depth in units of √(n/d₂) max|y|."},
    method="Six neurons, disjoint start at ε = 1e-3, n = 60, labels ±U[½, 2], η = 0.5/‖λ‖₁; Gaussian features with "
    "three spectra, d₂ = 6,000, 600,000 and about 800. All inactive pairs start at one depth, from a tenth of "
    "√(n/d₂) max|y| to twice that; runs are followed step by step to their last change, and certified from there; a "
    "deep one that is not certified counts as if some sample had come back.",
)
