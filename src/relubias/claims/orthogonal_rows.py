r"""Exactly orthogonal samples: the flow ends in the minimum norm itself.

**First layer trained** (ours). With K diagonal each sample moves alone: from β = ε a positive label is approached along
its own line, a negative one goes to the kink and stays there, and the limit is w* to rounding.

**Both layers trained** (Boursier, Pillaud-Vivien and Flammarion 2022). From a small balanced start in which a positive
neuron is active on all positive labels and a negative one on all negative ones, the flow tends to the network of least
variation norm Σ_k |a_k| ‖w_k‖ = S₊ + S₋, S_±² = Σ_± y_i²/‖x_i‖², as the scale of the start goes to 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.claims.usable import certified, completeness, told
from relubias.studies.bootstrap import FEWEST_TRIALS, median_interval
from relubias.studies.fit import Estimate, Tally, power_law, proportion
from relubias.studies.power_law import FEWEST_SIZES
from relubias.studies.spec import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ID = "orthogonal_rows"
LAYERS = f"{ID}-layers"
DESCENT, RANDOM = f"{ID}-descent", f"{ID}-random"
SCALE, EXCESS, GAP = "start.scale", "variation.excess", "gap.relative"
#: ‖x_i‖² of the samples, which need not be equal.
SQUARES = (0.25, 0.5, 1.0, 1.0, 1.0, 2.0, 2.0, 4.0)
SCALES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)
#: A relative gap of rounding, and how near to the least variation norm the smallest scale is claimed to come.
ROUNDING, NEAR = 1e-10, 0.05
#: The least probability that all labels are fitted.
LEAST = 0.9


def studies(quick: bool) -> Sequence[Study]:
    """The flow of the first layer, and that of both over the scale of an aligned start."""
    scales = SCALES[::2] if quick else SCALES
    aligned = {"kind": "aligned", "scale": 1e-3}
    return [
        _study(ID, 20 if quick else 100, GAP, start={"scale": 1e-3}, dynamics={"kind": "flow"}),
        _layers(LAYERS, 12 if quick else 30, aligned, scales),
    ]


def control(quick: bool) -> Sequence[Study]:
    """Gradient descent with a finite step, and random balanced starts."""
    return [
        _study(DESCENT, 10 if quick else 30, GAP, start={"scale": 1e-3}, dynamics={"step_size": "0.5/lmax"}),
        _layers(RANDOM, 5 if quick else 20, {"kind": "balanced", "scale": 1e-3}, SCALES[::2]),
    ]


def _layers(name: str, repeats: int, start: dict[str, Any], scales: Sequence[float]) -> Study:
    network = {"signs": "+,-,+,-", "train_output": True}
    tables = {"network": network, "start": start, "dynamics": {"kind": "flow"}, "grid": {SCALE: list(scales)}}
    return _study(name, repeats, EXCESS, **tables)


def _study(name: str, repeats: int, column: str, **tables: Any) -> Study:
    problem = {"kind": "orthogonal", "n_samples": len(SQUARES), "squared_norms": SQUARES, "labels": "signs 0.5..2"}
    columns = ["run.status", "run.interpolated", column, *(["reference.status"] if column == GAP else [])]
    return study(name, repeats=repeats, measure=columns, problem=problem, **tables)


def judge(rows: Rows) -> Finding:
    """The largest relative gap of the first, rounding; the excess of the second falls with the scale to below 5 %."""
    first, tally = certified(rows[ID], GAP)
    worst = float(first[GAP].max())
    layers, other = _ended(rows[LAYERS])
    fitted = proportion(layers, lambda part: part["run.interpolated"] == len(SQUARES), needs="run.interpolated")
    smallest = layers[layers[SCALE] == layers[SCALE].min()]
    excess = median_interval(smallest[EXCESS].sort_values().to_numpy(dtype=float), 0.95)
    exponent = _exponent(layers[layers["run.interpolated"] == len(SQUARES)])
    falls = True if exponent.low > 0 else (False if exponent.high < 0 else None)
    quantities = [
        Quantity.at_most("largest relative gap of the flow, first layer trained", worst, ROUNDING, trials=len(first)),
        Quantity.share("both layers: all labels are fitted", fitted, least=LEAST),
        Quantity("excess over the least variation norm ∝ scale to the power", *exponent, len(layers), "> 0", falls),
        Quantity.within("median excess at the smallest scale", excess, 0.0, NEAR, trials=len(smallest)),
        completeness(tally, other),
    ]
    return Finding.of(
        quantities,
        f"With the first layer trained, the flow is {worst:.1e} of ‖w*‖ from w* at most, in {len(first)} draws. With "
        f"both, {quantities[1]} of the draws fit all labels, and the variation norm exceeds its least by "
        f"{excess.value:.2%} at the smallest scale, falling as the scale to the power {exponent}.{told(tally, other)}",
    )


def _ended(table: DataFrame) -> tuple[DataFrame, Tally]:
    """Cells whose flow came to rest: for two trained layers there is no certificate, only that nothing moves."""
    return certified(table, EXCESS, by=SCALE, ended=("converged", "certified"))


def _exponent(solutions: DataFrame) -> Estimate:
    """Of the excess in the scale; everything is possible where too few of the starts lead to a solution."""
    if not len(solutions) or solutions.groupby(SCALE).size().ge(FEWEST_TRIALS).sum() < FEWEST_SIZES:
        return Estimate(math.nan, -math.inf, math.inf)
    return power_law(solutions, y=EXCESS, x=SCALE, certified=False).exponent()


def figures(rows: Rows) -> dict[str, Figure]:
    """The excess over the scale."""
    from relubias.report.study_figures import scaling

    return {"scale": scaling(_ended(rows[LAYERS])[0], y=EXCESS, x=SCALE, certified=False)}


CLAIM = Claim(
    id=ID,
    title="Orthogonal samples lead to the minimum norm itself",
    statement="On exactly orthogonal samples gradient flow of the first layer ends in the minimum norm, and with both "
    "layers trained the variation norm tends to its least from aligned balanced starts whose scale goes to 0.",
    source="paper, exceptions (Boursier et al. 2022); the first half is ours",
    chapter="Where it ends",
    place=1,
    studies=studies,
    judge=judge,
    control=Control(
        "Gradient descent with a finite step for the first half, and random balanced starts, in which no neuron need "
        "be active on all its labels, for the second: the same judge has to say no.",
        studies=control,
        rows=lambda rows: {ID: rows[DESCENT], LAYERS: rows[RANDOM]},
    ),
    figures=figures,
    method="Eight samples with ‖x_i‖² from ¼ to 4, labels ±U[½, 2]. First layer: one neuron, all samples active at "
    "ε = 1e-3, certified limits. Both layers: two neurons of each sign, one of each active on all labels of its sign, "
    "|a_k| = ‖w_k‖; no certificate is known there, and the state in which nothing moves beyond rounding counts.",
)
