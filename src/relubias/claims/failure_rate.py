"""How often it goes another way than claimed: nearly always for d ≈ n, ever more rarely as d grows, never for large d.

A run *fails* if some sample with a positive label went off, or some sample with a negative one did not go off at step 1
for ever. With d ≈ n gradient descent can moreover stop at a bad stationary point, where a positive label is not fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, partly_known, study
from relubias.claims.usable import completeness, measured
from relubias.claims.usable import told as left_out
from relubias.studies.fit import Proportion, proportions
from relubias.studies.spec import Study
from relubias.studies.tally import LIMITS

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame, Series

ID = "failure_rate"
CONTROL = f"{ID}-control"
D = "problem.features.n_features"
KEPT, OFF, FITTED = "run.positive_kept", "run.negative_off", "run.positive_fitted"
N = 50
RATIOS = (1, 2, 4, 8, 16, 32, 64, 256, 1024)
#: What the rate is at most where d is largest, and at least where d = n.
RARE, USUAL = 0.1, 0.5


def studies(quick: bool) -> Sequence[Study]:
    """n = 50 over d."""
    ratios = [ratio for ratio in RATIOS if ratio not in (2, 8, 32)] if quick else list(RATIOS)
    return [_study(ID, ratios, 40 if quick else 200, {"kind": "gaussian", "n_features": N})]


def control(quick: bool) -> Sequence[Study]:
    """Features that are all correlated, whose d₂ does not grow with d."""
    features = {"kind": "equicorrelated", "n_features": N, "correlation": 0.5}
    return [_study(CONTROL, [1, 16, 256], 20 if quick else 60, features)]


def _study(name: str, ratios: Sequence[int], repeats: int, features: dict[str, object]) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=("run.status", KEPT, OFF, FITTED, "run.dead"),
        problem={"kind": "random", "n_samples": N, "features": features, "labels": "signs 0.5..2"},
        start={"scale": 1e-3},
        dynamics={"step_size": "0.5/trace"},
        grid={D: [N * ratio for ratio in ratios]},
    )


def _failed(rows: DataFrame) -> Series[bool]:
    """Not all samples as claimed, which is never undone."""
    return (rows[KEPT] < 1) | (rows[OFF] < 1)


def _known(rows: DataFrame) -> Series[bool]:
    return _failed(rows) | rows["run.status"].isin(LIMITS)


def failing(rows: DataFrame) -> tuple[Proportion, ...]:
    """The rate at each d, in ascending order; runs that may yet fail widen its interval."""
    shares = []
    for d, part in rows.groupby(D, sort=True):
        share = partly_known(part, _failed, _known, needs=[KEPT, OFF, "run.status"])
        shares.append(replace(share, at={D: d}))
    return tuple(shares)


def _rising(shares: Sequence[Proportion]) -> int:
    """Pairs of sizes whose intervals say that the rate is greater at the larger d."""
    return sum(
        later.estimate.low > former.estimate.high for at, former in enumerate(shares) for later in shares[at + 1 :]
    )


def judge(rows: Rows) -> Finding:
    """Rare at the largest d, usual at d = n, and nowhere rising."""
    table = rows[ID]
    shares = failing(table)
    name = "rate of failure at d = {:g} n".format
    first, *between, last = (float(str(share.at[D])) / N for share in shares)
    quantities = [
        Quantity.share(name(last), shares[-1], most=RARE),
        Quantity.share(name(first), shares[0], least=USUAL),
        Quantity.at_most("pairs of sizes between which it rises", _rising(shares), 0),
        *(Quantity.share(name(ratio), share) for ratio, share in zip(between, shares[1:-1], strict=True)),
    ]
    unfitted = proportions(table, lambda part: part[FITTED] < 1, by=D, needs=FITTED)
    for share in (unfitted[0], unfitted[-1]):
        quantities.append(
            Quantity.share(f"some positive label is not fitted, d = {float(str(share.at[D])) / N:g} n", share)
        )
    dead = proportions(table, lambda part: part["run.dead"] > 0, by=D, needs="run.dead")
    quantities.append(Quantity.share(f"the neuron is dead, d = {first:g} n", dead[0]))
    rates = ", ".join(f"{share.estimate.value:.3g} (d = {float(str(share.at[D])) / N:g} n)" for share in shares)
    told = (
        f"the rate is {rates}; with d = {first:g} n a positive label is left unfitted in {quantities[-3]} of the runs "
        f"and the neuron is dead in {quantities[-1]}"
    )
    tally = measured(table, KEPT, OFF, FITTED, by=D)[1]
    quantities.append(completeness(tally))
    rest = left_out(tally)
    return Finding.of(
        quantities,
        f"Failures become rare as d grows: {told}.{rest}",
        otherwise=f"Failures do not become rare: {told}.{rest}",
    )


def figures(rows: Rows) -> dict[str, Figure]:
    """The rates over d/n with their exact intervals."""
    from relubias.report.study_page import LOOKS, page

    table = rows[ID]
    lines = (
        ("not all as claimed", failing(table)),
        ("a positive label not fitted", proportions(table, lambda part: part[FITTED] < 1, by=D, needs=FITTED)),
        ("not all as claimed, correlated features", failing(rows[CONTROL])),
    )
    with page() as (sheet, axes):
        for (name, shares), (colour, line, marker) in zip(lines, LOOKS, strict=False):
            x = [float(str(share.at[D])) / N for share in shares]
            found = [share.estimate for share in shares]
            errors = [[e.value - e.low for e in found], [e.high - e.value for e in found]]
            axes.errorbar(
                x, [e.value for e in found], errors, marker=marker, linestyle=line, color=colour, capsize=2, label=name
            )
        axes.set(xscale="log", xlabel="d/n", ylabel="share of runs", ylim=(-0.03, 1.03))
        axes.legend(fontsize=8)
    return {"rates": sheet}


CLAIM = Claim(
    id=ID,
    title="Failures are rare where d is large",
    statement="At a fixed n the probability that not all samples behave as claimed falls as d grows, from nearly 1 at "
    "d = n to nearly 0; with d = n gradient descent often stops where a positive label is not fitted.",
    source="paper, that its statements need large effective dimensions and hold with high probability",
    chapter="Where it ends",
    place=1,
    studies=studies,
    judge=judge,
    control=Control(
        "Features all of which are correlated, so that d₂ does not grow with d: the same judge has to say no.",
        studies=control,
        rows=lambda rows: {ID: rows[CONTROL]},
    ),
    figures=figures,
    captions={"rates": "More dimensions help where d₂ grows with them; for correlated features it does not."},
    method="One neuron, n = 50, all samples active at ε = 1e-3, Gaussian features over d, labels ±U[½, 2], "
    "η = 0.5/‖λ‖₁. A run fails if any of its samples does not behave as claimed; "
    "one that has not failed so far and has no certified limit may fail yet, and widens the exact interval.",
)
