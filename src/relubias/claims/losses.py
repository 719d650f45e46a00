"""Other losses: the same samples are selected, and the step of the gap is ℓ′ in the place of the residual.

With α_i ← α_i − η ℓ′(f_i, y_i) on active samples, the first step moves β_i by −c ℓ′(0, y_i). For every loss that is
smallest at f = y this has the sign of the label, so that positive labels stay active and negative ones go off as they
do for the squared loss; the fit of the positive ones is the same, and only the depth of the others differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study, whole
from relubias.claims.usable import STATUS, certified, completeness, shares_of, told
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
        measure=(STATUS, *COLUMNS),
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
    """Selection and fit, for each loss, in at least 0.9 of all draws."""
    quantities, tallies = [], []
    for loss in LOSSES:
        part = rows[ID][rows[ID][LOSS] == loss]
        quantities += [
            Quantity.share(f"{loss}: {words}", whole(part, column, ended=ENDED), least=LEAST)
            for column, words in COLUMNS.items()
        ]
        tallies.append(certified(part, *COLUMNS, by=LOSS, ended=ENDED)[1])
    least = min(quantities, key=lambda quantity: quantity.value)
    return Finding.of(
        [*quantities, completeness(*tallies)],
        f"For the losses {', '.join(LOSSES)} each half of the selection, and of the fit, is that of the squared loss; "
        f"the least share of draws is {least} ({least.name}).{told(*tallies)}",
        otherwise=f"The least share of draws is {least} ({least.name}).{told(*tallies)}",
    )


def figures(rows: Rows) -> dict[str, Figure]:
    """All shares with their intervals, beside those of the control."""
    return {"shares": shares_of(judge, rows, {ID: rows[f"{ID}-control"]}, title=CLAIM.title)}


CLAIM = Claim(
    id=ID,
    title="Other losses select the same samples",
    statement="Under the Huber and the log-cosh loss, as under the squared one, positive labels stay active and are "
    "fitted, and negative labels go off in the first step and are predicted exactly 0, with high probability.",
    source="paper, outlook; the statement is ours",
    chapter="Other dynamics, activations and losses",
    place=4,
    studies=studies,
    judge=judge,
    control=Control(
        "The same with as many dimensions as samples, d = n: the same judge has to say no.",
        studies=control,
        rows=lambda rows: {ID: rows[f"{ID}-control"]},
    ),
    figures=figures,
    method="n = 50, d = 25 000 Gaussian features, labels ±U[½, 2], one neuron, all samples active at ε = 1e-3, "
    "η = 0.5/‖λ‖₁. Losses other than the squared one have no certificate: the pattern is that of the state in which "
    "nothing moves beyond rounding.",
)
