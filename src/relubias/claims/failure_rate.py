"""How often it goes another way than claimed: nearly always for d ≈ n, ever more rarely as d grows, never for large d.

A run *fails* if some sample with a positive label went off, or some sample with a negative one did not go off at step 1
for ever. With d ≈ n gradient descent can moreover stop at a bad stationary point, where a positive label is not fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

    Condition = Callable[[DataFrame], Series[bool]]

ID = "failure_rate"
CONTROL = f"{ID}-control"
D = "problem.features.n_features"
KEPT, OFF, FITTED = "run.positive_kept", "run.negative_off", "run.positive_fitted"
N = 50
RATIOS = (1, 2, 4, 8, 16, 32, 64, 256, 1024)
#: What the rate is at most where d is largest, and at least where d = n; how often a label is unfitted there.
RARE, USUAL, OFTEN = 0.1, 0.9, 0.5


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
    return _failed(rows) | _ended(rows)


def failing(rows: DataFrame) -> tuple[Proportion, ...]:
    """The rate at each d, in ascending order; runs that may yet fail widen its interval."""
    return _at_each(rows, _failed, _known, needs=[KEPT, OFF, "run.status"])


def unfitted(rows: DataFrame) -> tuple[Proportion, ...]:
    """The share of runs whose proven limit does not fit some positive label, at each d; others widen its interval."""
    return _at_each(rows, lambda part: part[FITTED] < 1, _ended, needs=[FITTED, "run.status"])


def _ended(rows: DataFrame) -> Series[bool]:
    return rows["run.status"].isin(LIMITS)


def _at_each(rows: DataFrame, condition: Condition, known: Condition, *, needs: list[str]) -> tuple[Proportion, ...]:
    parts = rows.groupby(D, sort=True)
    return tuple(replace(partly_known(part, condition, known, needs=needs), at={D: d}) for d, part in parts)


def _ratio(share: Proportion) -> float:
    """d/n."""
    return float(str(share.at[D])) / N


def _rising(shares: Sequence[Proportion]) -> int:
    """Pairs of sizes whose intervals say that the rate is greater at the larger d."""
    return sum(
        later.estimate.low > former.estimate.high for at, former in enumerate(shares) for later in shares[at + 1 :]
    )


def judge(rows: Rows) -> Finding:
    """Rare at the largest d, usual at d = n, and nowhere rising; and so are limits that leave a label unfitted."""
    table = rows[ID]
    shares = failing(table)
    name = "rate of failure at d = {:g} n".format
    first, *between, last = map(_ratio, shares)
    bad = unfitted(table)
    quantities = [
        Quantity.share(name(last), shares[-1], most=RARE),
        Quantity.share(name(first), shares[0], least=USUAL),
        Quantity.share(f"some positive label is not fitted, d = {first:g} n", bad[0], least=OFTEN),
        Quantity.share(f"some positive label is not fitted, d = {last:g} n", bad[-1], most=RARE),
        Quantity.at_most("pairs of sizes between which it rises", _rising(shares), 0),
        *(Quantity.share(name(ratio), share) for ratio, share in zip(between, shares[1:-1], strict=True)),
    ]
    dead = proportions(table, lambda part: part["run.dead"] > 0, by=D, needs="run.dead")
    quantities.append(Quantity.share(f"the neuron is dead, d = {first:g} n", dead[0]))
    rates = ", ".join(f"{share.estimate.value:.3g} (d = {_ratio(share):g} n)" for share in shares)
    told = (
        f"the rate is {rates}; with d = {first:g} n a positive label is left unfitted in {quantities[2]} of the runs, "
        f"the neuron being dead in {quantities[-1]}, and with d = {last:g} n in {quantities[3]}"
    )
    tally = measured(table, KEPT, OFF, FITTED, by=D)[1]
    quantities.append(completeness(tally))
    rest = left_out(tally)
    return Finding.of(
        quantities,
        f"Failures are usual at d = n and become rare as d grows: {told}.{rest}",
        otherwise=f"It is not so that failures are usual at d = n and become rare as d grows: {told}.{rest}",
    )


def figures(rows: Rows) -> dict[str, Figure]:
    """The rates over d/n with their exact intervals."""
    from relubias.report.shares import shares_over

    lines = {
        "not all as claimed": failing(rows[ID]),
        "a positive label not fitted": unfitted(rows[ID]),
        "not all as claimed, correlated features": failing(rows[CONTROL]),
    }
    points = {name: [(_ratio(share), share.estimate) for share in shares] for name, shares in lines.items()}
    return {"rates": shares_over(points, xlabel="d/n", ylabel="share of runs")}


CLAIM = Claim(
    id=ID,
    title="Failures are rare where d is large",
    statement="At a fixed n the probability that not all samples behave as claimed falls as d grows, from nearly 1 at "
    "d = n to nearly 0; with d = n gradient descent often stops where a positive label is not fitted, with large d "
    "hardly ever.",
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
    "η = 0.5/‖λ‖₁. A run fails if any of its samples does not behave as claimed; nearly 0 is at most 0.1, "
    "nearly 1 at least 0.9, often at least one half. A label counts as unfitted at a proven limit; a run without one "
    "may yet fail, or leave a label unfitted, and widens the exact intervals.",
)
