"""Figures of studies show the rows: every trial, the right medians, shares and colours, and what is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle, StepPatch
from study_rows import Array, fail, study_rows

from relubias.errors import ArgumentError
from relubias.report.axis_labels import LABELS, axis_label, words_of
from relubias.report.phase_diagram import COLOURS, edges, is_geometric
from relubias.report.study_figures import distribution, phase_diagram, scaling, survival
from relubias.report.study_page import LOOKS
from relubias.studies.bootstrap import median_interval
from relubias.studies.fit import power_law
from relubias.studies.limits import Limits, over_time

D, STEP, GAP, SETTLED = "problem.n_features", "dynamics.step_size", "gap.absolute", "run.stabilised_at"
SIZES = [10**3, 10**4, 10**5, 10**6]
RATIOS, STEPS = np.geomspace(1e-3, 1.0, 7).tolist(), np.linspace(0.1, 2.0, 5).tolist()


def scaled() -> pd.DataFrame:
    grid: dict[str, list[float]] = {D: [*SIZES], STEP: [0.5, 1.0]}
    return study_rows(grid, lambda rows: rows[STEP] * rows[D] ** -0.5, trials=12, scatter=0.2)


def plane() -> pd.DataFrame:
    grid = {"n/d": RATIOS, STEP: STEPS}
    return study_rows(grid, lambda rows: rows[STEP] * rows["n/d"] ** 0.5, trials=6)


def lines(page: Figure) -> dict[str, Line2D]:
    """Named lines of a figure."""
    return {str(line.get_label()): line for line in page.axes[0].lines if not str(line.get_label()).startswith("_")}


def points(line: Line2D) -> Array:
    return np.column_stack([np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)])


def only(page: Figure, kind: type[Any]) -> Any:
    (found,) = page.axes[0].findobj(kind, include_self=False)
    return found


def title_of(page: Figure) -> str:
    return page.axes[0].get_title(loc="left").replace("\n", " ")


# Scaling


def test_every_trial_is_a_faint_point_and_medians_are_those_of_the_rows() -> None:
    rows = scaled()
    page = scaling(rows, y=GAP, x=D, by=STEP)
    faint = [points(line) for line in page.axes[0].lines if str(line.get_label()).startswith("_")]
    drawn = {tuple(point) for part in faint for point in part}
    assert drawn == set(zip(rows[D].astype(float), rows[GAP], strict=True))
    for step in (0.5, 1.0):
        medians = rows[rows[STEP] == step].groupby(D)[GAP].median()
        assert np.allclose(points(lines(page)[f"step η = {step:g}"]), np.column_stack([medians.index, medians]))


def test_intervals_are_those_of_the_medians() -> None:
    rows = scaled()
    rows = rows[rows[STEP] == 1.0]
    page = scaling(rows, y=GAP, x=D, confidence=0.9)
    drawn = np.array([segment[:, 1] for segment in only(page, LineCollection).get_segments()])
    wanted = [median_interval(np.sort(part.to_numpy(dtype=float)), 0.9)[1:] for _, part in rows.groupby(D)[GAP]]
    assert np.array_equal(drawn, wanted)
    assert "90 % intervals" in title_of(page)


def test_the_reference_has_the_slope_it_names_and_hides_no_median() -> None:
    rows = scaled()
    line = points(lines(scaling(rows, y=GAP, x=D, by=STEP, slope=-0.4))["slope -0.4, for reference"])
    assert np.diff(np.log(line[:, 1]))[0] / np.diff(np.log(line[:, 0]))[0] == pytest.approx(-0.4)
    medians = rows.groupby([D, STEP])[GAP].median().reset_index()
    assert np.all(line[0, 1] * (medians[D] / line[0, 0]) ** -0.4 < medians[GAP])


def test_a_fit_is_drawn_where_it_is() -> None:
    rows = scaled()
    rows = rows[rows[STEP] == 1.0]
    law = power_law(rows, y=GAP, x=D)
    page = scaling(rows, y=GAP, x=D, law=law)
    line = points(lines(page)[f"fit, exponent {law.exponent()}"])
    assert np.allclose(line[:, 1], law.at(line[:, 0]))
    with pytest.raises(ArgumentError, match=r"not of gap.relative in problem.n_features"):
        scaling(rows.assign(**{"gap.relative": rows[GAP]}), y="gap.relative", x=D, law=law)


def test_few_trials_have_medians_and_no_interval() -> None:
    rows = scaled()
    page = scaling(rows[(rows[STEP] == 1.0) & (rows["trial"] < 5)], y=GAP, x=D)
    assert only(page, LineCollection).get_segments() == []
    assert len(points(lines(page)["median"])) == 4


def test_axes_are_logarithmic_and_named_in_words() -> None:
    axes = scaling(scaled(), y=GAP, x=D, by=STEP).axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("number of features d", "absolute gap ‖W − W*‖")


def test_natural_steps_are_sorted_as_numbers() -> None:
    rows = scaled()
    rows[STEP] = np.where(rows[STEP] == 1.0, "10/trace", "2/trace")
    assert list(lines(scaling(rows, y=GAP, x=D, by=STEP))) == ["step η‖λ‖₁ = 2", "step η‖λ‖₁ = 10"]


def test_words_that_were_added_to_rows_speak_for_themselves_in_a_legend() -> None:
    rows = scaled()
    rows["training"] = np.where(rows[STEP] == 1.0, "flow", "descent")
    assert list(lines(scaling(rows, y=GAP, x=D, by="training"))) == ["descent", "flow"]
    rows["network.signs"] = np.where(rows[STEP] == 1.0, "+", "+,-")
    assert list(lines(scaling(rows, y=GAP, x=D, by="network.signs"))) == ["output signs = +", "output signs = +,-"]


# Phase diagrams


def test_colours_are_the_medians_in_their_places() -> None:
    rows = plane()
    mesh: QuadMesh = only(phase_diagram(rows, value=GAP, x="n/d", y=STEP), QuadMesh)
    medians = rows.pivot_table(values=GAP, index=STEP, columns="n/d", aggfunc="median")
    assert np.array_equal(np.asarray(mesh.get_array()), medians.to_numpy())
    corners = np.asarray(mesh.get_coordinates())
    for j, ratio in enumerate(RATIOS):
        for i, step in enumerate(STEPS):
            assert corners[i, j, 0] < ratio < corners[i, j + 1, 0]
            assert corners[i, j, 1] < step < corners[i + 1, j, 1]


def test_truth_values_are_shares_between_0_and_1() -> None:
    rows = plane()
    rows["small"] = rows[GAP] < 0.3
    mesh: QuadMesh = only(phase_diagram(rows, value="small", x="n/d", y=STEP), QuadMesh)
    shares = rows.pivot_table(values="small", index=STEP, columns="n/d", aggfunc="mean")
    assert np.allclose(np.asarray(mesh.get_array()), shares.to_numpy(dtype=float))
    assert (mesh.norm.vmin, mesh.norm.vmax) == (0.0, 1.0)
    nullable = rows.assign(small=rows["small"].astype("boolean"))
    nullable.loc[0, "small"] = None
    page = phase_diagram(nullable, value="small", x="n/d", y=STEP)
    assert page.axes[1].get_ylabel() == "share of trials: small"
    assert "1 with a null in small" in title_of(page)


def test_points_without_a_cell_are_hatched_and_counted() -> None:
    rows = plane()
    whole = phase_diagram(rows, value=GAP, x="n/d", y=STEP)
    assert not [patch for patch in whole.axes[0].patches if patch.get_hatch()]
    gone = list(rows.index[(rows["n/d"] == RATIOS[-1]) & (rows[STEP] > 1)])
    page = phase_diagram(fail(rows, gone, "memory", GAP), value=GAP, x="n/d", y=STEP)
    values = np.ma.getmaskarray(only(page, QuadMesh).get_array()).reshape(5, 7)
    assert np.argwhere(values).tolist() == [[2, 6], [3, 6], [4, 6]]
    (back,) = [patch for patch in page.axes[0].patches if patch.get_hatch()]
    assert isinstance(back, Rectangle)
    assert "hatched: 3 points without a usable cell" in title_of(page)


def test_logarithmic_colours_need_positive_numbers() -> None:
    rows = plane()
    mesh: QuadMesh = only(phase_diagram(rows, value=GAP, x="n/d", y=STEP, logarithmic=True), QuadMesh)
    assert isinstance(mesh.norm, LogNorm)
    rows.loc[rows["n/d"] == RATIOS[0], GAP] = 0.0
    with pytest.raises(ArgumentError, match="not positive at 5 points"):
        phase_diagram(rows, value=GAP, x="n/d", y=STEP, logarithmic=True)


def test_the_colours_grow_lighter_all_the_way() -> None:
    import matplotlib

    light = matplotlib.colormaps[COLOURS](np.linspace(0, 1, 64))[:, :3] @ [0.299, 0.587, 0.114]
    assert np.all(np.diff(light) > 0)
    assert light[-1] - light[0] > 0.6


def test_edges_are_halfway_in_the_scale_that_fits() -> None:
    assert np.allclose(edges(np.array([1.0, 10.0, 100.0])), 10 ** np.array([-0.5, 0.5, 1.5, 2.5]))
    assert np.allclose(edges(np.array([0.0, 1.0, 2.0])), [-0.5, 0.5, 1.5, 2.5])
    assert np.allclose(edges(np.array([3.0])), [2.5, 3.5])
    assert not is_geometric(np.linspace(0.05, 2.0, 40))
    axes = phase_diagram(plane(), value=GAP, x="n/d", y=STEP).axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")


# Distributions


def test_cumulative_shares_are_those_of_the_cells() -> None:
    rows = scaled()
    page = distribution(rows, value=GAP, by=STEP)
    for step in (0.5, 1.0):
        values = np.sort(rows.loc[rows[STEP] == step, GAP].to_numpy(dtype=float))
        drawn = points(lines(page)[f"step η = {step:g}, 48 cells"])
        assert np.allclose(drawn[1:, 0], values)
        assert np.allclose(drawn[1:, 1], np.arange(1, 49) / 48)


@pytest.mark.parametrize("logarithmic", [False, True])
def test_histograms_have_every_cell_and_common_bins(logarithmic: bool) -> None:
    rows = scaled()
    page = distribution(rows, value=GAP, by=STEP, kind="histogram", logarithmic=logarithmic)
    parts: list[Any] = page.axes[0].findobj(StepPatch)
    first, second = (part.get_data() for part in parts)
    assert np.array_equal(first.edges, second.edges)
    assert first.values.sum() == pytest.approx(1.0)
    assert second.values.sum() == pytest.approx(1.0)
    values = rows.loc[rows[STEP] == 0.5, GAP]
    middle = float(first.edges[20])
    assert first.values[:20].sum() == pytest.approx(np.mean(values < middle))


def test_cells_that_a_logarithm_cannot_show_are_counted() -> None:
    rows = scaled()
    rows.loc[0, GAP] = 0.0
    assert "1 with a gap.absolute that is not positive" in title_of(distribution(rows, value=GAP, logarithmic=True))
    assert "96 of 96 cells used" in title_of(distribution(rows, value=GAP))


# Survival


def settling() -> pd.DataFrame:
    """Ten cells: two never changed, five settled at 1, 1, 2, 8 and 100, and three did not settle."""
    steps = [0, 0, 1, 1, 2, 8, 100, None, None, None]
    rows = pd.DataFrame({"trial": range(10), "status": "done", SETTLED: pd.Series(steps, dtype="float64")})
    return pd.concat([rows, fail(rows.assign(**{"run.status": "certified"}), range(10), "memory", SETTLED)[:1]])


def test_the_share_that_has_not_settled_is_a_count() -> None:
    page = survival(settling())
    line = points(lines(page)["10 cells, 3 not settled"])
    after = {step: line[line[:, 0] <= step][-1, 1] for step in (0.9, 1, 1.5, 2, 8, 99, 100)}
    assert after == pytest.approx({0.9: 0.8, 1: 0.6, 1.5: 0.6, 2: 0.5, 8: 0.4, 99: 0.4, 100: 0.3})
    assert lines(page)["10 cells, 3 not settled"].get_drawstyle() == "steps-post"
    assert page.axes[0].get_xscale() == "log"


def test_cells_that_did_not_settle_are_marked_and_counted() -> None:
    page = survival(settling())
    (marker,) = [line for line in page.axes[0].lines if line.get_marker() not in ("None", "")]
    assert points(marker)[0, 0] > 100
    assert points(marker)[0, 1] == pytest.approx(0.3)
    assert "3 not settled" in title_of(page)
    assert "1 failed (“memory”)" in title_of(page)
    settled = survival(settling().dropna(subset=[SETTLED]))
    assert not [line for line in settled.axes[0].lines if line.get_marker() not in ("None", "")]


def test_cells_that_ran_out_of_time_have_not_settled() -> None:
    """Time is spent on the cells that take longest: to leave them out would draw the others as all there are."""
    rows = settling()
    late = fail(rows.iloc[:2].assign(trial=[20, 21]), range(2), over_time(Limits(9.0)), SETTLED)
    page = survival(pd.concat([rows, late], ignore_index=True))
    assert "12 cells, 5 not settled" in lines(page)


def test_a_study_in_which_nothing_ever_changes_can_be_drawn() -> None:
    rows = settling().iloc[:2]
    assert np.all(points(lines(survival(rows))["2 cells"])[:, 1] == 0.0)


# All of them

FIGURES: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "scaling": lambda rows: scaling(rows, y=GAP, x=D, by=STEP, slope=-0.5),
    "phase diagram": lambda rows: phase_diagram(rows, value=GAP, x=D, y=STEP, logarithmic=True),
    "distribution": lambda rows: distribution(rows, value=GAP, by=STEP, logarithmic=True),
    "histogram": lambda rows: distribution(rows, value=GAP, by=STEP, kind="histogram"),
    "survival": lambda rows: survival(rows, value=GAP, by=STEP),
}


@pytest.mark.parametrize("draw", FIGURES.values(), ids=list(FIGURES))
def test_rows_stay_as_they_are_and_the_figure_can_be_saved(
    draw: Callable[[pd.DataFrame], Figure], tmp_path: Any
) -> None:
    rows = fail(scaled(), [0, 1], "the cell took longer than 60 s", GAP)
    before = rows.copy()
    page = draw(rows)
    pd.testing.assert_frame_equal(rows, before)
    assert "94 of 96 cells used; left out: 2 failed (“the cell took longer than 60 s”)" in title_of(page)
    for suffix in ("png", "pdf"):
        page.savefig(tmp_path / f"page.{suffix}")
        assert (tmp_path / f"page.{suffix}").stat().st_size > 1000


@pytest.mark.parametrize("draw", FIGURES.values(), ids=list(FIGURES))
def test_what_cannot_be_drawn_is_refused(draw: Callable[[pd.DataFrame], Figure]) -> None:
    rows = scaled()
    with pytest.raises(ArgumentError, match="there is nothing to draw; 0 of 96 cells used; left out: 96 failed"):
        draw(fail(rows, range(96), "memory", GAP))
    with pytest.raises(ArgumentError, match="no column"):
        draw(rows.drop(columns=GAP))


def test_more_groups_than_looks_are_refused() -> None:
    rows = study_rows({D: SIZES, STEP: list(range(1, len(LOOKS) + 2))}, lambda rows: rows[STEP])
    with pytest.raises(ArgumentError, match="9 values and 8 can be told apart"):
        scaling(rows, y=GAP, x=D, by=STEP)
    assert len(lines(scaling(rows[rows[STEP] > 1], y=GAP, x=D, by=STEP))) == 8


def test_groups_differ_in_line_and_marker() -> None:
    assert len({str(line) for _, line, _ in LOOKS}) == len({marker for *_, marker in LOOKS}) == len(LOOKS)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"kind": "box"}, "'cumulative' or 'histogram'"), ({"by": "run.size"}, "no column 'run.size'")],
)
def test_other_options_of_a_distribution_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        distribution(scaled(), value=GAP, **options)


def test_labels_come_from_one_glossary() -> None:
    rows = pd.DataFrame({STEP: ["0.5/lmax", "1/lmax"], "n/d": 1.0})
    assert axis_label(rows, STEP) == "step η λ_max(H)"
    assert words_of("problem.features.n_features") == LABELS["problem.n_features"]
    assert words_of("my.own_column") == "own column"
    assert axis_label(rows, "n/d") == "n/d"


@pytest.mark.parametrize("draw", ["map", "scaling", "distribution", "survival"])
def test_large_studies_are_drawn(draw: str, tmp_path: Path) -> None:
    """40 × 40 points × 20 trials, and 50 000 rows; how long that takes is in the benchmarks."""
    if draw == "map":
        grid = {D: np.geomspace(1e3, 1e6, 40).tolist(), STEP: np.linspace(0.1, 2, 40).tolist()}
    else:
        grid = {D: np.geomspace(1e3, 1e6, 50).tolist(), STEP: [0.25, 0.5, 1.0, 2.0]}
    rows = study_rows(grid, lambda rows: rows[STEP] * rows[D] ** -0.5, trials=20 if draw == "map" else 250)
    assert len(rows) == (32_000 if draw == "map" else 50_000)
    page: dict[str, Callable[[], Figure]] = {
        "map": lambda: phase_diagram(rows, value=GAP, x=D, y=STEP, logarithmic=True),
        "scaling": lambda: scaling(rows, y=GAP, x=D, by=STEP, slope=-0.5),
        "distribution": lambda: distribution(rows, value=GAP, by=STEP, logarithmic=True),
        "survival": lambda: survival(rows, value=GAP, by=STEP),
    }
    page[draw]().savefig(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000


def test_figures_leave_no_trace() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    scaling(scaled(), y=GAP, x=D, by=STEP)
    assert dict(matplotlib.rcParams) == before
    assert isinstance(scaling(scaled(), y=GAP, x=D, by=STEP).axes[0], Axes)
