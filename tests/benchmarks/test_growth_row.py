"""Exponents are those of the times, and a dear end does not hide behind a cheap beginning."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from race_recorder import Recorder, measured, resize

from benchmarks.harness import Row
from benchmarks.rows import growth
from relubias.linalg.gram import Array


def test_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(monkeypatch, growth)
    assert growth.SIZES == (100, 200, 400, 800, 1600)
    resize(monkeypatch, growth, SIZES=(8, 16, 32), REPEATS=3)
    rows, _ = measured(growth)
    assert [one.rival for one in recorder.asked] == ["one eigendecomposition of K"] * 3
    found = {row.name: row.at_most for row in rows if row.rival == "n to the power of"}
    assert found == {
        "exponent from n = 8 to 16, whole cell": None,
        "exponent from n = 16 to 32, whole cell": 3.0,
        "fitted exponent, n = 8 … 32, whole cell": 3.0,
    }
    assert all(row.ratio is not None and row.ratio.count == 3 for row in rows if row.rival == "n to the power of")


def exponents_of(seconds: Callable[[Array], Array]) -> dict[str, Row]:
    sizes = np.array(growth.SIZES)
    noise = 1 + 0.01 * np.random.default_rng(0).standard_normal((growth.REPEATS, len(sizes)))
    return {row.name: row for row in growth.exponents(growth.SIZES, seconds(sizes.astype(float)) * noise)}


def test_a_method_of_fourth_order_that_hides_behind_its_overhead_is_found_out() -> None:
    rows = exponents_of(lambda n: 2.5e-3 + 1e-13 * n**4)
    assert rows["fitted exponent, n = 100 … 1600, whole cell"].met is True  # a line does not see it
    assert rows["exponent from n = 800 to 1600, whole cell"].met is False


def test_exponents_are_those_of_the_times_and_have_an_interval() -> None:
    rows = exponents_of(lambda n: 1e-9 * n**2.5)
    for row in rows.values():
        assert row.ratio is not None
        assert row.ratio.low < row.ratio.median < row.ratio.high
        assert row.ratio.median == pytest.approx(2.5, abs=0.03)
