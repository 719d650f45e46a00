"""An analysis as one figure: what is predicted, and when the activation pattern changed.

Both panels share the vertical axis: one row a sample, in the order of the labels. The sign of a label is told by
the shape of its marker (▲ positive, ▼ negative, ○ zero), so that the figure reads in black and white.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from relubias.analysis import Analysis
from relubias.dynamics.run import Run
from relubias.linalg.gram import Array
from relubias.wording import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Of the changes of one sample, at most one in each of this many cells of the logarithmic time axis is drawn.
CELLS = 400

#: Characters in a line of a title; samples whose names are written.
TITLE, NAMED_ROWS = 125, 60

SHAPES = (("positive", 1, "^"), ("negative", -1, "v"), ("zero", 0, "o"))
DARK, RED, PALE = "0.1", "#c1272d", "0.75"

STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "legend.frameon": False,
    "pdf.fonttype": 42,
}


def figure(analysis: Analysis) -> Figure:
    """Draw an analysis.

    Parameters
    ----------
    analysis : Analysis

    Returns
    -------
    matplotlib.figure.Figure
        Needs no display; save it with ``savefig``.
    """
    import matplotlib
    from matplotlib.figure import Figure

    n = analysis.problem.n_samples
    order = np.argsort(analysis.problem.labels, kind="stable")
    with matplotlib.rc_context(STYLE):
        height = float(np.clip(2.2 + 0.055 * n, 4.0, 12.0))
        page = Figure(figsize=(10.0, height), layout="constrained")
        left, right = page.subplots(1, 2, sharey=True)
        size = float(np.clip(420.0 / n, 6.0, 26.0))
        draw_predictions(left, analysis, order, size)
        draw_events(right, analysis, order, size)
        left.set_ylim(-1, n)
        left.set_ylabel("sample, in the order of the labels")
        names = [short(analysis.problem.sample(int(i)).strip("'"), 14) for i in order] if n <= NAMED_ROWS else []
        left.set_yticks(np.arange(len(names)), names, fontsize=6)
        page.suptitle(wrapped(_title(analysis)), x=0.01, ha="left", fontsize=10)
    return page


def draw_predictions(axes: Axes, analysis: Analysis, order: NDArray[np.intp], size: float) -> None:
    """Draw labels, the predictions of the run and those of w*, one row a sample."""
    labels, rows = analysis.problem.labels[order], np.arange(len(order))
    reached = analysis.run.state.predictions[order]
    axes.axvline(0.0, color=PALE, linewidth=0.8, zorder=0)
    axes.hlines(rows, labels, reached, color=PALE, linewidth=0.9, zorder=1)
    for name, sign, shape in SHAPES:
        mask = np.sign(labels) == sign
        if np.any(mask):
            axes.scatter(
                labels[mask],
                rows[mask],
                s=1.6 * size,
                marker=shape,
                facecolors="white",
                edgecolors=DARK,
                linewidths=0.8,
                label=f"label, {name}",
                zorder=2,
            )
    name = "limit of training" if analysis.run.at_limit else f"training, {analysis.run.at(analysis.run.moment)}"
    axes.scatter(reached, rows, s=0.7 * size, marker="o", color=DARK, linewidths=0, label=name, zorder=4)
    if analysis.reference is not None and analysis.gap is not None:
        star = analysis.reference.predictions[order]
        axes.scatter(star, rows, s=size, marker="x", color=RED, linewidths=0.8, label="w*, minimum norm", zorder=3)
    axes.set_title("What is predicted")
    axes.set_xlabel("label and prediction")
    axes.legend(loc="upper left", fontsize=8, handletextpad=0.3)


def draw_events(axes: Axes, analysis: Analysis, order: NDArray[np.intp], size: float) -> None:
    """Draw the steps at which each sample changed its activity, on a logarithmic axis."""
    run = analysis.run
    labels, rows = analysis.problem.labels, np.empty(len(order), dtype=np.intp)
    rows[order] = np.arange(len(order))
    unit = first_moment(analysis)
    last = max(1.0, float(run.last_change.max()) / unit)
    steps, sample, on = thinned_events(analysis)
    steps = steps / unit
    for _, sign, shape in SHAPES:
        chosen = np.sign(labels[sample]) == sign
        for direction in (False, True):
            some = chosen & (on == direction)
            axes.scatter(
                steps[some],
                rows[sample[some]],
                s=0.8 * size,
                marker=shape,
                facecolors=DARK if direction else "white",
                edgecolors=DARK,
                linewidths=0.6,
                zorder=2 + direction,
            )
    span = np.log10(max(30.0, 4.0 * last))
    never, divider = 10.0 ** (-0.12 * span), 10.0 ** (-0.06 * span)
    still = run.last_change.max(axis=0) == 0
    for _, sign, shape in SHAPES:
        some = np.flatnonzero(still & (np.sign(labels) == sign))
        axes.scatter(
            np.full(len(some), never),
            rows[some],
            s=0.8 * size,
            marker=shape,
            facecolors=np.where(run.state.pattern[:, some].any(axis=0), "0.55", "1.0"),
            edgecolors="0.55",
            linewidths=0.6,
        )
    axes.set_xscale("log")
    axes.set_xlim(10.0 ** (-0.18 * span), 10.0**span)
    axes.axvline(divider, color=PALE, linewidth=0.8)
    _label_time(axes, never, last, unit)
    if run.stabilised_at:
        axes.axvline(run.stabilised_at / unit, color=RED, linestyle="--", linewidth=0.9)
    axes.set_title(_what_is_drawn(analysis))
    what = "time of gradient flow" if run.is_flow else "step of gradient descent"
    axes.set_xlabel(f"{what} (○ off, ● on)")


def first_moment(analysis: Analysis) -> float:
    """Where the logarithmic axis begins: step 1, or the power of ten below the first event of a flow."""
    run = analysis.run
    times = run.events["time"][run.events["time"] > 0]
    return float(10.0 ** np.floor(np.log10(times[0]))) if run.is_flow and len(times) else 1.0


def thinned_events(analysis: Analysis) -> tuple[Array, NDArray[np.intp], NDArray[np.bool_]]:
    """Choose the changes to draw: their steps, samples and directions.

    Of the listed changes of one sample in one direction, one in each of `CELLS` cells of the logarithmic time axis;
    the last change of each sample, which the list may have dropped, is always there.
    """
    run = analysis.run
    neuron, sample = np.nonzero(run.last_change)
    steps = np.concatenate([run.events["time"], run.last_change[neuron, sample]]).astype(np.float64)
    samples = np.concatenate([run.events["sample"], sample]).astype(np.intp)
    on = np.concatenate([run.events["kind"] > 0, run.state.pattern[neuron, sample]])
    unit = first_moment(analysis)
    keep = steps >= unit
    steps, samples, on = steps[keep], samples[keep], on[keep]
    if steps.size == 0:
        return steps, samples, on
    cell = np.floor(np.log(steps / unit) / np.log(steps.max() / unit + 1.0) * CELLS).astype(np.intp)
    # The latest change of a cell stands for it.
    latest = np.argsort(-steps, kind="stable")
    keys = (samples[latest] * (CELLS + 1) + cell[latest]) * 2 + on[latest]
    first = latest[np.unique(keys, return_index=True)[1]]
    return steps[first], samples[first], on[first]


def _label_time(axes: Axes, never: float, last: float, unit: float) -> None:
    decades = 10.0 ** np.arange(0, int(np.ceil(np.log10(max(30, 4 * last)))))
    thin = decades[:: 1 + len(decades) // 8]
    names = [f"{step * unit:g}" if 0.01 <= step * unit < 1000 else _power(step * unit) for step in thin]
    axes.set_xticks([never, *thin], ["never", *names])
    axes.minorticks_off()


def _power(value: float) -> str:
    return f"$10^{{{round(np.log10(value))}}}$"


def _what_is_drawn(analysis: Analysis) -> str:
    run = analysis.run
    text = "When a sample changed its activity" + ("" if run.network.n_neurons == 1 else " in any neuron")
    if run.pattern_changes:
        text += f"\nat {count(run.pattern_changes, 'time' if run.is_flow else 'step')}"
        text += f", the last {run.at(run.stabilised_at)}: proven" if run.stabilised_at else _for_ever(run)
    if run.events_dropped:
        text += f"\n{run.events_dropped:,} later changes are not listed; the last of each sample is"
    return text


def short(text: str, most: int) -> str:
    """Cut a text that is too long in the middle."""
    return text if len(text) <= most else f"{text[: most // 2 - 1]}…{text[len(text) - (most - most // 2) :]}"


def short_source(source: str) -> str:
    """The name of a file without its folders; anything else as it is, if it is not too long."""
    return short(source if " " in source else source.rsplit("/", 1)[-1], 60)


def wrapped(title: str, width: int = TITLE) -> str:
    """A title in lines that fit a page."""
    return "\n".join(textwrap.wrap(title, width))


def _for_ever(run: Run) -> str:
    return " so far" if run.cycle is None else f", and so on with the period {run.cycle.period:,}"


def named_dynamics(run: Run) -> str:
    """What moved the weights, in a word: "gradient flow" or "η = 0.01"."""
    return "gradient flow" if run.is_flow else f"η = {run.step_size:.3g}"


def _title(analysis: Analysis) -> str:
    run, gap = analysis.run, analysis.gap
    text = f"{short_source(analysis.problem.source)}: {run.network}, {named_dynamics(run)}, {run.status}"
    if gap is not None:
        relative = "undefined" if gap.relative is None else f"{gap.relative:.3g}"
        text += f"; gap {gap.absolute:.3g} absolute, {relative} relative"
    return text
