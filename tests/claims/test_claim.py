"""Verdicts follow from targets, and a supported claim needs a control that is not."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from claim_cases import table, tiny

from relubias.claims.claim import Finding, Quantity, Verdict, whole
from relubias.claims.result import Ran, Result, judged, opinion
from relubias.errors import ArgumentError
from relubias.studies.fit import Estimate, proportion
from relubias.studies.stored import StudyStatus

YES = Quantity("yes", 1.0, target="≥ 0", met=True)
NO = Quantity("no", -1.0, target="≥ 0", met=False)
OPEN = Quantity("open", 0.0, -1.0, 1.0, target="≥ 0", met=None)
INFORMS = Quantity("informs", 3.0)
MISSING = Quantity("missing", 0.5, target="≤ 0.05", met=None, premise=True)
COMPLETE = Quantity("missing", 0.0, target="≤ 0.05", met=True, premise=True)


@pytest.mark.parametrize(
    ("estimate", "met"),
    [
        (Estimate(1.0, 0.99, 1.01), True),
        (Estimate(1.0, 0.97, 1.01), None),
        (Estimate(1.1, 1.05, 1.2), False),
        (1.02, True),
        (1.03, False),
        (math.nan, None),
    ],
)
def test_an_interval_has_to_lie_within_bounds_as_a_whole(estimate: Estimate | float, met: bool | None) -> None:
    assert Quantity.within("ratio", estimate, 0.98, 1.02).met is met


@pytest.mark.parametrize(("true", "met"), [(100, True), (93, None), (50, False)])
def test_a_probability_is_judged_by_its_exact_interval(true: int, met: bool | None) -> None:
    rows = table({"run.at_limit": [k < true for k in range(100)]})
    assert Quantity.share("limit", whole(rows, "run.at_limit"), least=0.9).met is met
    assert Quantity.share("none", whole(rows.assign(**{"run.at_limit": ~rows["run.at_limit"]}), "run.at_limit"),
                          most=0.1).met is met  # fmt: skip


def test_shares_below_one_and_missing_ones_are_not_whole() -> None:
    rows = table({"share": [1.0, 0.99, 1.0, np.nan]})
    found = whole(rows, "share")
    assert (found.met, found.trials) == (2, 3)


def test_a_cell_without_a_proven_limit_is_not_as_claimed() -> None:
    rows = table({"share": [1.0, 1.0, 1.0]})
    rows.loc[0, "run.status"] = "budget"
    found = whole(rows, "share")
    assert (found.met, found.trials) == (2, 3)


def test_what_is_not_known_decides_nothing_and_what_is_lost_stays_lost() -> None:
    rows = table({"run.decoupled": [1.0] * 90 + [0.0] * 10, "run.positive_kept": [1.0] * 90 + [0.0] * 10})
    rows.loc[rows.index >= 40, "run.status"] = "budget"
    decoupled, kept = whole(rows, "run.decoupled"), whole(rows, "run.positive_kept")
    assert (decoupled.met, kept.met) == (40, 40)
    assert decoupled.estimate.high == 1.0
    assert decoupled.estimate.low == kept.estimate.low == pytest.approx(0.303, abs=1e-3)
    assert kept.estimate.high == pytest.approx(0.951, abs=1e-3)
    for bounds in ({"least": 0.9}, {"most": 0.1}):
        unknown = Quantity.share("decoupled", whole(rows.assign(**{"run.status": "budget"}), "run.decoupled"), **bounds)
        assert unknown.met is None


@pytest.mark.parametrize("bound", [Quantity.at_most, Quantity.at_least])
def test_no_number_meets_or_misses_no_bound(bound: Callable[..., Quantity]) -> None:
    for value in (math.nan, math.inf, -math.inf):
        assert bound("worst", value, 1.0).met is None
    assert bound("worst", 1.0, 1.0, trials=0).met is None
    assert bound("worst", 1.0, 1.0, trials=1).met is True


def test_without_a_usable_cell_nothing_is_decided() -> None:
    rows = table({"share": [np.nan, np.nan]})
    quantity = Quantity.share("share", proportion(rows, lambda part: part["share"] == 1, needs="share"), least=0.9)
    assert quantity.met is None
    assert Finding.of([quantity], "").verdict is Verdict.INCONCLUSIVE
    json.dumps(quantity.as_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("quantities", "verdict"),
    [
        ([YES, INFORMS], Verdict.SUPPORTED),
        ([YES, OPEN], Verdict.INCONCLUSIVE),
        ([YES, OPEN, NO], Verdict.NOT_SUPPORTED),
        ([YES, MISSING], Verdict.INCONCLUSIVE),
        ([NO, MISSING], Verdict.INCONCLUSIVE),
        ([NO, COMPLETE], Verdict.NOT_SUPPORTED),
    ],
)
def test_one_missed_target_decides(quantities: list[Quantity], verdict: Verdict) -> None:
    found = Finding.of(quantities, "Yes.", otherwise="No.")
    assert found.verdict is verdict
    assert found.sentence == ("Yes." if verdict is Verdict.SUPPORTED else "No.")


def test_a_judge_without_a_target_is_refused() -> None:
    for quantity in (INFORMS, COMPLETE):
        with pytest.raises(ArgumentError, match="could not fail"):
            Finding.of([quantity], "")


@pytest.mark.parametrize(
    ("own", "control", "verdict"),
    [
        (YES, NO, Verdict.SUPPORTED),
        (YES, YES, Verdict.INCONCLUSIVE),
        (YES, OPEN, Verdict.INCONCLUSIVE),
        (NO, YES, Verdict.NOT_SUPPORTED),
        (OPEN, NO, Verdict.INCONCLUSIVE),
    ],
)
def test_a_claim_needs_a_control_that_comes_out_negative(own: Quantity, control: Quantity, verdict: Verdict) -> None:
    result = Result(tiny(), Finding.of([own], "It is so."), Finding.of([control], "It is not."))
    assert result.verdict is verdict
    assert ("proves nothing" in result.sentence) == (own is YES and control is not NO)


def test_a_judge_who_stumbles_is_inconclusive_and_says_why() -> None:
    found = opinion(tiny().judge, {})
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.sentence == "It cannot be judged: KeyError: 'tiny'."


@pytest.mark.parametrize(("failed", "verdict"), [(0, "supported"), (2, "supported"), (10, "inconclusive")])
def test_failed_cells_are_told_and_many_of_them_decide_nothing(failed: int, verdict: str) -> None:
    claim = tiny(repeats=100)
    (study,) = claim.studies(True)
    ran = Ran(study, StudyStatus("tiny", 100 - failed, failed, 0, (("no", failed),), 1.0, None), "studies/tiny.db")
    result = judged(claim, {"tiny": table({"run.at_limit": [True] * (100 - failed)})}, [ran], 0.0)
    assert result.verdict == verdict
    assert (f"{failed} of 100 cells failed" in result.sentence) == (failed > 0)


@pytest.mark.parametrize(("failed", "holds"), [(0, True), (4, True), (20, False)])
def test_a_control_whose_cells_failed_does_not_hold(failed: int, holds: bool) -> None:
    rows = table({"run.at_limit": [True] * 100})
    rows.loc[rows.index < failed, "status"] = "failed"
    assert judged(tiny(), {"tiny": rows}, (), 0.0).control_holds is holds


def test_a_result_is_judged_with_its_control() -> None:
    result = judged(tiny(), {"tiny": table({"run.at_limit": [True] * 12})}, (), 0.0)
    assert (result.finding.verdict, result.control.verdict) == (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED)
    json.dumps(result.as_dict(), allow_nan=False)
