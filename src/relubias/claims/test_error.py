r"""Does larger d bring the limit closer to the simplest solution, in its test error too? Not where labels are negative.

Near orthogonal samples, K ≈ ‖λ‖₁ I, every interpolant predicts less and less at new points, and all test errors tend to
E(0), that of predicting nothing: that two of them meet says nothing. What a solution has learned is its *skill*
E(0) − E. The limit of gradient descent has in its weights, beside those of the minimum norm w*, what the first step
left of the negative labels,

    w_∞ ≈ (Σ_{y_i > 0} y_i x_i + c Σ_{y_i < 0} y_i x_i)/‖λ‖₁,        w* ≈ Σ_{y_i > 0} y_i x_i/‖λ‖₁.

Of a linear teacher y = θᵀx the two sums hold as much of Σθ in the mean, E[y x; y > 0] = E[y x; y < 0],
Σ the covariance.
To first order in the predictions the skill is 2 E[σ(wᵀx) y] = E[wᵀx y], for wᵀx and y jointly Gaussian, so that

    (E(0) − E(w_∞))/(E(0) − E(w*)) → 1 + c   for a linear teacher,        → 1   for a ReLU teacher,            (ours)

whose labels are never negative. (The linear interpolant, which has c = 1 and no ReLU, learns 4 times as much of a
linear teacher as w*.) Corrections are of the order of n/d_∞ and of (n/d₂)/(n/d_∞). The signal is in five eigenvalues
√d beside d − 5 eigenvalues 1, so that both vanish, and w* still predicts better than nothing at every d.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study
from relubias.claims.usable import certified, completeness, told
from relubias.studies.bootstrap import median_interval
from relubias.studies.fit import Estimate, Tally, power_law, proportion
from relubias.studies.spec import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

ID = "test_error"
FLOW = f"{ID}-flow"
D, N = "problem.features.n_features", "problem.n_samples"
END, SHORTEST, LINE = "run.test_error", "reference.test_error", "linear.test_error"
NOTHING, GAP = "zero.test_error", "gap.relative"
MEASURE = ("run.status", "reference.status", END, SHORTEST, LINE, NOTHING, GAP)
#: Skill of the limit over that of w*, and that of the linear interpolant.
RATIO, LINE_RATIO, SKILL = "skill of the limit/skill of w*", "skill of the linear interpolant/skill of w*", "skill"
C, DIMENSIONS = 0.5, (10**4, 10**5, 10**6, 10**7)
#: What the ratio of skills tends to, for each teacher.
TEACHERS = {"linear": 1.0 + C, "relu": 1.0}
WORDS = {"linear": "linear teacher", "relu": "ReLU teacher"}
#: At the largest d the ratio is claimed within n/d_∞, the order of its corrections.
CLOSE = 0.1
#: The least share of draws, of all d, in which w* has learned anything.
LEAST = 0.9


def studies(quick: bool) -> Sequence[Study]:
    """Each teacher over d at n = 100, and over n at d = 1e6."""
    repeats = {"linear": 36, "relu": 12} if quick else {"linear": 240, "relu": 60}
    over_n = {N: [50, 100, 200]}
    return [
        *(_study(f"{ID}-{t}", t, repeats[t], linked=[_spectra(DIMENSIONS[: 3 if quick else None])]) for t in TEACHERS),
        *(_study(f"{ID}-{t}-n", t, 8 if quick else 60, grid=over_n) for t in TEACHERS),
    ]


def control(quick: bool) -> Sequence[Study]:
    """The gradient flow, which takes no first step."""
    linked = [_spectra(DIMENSIONS[: 3 if quick else None])]
    return [_study(FLOW, "linear", 6 if quick else 40, linked=linked, dynamics={"kind": "flow"})]


def _spectra(dimensions: Sequence[int]) -> dict[str, object]:
    return {D: list(dimensions), "problem.features.spectrum": [_spectrum(d) for d in dimensions]}


def _spectrum(d: int) -> dict[str, object]:
    return {"kind": "spiked", "count": 5, "size": float(d**0.5)}


def _study(name: str, teacher: str, repeats: int, **varied: object) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=MEASURE,
        problem={
            "kind": "random",
            "n_samples": 100,
            "n_test": 300,
            "features": {"kind": "gaussian", "n_features": 10**6, "spectrum": _spectrum(10**6)},
            "labels": f"teacher {teacher}",
        },
        start={"scale": 1e-3},
        **({"dynamics": {"step_size": f"{C}/trace", "budget": 1e5}} | varied),
    )


def judge(rows: Rows) -> Finding:
    """The ratio of skills at the largest d for each teacher; whether w* learns; how skill goes with d, n."""
    ratios, targets, informs, tallies, sentences = [], [], [], [], []
    for teacher, limit in TEACHERS.items():
        table, tally = _with_skills(rows[f"{ID}-{teacher}"], D)
        over_n, other = _with_skills(rows[f"{ID}-{teacher}-n"], N)
        tallies += [tally, other]
        last = table[table[D] == rows[f"{ID}-{teacher}"][D].max()]
        name, trials = WORDS[teacher], len(last)
        ratio = _median(last, RATIO)
        ends = limit * (1 - CLOSE), limit * (1 + CLOSE)
        ratios.append(
            Quantity.within(f"{name}: (E(0) − E(w_∞))/(E(0) − E(w*)), largest d", ratio, *ends, trials=trials)
        )
        learned = proportion(table, lambda part: part[SHORTEST] < part[NOTHING], needs=[SHORTEST, NOTHING])
        targets.append(Quantity.share(f"{name}: w* is better than predicting 0", learned, least=LEAST))
        targets += [_slope(table, D, f"{name}: mean slope of log(E(0) − E(w_∞)) in log d", -1)]
        targets += [_slope(over_n, N, f"{name}: mean slope of log(E(0) − E(w_∞)) in log n", 1)]
        informs += _errors(table, name)
        gap = _median(last, GAP)
        sentences.append(f"{ratio.value:.3g} for the {name}, beside a relative gap of {gap.value:.2g}")
    return Finding.of(
        [*ratios, *targets, *informs, completeness(*tallies)],
        f"At the largest d the limit has learned, in units of what the minimum norm has: {'; '.join(sentences)}; "
        f"predicted are 1 + c = {1 + C:g} and 1.{told(*tallies)}",
    )


def _slope(table: DataFrame, x: str, name: str, sign: int) -> Quantity:
    """The mean slope of the limit's skill, which has to have a sign."""
    slope = power_law(table, y=SKILL, x=x).exponent()
    ends = (slope.low, slope.high) if sign > 0 else (-slope.high, -slope.low)
    met = True if ends[0] > 0 else (False if ends[1] < 0 else None)
    return Quantity(name, *slope, len(table), "> 0" if sign > 0 else "< 0", met)


