r"""How deep is deep enough: τ of about √(n/d₂) max|y|, whatever n/d₂ and the spectrum.

The other samples of a neuron move the prediction at an inactive one by ξ ~ N(0, σ²), σ ≤ √(n/d₂) max|y|; it comes on
where ξ > τ. So the share of draws in which a disjoint start keeps its partition is a function of

    x = τ/(√(n/d₂) max|y|),

which rises from 0 to 1 near x = 1. Its *threshold* is where the share is ½: the shares are made monotone and
interpolated in log x, and the trials are resampled for an interval. In label units the thresholds of different n/d₂
have to be far apart; in units of √(n/d₂) max|y| they have to fall together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.claims.usable import STATUS, completeness, told
from relubias.studies.fit import Estimate, Tally
from relubias.studies.spec import Study
from relubias.studies.tally import LIMITS, Sieve, together

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
    from pandas import DataFrame

    Array = NDArray[np.float64]

ID = "disjoint_depth"
DEPTH = "start.depth"
KEPT, UNIT = "run.partition_kept", "problem.interference"
MEASURE = (STATUS, KEPT, UNIT)
#: Depths in units of √(n/d₂) max|y|, about; the unit of each draw is measured.
DEPTHS = (0.25, 0.4, 0.55, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0)
#: "About": the threshold is claimed within this factor of 1.
FACTOR = 2.0
#: "On one curve": thresholds of all settings are claimed within this factor of each other.
APART = 1.5
RESAMPLES = 1000


def _settings() -> Mapping[str, tuple[dict[str, Any], float]]:
    """Features of each setting, and n/d₂."""
    n = 100
    uneven = [[1.0, 9500], [30.0, 120]]
    d2 = (9500 + 30 * 120) ** 2 / (9500 + 900 * 120)
    isotropic = {word: ({"kind": "gaussian", "n_features": d}, n / d) for word, d in _DIMENSIONS.items()}
    blocks = {"kind": "gaussian", "n_features": 9620, "spectrum": {"kind": "blocks", "parts": uneven}}
    return isotropic | {"uneven": (blocks, n / d2)}


_DIMENSIONS = {"d1e3": 10**3, "d1e4": 10**4, "d1e6": 10**6}
WORDS = {"d1e3": "d = 1e3", "d1e4": "d = 1e4", "d1e6": "d = 1e6", "uneven": "λ = 1 × 9500, 30 × 120"}


def studies(quick: bool) -> Sequence[Study]:
    """Each setting over the depth."""
    depths = DEPTHS[::2] if quick else DEPTHS
    return [_study(word, depths, 20 if quick else 60, *setting) for word, setting in _settings().items()]


def _study(word: str, depths: Sequence[float], repeats: int, features: dict[str, Any], ratio: float) -> Study:
    unit = 2.0 * np.sqrt(ratio)  # max|y| of ±U[½, 2] is almost 2
    return study(
        f"{ID}-{word}",
        repeats=repeats,
        measure=MEASURE,
        problem={"kind": "random", "n_samples": 100, "features": features, "labels": "signs 0.5..2"},
        network={"signs": "+,+,+,-,-,-"},
        start={"kind": "disjoint", "scale": 1e-6},
        dynamics={"step_size": "0.5/trace", "budget": 1e5},
        grid={DEPTH: [float(f"{x * unit:.3g}") for x in depths]},
    )


def judge(rows: Rows) -> Finding:
    """The threshold of every setting within a factor 2 of 1, and all within a factor 1.5 of each other."""
    found = [(word, *_threshold(rows[f"{ID}-{word}"], word)) for word in WORDS]
    draws = np.array([draws for _, _, draws, _ in found])
    values = np.array([estimate.value for _, estimate, _, _ in found])
    spread = draws.max(axis=0) / draws.min(axis=0)
    apart = Estimate(float(values.max() / values.min()), *map(float, np.quantile(spread, [0.025, 0.975])))
    tallies = [tally for _, _, _, tally in found]
    quantities = [
        Quantity.within("largest threshold/smallest threshold", apart, 1.0, APART, trials=together(tallies).kept),
        *(
            Quantity.within(f"threshold τ/(√(n/d₂) max|y|), {WORDS[word]}", estimate, 1 / FACTOR, FACTOR)
            for word, estimate, _, _ in found
        ),
        completeness(*tallies),
    ]
    told_each = "; ".join(f"{WORDS[word]}: {estimate}" for word, estimate, _, _ in found)
    return Finding.of(
        quantities,
        f"Half of the draws keep their partition at τ/(√(n/d₂) max|y|) of {told_each}; the largest is {apart} times "
        f"the smallest.{told(*tallies)}",
    )


def _threshold(table: DataFrame, word: str) -> tuple[Estimate, Array, Tally]:
    """Where the share kept is ½, with its resampled values."""
    usable, tally = _decided(table)
    points, kept = [], []
    for depth, part in usable.groupby(DEPTH, sort=True):
        points.append(float(np.median(float(depth) / part[UNIT].to_numpy(dtype=float))))  # type: ignore[arg-type]
        kept.append(part[KEPT].to_numpy(dtype=float))
    logs, shares = np.log(points), np.array([part.mean() for part in kept])
    rng = np.random.default_rng(0)
    again = np.array([rng.binomial(len(part), part.mean(), RESAMPLES) / len(part) for part in kept])
    draws = np.array([crossing(logs, column) for column in again.T])
    return Estimate(crossing(logs, shares), *map(float, np.quantile(draws, [0.025, 0.975]))), draws, tally


def _decided(table: DataFrame) -> tuple[DataFrame, Tally]:
    """Cells that lost their partition, whatever came later, and those that kept it at a proven limit."""
    sieve = Sieve(table)
    kept = sieve.finite(KEPT) == 1.0
    sieve.finite(UNIT)
    sieve.drop(
        "that kept it so far, without a certified limit", kept & ~table[STATUS].isin(LIMITS).to_numpy(dtype=bool)
    )
    return table.loc[sieve.kept], sieve.tally()


def crossing(logs: Array, shares: Array) -> float:
    """x at which monotone shares cross ½; the end of the range where they do not."""
    upward = 0.5 * (np.maximum.accumulate(shares) + np.minimum.accumulate(shares[::-1])[::-1])
    above = int(np.argmax(upward >= 0.5)) if upward[-1] >= 0.5 else len(logs) - 1
    if above == 0 or upward[-1] < 0.5:
        return float(np.exp(logs[above]))
    low, high = upward[above - 1], upward[above]
    part = (0.5 - low) / (high - low)
    return float(np.exp(logs[above - 1] + part * (logs[above] - logs[above - 1])))


def label_units(rows: Rows) -> Rows:
    """The same cells with the depth in label units, scaled by one number for all settings."""
    import pandas as pd

    unit = float(pd.concat(list(rows.values()))[UNIT].median())
    return {name: table.assign(**{UNIT: unit}) for name, table in rows.items()}


def figures(rows: Rows) -> dict[str, Figure]:
    """The share kept over x, of all settings."""
    from relubias.report.study_page import LOOKS, page

    with page() as (sheet, axes):
        for word, (colour, line, marker) in zip(WORDS, LOOKS, strict=False):
            part = _decided(rows[f"{ID}-{word}"])[0]
            groups = part.assign(x=part[DEPTH] / part[UNIT], kept=part[KEPT].astype("float64")).groupby(DEPTH)
            axes.plot(
                groups["x"].median(), groups["kept"].mean(), marker, linestyle=line, color=colour, label=WORDS[word]
            )
        axes.axhline(0.5, color="0.7", linewidth=0.8, linestyle=":")
        axes.set(xscale="log", xlabel="τ/(√(n/d₂) max|y|)", ylabel="share of draws that keep the partition")
        axes.legend(fontsize=8)
    return {"collapse": sheet}


CLAIM = Claim(
    id=ID,
    title="How deep an inactive sample has to start",
    statement="A disjoint start keeps its partition once its inactive samples lie deeper than about √(n/d₂) max|y|, "
    "and the share of draws that keep it depends on n/d₂ and the spectrum through that unit alone.",
    source="ours",
    chapter="Several neurons",
    place=4,
    studies=studies,
    judge=judge,
    control=Control(
        "The same cells with the depth in label units, where the thresholds of different n/d₂ are far apart: the same "
        "judge has to say no.",
        rows=label_units,
    ),
    figures=figures,
    method="n = 100, m = 6, labels ±U[½, 2], η = 0.5/‖λ‖₁, ε = 1e-6. Isotropic Gaussian features with d = 1e3, 1e4, "
    "1e6, and 9500 eigenvalues 1 with 120 eigenvalues 30. The threshold is where half of the draws keep their "
    "partition; intervals by resampling the trials.",
)
