"""Lemma 5: a sample that is active in a neuron of the sign of its label is active after the next step too.

Runs are audited step by step up to their last change of pattern; from there on the certificate of the limit covers all
steps. The lemma needs its hypotheses: three samples with K = [[1, 0, −.9], [0, 1, .3], [−.9, .3, 1]], y = (5, −1, .5),
ε = 1e-3 and η = ½ lose the third one, whose label is positive, at step 1. That instance is part of the evidence: a
judge who did not see it lost could not see a loss at all.

How often the lemma was *known* before the run is told beside it (sufficient conditions of ours, which cost up to √n).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.studies.fit import Proportion, proportion, proportions
from relubias.studies.spec import Study
from relubias.studies.tally import LIMITS

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ID = "lemma_activity"
CONTROL, COUNTER = f"{ID}-control", f"{ID}-counterexample"
N, D, LOST = "problem.n_samples", "problem.features.n_features", "lemmas.activity_violations"
KNOWN = "lemmas.guaranteed"
MEASURE = ("run.status", "lemmas.activity_tested", LOST, KNOWN)
#: The least probability that is claimed for n ≤ d₂/100.
LEAST = 0.9


def studies(quick: bool) -> Sequence[Study]:
    """Several n, d = 100 n and more, one neuron and a pair; and the three samples."""
    sizes, ratios = ([20, 50], [100, 1000]) if quick else ([20, 50, 100, 200], [100, 1000, 10_000])
    shapes = [(n, ratio * n) for n in sizes for ratio in ratios]
    counter = study(
        COUNTER,
        repeats=1,
        measure=MEASURE,
        problem={"kind": "lemma5-counterexample"},
        start={"scale": 1e-3},
        dynamics={"step_size": 0.5},
    )
    return [_study(ID, shapes, 15 if quick else 50, grid={"network.signs": ["single", "pair"]}), counter]


def control(quick: bool) -> Sequence[Study]:
    """As many dimensions as samples."""
    return [_study(CONTROL, [(20, 20), (50, 50)], 20 if quick else 50)]


def _study(name: str, shapes: Sequence[tuple[int, int]], repeats: int, **tables: object) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=MEASURE,
        problem={"kind": "random", "n_samples": 20, "features": {"kind": "gaussian"}, "labels": "signs 0.5..2"},
        start={"scale": 1e-3},
        dynamics={"step_size": "0.5/trace"},
        linked=[{N: [n for n, _ in shapes], D: [d for _, d in shapes]}],
        **tables,
    )


def held(rows: DataFrame) -> Proportion:
    """Runs with a certified limit in which no sample went off that the lemma speaks about, at any step."""
    return proportion(
        rows, lambda part: (part[LOST] == 0) & part["run.status"].isin(LIMITS), needs=[LOST, "run.status"]
    )


def _known(rows: DataFrame) -> Proportion:
    return proportion(rows, lambda part: part[KNOWN].astype(bool), needs=KNOWN)


def judge(rows: Rows) -> Finding:
    """The lemma at all steps for all samples of a run; and the instance has to lose a sample."""
    lost = rows[COUNTER][LOST].dropna()
    quantities = [
        Quantity.share("the lemma held for all samples at all steps", held(rows[ID]), least=LEAST),
        Quantity.at_least("samples lost without the hypotheses", float(lost.sum()), 1, trials=len(lost)),
        Quantity.share("both lemmas were known before the run", _known(rows[ID])),
    ]
    share, instance, known = quantities
    tested = int(rows[ID]["lemmas.activity_tested"].sum())
    told = (
        f"{share} of {share.trials} runs, which test it for {tested:,} pairs of neuron and sample; {known} of the runs "
        f"were known to keep it beforehand; the three samples without its hypotheses lose {instance.value:.0f}"
    )
    return Finding.of(quantities, f"Lemma 5 held in {told}.", otherwise=f"Lemma 5 held in no more than {told}.")


def figures(rows: Rows) -> dict[str, Figure]:
    """How often the lemma held, and was known before, over n/d."""
    import pandas as pd

    from relubias.report.study_page import LOOKS, page

    table = pd.concat([rows[ID], rows[CONTROL]], ignore_index=True)
    table = table.assign(ratio=table[N] / table[D])
    lines = (
        ("held", proportions(table, lambda part: part[LOST] == 0, by="ratio", needs=LOST)),
        ("known before the run", proportions(table, lambda part: part[KNOWN].astype(bool), by="ratio", needs=KNOWN)),
    )
    with page() as (sheet, axes):
        for (name, shares), (colour, style, marker) in zip(lines, LOOKS, strict=False):
            x = [float(str(share.at["ratio"])) for share in shares]
            found = [share.estimate for share in shares]
            errors = [[e.value - e.low for e in found], [e.high - e.value for e in found]]
            axes.errorbar(
                x, [e.value for e in found], errors, marker=marker, linestyle=style, color=colour, capsize=2, label=name
            )
        axes.set(xscale="log", xlabel="n/d", ylabel="share of runs", ylim=(-0.03, 1.03))
        axes.legend(fontsize=8)
    return {"held": sheet}


CLAIM = Claim(
    id=ID,
    title="Activity is kept (Lemma 5)",
    statement="A sample that is active in a neuron of the sign of its label is active after the next step too, at "
    "every step of training, with high probability where d₂ is large against n.",
    source="paper, Lemma 5",
    chapter="One neuron",
    place=3,
    studies=studies,
    judge=judge,
    control=Control(
        "The same with as many dimensions as samples, where the lemma's hypotheses do not hold: the same judge has to "
        "say no.",
        studies=control,
        rows=lambda rows: dict(rows) | {ID: rows[CONTROL]},
    ),
    figures=figures,
    captions={
        "held": "The lemma holds in more runs than the sufficient conditions know beforehand; both fail as n/d grows."
    },
    method="One neuron and a pair, all samples active at ε = 1e-3, Gaussian features with d = 100 n and more, labels "
    "±U[½, 2], η = 0.5/‖λ‖₁. Every run is audited step by step up to its last change of pattern, and its certificate "
    "covers the rest; a run counts only if its limit is certified and no sample at all was lost. An instance that "
    "breaks the hypotheses shows that losses are seen.",
)
