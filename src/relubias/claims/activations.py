"""What carries over to other activations: activity and exact limits where there is a slope below zero, but not for |z|.

A leaky ReLU σ(z) = a z for z < 0 moves its inactive samples too, and so fits negative labels with them: z → y/a. The
first step divides the samples as that of the ReLU does. The identity is linear regression, whose limit from a start in
the span is the shortest interpolant. The absolute value is pulled to z = 0 from either side where the label is
negative: it overshoots for ever, and the limit is a cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study, whole
from relubias.claims.usable import STATUS, certified, completeness, measured, shares_of, told
from relubias.studies.fit import proportion
from relubias.studies.spec import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ID = "activations"
ACTIVATION, LINEAR = "network.activation", "linear.distance"
LEAKY = ("leaky-relu:0.1", "leaky-relu:0.5")
FITTED = ("run.positive_fitted", "run.negative_fitted")
#: The least probability that is claimed; a relative distance of rounding.
LEAST, ROUNDING = 0.9, 1e-10


def studies(quick: bool) -> Sequence[Study]:
    """n/d₂ = 1/500 for four activations."""
    return [_study(ID, [*LEAKY, "identity", "absolute"], 40 if quick else 150)]


def control(quick: bool) -> Sequence[Study]:
    """The ReLU, which has no slope below zero."""
    return [_study(f"{ID}-control", ["relu"], 20 if quick else 60)]


def _study(name: str, activations: list[str], repeats: int) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=(STATUS, *FITTED, "run.positive_kept", "run.negative_off", LINEAR),
        problem={
            "kind": "random",
            "n_samples": 50,
            "features": {"kind": "gaussian", "n_features": 25_000},
            "labels": "signs 0.5..2",
        },
        start={"scale": 1e-3},
        dynamics={"step_size": "0.5/trace", "budget": 1e5},
        grid={ACTIVATION: activations},
    )


def judge(rows: Rows) -> Finding:
    """Leaky: activity and both kinds of labels; identity: the linear interpolant; absolute: a cycle."""
    table = rows[ID]
    quantities, tallies = [], []
    for name in LEAKY:
        part = table[table[ACTIVATION] == name]
        fitted = whole(part.assign(both=part[FITTED[0]] * part[FITTED[1]]), "both")
        quantities += [
            Quantity.share(f"{name}: all labels fitted at a proven limit", fitted, least=LEAST),
            Quantity.share(f"{name}: positive labels stay active", whole(part, "run.positive_kept"), least=LEAST),
            Quantity.share(f"{name}: negative labels go off at step 1", whole(part, "run.negative_off"), least=LEAST),
        ]
        tallies.append(measured(part, *FITTED, "run.positive_kept", "run.negative_off", by=ACTIVATION)[1])
    linear, tally = certified(table[table[ACTIVATION] == "identity"], LINEAR)
    worst = float(linear[LINEAR].max())
    absolute = table[table[ACTIVATION] == "absolute"]
    tallies.append(measured(absolute)[1])
    cycles = proportion(absolute, lambda part: part[STATUS] == "cycling", needs=STATUS)
    quantities += [
        Quantity.at_most("identity: farthest from the linear interpolant", worst, ROUNDING, trials=len(linear)),
        Quantity.share("absolute value: no limit, but a cycle", cycles, least=LEAST),
        completeness(*tallies, tally),
    ]
    shares = "; ".join(f"{quantity.name}, {quantity}" for quantity in quantities[:-1])
    return Finding.of(quantities, f"Share of draws: {shares}.{told(*tallies, tally)}")


def relu_for_all(rows: Rows) -> Rows:
    """The cells of the ReLU in the place of those of each activation."""
    import pandas as pd

    names = (*LEAKY, "identity", "absolute")
    return {ID: pd.concat([rows[f"{ID}-control"].assign(**{ACTIVATION: name}) for name in names], ignore_index=True)}


def figures(rows: Rows) -> dict[str, Figure]:
    """All shares with their intervals, beside those of the control."""
    return {"shares": shares_of(judge, rows, relu_for_all(rows), title=CLAIM.title)}


CLAIM = Claim(
    id=ID,
    title="Other activations: what carries over",
    statement="A leaky ReLU divides the samples in the first step as the ReLU does and has an exact limit, but fits "
    "the negative labels too; the identity ends in the shortest linear interpolant; the absolute value has no limit "
    "where labels are negative, but a cycle.",
    source="paper, outlook; the statements are ours",
    chapter="Other dynamics, activations and losses",
    place=3,
    studies=studies,
    judge=judge,
    control=Control(
        "The ReLU in the place of each of them: it fits no negative label, ends away from the linear interpolant, and "
        "has a limit, so that the same judge has to say no to each of these parts.",
        studies=control,
        rows=relu_for_all,
    ),
    figures=figures,
    method="n = 50, d = 25 000 Gaussian features, labels ±U[½, 2], one neuron, all samples active at ε = 1e-3, "
    "η = 0.5/‖λ‖₁; leaky ReLU with slopes 0.1 and 0.5. Smooth activations (softplus, GELU) have no pattern that could "
    "be certified and are not part of this claim.",
)
