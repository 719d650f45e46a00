"""Pictures for the introduction, drawn from real runs: every point is one that the software computed.

Two samples in the plane, where weights can be seen; and a random problem of more samples than can be, by what can: the
pre-activations over the steps, and which samples are active.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from relubias import sampling, starts, step_sizes
from relubias.dynamics.descent import gradient_descent
from relubias.dynamics.run import Run
from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.problem import Problem
from relubias.references import minimum_norm
from relubias.report.figures import STYLE
from relubias.report.trajectories import COLOURS
from relubias.state import State

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The plane that is drawn.
EDGE = (-1.1, 1.7)
#: One sample and its label; and two samples, the second with a negative label.
ONE = ([[1.0, 0.5]], [1.0])
TWO = ([[1.0, 0.5], [-0.7, 0.9]], [1.0, -0.8])
#: Samples of the random problems.
FEW, MANY = 12, 40


def solutions() -> Figure:
    """One sample in the plane: a line of solutions, and the one that gradient descent from 0 finds."""
    problem, network = Problem.from_features(*map(np.array, ONE)), Network.single()
    path = _path(problem, starts.all_active(problem, network, scale=1e-3), 0.25)
    star = minimum_norm(problem, network, of="linear").state.weights()[0]
    with _sheet((5.2, 4.6)) as (page, axes):
        _line(axes, np.array(ONE[0][0]), ONE[1][0], label="all solutions of xᵀw = y")
        axes.plot(*path.T, "o-", color="0.1", markersize=3.5, linewidth=1.0, label="gradient descent from near 0")
        for other in (-0.9, 0.9):
            along = star + other * np.array([-ONE[0][0][1], ONE[0][0][0]])
            axes.plot(*along, "o", color="0.1", markerfacecolor="white", markersize=6)
            axes.plot([0, along[0]], [0, along[1]], ":", color="0.6", linewidth=0.9)
        axes.plot([], [], "o", color="0.1", markerfacecolor="white", label="other solutions, farther from 0")
        axes.plot(*star, "*", color="#c1272d", markersize=13, label="the shortest one, w*")
        _plane(axes)
    return page


def one_sample_off() -> Figure:
    """Two samples, one with a negative label: the solutions of a ReLU neuron, and the one training finds."""
    problem, network = Problem.from_features(*map(np.array, TWO)), Network.single()
    start = starts.all_active(problem, network, scale=0.05)
    path = _path(problem, start, 0.4)
    star, linear = (minimum_norm(problem, network, of=of).state.weights()[0] for of in ("global", "linear"))
    first, second = (np.array(row) for row in TWO[0])
    with _sheet((5.2, 4.6)) as (page, axes):
        x = np.array(EDGE)
        axes.fill_between(x, EDGE[0], -second[0] * x / second[1], color="0.93", zorder=0)
        axes.text(-1.0, -1.0, "the second sample\nis inactive here", fontsize=8, color="0.35")
        _line(axes, first, TWO[1][0], colour="0.75", label="solutions of the first sample")
        # On the line of the first label, the half where the second sample is inactive.
        along = np.array([first[1], -first[0]])
        base = first / (first @ first)
        inside = base + np.linspace(-3, 3, 601)[:, None] * along
        inside = inside[inside @ second <= 0]
        axes.plot(*inside.T, color="#08519c", linewidth=2.2, label="solutions of the ReLU neuron")
        axes.plot(*path.T, "o-", color="0.1", markersize=3.5, linewidth=1.0, label="gradient descent")
        axes.plot(*linear, "s", color="#e6822e", markersize=7, label="linear model: fits both labels")
        axes.plot(*star, "*", color="#c1272d", markersize=13, label="the shortest solution, w*")
        _plane(axes)
    return page


def two_views() -> Figure:
    """α and β of twelve samples over the steps: what training moves, and what the model predicts before σ."""
    run = _random_run(FEW, 2_000, seed=4, last=60)
    assert run.trajectory is not None
    steps, labels = run.trajectory.times, run.problem.labels
    scale = np.trace(run.problem.gram) / len(labels)
    with _sheet((9.0, 3.8), panels=2) as (page, panels):
        for axes, values, title in (
            (panels[0], scale * run.trajectory.dual[:, 0], "dual view: α, times tr K/n"),
            (panels[1], run.trajectory.primal[:, 0], "primal view: β = Kα"),
        ):
            axes.axhline(0.0, color="0.7", linewidth=0.8)
            for i, label in enumerate(labels):
                sign = int(np.sign(label))
                dashes = "-" if sign > 0 else "--"
                axes.plot(steps, values[:, i], dashes, color=COLOURS[sign], linewidth=1.2)
                if axes is panels[1]:
                    axes.plot(steps[-1], label, "<", color=COLOURS[sign], markerfacecolor="none", markersize=5)
            axes.set(xscale="symlog", xlabel="step", title=title, xlim=(0, steps[-1] * 1.15))
        for sign, words in ((1, "positive label"), (-1, "negative label")):
            panels[1].plot([], [], "-" if sign > 0 else "--", color=COLOURS[sign], label=words)
        panels[1].plot([], [], "<", color="0.3", markerfacecolor="none", label="the label itself")
        panels[1].legend(fontsize=8, loc="lower left")
    return page


def patterns() -> Figure:
    """Which samples are active over the steps, with many dimensions and with few."""
    with _sheet((9.0, 3.8), panels=2) as (page, panels):
        for axes, d in zip(panels, (500 * MANY, MANY + 5), strict=True):
            run = _random_run(MANY, d, seed=1, last=1000)
            assert run.trajectory is not None
            order = np.argsort(run.problem.labels)
            image = run.trajectory.pattern[:, 0, order].T
            edges = np.append(run.trajectory.times, run.trajectory.times[-1] * 1.3)
            rows = np.arange(MANY + 1)
            axes.pcolormesh(edges, rows, image, cmap="Greys", vmin=0, vmax=1.2, rasterized=True)
            negative = int(np.sum(run.problem.labels < 0))
            axes.axhline(negative, color="#c1272d", linewidth=1.0)
            axes.set(xscale="symlog", xlabel="step", title=f"n = {MANY} samples, d = {d:,} features")
            axes.set_yticks([negative / 2, (MANY + negative) / 2], ["negative\nlabels", "positive\nlabels"])
            axes.tick_params(axis="y", length=0)
    return page


def _random_run(n: int, d: int, *, seed: int, last: int) -> Run:
    problem = sampling.gaussian(n_samples=n, n_features=d, labels="signs 0.5..2", rng=seed)
    network = Network.single()
    start = starts.all_active(problem, network, scale=1e-3)
    steps = np.unique(np.concatenate([np.arange(11), np.geomspace(10, last, 80).round()])).astype(int)
    eta = step_sizes.relative(problem, 0.5)
    return gradient_descent(problem, network, start, step_size=eta, until=last, record=steps.tolist())


def _path(problem: Problem, start: State, step: float) -> Array:
    """Weights over the first steps; in the plane w = Xᵀα."""
    run = gradient_descent(problem, Network.single(), start, step_size=step, until=60, record=range(61))
    assert run.trajectory is not None
    return np.asarray(run.trajectory.dual[:, 0] @ np.asarray(problem.features))


@contextmanager
def _sheet(size: tuple[float, float], *, panels: int = 1) -> Iterator[tuple[Figure, Any]]:
    """A figure with one panel, or several side by side."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        page = Figure(figsize=size, layout="constrained", dpi=120)
        yield page, page.subplots(1, panels)


def _line(axes: Axes, row: Array, label_value: float, *, label: str, colour: str = "#08519c") -> None:
    """The weights whose prediction is the label: rowᵀw = y."""
    x = np.array(EDGE)
    axes.plot(x, (label_value - row[0] * x) / row[1], color=colour, linewidth=1.6, label=label, zorder=1)


def _plane(axes: Axes) -> None:
    axes.plot(0, 0, "+", color="0.1", markersize=9)
    axes.set(xlim=EDGE, ylim=EDGE, aspect="equal", xlabel="first weight", ylabel="second weight")
    axes.legend(fontsize=7.5, loc="upper right")
