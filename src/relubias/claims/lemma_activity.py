"""Lemma 5: a sample that is active in a neuron of the sign of its label is active after the next step too.

Runs are audited step by step, and where their last change of pattern is among these steps the certificate of the limit
covers all later ones. Of a run whose audit ends before, what was lost is lost, and what held may yet be lost: the
interval reaches from one fate to the other. The lemma needs its hypotheses: three samples with
K = [[1, 0, −.9], [0, 1, .3], [−.9, .3, 1]], y = (5, −1, .5), ε = 1e-3 and η = ½ lose the third one, whose label is
positive, at step 1. That instance is part of the evidence: a judge who did not see it lost could not see a loss at all.

How often both lemmas were *known* before the run, its first step included, is told beside it (sufficient conditions of
ours, which cost up to √n).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, partly_known, study
from relubias.claims.usable import completeness, measured
from relubias.claims.usable import told as left_out
from relubias.studies.fit import Proportion, proportion
from relubias.studies.spec import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame, Series

ID = "lemma_activity"
CONTROL, COUNTER = f"{ID}-control", f"{ID}-counterexample"
N, D, LOST = "problem.n_samples", "problem.features.n_features", "lemmas.activity_violations"
TESTED, LASTING, KNOWN = "lemmas.activity_tested", "lemmas.lasting", "lemmas.guaranteed"
MEASURE = ("run.status", TESTED, LOST, LASTING, KNOWN)
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
    """Runs in which no sample went off that the lemma speaks about, at any step to infinity."""
    return partly_known(rows, _kept, _last_word, needs=[LOST, LASTING])


def _kept(rows: DataFrame) -> Series[bool]:
    return rows[LOST] == 0


def _last_word(rows: DataFrame) -> Series[bool]:
    """What was lost is lost; what was kept is kept for ever if the audit covers all later steps."""
    return (rows[LOST] > 0) | rows[LASTING].astype(bool)


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
    tally = measured(rows[ID], LOST, LASTING, KNOWN, by=[N, D])[1]
    tested = int(rows[ID][TESTED].sum())
    told = (
        f"{share} of {share.trials} runs, which test it for {tested:,} pairs of neuron and sample; for {known} of the "
        f"runs both lemmas were known beforehand; the three samples without its hypotheses lose {instance.value:.0f}"
    )
    rest = left_out(tally)
    return Finding.of(
        [*quantities, completeness(tally)],
        f"Lemma 5 held in {told}.{rest}",
        otherwise=f"Lemma 5 held in no more than {told}.{rest}",
    )


def figures(rows: Rows) -> dict[str, Figure]:
    """How often the lemma held, and was known before, over n/d."""
    import pandas as pd

    from relubias.report.shares import shares_over

    table = pd.concat([rows[ID], rows[CONTROL]], ignore_index=True)
    parts = [(float(str(ratio)), part) for ratio, part in table.groupby(table[N] / table[D])]
    lines = {"held": held, "both lemmas known before the run": _known}
    points = {name: [(ratio, share(part).estimate) for ratio, part in parts] for name, share in lines.items()}
    return {"held": shares_over(points, xlabel="n/d", ylabel="share of runs")}


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
    "±U[½, 2], η = 0.5/‖λ‖₁. Every run is audited step by step up to its last change of pattern, for 1000 steps "
    "at most, and its certificate covers the rest; a run counts only if no sample at all was lost, and one that "
    "changes its pattern later still, or has no certificate, widens the exact interval to both fates. An instance that "
    "breaks the hypotheses shows that losses are seen.",
)
