"""Every cell is used once or left out once, for a named reason, and mixtures of coordinates are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from study_rows import fail, study_rows

from relubias.errors import ArgumentError
from relubias.studies.by_size import by_size
from relubias.studies.tally import Loss

D = "problem.n_features"


def rows_of(trials: int = 8) -> pd.DataFrame:
    return study_rows({D: [100, 1000, 10_000]}, lambda rows: rows[D] ** -0.5, trials=trials)


def test_all_cells_of_a_clean_study_are_used() -> None:
    rows = rows_of()
    data = by_size(rows, "gap.absolute", [D], positive=True, certified=True)
    assert data.tally.message == "24 of 24 cells used"
    assert np.array_equal(data.sizes[:, 0], [100, 1000, 10_000])
    for size, values in zip(data.sizes[:, 0], data.values, strict=True):
        assert np.array_equal(values, np.sort(rows.loc[rows[D] == size, "gap.absolute"]))


def test_every_reason_is_counted_and_named_once() -> None:
    rows = fail(rows_of(), [0, 1, 2], "the cell took longer than 60 s", "gap.absolute")
    rows = fail(rows, [3], "worker was killed", "gap.absolute")
    rows.loc[8, "status"] = "pending"
    rows.loc[9, "run.status"] = "budget"
    rows.loc[10, "gap.absolute"] = None
    rows.loc[11, "gap.absolute"] = np.inf
    rows.loc[12, "gap.absolute"] = 0.0
    rows.loc[13, "run.status"] = "cycling"  # the first reason counts
    rows.loc[13, "gap.absolute"] = -1.0
    tally = by_size(rows, "gap.absolute", [D], positive=True, certified=True, fewest=3).tally
    assert tally.dropped == {
        "failed": 4,
        "pending": 1,
        "without a certified limit": 2,
        "with a null in gap.absolute": 1,
        "with an infinite gap.absolute": 1,
        "with a gap.absolute that is not positive": 1,
        "at sizes with fewer than 3 usable trials": 2,
    }
    assert tally.cells == tally.kept + sum(tally.dropped.values()) == 24
    assert tally.failures == {"the cell took longer than 60 s": 3, "worker was killed": 1}
    assert tally.losses == (Loss((1000.0,), 8, 8), Loss((100.0,), 4, 8))
    assert "4 failed (3 of them “the cell took longer than 60 s”)" in tally.message
    assert "the largest share at 1000, 8 of 8" in tally.message


def test_cells_without_a_limit_count_where_they_are_asked_for() -> None:
    rows = rows_of().drop(columns="run.status")
    assert by_size(rows, "gap.absolute", [D], positive=True, certified=False).tally.kept == 24
    with pytest.raises(ArgumentError, match="certified=False"):
        by_size(rows, "gap.absolute", [D], positive=True, certified=True)


def test_a_null_coordinate_is_a_reason_too() -> None:
    rows = rows_of()
    rows[D] = rows[D].astype(float)
    rows.loc[[0, 5], D] = [np.nan, -1.0]
    tally = by_size(rows, "gap.absolute", [D], positive=True, certified=True).tally
    assert tally.dropped == {f"with a null in {D}": 1, f"with a {D} that is not positive": 1}
    every = rows.assign(**{D: np.nan})
    assert by_size(every, "gap.absolute", [D], positive=True, certified=True).tally.kept == 0


def test_a_coordinate_that_was_not_named_is_not_taken_for_chance() -> None:
    grid: dict[str, list[float]] = {D: [100, 1000, 10_000], "dynamics.step_size": [0.1, 0.5]}
    rows = study_rows(grid, lambda rows: rows["dynamics.step_size"] * rows[D] ** -0.5)
    with pytest.raises(ArgumentError, match=r"trial 0: another coordinate varies \(perhaps dynamics.step_size\)"):
        by_size(rows, "gap.absolute", [D], positive=True, certified=True)
    assert len(by_size(rows, "gap.absolute", list(grid), positive=True, certified=True).sizes) == 6
    one = rows[rows["dynamics.step_size"] == 0.5]
    assert len(by_size(one, "gap.absolute", [D], positive=True, certified=True).sizes) == 3


def test_a_missing_column_is_named_with_its_neighbours() -> None:
    with pytest.raises(ArgumentError, match=r"no column 'gap.absolut' .*did you mean 'gap.absolute'"):
        by_size(rows_of(), "gap.absolut", [D], positive=True, certified=True)


def test_a_column_of_words_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"'run.status' holds values that are no numbers"):
        by_size(rows_of(), "run.status", [D], positive=True, certified=True)


def test_an_empty_study_has_no_sizes() -> None:
    data = by_size(rows_of().iloc[:0], "gap.absolute", [D], positive=True, certified=True)
    assert len(data.sizes) == 0
    assert data.tally.message == "0 of 0 cells used"


def test_steps_in_natural_units_are_numbers() -> None:
    rows = study_rows({"dynamics.step_size": [0.1, 0.5, 1.0]}, lambda rows: rows["dynamics.step_size"])
    words = rows.assign(**{"dynamics.step_size": rows["dynamics.step_size"].map("{}/trace".format)})
    data = by_size(words, "gap.absolute", ["dynamics.step_size"], positive=True, certified=True)
    assert data.sizes[:, 0].tolist() == [0.1, 0.5, 1.0]
    words.loc[0, "dynamics.step_size"] = "0.1/lmax"
    with pytest.raises(ArgumentError, match=r"'dynamics.step_size' holds values that are no numbers"):
        by_size(words, "gap.absolute", ["dynamics.step_size"], positive=True, certified=True)


def test_tables_as_a_store_exports_them_are_read() -> None:
    """Whole numbers that may be null, and the reason of a failure under its other name."""
    rows = fail(rows_of(), [0], "memory", "gap.absolute").rename(columns={"failure": "message"})
    rows["run.dead"] = pd.array([None, *range(1, 24)], dtype="Int64")
    rows.loc[1, "run.dead"] = None
    data = by_size(rows, "run.dead", [D], positive=True, certified=True)
    assert data.values[0].tolist() == [2, 3, 4, 5, 6, 7]
    assert data.tally.dropped == {"failed": 1, "with a null in run.dead": 1}
    assert data.tally.failures == {"memory": 1}


def test_what_is_no_table_is_refused() -> None:
    rows: Any = [{"status": "done"}]
    with pytest.raises(ArgumentError, match="rows is a list, not a pandas DataFrame"):
        by_size(rows, "gap.absolute", [D], positive=True, certified=True)


def test_mixtures_are_refused_also_where_of_each_trial_one_cell_is_left() -> None:
    """Two steps of which each trial keeps one would be pooled without a word."""
    rows = pd.concat([rows_of().assign(step=1.0), rows_of().assign(step=0.1)], ignore_index=True)
    odd = rows["trial"] % 2 == 1
    rows.loc[odd & (rows["step"] == 1.0) | ~odd & (rows["step"] == 0.1), "run.status"] = "budget"
    with pytest.raises(ArgumentError, match=r"another coordinate varies \(perhaps .*step"):
        by_size(rows, "gap.absolute", [D], positive=True, certified=True)
