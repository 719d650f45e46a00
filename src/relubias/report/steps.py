"""A comparison of step sizes as plain text and as one figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from relubias.report.figures import DARK, PALE, RED, STYLE
from relubias.step_comparison import StepComparison, StepRow
from relubias.wording import number, sentence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = ("step η", "η‖λ‖₁", "‖W − W_flow‖", "gap to w*", "relative", "status")
_WIDTHS = (12, 12, 14, 12, 12, 0)


def steps_text(comparison: StepComparison) -> str:
    """Return the comparison as plain text: one line a step, the flow below them, and the fitted order."""
    title = "Steps compared with gradient flow"
    lines = [title, "─" * len(title), _line(_COLUMNS)]
    for row in comparison.rows:
        lines.append(_line((number(row.step_size), number(row.relative_step), number(row.to_flow), *_gaps(row))))
    flow, gap = comparison.flow, comparison.flow_gap
    gaps = ("—", "—") if gap is None else (number(gap.absolute), _relative(gap.relative))
    lines.append(_line(("flow", "→ 0", "0", *gaps, str(flow.status))))
    lines += ["", sentence(comparison.message)]
    if comparison.reference_note:
        lines.append(sentence(f"no gap: {comparison.reference_note}"))
    if not flow.at_limit:
        lines.append(sentence(f"gradient flow: {flow.message}"))
    return "\n".join(lines) + "\n"


def _line(cells: tuple[str, ...]) -> str:
    return "  " + "".join(f"{cell:<{width}}" for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip()


def _gaps(row: StepRow) -> tuple[str, str, str]:
    status = str(row.run.status)
    return ("—", "—", status) if row.gap is None else (number(row.gap.absolute), _relative(row.gap.relative), status)


def _relative(value: float | None) -> str:
    return "—" if value is None else f"{100 * value:.3g} %"


def steps_figure(comparison: StepComparison) -> Figure:
    """Draw absolute and relative gap and the distance to gradient flow against η‖λ‖₁, on logarithmic axes.

    Parameters
    ----------
    comparison : StepComparison

    Returns
    -------
    matplotlib.figure.Figure
        Needs no display; save it with ``savefig``. Steps without a certified limit are drawn hollow.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        page = Figure(figsize=(10.0, 4.4), layout="constrained")
        left, right = page.subplots(1, 2)
        _draw(left, comparison, relative=False)
        _draw(right, comparison, relative=True)
        left.set_title("absolute: ‖W − W*‖ and ‖W − W_flow‖")
        right.set_title("relative to ‖W*‖")
        page.suptitle(sentence(comparison.message), x=0.01, ha="left", fontsize=10)
    return page


def _draw(axes: Axes, comparison: StepComparison, *, relative: bool) -> None:
    """One panel; the relative one divides by ‖W*‖ and stays empty where that is 0 or unknown."""
    rows, reference = comparison.rows, comparison.reference
    unit = 1.0 if not relative else (reference.norm if reference is not None else 0.0)
    axes.set_xlabel("η ‖λ‖₁")
    if not unit > 0:
        axes.text(0.5, 0.5, "there is no relative gap", ha="center", transform=axes.transAxes)
        return
    steps = np.array([row.relative_step for row in rows])
    to_flow = np.array([row.to_flow for row in rows]) / unit
    to_star = np.array([math.nan if row.gap is None else row.gap.absolute for row in rows]) / unit
    certified = np.array([row.run.at_limit for row in rows])
    axes.set(xscale="log", yscale="log")
    for values, colour, shape, name in (
        (to_star, DARK, "o", "gradient descent to w*"),
        (to_flow, RED, "s", "gradient descent to gradient flow"),
    ):
        drawn = np.isfinite(values) & (values > 0)
        if not np.any(drawn):
            continue
        axes.plot(steps[drawn], values[drawn], color=colour, linewidth=1.0, label=name)
        for mask, face in ((certified, colour), (~certified, "white")):
            axes.plot(steps[drawn & mask], values[drawn & mask], shape, color=colour, markerfacecolor=face)
    if comparison.order is not None:
        slope, positive = comparison.order.value, certified & (to_flow > 0)
        middle = np.exp(np.mean(np.log(to_flow[positive])) - slope * np.mean(np.log(steps[positive])))
        axes.plot(steps, middle * steps**slope, "--", color=RED, linewidth=0.8, label=f"slope {slope:.2f}, fitted")
    if comparison.flow_gap is not None and comparison.flow_gap.absolute > 0:
        axes.axhline(comparison.flow_gap.absolute / unit, color=PALE, linewidth=1.5, zorder=0, label="flow to w*")
    axes.legend(loc="best")
