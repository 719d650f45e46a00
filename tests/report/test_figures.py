"""The figure shows every sample, tells labels apart by shape, and stays small however long the run was."""

from __future__ import annotations

import dataclasses
import io

import matplotlib
import numpy as np
import pytest
from helpers import no_positive_label, random_problem
from matplotlib.collections import PathCollection

from relubias import Analysis, Descent, Network, Problem, analyze
from relubias.dynamics.run import EVENT
from relubias.report.figures import CELLS, figure, thinned_events


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    problem = random_problem(20, 100, seed=1)
    labels = np.where(np.arange(20) % 7 == 3, 0.0, problem.labels)
    return analyze(Problem.from_features(problem.features, labels))


def markers(analysis: Analysis, panel: int) -> list[PathCollection]:
    axes = figure(analysis).axes[panel]
    return [item for item in axes.collections if isinstance(item, PathCollection) and np.size(item.get_offsets())]


def labelled(analysis: Analysis) -> dict[str, PathCollection]:
    return {str(item.get_label()): item for item in markers(analysis, 0)}


def test_labels_are_drawn_at_their_values_in_their_order(analysis: Analysis) -> None:
    found = labelled(analysis)
    drawn = np.concatenate(
        [np.asarray(found[f"label, {name}"].get_offsets()) for name in ("negative", "zero", "positive")]
    )
    assert np.array_equal(drawn[:, 0], np.sort(analysis.problem.labels))
    assert np.array_equal(drawn[:, 1], np.arange(20))


def test_signs_are_told_by_shape(analysis: Analysis) -> None:
    found = labelled(analysis)
    shapes = {
        np.asarray(found[f"label, {name}"].get_paths()[0].vertices).tobytes()
        for name in ("negative", "zero", "positive")
    }
    assert len(shapes) == 3


def test_predictions_of_the_limit_and_of_the_reference_are_drawn(analysis: Analysis) -> None:
    found = labelled(analysis)
    order = np.argsort(analysis.problem.labels, kind="stable")
    assert analysis.reference is not None
    limit = np.asarray(found["limit of training"].get_offsets())
    star = np.asarray(found["w*, minimum norm"].get_offsets())
    assert np.array_equal(limit[:, 0], analysis.run.state.predictions[order])
    assert np.array_equal(star[:, 0], analysis.reference.predictions[order])


def test_every_sample_has_an_event_or_is_marked_as_never_changing(analysis: Analysis) -> None:
    places = np.concatenate([np.asarray(item.get_offsets()) for item in markers(analysis, 1)])
    order = np.argsort(analysis.problem.labels, kind="stable")
    changed = analysis.run.last_change.max(axis=0)[order] > 0
    assert 0 < changed.sum() < 20
    never = {row for step, row in places if step < 1}
    moved = {row for step, row in places if step >= 1}
    assert never == set(np.flatnonzero(~changed))
    assert moved == set(np.flatnonzero(changed))


def test_few_changes_are_all_drawn(analysis: Analysis) -> None:
    steps, sample, on = thinned_events(analysis)
    events = analysis.run.events
    drawn = set(zip(steps, sample, on, strict=True))
    assert drawn == {(float(event["time"]), event["sample"], event["kind"] > 0) for event in events}


def test_a_million_changes_are_thinned_and_the_last_one_of_each_sample_kept(analysis: Analysis) -> None:
    many = np.zeros(10**6, dtype=EVENT)
    many["time"] = np.arange(1, 10**6 + 1)
    many["sample"] = np.arange(10**6) % 20
    many["kind"] = np.where(np.arange(10**6) // 20 % 2, 1, -1)
    last = np.full((1, 20), 3 * 10**6)
    run = dataclasses.replace(analysis.run, events=many, last_change=last, events_dropped=7, pattern_changes=10**6)
    steps, sample, _ = thinned_events(dataclasses.replace(analysis, run=run))
    assert len(steps) <= 20 * 2 * (CELLS + 1)
    assert all(steps[sample == i].max() == 3 * 10**6 for i in range(20))
    title = figure(dataclasses.replace(analysis, run=run)).axes[1].get_title("left")
    assert "7 later changes are not listed" in title


@pytest.mark.parametrize(
    "odd",
    [
        lambda: analyze(no_positive_label()),
        lambda: analyze(Problem.from_gram([[1.0]], [0.0])),
        lambda: analyze(random_problem(200, 4000, seed=0)),
        lambda: analyze(random_problem(10, 1000, seed=0), Network.pair()),
        lambda: analyze(random_problem(10, 100, seed=0), dynamics=Descent(until=0)),
    ],
    ids=["no positive label", "one sample", "200 samples", "pair", "no step"],
)
def test_any_analysis_can_be_drawn_and_saved(odd: object) -> None:
    page = figure(odd())  # type: ignore[operator]
    for kind, head in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        stream = io.BytesIO()
        page.savefig(stream, format=kind)
        assert stream.getvalue().startswith(head)


def test_drawing_changes_no_global_setting_and_opens_no_window(analysis: Analysis) -> None:
    before = dict(matplotlib.rcParams)
    figure(analysis)
    assert dict(matplotlib.rcParams) == before
    assert figure(analysis) is not figure(analysis)


def test_the_title_has_both_gaps(analysis: Analysis) -> None:
    assert analysis.gap is not None
    title = figure(analysis).get_suptitle()
    assert f"gap {analysis.gap.absolute:.3g} absolute, {analysis.gap.relative:.3g} relative" in title


def test_nothing_that_is_written_leaves_the_page(analysis: Analysis) -> None:
    run = dataclasses.replace(analysis.run, pattern_changes=63_494_722, stabilised_at=538_961_072, events_dropped=10**8)
    page = figure(dataclasses.replace(analysis, run=run))
    page.draw_without_rendering()
    for axes in page.axes:
        box = axes.get_tightbbox()
        assert box is not None
        assert box.x0 >= 0
        assert box.x1 <= page.bbox.x1
        assert box.y1 <= page.bbox.y1
