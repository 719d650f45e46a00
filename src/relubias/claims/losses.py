"""Other losses: the same samples are selected, and the gap is that of the first step, with ℓ′ for the residual.

With α_i ← α_i − η ℓ′(f_i, y_i) on active samples, the first step moves β_i by −c ℓ′(0, y_i). For every loss that is
smallest at f = y this has the sign of the label, so that positive labels stay active and negative ones go off as they
do for the squared loss. The fit of the positive ones is the same; the depth of the others is c |ℓ′(0, y_i)|, so that

    gap·√‖λ‖₁/(c ‖ℓ′(0, y₋)‖) → 1,        c = η‖λ‖₁,                                                    (ours)

less a correction of order √(n/d₂)/c by interference, as for the squared loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study, whole
from relubias.claims.usable import STATUS, certified, completeness, shares_of, told
from relubias.studies.bootstrap import median_interval
from relubias.studies.spec import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ID = "losses"
LOSS = "dynamics.loss"
LOSSES = ("squared", "huber", "log-cosh")
COLUMNS = {
    "run.positive_kept": "positive labels stay active",
    "run.negative_off": "negative labels go off at step 1",
    "run.positive_fitted": "positive labels are fitted",
    "run.negative_silent": "negative labels are predicted 0",
}
#: How training may have ended: at a proven limit, or, of losses that have none, where nothing moves beyond rounding.
ENDED = ("certified", "certified-degenerate", "dead", "converged")
#: The least probability that is claimed.
LEAST = 0.9
GAP, STEP, RATIO = "gap.absolute", "law.first_step", "gap over that of the first step"
#: The median ratio of gap and first step is claimed within this: √(n/d₂)/c is 0.09 here, and κ a third or less.
CLOSE = 0.05


def studies(quick: bool) -> Sequence[Study]:
    """n/d₂ = 1/500 for three losses."""
    return [_study(ID, 25_000, 40 if quick else 150)]


def control(quick: bool) -> Sequence[Study]:
    """As many dimensions as samples."""
    return [_study(f"{ID}-control", 50, 15 if quick else 50)]


def _study(name: str, dimensions: int, repeats: int) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=(STATUS, "reference.status", *COLUMNS, GAP, STEP),
        problem={
            "kind": "random",
            "n_samples": 50,
            "features": {"kind": "gaussian", "n_features": dimensions},
            "labels": "signs 0.5..2",
        },
        start={"scale": 1e-3},
        dynamics={"step_size": "0.5/trace", "budget": 2e4},  # at d = n some never settle
        grid={LOSS: list(LOSSES)},
    )


def judge(rows: Rows) -> Finding:
    """Selection and fit, for each loss, in at least 0.9 of all draws; and the gap over that of the first step."""
    quantities, ratios, tallies = [], [], []
    for loss in LOSSES:
        part = rows[ID][rows[ID][LOSS] == loss]
        quantities += [
            Quantity.share(f"{loss}: {words}", whole(part, column, ended=ENDED), least=LEAST)
            for column, words in COLUMNS.items()
        ]
        used, tally = certified(part, *COLUMNS, GAP, STEP, by=LOSS, ended=ENDED)
        values = np.sort((used[GAP] / used[STEP]).to_numpy(dtype=float))
        name = f"{loss}: gap·√‖λ‖₁/(c‖ℓ′(0, y₋)‖)"
        if len(values):
            median = median_interval(values, 0.95)
            ratios.append(Quantity.within(name, median, 1 - CLOSE, 1 + CLOSE, trials=len(values)))
        tallies.append(tally)
    least = min(quantities, key=lambda quantity: quantity.value)
    depths = f"The gap is {', '.join(f'{ratio.value:.3g}' for ratio in ratios)} of that of the first step."
    return Finding.of(
        [*quantities, *ratios, completeness(*tallies)],
        f"For the losses {', '.join(LOSSES)} each half of the selection, and of the fit, is that of the squared loss; "
        f"the least share of draws is {least} ({least.name}). {depths}{told(*tallies)}",
        otherwise=f"The least share of draws is {least} ({least.name}). {depths}{told(*tallies)}",
    )


def figures(rows: Rows) -> dict[str, Figure]:
    """All shares with their intervals, beside those of the control."""
    return {"shares": shares_of(judge, rows, {ID: rows[f"{ID}-control"]}, title=CLAIM.title)}


CLAIM = Claim(
    id=ID,
    title="Other losses select the same samples",
    statement="Under the Huber and the log-cosh loss, as under the squared one, positive labels stay active and are "
    "fitted, and negative labels go off in the first step and are predicted exactly 0, with high probability, and the "
    "gap tends to c‖ℓ′(0, y₋)‖/√‖λ‖₁.",
    source="paper, outlook; the statement is ours",
    chapter="Other dynamics, activations and losses",
    place=4,
    studies=studies,
    judge=judge,
    control=Control(
        "The same with as many dimensions as samples, d = n, where neither the selection nor the gap is that: the same "
        "judge has to say no.",
        studies=control,
        rows=lambda rows: {ID: rows[f"{ID}-control"]},
    ),
    figures=figures,
    method="n = 50, d = 25 000 Gaussian features, labels ±U[½, 2], one neuron, all samples active at ε = 1e-3, "
    "η = 0.5/‖λ‖₁. Losses other than the squared one have no certificate: the pattern is that of the state in which "
    "nothing moves beyond rounding.",
)
