"""Shares with intervals."""

from typing import Any

import pytest

from relubias import ArgumentError
from relubias.report.shares import shares
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
