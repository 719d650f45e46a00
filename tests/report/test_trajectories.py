"""The figure of a trajectory shows each recorded number, and reads without colour."""

from __future__ import annotations

import io
from typing import Any

import matplotlib
import numpy as np
import pytest
from helpers import random_problem
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, QuadMesh
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from relubias import Analysis, Descent, Network, Problem, analyze, starts
from relubias.errors import ArgumentError
from relubias.report.trajectories import COLOURS, LINES, NEURONS, pattern_over_time, trajectory_figure

ONE = Network.single()
LOG = Descent(record="log")


def drawn(analysis: Analysis) -> Figure:
    return trajectory_figure(analysis.run, reference=analysis.reference)


def items(axes: Axes, kind: type) -> list[Any]:
    return [item for item in axes.collections if isinstance(item, kind)]


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    problem = random_problem(20, 100, seed=1)
    labels = np.where(np.arange(20) % 7 == 3, 0.0, problem.labels)
    return analyze(Problem.from_features(problem.features, labels), dynamics=LOG)


@pytest.fixture(scope="module")
def pair() -> Analysis:
    return analyze(random_problem(40, 400, seed=1), Network.pair(), dynamics=LOG)


def test_every_sample_is_a_line_over_the_recorded_steps(analysis: Analysis) -> None:
    trajectory = analysis.run.trajectory
    assert trajectory is not None
    panel = drawn(analysis).axes[0]
    lines = [segment for item in items(panel, LineCollection) for segment in item.get_segments()]
    assert len(lines) == 2 * 20, "each line is there twice, solid above 0 and dashed below"
    found = {line[:, 1].tobytes() for line in lines}
    assert found == {trajectory.primal[:, 0, i].tobytes() for i in range(20)}
    assert all(np.array_equal(line[:, 0], trajectory.times) for line in lines)


def test_lines_are_solid_above_zero_and_dashed_below(analysis: Analysis) -> None:
    panel = drawn(analysis).axes[0]
    for item in items(panel, LineCollection):
        bottom, top = panel.transData.inverted().transform(item.get_clip_box().get_points())[:, 1]
        low, high = panel.get_ylim()
        dashed = item.get_linestyle()[0][1] is not None
        assert (bottom, top) == pytest.approx((low, 0.0) if dashed else (0.0, high), abs=1e-9)


def test_the_image_is_the_pattern_in_the_order_of_the_labels(pair: Analysis) -> None:
    trajectory = pair.run.trajectory
    assert trajectory is not None
    order = np.argsort(pair.problem.labels, kind="stable")
    panels = drawn(pair).axes
    for k in range(2):
        (image,) = items(panels[2 * k + 1], QuadMesh)
        edges = np.asarray(image.get_coordinates())[0, :-1, 0]
        shown = np.asarray(image.get_array()).reshape(40, len(edges))
        # The column in which a recorded step lies shows the pattern at that step.
        column = np.searchsorted(edges, trajectory.times, side="right") - 1
        assert np.array_equal(shown[:, column] > 0, trajectory.pattern[:, k, order].T)
        colours = np.where(pair.problem.labels[order] > 0, 3, 1)[:, None]
        assert np.all((shown == 0) | (shown == colours)), "the colour is that of the label"


def test_a_mark_shows_where_each_sample_was_decided(pair: Analysis) -> None:
    order = np.argsort(pair.problem.labels, kind="stable")
    for k in range(2):
        (marks,) = items(drawn(pair).axes[2 * k + 1], PathCollection)
        decided = pair.run.last_change[k, order]
        expected = {(float(decided[row]), float(row)) for row in np.flatnonzero(decided)}
        assert {(x, y) for x, y in np.asarray(marks.get_offsets())} == expected


def test_signs_differ_in_darkness_and_in_shape(analysis: Analysis) -> None:
    grey = [float(np.dot(to_rgb(COLOURS[sign]), (0.299, 0.587, 0.114))) for sign in (1, -1)]
    assert grey[1] - grey[0] > 0.25
    panel = drawn(analysis).axes[0]
    shapes = {np.asarray(item.get_paths()[0].vertices).tobytes() for item in items(panel, PathCollection)}
    assert len(shapes) == 3


def test_the_ends_are_the_exact_limit(analysis: Analysis) -> None:
    ends = np.concatenate([item.get_offsets()[:, 1] for item in items(drawn(analysis).axes[0], PathCollection)])
    assert np.array_equal(np.sort(ends), np.sort(analysis.run.state.primal[0]))


def test_loss_and_norms_are_those_of_the_trajectory(pair: Analysis) -> None:
    trajectory = pair.run.trajectory
    assert trajectory is not None
    loss, norms = drawn(pair).axes[-2:]
    shown = np.asarray(loss.get_lines()[0].get_ydata())
    seen = np.isfinite(shown)
    assert np.array_equal(shown[seen], trajectory.loss[seen])
    assert np.all(trajectory.loss[~seen] <= 1e-30 * trajectory.loss.max())
    for k in range(2):
        assert np.array_equal(np.asarray(norms.get_lines()[k].get_ydata()), trajectory.norms[:, k])


