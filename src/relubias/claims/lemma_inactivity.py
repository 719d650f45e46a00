"""Lemma 6: a sample that is inactive deeply enough is inactive for ever, in a neuron of either sign; its α is frozen.

How negative is negative enough? The samples that a neuron fits, with labels y_k, lift the worst of N inactive pairs by
about

    u = √(2 ln N) max_k ‖y_k‖/√d₂                                                                        (ours)

(:mod:`relubias.theory.depth`), so that this depth is enough, and a small part of it is not. The lemma asks it of
−‖λ‖₁ α_{k,i}, which to leading order is the depth −β_{k,i}; both are audited. Pairs are inactive in two ways. Disjoint
starts put all of them at one chosen depth. And where all samples start active, those of the other sign go off at the
first step, at −‖λ‖₁ α ≈ c|y|: that is where the paper needs the lemma.

From 1.5 u nothing may come back and no α may move, from 0.15 u something has to. The size, not the depth itself, has
to decide: it is the same for d₂ that differ by a factor 100, and for a spectrum whose d₂ is far below its number of
dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, partly_known, study
from relubias.claims.usable import completeness, measured
from relubias.claims.usable import told as left_out
from relubias.studies.fit import Proportion
from relubias.studies.spec import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame, Series

ID = "lemma_inactivity"
FIRST = f"{ID}-first-step"
CONTROL, CONTROL_FIRST = f"{ID}-control", f"{ID}-control-first-step"
TESTED, BACK, LASTING = "lemmas.inactivity_tested", "lemmas.inactivity_violations", "lemmas.lasting"
OWN, OTHERS = "lemmas.own_back", "lemmas.others_back"
SIZE, DEPTH, STEP, D2 = "start.depth_unit", "start.depth", "run.natural_step", "problem.d2"
#: Largest depth over u from which a sample came back: in β, and in α; from which an α moved; and of all samples, in α.
FROM, DUAL, MOVED, DEEPEST = (
    "lemmas.back_from",
    "lemmas.dual_back_from",
    "lemmas.dual_moved_from",
    "lemmas.dual_deepest",
)
MEASURE = ("run.status", SIZE, D2, LASTING, TESTED, BACK, FROM, DUAL, MOVED, DEEPEST)
#: n and m of disjoint starts, and E y² of labels ±U[½, 2].
SAMPLES, NEURONS, SQUARE = 60, 6, 1.75
#: Depths over u, about; what counts as deep and as shallow.
DEPTHS = (0.1, 0.25, 0.5, 1.0, 2.0)
DEEP, SHALLOW = 1.5, 0.15
#: The least probability that is claimed.
LEAST = 0.9
#: Eigenvalues and their multiplicities.
Parts = tuple[tuple[float, int], ...]
SPECTRA: tuple[Parts, ...] = (
    ((1.0, 6_000),),
    ((1.0, 600_000),),
    ((1.0, 60_000), (300.0, 200)),
)


def studies(quick: bool) -> Sequence[Study]:
    """Disjoint starts over the depth for three spectra; a first step that is shallow, and two that are deep."""
    points = [(parts, depth * _size(_d2(parts))) for parts in SPECTRA for depth in DEPTHS]
    steps = [(SPECTRA[0], 0.01), (SPECTRA[0], 0.5), (SPECTRA[1], 0.05)]
    return [_disjoint(ID, points, 15 if quick else 60), _first_step(FIRST, steps, 40 if quick else 150)]


def control(quick: bool) -> Sequence[Study]:
    """The spectrum whose d₂ is far below d, at depths in the unit with d in place of d₂."""
    parts = SPECTRA[-1]
    points = [(parts, depth * _size(_d(parts))) for depth in (DEPTHS[0], DEPTHS[-1])]
    steps = [(parts, 0.005), (parts, 0.5)]
    return [
        _disjoint(CONTROL, points, 15 if quick else 60),
        _first_step(CONTROL_FIRST, steps, 15 if quick else 60),
    ]


def _d(parts: Parts) -> int:
    return sum(count for _, count in parts)


def _d2(parts: Parts) -> float:
    return sum(v * k for v, k in parts) ** 2 / sum(v * v * k for v, k in parts)


def _size(dimension: float) -> float:
    """u of a disjoint start, about; that of each draw is measured."""
    return math.sqrt(2.0 * math.log(SAMPLES * (NEURONS - 1)) * SQUARE * SAMPLES / NEURONS / dimension)


def _disjoint(name: str, points: Sequence[tuple[Parts, float]], repeats: int) -> Study:
    return _study(
        name,
        repeats,
        [parts for parts, _ in points],
        {DEPTH: [depth for _, depth in points]},
        measure=(*MEASURE, OWN, OTHERS),
        network={"signs": ",".join("+-" * (NEURONS // 2))},
        start={"kind": "disjoint", "scale": 1e-3},
        dynamics={"step_size": "0.5/trace"},
    )


def _first_step(name: str, points: Sequence[tuple[Parts, float]], repeats: int) -> Study:
    varied = {"dynamics.step_size": [f"{c:g}/trace" for _, c in points]}
    return _study(name, repeats, [parts for parts, _ in points], varied, measure=MEASURE, start={"scale": 1e-3})


def _study(name: str, repeats: int, spectra: Sequence[Parts], varied: dict[str, Any], **tables: Any) -> Study:
    features = {
        "problem.features.n_features": [_d(parts) for parts in spectra],
        "problem.features.spectrum": [{"kind": "blocks", "parts": [list(part) for part in p]} for p in spectra],
    }
    problem = {"kind": "random", "n_samples": SAMPLES, "features": {"kind": "gaussian"}, "labels": "signs 0.5..2"}
    return study(name, repeats=repeats, problem=problem, linked=[features | varied], **tables)


def _relative(table: DataFrame) -> DataFrame:
    """With the depth of a disjoint start over u, which is that of the draw."""
    return table.assign(depth=table[DEPTH] / table[SIZE])


def back(table: DataFrame, column: str, least: float = 0.0) -> Proportion:
    """Runs in which a sample came back, or moved, from beyond a depth; others may yet, if their audit did not last."""

    def seen(rows: DataFrame) -> Series[bool]:
        return (rows[column] > 0) & (rows[column] >= least)

    def known(rows: DataFrame) -> Series[bool]:
        return seen(rows) | rows[LASTING].astype(bool)

    return partly_known(table, seen, known, needs=[column, LASTING])


def judge(rows: Rows) -> Finding:
    """Nothing comes back from 1.5 u and no α moves from there, something comes back from 0.15 u."""
    table, first = _relative(rows[ID]), rows[FIRST]
    deep, shallow = table[table["depth"] >= DEEP], table[table["depth"] <= SHALLOW]
    dual, off = table[table[DEEPEST] >= DEEP], first[first[DEEPEST] >= DEEP]
    name, most = "runs in which a deep sample", 1 - LEAST
    quantities = [
        Quantity.share(f"{name} came back, neuron of its sign", back(deep, OWN), most=most),
        Quantity.share(f"{name} came back, neuron of the other sign", back(deep, OTHERS), most=most),
        Quantity.share(f"{name} in α came back", back(dual, DUAL, DEEP), most=most),
        Quantity.share("α of a deep sample in α moved, share of runs", back(dual, MOVED, DEEP), most=most),
        Quantity.share(f"{name} in β came back, off at the first step", back(off, FROM, DEEP), most=most),
        Quantity.share(f"{name} in α came back, off at the first step", back(off, DUAL, DEEP), most=most),
        Quantity.share("α of such a sample moved, share of runs", back(off, MOVED, DEEP), most=most),
        Quantity.share("runs in which a shallow sample came back", back(shallow, BACK), least=LEAST),
        Quantity.share("the same, off at the first step", back(first[first[DEEPEST] <= SHALLOW], BACK), least=LEAST),
    ]
    own, others, dually, moved, _, off_dually, off_moved, again, off_again = quantities
    for depth, part in _between(table):
        share = float(part[BACK].sum() / part[TESTED].sum())
        quantities.append(Quantity(f"share of samples that came back from about {depth:g} u", share))
    told = (
        f"from depths −β ≥ {DEEP:g} u, u = √(2 ln N) max ‖y_k‖/√d₂, some sample came back in {own} of the runs in "
        f"neurons of the sign of its label, in {others} in the others; from −‖λ‖₁α ≥ {DEEP:g} u in {dually}, and α "
        f"moved in {moved}; of those that went off at the first step in {off_dually}, and α moved in {off_moved}; from "
        f"{SHALLOW:g} u some came back in {again} and {off_again}"
    )
    tallies = [
        measured(rows[ID], OWN, OTHERS, DUAL, MOVED, LASTING, SIZE, by=[D2, DEPTH])[1],
        measured(first, FROM, DUAL, MOVED, LASTING, by=[D2, "dynamics.step_size"])[1],
    ]
    rest = left_out(*tallies)
    return Finding.of(
        [*quantities, completeness(*tallies)],
        f"Deep samples stay inactive for ever: {told}.{rest}",
        otherwise=f"This size is not what decides: {told}.{rest}",
    )


def _between(table: DataFrame) -> list[tuple[float, DataFrame]]:
    """Cells that are neither deep nor shallow, by the nearest depth of the study."""
    just = table[(table["depth"] > SHALLOW) & (table["depth"] < DEEP)]
    apart = np.abs(np.log(just["depth"].to_numpy(dtype=float)[:, None] / np.array(DEPTHS)))
    nearest = np.array(DEPTHS)[np.argmin(apart, axis=1)] if len(just) else np.array([])
    return [(float(str(depth)), part) for depth, part in just.groupby(nearest)]


def other_size(rows: Rows) -> Rows:
    """Depths in the unit with d in place of d₂."""
    ratio = math.sqrt(_d2(SPECTRA[-1]) / _d(SPECTRA[-1]))
    found = {}
    for name, table in ((ID, rows[CONTROL]), (FIRST, rows[CONTROL_FIRST])):
        scaled = {column: table[column] / ratio for column in (FROM, DUAL, MOVED, DEEPEST)}
        found[name] = table.assign(**{SIZE: table[SIZE] * ratio}, **scaled)
    return found


def figures(rows: Rows) -> dict[str, Figure]:
    """The share of pairs that come back over the depth, for each d₂; and in the unit of the control."""
    from relubias.report.study_page import LOOKS, page

    tables = [(f"d₂ = {d2:,.0f}", part) for d2, part in rows[ID].groupby(rows[ID][D2].round(0))]
    tables.append(("control: d in place of d₂", other_size(rows)[ID]))
    with page() as (sheet, axes):
        for (words, cells), (colour, line, marker) in zip(tables, LOOKS, strict=False):
            part = _relative(cells[cells["status"] == "done"])
            means = part.assign(share=part[BACK] / part[TESTED]).groupby(DEPTH)[["depth", "share"]].mean()
            axes.plot(
                means["depth"], means["share"], marker=marker, linestyle=line, color=colour, markerfacecolor="none",
                label=words,
            )  # fmt: skip
        axes.set_yscale("symlog", linthresh=1e-4)
        axes.set(xscale="log", xlabel="depth −β of the start over u", ylabel="share of inactive samples that came back")
        axes.legend(fontsize=8)
    return {"depth": sheet}


CLAIM = Claim(
    id=ID,
    title="Deep inactivity is kept (Lemma 6)",
    statement="A sample that is inactive deeply enough stays inactive for ever, in neurons of either sign, and its "
    "dual coefficient α is frozen; deeply enough is a depth −β, or −‖λ‖₁α, of the size √(2 ln N) max ‖y_k‖/√d₂, for N "
    "inactive pairs of neuron and sample and the labels y_k that neuron k fits.",
    source="paper, Lemma 6; the size of the depth is ours",
    chapter="One neuron",
    place=4,
    studies=studies,
    judge=judge,
    control=Control(
        "Depths in a unit with d in place of d₂, for a spectrum whose d₂ is far below d; 1.5 of these are not deep, so "
        "that the same judge has to say no.",
        studies=control,
        rows=other_size,
    ),
    figures=figures,
    captions={
        "depth": "Spectra with very different d₂ fall on one curve over the depth in units of "
        "u = √(2 ln N) max ‖y_k‖/√d₂; with d in place of d₂ one of them does not."
    },
    method="n = 60, Gaussian features with three spectra, d₂ = 6,000, 600,000 and about 800, labels ±U[½, 2]. Six "
    "neurons with a disjoint start at ε = 1e-3 and η = 0.5/‖λ‖₁, whose inactive pairs all start at one depth −β, from "
    "a tenth of u to twice that; and one neuron with all samples active at ε = 1e-3 and c = 0.01, 0.5 and, for the "
    "second spectrum, 0.05, in which those with negative labels go off at the first step. Runs are followed step by "
    "step to their last change, for 1000 steps at most, and certified from there; one that is not widens the exact "
    "interval to both fates. α = K⁺β is computed anew from β where a pair is first inactive and at the limit; it is "
    "frozen if it moved by no more than rounding.",
)
