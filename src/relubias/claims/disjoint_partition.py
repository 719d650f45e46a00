"""Several neurons from a disjoint start: they train on disjoint parts of the data, for ever.

Each sample starts active in exactly one neuron, of the sign of its label, and inactive at depth β = −τ in all others.
The neurons then are as many independent linear regressions, each of which fits its own samples, for as long as no
inactive sample is lifted above 0. The others lift the worst of them by about √(2 ln(n(m − 1))) max_k ‖y_k‖/√d₂
(:mod:`relubias.theory.depth`), so that the usual depth τ = 3 √(n/d₂) max|y| is deep enough and τ = 0 is not.

Labels are fitted from a shallow start too, by neurons that share samples. So it takes both in one run to be as
claimed: the partition kept for ever, and each label fitted, which then is done by its own neuron alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, partly_known, study, whole
from relubias.claims.usable import completeness, measured, shares_of, told
from relubias.studies.fit import proportion
from relubias.studies.spec import Study
from relubias.studies.tally import LIMITS

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame, Series

ID = "disjoint_partition"
CONTROL = f"{ID}-control"
NEURONS = {4: "+,+,-,-", 6: "+,+,+,-,-,-"}
SIGNS, N, D = "network.signs", "problem.n_samples", "problem.features.n_features"
KEPT, FITTED = "run.partition_kept", "run.interpolated"
MEASURE = ("run.status", KEPT, FITTED)
#: The least probability that is claimed.
LEAST = 0.9


def studies(quick: bool) -> Sequence[Study]:
    """The usual depth, 3 √(n/d₂) max|y|."""
    return [_study(ID, quick, 30 if quick else 100, {})]


def control(quick: bool) -> Sequence[Study]:
    """No depth at all: inactive samples start at the kink."""
    return [_study(CONTROL, quick, 10 if quick else 40, {"depth": 0.0})]


def _study(name: str, quick: bool, repeats: int, start: dict[str, Any]) -> Study:
    samples, dimensions = ([50, 100], [5000, 10_000]) if quick else ([50, 100, 100], [5000, 10_000, 100_000])
    return study(
        name,
        repeats=repeats,
        measure=MEASURE,
        problem={"kind": "random", "n_samples": 50, "features": {"kind": "gaussian"}, "labels": "signs 0.5..2"},
        start={"kind": "disjoint", "scale": 1e-3} | start,
        dynamics={"step_size": "0.5/trace", "budget": 1e5},
        grid={SIGNS: list(NEURONS.values())},
        linked=[{N: samples, D: dimensions}],
    )


def judge(rows: Rows) -> Finding:
    """For each number of neurons, the partition kept for ever and all labels fitted in at least 0.9 of all draws."""
    alone, informing = [], []
    for m, signs in NEURONS.items():
        part = rows[ID][rows[ID][SIGNS] == signs]
        both = partly_known(part, _alone, _known, needs=[*MEASURE, N])
        alone.append(Quantity.share(f"m = {m}: each label is fitted by its own neuron alone", both, least=LEAST))
        informing += [
            Quantity.share(f"m = {m}: the partition is kept for ever", whole(part, KEPT)),
            Quantity.share(f"m = {m}: all labels are fitted", proportion(part, _fitted, needs=[FITTED, N])),
        ]
    quantities = [*alone, *informing]
    tally = measured(rows[ID], KEPT, FITTED, by=[N, D, SIGNS])[1]
    shares = "; ".join(f"{quantity.name}, {quantity}" for quantity in quantities)
    return Finding.of([*quantities, completeness(tally)], f"Share of draws: {shares}.{told(tally)}")


def _fitted(cells: DataFrame) -> Series[bool]:
    return cells[FITTED] == cells[N]


def _alone(cells: DataFrame) -> Series[bool]:
    return (cells[KEPT].astype("float64") == 1.0) & _fitted(cells)


def _known(cells: DataFrame) -> Series[bool]:
    """At a proven limit; a partition that was lost is lost."""
    return cells["run.status"].isin(LIMITS) | (cells[KEPT].astype("float64") < 1.0)


def figures(rows: Rows) -> dict[str, Figure]:
    """All shares with their intervals, beside those of the control."""
    return {"shares": shares_of(judge, rows, {ID: rows[CONTROL]}, title=CLAIM.title)}


CLAIM = Claim(
    id=ID,
    title="From a disjoint start the neurons keep to their own samples",
    statement="With m = 4 and 6 neurons, each sample active in exactly one of them at the start, of the sign of its "
    "label, and deep enough inactive in the others, the neurons train on disjoint parts of the data for ever and fit "
    "all labels, with high probability.",
    source="paper, more than two neurons; the depth is ours",
    chapter="Several neurons",
    place=3,
    studies=studies,
    judge=judge,
    control=Control(
        "The same with depth τ = 0, where half of the inactive samples are lifted above 0 by the first step: the same "
        "judge has to say no.",
        studies=control,
        rows=lambda rows: {ID: rows[CONTROL]},
    ),
    figures=figures,
    method="Gaussian features with n/d₂ = 1/100 (and 1/1000 in full), labels ±U[½, 2], η = 0.5/‖λ‖₁, active samples at "
    "β = 1e-3, inactive ones at −3√(n/d₂) max|y|. A draw counts only if its limit is certified, no sample ever "
    "changed its activity in any neuron, and all labels are fitted. Both are told by themselves too: labels are fitted "
    "in the control as well, but not by one neuron each.",
)
