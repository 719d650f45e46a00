"""A trajectory as one figure: predictions, activation pattern, loss and norms over the steps of training.

Each neuron has a row of two panels. Left, β_{k,i} of each sample i over the steps: above 0 the sample is active (a
solid line) and moves the neuron, below it is inactive (dashed). Right, the pattern as an image, a row a sample in the
order of the labels, dark where active; a mark shows where the sample was *decided*, the last change of its activity.
Below, the loss ½‖r‖² and the norms ‖w_k‖, with ‖w*‖ where there is one reference for one neuron.

The sign of a label is told by colour, by darkness and by the shape of the marker at the end (▲ positive, ▼ negative,
○ zero), so that the figure reads in black and white. The steps are on a symmetric logarithmic axis, which begins at 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from relubias.dynamics.run import Run
from relubias.dynamics.trajectory import Trajectory
from relubias.linalg.gram import Array
from relubias.references.record import MinimumNorm
from relubias.report.figures import RED, SHAPES, STYLE, named_dynamics, short_source, wrapped
from relubias.report.trajectory_rows import recorded
from relubias.status import Optimality
from relubias.wording import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Neurons and samples that are drawn; of more, the first neurons, and samples spread evenly over the labels.
NEURONS, LINES = 8, 400
#: Changes of pattern of one neuron that are drawn one by one.
DRAWN_CHANGES = 4000
#: Dark, middle and light: labels of either sign differ in darkness too.
COLOURS = {1: "#08519c", -1: "#e6822e", 0: "0.55"}
#: Line styles and markers of the norms of several neurons.
DASHES = ("-", "--", "-.", ":")
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
#: A loss below this fraction of the largest one is rounding, and the axis ends there.
ROUNDING = 1e-30
#: Losses and norms that differ by less than this factor are drawn on a linear axis.
NARROW = 30.0


def trajectory_figure(run: Run, *, reference: MinimumNorm | None = None) -> Figure:
    """Draw the trajectory of a run.

    Parameters
    ----------
    run : Run
        With a trajectory (``record="log"``, say).
    reference : MinimumNorm, optional
        Whose norm is drawn, where it is optimal.

    Returns
    -------
    matplotlib.figure.Figure
        Needs no display; save it with ``savefig``.

    Raises
    ------
    ArgumentError
        If nothing was recorded.
    """
    import matplotlib
    from matplotlib.figure import Figure

    trajectory = recorded(run)
    neurons = range(min(run.network.n_neurons, NEURONS))
    with matplotlib.rc_context(STYLE):
        tall = float(np.clip(2.2 + 0.012 * run.problem.n_samples, 2.4, 4.5)) if len(neurons) == 1 else 2.1
        page = Figure(figsize=(11.0, 0.9 + tall * len(neurons) + 2.3), layout="constrained")
        panels = page.subplots(
            len(neurons) + 1, 2, squeeze=False, sharex=True, height_ratios=[tall] * len(neurons) + [2.0]
        )
        for k in neurons:
            draw_primal(panels[k, 0], run, trajectory, k)
            draw_pattern(panels[k, 1], run, trajectory, k)
        draw_loss(panels[-1, 0], trajectory)
        draw_norms(panels[-1, 1], run, trajectory, reference)
        for axes in panels.flat:
            _mark_settling(axes, run)
        _label_steps(panels, run, trajectory)
        page.suptitle(wrapped(_title(run, trajectory)), x=0.01, ha="left", fontsize=10)
    return page


def draw_primal(axes: Axes, run: Run, trajectory: Trajectory, neuron: int) -> None:
    """Draw β of each sample over the steps: solid where active, dashed where not, marked where it ends."""
    labels, beta = run.problem.labels, trajectory.primal[:, neuron]
    chosen = _spread(labels, LINES)
    low, high = float(beta[:, chosen].min()), float(beta[:, chosen].max())
    margin = 0.06 * (high - low) or 1.0
    low, high = min(low - margin, -margin), max(high + margin, margin)
    axes.set_ylim(low, high)
    axes.axhspan(low, 0.0, color="0.95", zorder=0)
    axes.axhline(0.0, color="0.3", linewidth=0.8, zorder=3)
    for name, sign, shape in SHAPES:
        members = chosen[np.sign(labels[chosen]) == sign]
        if len(members):
            _draw_lines(axes, trajectory.times, beta[:, members], sign)
            _draw_end(axes, run, trajectory, neuron, members, shape=shape, sign=sign, name=f"label, {name}")
    axes.set_title(f"{_name(run, neuron)}: β = Xw")
    axes.set_ylabel("β (dashed: inactive)")
    if neuron == 0:
        place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
        axes.legend(**place, ncols=3, fontsize=8, handletextpad=0.1, columnspacing=1.0, markerscale=1.3)


def _draw_lines(axes: Axes, times: NDArray[Any], beta: Array, sign: int) -> None:
    """Draw lines that are solid above 0 and dashed below: drawn twice, and cut off at 0 once from either side."""
    from matplotlib.collections import LineCollection
    from matplotlib.transforms import Bbox, TransformedBbox

    low, high = axes.get_ylim()
    lines = [np.column_stack([times.astype(np.float64), column]) for column in beta.T]
    width = float(np.clip(30.0 / len(lines), 0.4, 1.1))
    for bottom, top, dashes, thickness in ((0.0, high, "-", width), (low, 0.0, (0, (3, 2)), 0.7 * width)):
        drawn = LineCollection(lines, colors=COLOURS[sign], linewidths=thickness, linestyles=[dashes], zorder=2)
        axes.add_collection(drawn, autolim=False)
        drawn.set_clip_box(TransformedBbox(Bbox([[0.0, bottom], [1.0, top]]), axes.get_yaxis_transform()))


def draw_pattern(axes: Axes, run: Run, trajectory: Trajectory, neuron: int) -> None:
    """Draw the pattern as an image, samples in the order of their labels, and where each one was decided."""
    from matplotlib.colors import ListedColormap

    labels = run.problem.labels
    order = np.argsort(labels, kind="stable")
    times, pattern, whole = pattern_over_time(run, trajectory, neuron)
    shown = pattern[:, order].T * (2.0 + np.sign(labels[order]))[:, None]
    edges = np.append(times, _end(trajectory)).astype(np.float64)
    rows = np.arange(len(order) + 1) - 0.5
    colours = ListedColormap(["white", COLOURS[-1], COLOURS[0], COLOURS[1]])
    axes.pcolormesh(edges, rows, shown, cmap=colours, vmin=0, vmax=3, rasterized=True, zorder=1)
    for boundary in np.flatnonzero(np.diff(np.sign(labels[order]))) + 0.5:
        axes.axhline(boundary, color="0.3", linewidth=0.8, zorder=2)
    decided = run.last_change[neuron, order]
    moved = np.flatnonzero((decided > 0) & (decided <= trajectory.times[-1]))
    axes.scatter(
        decided[moved],
        moved,
        s=float(np.clip(400.0 / len(order), 3.0, 14.0)),
        marker="o",
        facecolors="white",
        edgecolors="black",
        linewidths=0.6,
        zorder=4,
    )
    axes.set_ylim(-0.5, len(order) - 0.5)
    axes.set_yticks(*_groups(labels[order]))
    where = "" if whole else " at the recorded times" if run.is_flow else " at the recorded steps"
    axes.set_title(f"{_name(run, neuron)}: active samples{where}" + (" (○: last change)" if len(moved) else ""))


def pattern_over_time(run: Run, trajectory: Trajectory, neuron: int) -> tuple[Array, NDArray[np.bool_], bool]:
    """When the pattern of a neuron changed, the pattern from each of these moments on, and whether these are all.

    All changes are known where every event is listed and there are not too many to draw; else the pattern is known at
    the recorded moments only.
    """
    events = run.events[(run.events["neuron"] == neuron) & (run.events["time"] <= trajectory.times[-1])]
    times = np.unique(np.append(events["time"], 0)).astype(np.float64)
    if run.events_dropped or len(times) > DRAWN_CHANGES or trajectory.times[0] > 0:
        return trajectory.times.astype(np.float64), trajectory.pattern[:, neuron], False
    pattern = np.empty((len(times), run.problem.n_samples), dtype=bool)
    pattern[0] = run.start.pattern[neuron]
    place = np.searchsorted(times, events["time"].astype(np.float64))
    for row in range(len(times)):
        if row:
            pattern[row] = pattern[row - 1]
        now = events[slice(*np.searchsorted(place, [row, row + 1]))]
        pattern[row, now["sample"]] = now["kind"] > 0
    return times, pattern, True


def draw_loss(axes: Axes, trajectory: Trajectory) -> None:
    """Draw the loss, on a logarithmic axis where it falls far."""
    loss = trajectory.loss
    floor = ROUNDING * float(loss.max())
    if float(loss.max()) > NARROW * float(loss.min()):
        axes.set_yscale("log")
        loss = np.where(loss > floor, loss, np.nan)
    else:
        axes.set_ylim(0.0, 1.05 * float(loss.max()) or 1.0)
    axes.plot(trajectory.times, loss, color="black", linewidth=1.1)
    axes.set_title("Loss ½‖f − y‖²")


def draw_norms(axes: Axes, run: Run, trajectory: Trajectory, reference: MinimumNorm | None) -> None:
    """Draw ‖w_k‖ of each neuron, and ‖w*‖ as a line; logarithmically where w* is far longer."""
    for k in range(min(run.network.n_neurons, NEURONS)):
        axes.plot(
            trajectory.times,
            trajectory.norms[:, k],
            color=COLOURS[run.signs[k]],
            linestyle=DASHES[k % len(DASHES)],
            linewidth=1.2,
            label=f"neuron {k + 1} ({'+' if run.signs[k] > 0 else '−'})",
        )
    known = reference is not None and reference.status is Optimality.OPTIMAL and run.network.n_neurons == 1
    if reference is not None and known and reference.of != "variation":  # whose norm is not the one that is drawn
        axes.axhline(reference.norm, color=RED, linestyle=(0, (6, 2)), linewidth=1.0, label="‖w*‖")
        if reference.norm > NARROW * float(trajectory.norms.max()) > 0:
            axes.set_yscale("log")
    if axes.get_yscale() == "linear":
        axes.set_ylim(bottom=0.0)
    axes.set_title("Norms ‖w‖")
    if len(axes.get_lines()) > 1:
        axes.legend(loc="best", fontsize=8, ncols=2)


def _draw_end(
    axes: Axes,
    run: Run,
    trajectory: Trajectory,
    neuron: int,
    members: NDArray[np.intp],
    *,
    shape: str,
    sign: int,
    name: str,
) -> None:
    """Mark where samples end: at the limit or the last state; on a cycle, at its mean with its whole range."""
    place, cycle = float(_end(trajectory)), run.cycle
    final = run.state.primal if cycle is None else cycle.mean
    size = float(np.clip(600.0 / run.problem.n_samples, 5.0, 22.0))
    if cycle is not None:
        low, high = cycle.states[:, neuron].min(axis=0), cycle.states[:, neuron].max(axis=0)
        bars = axes.vlines([place] * len(members), low[members], high[members], color=COLOURS[sign], zorder=4)
        bars.set(linewidth=2.5, alpha=0.6, clip_on=False)
    axes.scatter(
        np.full(len(members), place),
        final[neuron, members],
        s=size,
        marker=shape,
        facecolors=COLOURS[sign] if sign else "white",
        edgecolors="black",
        linewidths=0.4,
        label=name,
        zorder=5,
        clip_on=False,
    )


def _spread(labels: Array, most: int) -> NDArray[np.intp]:
    """At most so many samples, spread evenly over the order of the labels."""
    order = np.argsort(labels, kind="stable")
    if len(order) <= most:
        return order
    return order[np.unique(np.linspace(0, len(order) - 1, most).round().astype(np.intp))]


def _end(trajectory: Trajectory) -> float:
    """Where on the axis of steps the end is drawn: a little beyond the last recorded step."""
    return 1.0 + 1.6 * float(trajectory.times[-1])


def _groups(labels: Array) -> tuple[list[float], list[str]]:
    """Middles and names of the groups of labels of one sign, in the order of the labels."""
    places, names = [], []
    for sign, name in ((-1, "y < 0"), (0, "y = 0"), (1, "y > 0")):
        rows = np.flatnonzero(np.sign(labels) == sign)
        if len(rows):
            places.append(float(rows.mean()))
            names.append(name)
    return places, names


def _mark_settling(axes: Axes, run: Run) -> None:
    if run.stabilised_at:
        axes.axvline(run.stabilised_at, color=RED, linestyle="--", linewidth=0.9, zorder=3)


def _label_steps(panels: NDArray[Any], run: Run, trajectory: Trajectory) -> None:
    """One axis of steps or times for all panels: 0, 1, 10, … (or powers of ten from the first time), and the end."""
    first = 1.0
    if run.is_flow and len(trajectory) > 1:
        first = float(10.0 ** np.floor(np.log10(trajectory.times[trajectory.times > 0][0])))
    last = max(first, float(trajectory.times[-1]))
    decades = first * 10.0 ** np.arange(0, int(np.floor(np.log10(last / first) + 1e-9)) + 1)
    thin = decades[:: 1 + len(decades) // 8]
    names = [
        f"{step:g}" if 0.01 <= step < 1000 else f"10{str(round(np.log10(step))).translate(RAISED)}" for step in thin
    ]
    for axes in panels.flat:
        axes.set_xscale("symlog", linthresh=first, linscale=0.5)
        axes.set_xlim(0.0, _end(trajectory))
        axes.set_xticks([0.0, *thin], ["0", *names])
        axes.minorticks_off()
    for axes in panels[-1]:
        what = "time of gradient flow" if run.is_flow else "step of gradient descent"
        axes.set_xlabel(what + (" (dashed: the pattern is settled)" if run.stabilised_at else ""))


def _name(run: Run, neuron: int) -> str:
    return f"Neuron {neuron + 1} ({'+' if run.signs[neuron] > 0 else '−'})"


def _title(run: Run, trajectory: Trajectory) -> str:
    text = f"{short_source(run.problem.source)}: {run.network}, {named_dynamics(run)}, {run.status}; "
    first, last = (run.at(time).split(" ")[1] for time in (trajectory.times[0], trajectory.times[-1]))
    text += f"{count(len(trajectory), 'recorded time' if run.is_flow else 'recorded step')} from {first} to {last}"
    hidden = run.network.n_neurons - NEURONS
    return text + (f"; {count(hidden, 'more neuron')} not drawn" if hidden > 0 else "")
