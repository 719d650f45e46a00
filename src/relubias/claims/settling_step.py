"""When does the pattern settle? At the first step, where d₂ is large against n; later and later as d₂ nears n."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, partly_known, study
from relubias.claims.usable import completeness, measured
from relubias.claims.usable import told as left_out
from relubias.linalg.gram import Array
from relubias.studies.bootstrap import median_interval
from relubias.studies.fit import Proportion
from relubias.studies.spec import Study
from relubias.studies.tally import LIMITS, numbers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame, Series

ID = "settling_step"
D, SETTLED, AT = "problem.features.n_features", "run.first_step_pattern", "run.stabilised_at"
N = 50
#: d/n of the study; the claim is about the largest one, and those within this factor of it.
RATIOS, WITHIN = (1, 4, 16, 64, 256, 1024), 4
#: The least probability that is claimed.
LEAST = 0.9


def studies(quick: bool) -> Sequence[Study]:
    """n = 50 over d/n."""
    return [
        study(
            ID,
            repeats=40 if quick else 200,
            measure=("run.status", SETTLED, AT),
            problem={
                "kind": "random",
                "n_samples": N,
                "features": {"kind": "gaussian", "n_features": N},
                "labels": "signs 0.5..2",
            },
            start={"scale": 1e-3},
            dynamics={"step_size": "0.5/trace"},
            grid={D: [N * ratio for ratio in RATIOS]},
        )
    ]


def at_once(rows: DataFrame) -> Proportion:
    """Runs whose pattern changed last at step 1; where the last change is not proven that is not known."""

    def settled(part: DataFrame) -> Series[bool]:
        return part[SETTLED].astype(bool)

    return partly_known(rows, settled, lambda part: settled(part) | part["run.status"].isin(LIMITS), needs=[SETTLED])


def judge(rows: Rows) -> Finding:
    """The share that settled at the first step where d is large; and when, at each d/n."""
    table = rows[ID]
    ratios = numbers_of(table, D) / N
    claimed = at_once(table[ratios >= ratios.max() / WITHIN])
    large = f"d ≥ {ratios.max() / WITHIN:g} n"
    quantities = [Quantity.share(f"settled at step 1, {large}", claimed, least=LEAST)]
    for ratio in np.unique(ratios):
        part = table[ratios == ratio]
        quantities.append(Quantity.share(f"settled at step 1, d = {ratio:g} n", at_once(part)))
        steps = np.sort(_steps(part))
        if len(steps):
            name = f"median settling step, d = {ratio:g} n"
            quantities.append(Quantity(name, *median_interval(steps, 0.95), len(steps)))
            last = f"latest settling step, d = {ratio:g} n"
            quantities.append(Quantity(last, float(steps[-1]), trials=len(steps)))
    told = f"{quantities[0]} of {claimed.trials} runs with {large} settle at the first step"
    medians = [f"{q.value:g} at {q.name.rpartition(', ')[2]}" for q in quantities if q.name.startswith("median")]
    tally = measured(table, SETTLED, by=D)[1]
    quantities.append(completeness(tally))
    rest = left_out(tally)
    return Finding.of(
        quantities,
        f"The pattern settles at once: {told}. Median settling steps: {', '.join(medians)}.{rest}",
        otherwise=f"The pattern does not settle at once: {told}. Median settling steps: {', '.join(medians)}.{rest}",
    )


def _steps(table: DataFrame) -> Array:
    """The settling step of each run; infinite where no step is proven to be that of the last change."""
    steps = table.loc[table["status"] == "done", AT].to_numpy(dtype=float, na_value=np.nan)
    return np.where(np.isnan(steps), np.inf, steps)


def few_dimensions(rows: Rows) -> Rows:
    """Runs with d ≤ 4 n alone."""
    table = rows[ID]
    return {ID: table[table[D] <= 4 * N]}


def figures(rows: Rows) -> dict[str, Figure]:
    """The share that has not settled over the step, for each d/n."""
    from relubias.report.study_figures import survival

    table = rows[ID]
    return {"survival": survival(table.assign(**{"d/n": (table[D] / N).astype(int)}), by="d/n")}


CLAIM = Claim(
    id=ID,
    title="The pattern settles at the first step",
    statement="Where d₂ is large against n, the activation pattern settles at the first step in nearly all draws.",
    source="paper, that the pattern settles within the first steps",
    chapter="One neuron",
    place=5,
    studies=studies,
    judge=judge,
    control=Control(
        "Only the runs with d = n and d = 4 n: the same judge has to say no.",
        rows=few_dimensions,
    ),
    figures=figures,
    captions={"survival": "With more dimensions the pattern settles sooner; where d is large, at the first step."},
    method="n = 50, Gaussian features over d, labels ±U[½, 2], η = 0.5/‖λ‖₁, ε = 1e-3. The step of the last change of "
    "pattern is proven by the certificate of the limit; a run "
    "without one counts as one that settles later than all others.",
)
