"""Shares with intervals."""

from typing import Any

import pytest

from relubias import ArgumentError
from relubias.report.shares import shares, shares_over
from relubias.studies.fit import Estimate


def test_each_share_is_a_point_with_its_interval_on_its_own_line() -> None:
    claim = {"kept": Estimate(1.0, 0.9, 1.0), "fitted": Estimate(0.75, 0.6, 0.85)}
    control = {"kept": Estimate(0.1, 0.02, 0.3)}
    axes: Any = shares({"claim": claim, "control": control}, title="a claim").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["kept", "fitted"]
    first, second = axes.containers
    assert first.lines[0].get_xdata().tolist() == [1.0, 0.75]
    assert second.lines[0].get_xdata().tolist() == [0.1]
    assert [round(float(y)) for y in first.lines[0].get_ydata()] == [0, 1]
    ends = first.lines[2][0].get_segments()
    assert ends[1][:, 0].tolist() == pytest.approx([0.6, 0.85])
    assert first.lines[0].get_marker() != second.lines[0].get_marker()


def test_nothing_to_draw_is_refused() -> None:
    with pytest.raises(ArgumentError, match="no shares to draw"):
        shares({"claim": {}}, title="a claim")


def test_shares_over_a_coordinate_are_lines_that_differ_in_dashes_and_marker() -> None:
    held = [(0.01, Estimate(1.0, 0.9, 1.0)), (1.0, Estimate(0.2, 0.1, 0.35))]
    known = [(0.01, Estimate(0.8, 0.7, 0.9))]
    axes: Any = shares_over({"held": held, "known": known}, xlabel="n/d", ylabel="share of runs").axes[0]
    first, second = axes.containers
    assert first.lines[0].get_xdata().tolist() == [0.01, 1.0]
    assert first.lines[0].get_ydata().tolist() == [1.0, 0.2]
    assert first.lines[2][0].get_segments()[1][:, 1].tolist() == pytest.approx([0.1, 0.35])
    assert first.lines[0].get_marker() != second.lines[0].get_marker()
    assert first.lines[0].get_linestyle() != second.lines[0].get_linestyle()
    assert (axes.get_xscale(), axes.get_xlabel()) == ("log", "n/d")
    with pytest.raises(ArgumentError, match="no shares to draw"):
        shares_over({"held": []}, xlabel="n/d", ylabel="share of runs")
