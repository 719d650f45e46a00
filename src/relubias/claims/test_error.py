r"""Does larger d bring the limit closer to the simplest solution, in its test error too?

The signal is what five eigenvalues 100 carry, beside d − 5 eigenvalues 1; labels come from a teacher. As d grows the
samples become nearly orthogonal, d₂ → d, and the test error of the limit of gradient descent is compared with that of
the minimum-norm solution w*:

    δ = |E(w_∞) − E(w*)|/E(w*).

A falling δ says nothing of E itself. Here the d − 5 other directions drown the signal as d grows: E rises towards that
of predicting nothing, and so does that of the linear interpolant. All of them are reported side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.claims.usable import certified, completeness, told
from relubias.studies.bootstrap import median_interval
from relubias.studies.fit import Estimate, power_law
from relubias.studies.spec import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

ID = "test_error"
TEACHERS = ("relu", "linear")
D, N, DIFFERENCE = "problem.features.n_features", "problem.n_samples", "difference"
END, SHORTEST, LINE = "run.test_error", "reference.test_error", "linear.test_error"
MEASURE = ("run.status", "reference.status", END, SHORTEST, LINE, "gap.absolute", "gap.relative")
#: Eigenvalues that carry the signal, how many, and d.
SIZE, COUNT, DIMENSIONS = 100.0, 5, (10**3, 10**4, 10**5, 10**6)


def studies(quick: bool) -> Sequence[Study]:
    """Each teacher over d at n = 50, and over n at d = 1e4."""
    repeats = 15 if quick else 80
    samples = [25, 50, 100]
    return [
        *(_study(f"{ID}-{teacher}", teacher, repeats, grid={D: list(DIMENSIONS)}) for teacher in TEACHERS),
        *(_study(f"{ID}-{teacher}-n", teacher, repeats, grid={N: samples}) for teacher in TEACHERS),
    ]


def control(quick: bool) -> Sequence[Study]:
    """Eigenvalues d/50 for the signal, so that d₂ stays bounded."""
    spectra = [{"kind": "spiked", "count": COUNT, "size": d / 50} for d in DIMENSIONS]
    linked = [{D: list(DIMENSIONS), "problem.features.spectrum": spectra}]
    return [_study(f"{ID}-control-{t}", t, 15 if quick else 50, linked=linked) for t in TEACHERS]


def _study(name: str, teacher: str, repeats: int, **varied: object) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=MEASURE,
        problem={
            "kind": "random",
            "n_samples": 50,
            "n_test": 500,
            "features": {
                "kind": "gaussian",
                "n_features": 10**4,
                "spectrum": {"kind": "spiked", "count": COUNT, "size": SIZE},
            },
            "labels": f"teacher {teacher}",
        },
        start={"scale": 1e-3},
        dynamics={"step_size": "0.5/trace", "budget": 1e5},
        **varied,
    )


def judge(rows: Rows) -> Finding:
    """δ falls with d for each teacher, all of the interval of its mean slope below 0."""
    quantities, tallies, sentences = [], [], []
    for teacher in TEACHERS:
        table, tally = certified(_with_difference(rows[f"{ID}-{teacher}"]), DIFFERENCE)
        slope = power_law(table, y=DIFFERENCE, x=D).exponent()
        falls = True if slope.high < 0 else (False if slope.low > 0 else None)
        first, last = (table[table[D] == d] for d in (table[D].min(), table[D].max()))
        if falls is None and _median(last, DIFFERENCE).low > 0.5 * _median(first, DIFFERENCE).high:
            falls = False  # over three decades of d it has not even halved
        name = f"{teacher} teacher: mean slope of log δ in log d"
        quantities.append(Quantity(name, *slope, len(table), "< 0", falls))
        for d, part in table.groupby(D, sort=True):
            for column, words in ((END, "limit"), (SHORTEST, "w*"), (LINE, "linear interpolant")):
                estimate = _median(part, column)
                quantities.append(Quantity(f"{teacher} teacher, d = {d:,}: test error, {words}", *estimate, len(part)))
        ends = f"{_median(first, DIFFERENCE).value:.2g} to {_median(last, DIFFERENCE).value:.2g}"
        errors = " to ".join(f"{_median(part, END).value:.3g}" for part in (first, last))
        sentences.append(f"{teacher} teacher: δ goes from {ends} (slope {slope}), the test error itself from {errors}")
        tallies.append(tally)
    return Finding.of(
        [*quantities, completeness(*tallies)],
        f"From d = 1,000 to 1,000,000, {'; '.join(sentences)}.{told(*tallies)}",
    )


def _with_difference(table: DataFrame) -> DataFrame:
    return table.assign(**{DIFFERENCE: np.abs(table[END] - table[SHORTEST]) / table[SHORTEST]})


def _median(table: DataFrame, column: str) -> Estimate:
    return median_interval(np.sort(table[column].to_numpy(dtype=float)), 0.95)


def figures(rows: Rows) -> dict[str, Figure]:
    """Test errors of the limit, w* and the linear interpolant over d and n, and δ over d in both families."""
    import pandas as pd

    from relubias.report.study_figures import scaling

    drawn = {}
    for teacher in TEACHERS:
        for ending, x in (("", D), ("-n", N)):
            table = certified(rows[f"{ID}-{teacher}{ending}"], END, SHORTEST)[0]
            parts = [
                table.assign(of=words).rename(columns={column: "test error"})
                for column, words in ((END, "limit"), (SHORTEST, "w*"), (LINE, "linear"))
            ]
            both = pd.concat(parts, ignore_index=True)
            drawn[f"{teacher}{ending or '-d'}"] = scaling(both, y="test error", x=x, by="of")
    names = {"": "signal of size 100", "-control": "signal of size d/50"}
    parts = [
        certified(_with_difference(rows[f"{ID}{part}-{teacher}"]), DIFFERENCE)[0].assign(
            family=f"{teacher} teacher, {words}"
        )
        for part, words in names.items()
        for teacher in TEACHERS
    ]
    drawn["difference"] = scaling(pd.concat(parts, ignore_index=True), y=DIFFERENCE, x=D, by="family")
    return drawn


CLAIM = Claim(
    id=ID,
    title="Larger d brings the test error closer to that of the simplest solution",
    statement="Where a fixed part of the spectrum carries the signal, the test error of the limit of gradient descent "
    "comes closer to that of the minimum-norm solution as d grows, for linear and ReLU teachers; the error itself need "
    "not fall.",
    source="paper, outlook; the measure is ours",
    chapter="Generalisation",
    place=1,
    studies=studies,
    judge=judge,
    control=Control(
        "The eigenvalues of the signal grow as d/50, so that it is not drowned and d₂ stays bounded: larger d alone "
        "does not bring the test errors together there for the linear teacher, and the same judge has to say no.",
        studies=control,
        rows=lambda rows: {f"{ID}-{teacher}": rows[f"{ID}-control-{teacher}"] for teacher in TEACHERS},
    ),
    figures=figures,
    method="n = 50 samples and 500 test points, five eigenvalues 100 and d − 5 eigenvalues 1, labels without noise "
    "from one teacher neuron, η = 0.5/‖λ‖₁, ε = 1e-3. Predicting nothing has the error 1 for the linear teacher and ½ "
    "for the ReLU. δ is judged; all errors are medians with exact intervals. Errors over n are drawn at d = 10 000.",
)
