"""Cells that a judge may use: with a proven limit and a proven minimum norm; and how many each size has lost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from claim_cases import table

from relubias.claims.claim import Finding, Quantity, Verdict
from relubias.claims.usable import certified, completeness, measured, told
from relubias.errors import ArgumentError
from relubias.studies.fit import Tally

D = "problem.features.n_features"


def cells(lost: int) -> pd.DataFrame:
    """Twenty cells of each of five sizes, of which the last lost some."""
    rows = table({D: [d for d in (10.0, 20.0, 30.0, 40.0, 50.0) for _ in range(20)], "gap.absolute": [1.0] * 100})
    rows.loc[rows.index >= 100 - lost, "run.status"] = "budget"
    return rows


@pytest.mark.parametrize(("lost", "met"), [(0, True), (1, True), (2, None), (5, None)])
def test_the_size_that_lost_most_decides_whether_anything_is_decided(lost: int, met: bool | None) -> None:
    table, tally = certified(cells(lost), "gap.absolute", by=D)
    assert len(table) == 100 - lost
    found = completeness(tally)
    assert (found.met, found.premise) == (met, True)
    assert found.value == pytest.approx(lost / 20)
    for other in (True, False):
        verdict = Finding.of([Quantity("gap", 1.0, target="≤ 2", met=other), found], "").verdict
        assert (verdict is Verdict.INCONCLUSIVE) == (met is None)


def test_all_cells_together_hide_what_one_size_has_lost() -> None:
    (_, pooled), (_, each) = certified(cells(4), "gap.absolute"), certified(cells(4), "gap.absolute", by=D)
    assert completeness(pooled).met is True
    assert completeness(each).met is None
    assert "4 without a certified limit; the largest share at 50, 4 of 20" in each.message
    assert told(pooled) == f" {pooled.message}."


def test_sizes_may_have_names() -> None:
    rows = cells(4).assign(**{"network.signs": "pair"})
    assert "the largest share at pair and 50, 4 of 20" in certified(rows, by=["network.signs", D])[1].message


def test_a_minimum_norm_that_is_not_proven_is_none() -> None:
    rows = cells(0).assign(other=1.0)
    rows.loc[rows.index < 10, "reference.status"] = "budget"
    assert len(certified(rows, "gap.absolute")[0]) == 90
    assert len(certified(rows, "other")[0]) == 100
    assert "10 whose minimum norm is not proven" in certified(rows, "gap.absolute")[1].message
    with pytest.raises(ArgumentError, match=r"no column 'reference\.status'"):
        certified(rows.drop(columns="reference.status"), "gap.absolute")


def test_failed_cells_and_those_without_a_number_are_missing_too() -> None:
    rows = cells(0)
    rows.loc[:1, "status"] = "failed"
    rows.loc[2, "gap.absolute"] = np.nan
    assert completeness(certified(rows, "gap.absolute", by=D)[1]).value == pytest.approx(3 / 20)
    assert completeness(measured(rows, "gap.absolute", by=D)[1]).value == pytest.approx(3 / 20)


def test_cells_without_a_limit_may_be_judged_where_a_judge_counts_them() -> None:
    assert len(measured(cells(7), "gap.absolute")[0]) == 100
    assert len(certified(cells(7), "gap.absolute", ended=("certified", "budget"))[0]) == 100


def test_without_cells_nothing_is_decided() -> None:
    assert completeness().met is None
    assert completeness(Tally(0, 0, {}, {}), Tally(3, 3, {}, {})).met is None