def test_the_norm_of_the_reference_is_a_line(analysis: Analysis, pair: Analysis) -> None:
    assert analysis.reference is not None
    lines = {str(line.get_label()): line for line in drawn(analysis).axes[-1].get_lines()}
    assert np.asarray(lines["‖w*‖"].get_ydata())[0] == analysis.reference.norm
    assert "‖w*‖" not in {line.get_label() for line in drawn(pair).axes[-1].get_lines()}


def test_the_axis_of_steps_begins_at_zero(analysis: Analysis) -> None:
    for axes in drawn(analysis).axes:
        assert axes.get_xscale() == "symlog"
        assert axes.get_xlim()[0] == 0.0
        assert axes.get_xticks()[0] == 0.0


def test_a_cycle_is_drawn_with_its_range() -> None:
    problem = Problem.from_features(np.array([[1.0]]), [1.0])
    start = starts.all_active(problem, ONE, scale=0.5)
    analysis = analyze(problem, start=start, dynamics=Descent(step_size=2.0, record="log"))
    panel = drawn(analysis).axes[0]
    bars = [segment for item in items(panel, LineCollection) for segment in item.get_segments() if len(segment) == 2]
    assert sorted(bars[-1][:, 1]) == [0.5, 1.5]
    (end,) = items(panel, PathCollection)
    assert end.get_offsets()[0, 1] == 1.0


@pytest.mark.parametrize(
    "case",
    [
        lambda: analyze(random_problem(200, 2000, seed=1), dynamics=LOG),
        lambda: analyze(Problem.from_gram([[1.0]], [0.0]), dynamics=LOG),
        lambda: analyze(random_problem(10, 100, seed=0), dynamics=Descent(until=0, record=[0])),
        lambda: analyze(random_problem(10, 100, seed=0), dynamics=Descent(until=10**18, record=[5, 10**18])),
        lambda: analyze(random_problem(10, 400, seed=0), Network.of_signs([1, -1] * 6), dynamics=LOG),
    ],
    ids=["200 samples", "one sample", "only the start", "1e18 steps", "12 neurons"],
)
def test_any_trajectory_can_be_drawn_and_nothing_leaves_the_page(case: Any) -> None:
    analysis = case()
    page = drawn(analysis)
    assert len(page.axes) == 2 * min(NEURONS, analysis.run.network.n_neurons) + 2
    for kind, head in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        stream = io.BytesIO()
        page.savefig(stream, format=kind)
        assert stream.getvalue().startswith(head)
    for axes in page.axes:
        box = axes.get_tightbbox()
        assert box is not None
        assert box.x0 >= 0
        assert box.x1 <= page.bbox.x1
        assert box.y0 >= 0


def test_more_samples_than_lines_are_thinned_and_both_ends_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relubias.report.trajectories.LINES", 7)
    assert LINES > 200
    analysis = analyze(random_problem(20, 100, seed=1), dynamics=LOG)
    trajectory, labels = analysis.run.trajectory, analysis.problem.labels
    assert trajectory is not None
    lines = items(drawn(analysis).axes[0], LineCollection)
    found = {segment[:, 1].tobytes() for item in lines for segment in item.get_segments()}
    assert len(found) == 7
    for i in (np.argmin(labels), np.argmax(labels)):
        assert trajectory.primal[:, 0, i].tobytes() in found


def test_neurons_beyond_the_page_are_counted_in_the_title() -> None:
    analysis = analyze(random_problem(10, 400, seed=0), Network.of_signs([1, -1] * 6), dynamics=LOG)
    assert "4 more neurons not drawn" in drawn(analysis).get_suptitle().replace("\n", " ")


def test_drawing_changes_no_global_setting(analysis: Analysis) -> None:
    before = dict(matplotlib.rcParams)
    drawn(analysis)
    assert dict(matplotlib.rcParams) == before


def test_a_run_without_a_trajectory_is_refused() -> None:
    run = analyze(random_problem(5, 50, seed=0)).run
    with pytest.raises(ArgumentError, match='record="log"'):
        trajectory_figure(run)


def test_changes_between_recorded_steps_are_drawn_where_they_happened() -> None:
    problem = random_problem(20, 200, seed=0)
    sparse = analyze(problem, dynamics=Descent(record=[0, 1, 10, 1000])).run
    dense = analyze(problem, dynamics=Descent(record=list(range(1001)))).run
    assert sparse.trajectory is not None
    assert dense.trajectory is not None
    times, pattern, whole = pattern_over_time(sparse, sparse.trajectory, 0)
    assert whole
    column = np.searchsorted(times, dense.trajectory.times, side="right") - 1
    assert np.array_equal(pattern[column], dense.trajectory.pattern[:, 0])
