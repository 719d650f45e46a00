"""Shares count what is known, and their intervals cover as stated, worked out exactly."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from study_rows import fail, study_rows

from relubias.errors import ArgumentError
from relubias.studies.fit import Proportion, proportion, proportions

D = "problem.n_features"
SETTLED = "run.stabilised_at"


def rows_of() -> pd.DataFrame:
    rows = study_rows({D: [100, 1000]}, lambda rows: 1.0 + 0.0 * rows[D], scatter=0.0, trials=10)
    rows[SETTLED] = [1.0] * 10 + [1.0] * 4 + [7.0] * 6
    return rows


def at_once(rows: pd.DataFrame) -> pd.Series:
    return rows[SETTLED] <= 1


def coin(met: int, trials: int, method: str) -> Proportion:
    rows = pd.DataFrame({"status": "done", "heads": np.arange(trials) < met})
    return proportion(rows, lambda rows: rows["heads"], needs="heads", method=method)


def test_the_share_is_that_of_the_usable_cells() -> None:
    rows = fail(rows_of(), [0], "memory", SETTLED)
    rows.loc[19, SETTLED] = None
    found = proportion(rows, at_once, needs=SETTLED)
    assert (found.met, found.trials) == (13, 18)
    assert found.estimate.value == 13 / 18
    assert found.tally.dropped == {"failed": 1, f"with a null in {SETTLED}": 1}
    assert "13 of 18" in found.message


def test_shares_by_coordinates_add_up() -> None:
    parts = proportions(rows_of(), at_once, by=D, needs=SETTLED)
    assert [(part.at[D], part.met, part.trials) for part in parts] == [(100, 10, 10), (1000, 4, 10)]
    assert sum(part.met for part in parts) == proportion(rows_of(), at_once, needs=SETTLED).met


def test_where_no_cell_is_usable_nothing_is_known() -> None:
    rows = fail(rows_of(), range(10), "memory", SETTLED)
    lost, _ = proportions(rows, at_once, by=D, needs=SETTLED)
    assert np.isnan(lost.estimate.value)
    assert lost.estimate[1:] == (0.0, 1.0)
    assert lost.tally.failures == {"memory": 10}


def coverage(method: str, trials: int, probability: float) -> float:
    """The probability that the interval of so many trials contains the true one, summed over all outcomes."""
    hits = [met for met in range(trials + 1) if coin(met, trials, method).estimate.contains(probability)]
    return float(np.sum(binom.pmf(hits, trials, probability)))


@pytest.mark.parametrize("probability", [0.01, 0.1, 0.5, 0.83])
def test_exact_intervals_cover_always_and_wilson_intervals_about(probability: float) -> None:
    assert coverage("exact", 20, probability) >= 0.95
    assert coverage("wilson", 20, probability) > 0.9


def test_wilson_is_not_always_enough() -> None:
    """The reason for the default, and the negative control of the test above."""
    assert min(coverage("wilson", 20, probability) for probability in (0.004, 0.008)) < 0.9


def test_all_or_none_have_one_sided_intervals() -> None:
    assert coin(0, 20, "exact").estimate[:2] == (0.0, 0.0)
    assert coin(20, 20, "exact").estimate.low == pytest.approx(0.025 ** (1 / 20))


@pytest.mark.parametrize(
    ("condition", "message"),
    [(lambda rows: rows[SETTLED], "returned float64"), (lambda rows: True, "one truth value a row")],
)
def test_a_condition_returns_truth_values(condition: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        proportion(rows_of(), condition, needs=SETTLED)  # type: ignore[arg-type]


def test_other_arguments_are_checked() -> None:
    with pytest.raises(ArgumentError, match="'exact' or 'wilson'"):
        proportion(rows_of(), at_once, needs=SETTLED, method="wald")
    with pytest.raises(ArgumentError, match="by names no column"):
        proportions(rows_of(), at_once, by=[], needs=SETTLED)
    with pytest.raises(ArgumentError, match=r"no column 'run.settled'"):
        proportion(rows_of(), at_once, needs="run.settled")