def _with_skills(table: DataFrame, x: str) -> tuple[DataFrame, Tally]:
    """The usable cells, with skills over E(0) and their ratios."""
    used, tally = certified(table, END, SHORTEST, LINE, NOTHING, GAP, by=x)
    least = used[NOTHING] - used[SHORTEST]
    columns = {
        RATIO: (used[NOTHING] - used[END]) / least,
        LINE_RATIO: (used[NOTHING] - used[LINE]) / least,
        SKILL: 1.0 - used[END] / used[NOTHING],
    }
    return used.assign(**columns), tally


def _errors(table: DataFrame, name: str) -> list[Quantity]:
    """Test errors over E(0), and the relative gap beside them, at each d."""
    found = []
    for d, part in table.groupby(D, sort=True):
        for column, words in ((END, "limit"), (SHORTEST, "w*"), (LINE, "linear interpolant")):
            share = part.assign(share=part[column] / part[NOTHING])
            found.append(Quantity(f"{name}, d = {d:.0e}: E/E(0), {words}", *_median(share, "share"), len(part)))
        found.append(Quantity(f"{name}, d = {d:.0e}: relative gap", *_median(part, GAP), len(part)))
    last = table[table[D] == table[D].max()]
    found.append(Quantity(f"{name}: the ratio of the linear interpolant", *_median(last, LINE_RATIO), len(last)))
    return found


def _median(table: DataFrame, column: str) -> Estimate:
    return median_interval(np.sort(table[column].to_numpy(dtype=float)), 0.95)


