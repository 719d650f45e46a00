"""Which features? Gaussian, Rademacher, uniform and sparse signs alike: independent sub-Gaussian components.

What a family does to the dynamics goes through K alone, and K ≈ ‖λ‖₁ I needs d₂ and d_∞ large against n. Heavy tails
break it: a single large component makes one K_ii as large as all others together. So do spectra with the same ‖λ‖₁
and a small d₂, or a small d_∞: they are told beside it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, partly_known, study
from relubias.claims.usable import certified, completeness
from relubias.claims.usable import told as left_out
from relubias.studies.bootstrap import Estimate, median_interval
from relubias.studies.fit import Proportion
from relubias.studies.spec import Study
from relubias.studies.tally import LIMITS

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame, Series

ID = "feature_families"
CONTROL, SPECTRA = f"{ID}-control", f"{ID}-spectra"
FEATURES, DEVIATION = "problem.features", "concentration.deviation"
KEPT, OFF, RATIO = "run.positive_kept", "run.negative_off", "law.ratio"
#: Behaviours are claimed with this probability, and the gap law this closely.
LEAST, CLOSE = 0.9, 0.02
#: n and d: √(n/d₂) = 0.045 ≤ 0.05 c at c = 1.
N, D = 20, 10_000
#: Work of a run, in plain steps: beyond the bound of stability a pattern may change for ever.
BUDGET = 20_000.0
#: Spectra of ‖λ‖₁ = d (but for 1e-9 d): eigenvalues and their multiplicities.
BLOCKS: dict[str, list[list[float]]] = {
    "large d₂ and d_∞": [[1.0, D]],
    "small d₂": [[D / 100, 50], [1.0, D // 2], [1e-9, D // 2 - 50]],
    "small d_∞": [[D / 2, 1], [1.0, D // 2], [1e-9, D // 2 - 1]],
}


def studies(quick: bool) -> Sequence[Study]:
    """Four sub-Gaussian families; and spectra of one ‖λ‖₁ whose effective dimensions differ."""
    spectra = [{"kind": "blocks", "parts": parts} for parts in BLOCKS.values()]
    families: list[dict[str, Any]] = [{"kind": kind} for kind in ("gaussian", "rademacher", "uniform")]
    families.append({"kind": "sparse-signs", "density": 0.3})
    repeats = 40 if quick else 150
    return [
        _families(ID, families, repeats),
        _study(SPECTRA, repeats, {"kind": "gaussian", "n_features": D}, grid={"problem.features.spectrum": spectra}),
    ]


def control(quick: bool) -> Sequence[Study]:
    """Two families with heavy tails."""
    families = [{"kind": "log-normal", "sigma": 3.0}, {"kind": "student-t", "degrees": 2.1}]
    return [_families(CONTROL, families, 20 if quick else 60)]


def _families(name: str, families: Sequence[dict[str, Any]], repeats: int) -> Study:
    full = [family | {"n_features": D} for family in families]
    return _study(name, repeats, full[0], grid={FEATURES: full})


def _study(name: str, repeats: int, features: dict[str, Any], **tables: object) -> Study:
    return study(
        name,
        repeats=repeats,
        measure=("run.status", "reference.status", KEPT, OFF, RATIO, "problem.d2", "problem.dinf", DEVIATION),
        problem={"kind": "random", "n_samples": N, "features": features, "labels": "signs 0.5..2"},
        start={"scale": 1e-4},
        dynamics={"step_size": "1/trace", "budget": BUDGET},
        **tables,
    )


def _name(features: object) -> str:
    """The kind and the parameter of a family, from its table."""
    table = json.loads(str(features))
    given = [f"{value:g}" for key, value in table.items() if key not in ("kind", "n_features")]
    return " ".join([table["kind"], *given])


def _good(rows: DataFrame) -> Series[bool]:
    return (rows[KEPT] == 1) & (rows[OFF] == 1)


def as_claimed(rows: DataFrame) -> Proportion:
    """Runs in which every sample behaves as claimed for ever; what is lost already is lost without a limit too."""
    return partly_known(
        rows, _good, lambda part: ~_good(part) | part["run.status"].isin(LIMITS), needs=[KEPT, OFF, "run.status"]
    )


def _law(rows: DataFrame) -> tuple[Estimate, int]:
    """Median of the gap over the corrected law, of runs with a certified limit."""
    values = np.sort(certified(rows, RATIO)[0][RATIO].to_numpy(dtype=float))
    return (median_interval(values, 0.95) if len(values) else Estimate(np.nan, -np.inf, np.inf)), len(values)


def judge(rows: Rows) -> Finding:
    """Each family: all samples as claimed, and the gap that of the law."""
    names, shares, laws = [], [], []
    for features, part in rows[ID].groupby(FEATURES, sort=False):
        names.append(_name(features))
        shares.append(Quantity.share(f"all samples as claimed, {names[-1]}", as_claimed(part), least=LEAST))
        ratio, trials = _law(part)
        laws.append(Quantity.within(f"gap/law, {names[-1]}", ratio, 1 - CLOSE, 1 + CLOSE, trials=trials))
    beside = []
    for place, (_, part) in enumerate(rows[SPECTRA].groupby("problem.features.spectrum", sort=False)):
        told = f"Gaussian, {tuple(BLOCKS)[place]}"
        beside.append(Quantity.share(f"all samples as claimed, {told}", as_claimed(part)))
        ratio, trials = _law(part)
        if trials:
            beside.append(Quantity(f"gap/law, {told}", *ratio, trials))
    each = "; ".join(f"{name}: {share}, gap/law {law}" for name, share, law in zip(names, shares, laws, strict=True))
    spectra = ", ".join(
        f"{quantity} ({quantity.name.partition('Gaussian, ')[2]})"
        for quantity in beside
        if quantity.name.startswith("all")
    )
    tally = certified(rows[ID], KEPT, OFF, RATIO, by=FEATURES)[1]
    told = f"share of runs in which all samples are as claimed: {each}. With Gaussian features of one "
    told += f"‖λ‖₁: {spectra}"
    rest = left_out(tally)
    return Finding.of(
        [*shares, *laws, completeness(tally), *beside],
        f"All these families behave alike; {told}.{rest}",
        otherwise=f"These families do not behave as claimed; {told}.{rest}",
    )


def figures(rows: Rows) -> dict[str, Figure]:
    """‖K/‖λ‖₁ − I‖ of each family, cumulatively."""
    from relubias.report.study_page import LOOKS, page

    parts = [part for name in (ID, CONTROL) for part in rows[name].groupby(FEATURES, sort=False)]
    with page() as (sheet, axes):
        for (features, part), (colour, style, _) in zip(parts, LOOKS, strict=False):
            values = np.sort(part[DEVIATION].dropna().to_numpy(dtype=float))
            shares = np.arange(1, len(values) + 1) / max(1, len(values))
            label = f"{_name(features)}, {len(values)} draws"
            axes.step(values, shares, where="post", color=colour, linestyle=style, linewidth=1.2, label=label)
        axes.set(xscale="log", xlabel="‖K/‖λ‖₁ − I‖", ylabel="share of draws up to this value", ylim=(-0.02, 1.05))
        axes.legend(fontsize=8)
    return {"concentration": sheet}


CLAIM = Claim(
    id=ID,
    title="Sub-Gaussian features of any kind",
    statement="Features with independent sub-Gaussian components behave alike, Gaussian or not: positive labels stay "
    "active, negative ones go off at step 1, and the gap is that of the law.",
    source="paper, its assumptions on the features",
    chapter="Where it ends",
    place=2,
    studies=studies,
    judge=judge,
    control=Control(
        "The same with heavy tails, log-normal (σ = 3) and Student's t (ν = 2.1), whose single large components spoil "
        "K ≈ ‖λ‖₁ I: the same judge has to say no.",
        studies=control,
        rows=lambda rows: dict(rows) | {ID: rows[CONTROL]},
    ),
    figures=figures,
    captions={
        "concentration": "‖K/‖λ‖₁ − I‖ of the sub-Gaussian families is the same; heavy tails have far larger ones."
    },
    method=f"n = {N}, d = {D:,}, one neuron, labels ±U[½, 2], c = 1, ε = 1e-4. Rademacher, uniform and sparse signs "
    "(three entries of ten) beside Gaussian features; the gap is held against the corrected law. Beside it, Gaussian "
    "features with one ‖λ‖₁ of which half is in few eigenvalues: d₂ or d_∞ is small "
    "there, and with the small d_∞ the step is beyond the bound of stability.",
)