def figures(rows: Rows) -> dict[str, Figure]:
    """Test errors with the gap beside them, over d and over n; and the ratio of skills over d."""
    import pandas as pd

    from relubias.report.study_figures import scaling

    drawn = {
        f"{teacher}{ending or '-d'}": _beside(_with_skills(rows[f"{ID}-{teacher}{ending}"], x)[0], x, WORDS[teacher])
        for teacher in TEACHERS
        for ending, x in (("", D), ("-n", N))
    }
    runs = [(f"{ID}-{teacher}", f"{WORDS[teacher]}, c = {C:g}") for teacher in TEACHERS] + [(FLOW, "linear, flow")]
    parts = [_with_skills(rows[name], D)[0].assign(training=words) for name, words in runs]
    drawn["skills"] = scaling(pd.concat(parts, ignore_index=True), y=RATIO, x=D, by="training")
    return drawn


def _beside(table: DataFrame, x: str, name: str) -> Figure:
    """Medians of E/E(0) on the left, of the relative gap on the right."""
    import matplotlib
    from matplotlib.figure import Figure

    from relubias.report.axis_labels import axis_label
    from relubias.report.figures import STYLE

    with matplotlib.rc_context(STYLE):
        sheet = Figure(figsize=(8.6, 3.9), layout="constrained", dpi=120)
        left, right = sheet.subplots(1, 2)
        for place, (column, words) in enumerate(((END, "limit"), (SHORTEST, "w*"), (LINE, "linear interpolant"))):
            _medians(left, table.assign(share=table[column] / table[NOTHING]), x, "share", place, words)
        _medians(right, table, x, GAP, 0, "limit")
        left.axhline(1.0, color="0.6", linewidth=0.8, linestyle=":")
        left.set(xscale="log", xlabel=axis_label(table, x), ylabel="test error/error of predicting 0")
        right.set(xscale="log", xlabel=axis_label(table, x), ylabel=axis_label(table, GAP))
        right.set_ylim(bottom=0.0)
        left.legend(fontsize=8)
        sheet.suptitle(f"{name}: test errors, and the gap beside them", x=0.01, ha="left", fontsize=10)
    return sheet


def _medians(axes: Axes, table: DataFrame, x: str, y: str, place: int, words: str) -> None:
    from relubias.report.study_page import LOOKS

    colour, line, marker = LOOKS[place]
    sizes = sorted(set(table[x]))
    found = np.array([_median(table[table[x] == size], y) for size in sizes])
    ends = np.abs(found[:, 1:].T - found[:, 0])
    axes.errorbar(sizes, found[:, 0], yerr=ends, fmt=marker, linestyle=line, color=colour, capsize=3, label=words)


CLAIM = Claim(
    id=ID,
    title="Larger d does not bring the limit's test error closer to that of the simplest solution",
    statement="As d grows all test errors tend to that of predicting nothing, and what the limit of gradient descent "
    "has learned tends to 1 + c times what the minimum norm has for a linear teacher, c = η‖λ‖₁, while for a ReLU "
    "teacher, whose labels are never negative, the two agree.",
    source="paper, outlook on generalisation; the ratio is ours",
    chapter="Generalisation",
    place=1,
    studies=studies,
    judge=judge,
    control=Control(
        "The gradient flow in the place of descent, for the linear teacher: it takes no first step, and learns as much "
        "as the minimum norm does, so that the same judge has to say no.",
        studies=control,
        rows=lambda rows: dict(rows) | {f"{ID}-linear": rows[FLOW]},
    ),
    figures=figures,
    captions={
        "linear-d": "All errors tend to that of predicting nothing, the dotted line; the relative gap stays.",
        "relu-d": "Without negative labels the limit is the minimum norm, and so are its errors; the gap vanishes.",
        "linear-n": "More samples teach more; the relative gap does not depend on them.",
        "relu-n": "The same for a ReLU teacher, where limit and minimum norm agree.",
        "skills": "With a finite step the limit learns 1 + c times as much of a linear teacher as the minimum norm; "
        "with the flow, or without negative labels, as much.",
    },
    method="300 test points, five eigenvalues √d and d − 5 eigenvalues 1, labels without noise from one teacher "
    "neuron, c = ½, ε = 1e-3; n = 100 over d, and n = 50, 100, 200 at d = 1e6. E(0) is the mean squared label of the "
    "same test points, so that their number costs no bias. At the largest d the median ratio has to be within 10 % of "
    "its limit: the corrections are of the order of n/d_∞, 0.1 at d = 1e6.",
)
