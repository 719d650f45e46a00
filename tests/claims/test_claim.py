"""Verdicts follow from targets, and a supported claim needs a control that is not."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from claim_cases import table, tiny

from relubias.claims.claim import Finding, Quantity, Verdict, whole
from relubias.claims.result import Ran, Result, judged, opinion
from relubias.errors import ArgumentError
from relubias.studies.fit import Estimate, proportion
from relubias.studies.store import StudyStatus

YES = Quantity("yes", 1.0, target="≥ 0", met=True)
NO = Quantity("no", -1.0, target="≥ 0", met=False)
OPEN = Quantity("open", 0.0, -1.0, 1.0, target="≥ 0", met=None)
INFORMS = Quantity("informs", 3.0)


@pytest.mark.parametrize(
    ("estimate", "met"),
    [
        (Estimate(1.0, 0.99, 1.01), True),
        (Estimate(1.0, 0.97, 1.01), None),
        (Estimate(1.1, 1.05, 1.2), False),
        (1.02, True),
        (1.03, False),
        (math.nan, False),
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
    ],
)
def test_one_missed_target_decides(quantities: list[Quantity], verdict: Verdict) -> None:
    found = Finding.of(quantities, "Yes.", otherwise="No.")
    assert found.verdict is verdict
    assert found.sentence == ("Yes." if verdict is Verdict.SUPPORTED else "No.")


def test_a_judge_without_a_target_is_refused() -> None:
    with pytest.raises(ArgumentError, match="could not fail"):
        Finding.of([INFORMS], "")


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
def test_failed_cells_are_told_and_many_of_them_support_nothing(failed: int, verdict: str) -> None:
    claim = tiny(repeats=100)
    (study,) = claim.studies(True)
    ran = Ran(study, StudyStatus("tiny", 100 - failed, failed, 0, (("no", failed),), 1.0, None), "studies/tiny.db")
    result = judged(claim, {"tiny": table({"run.at_limit": [True] * (100 - failed)})}, [ran], 0.0)
    assert result.verdict == verdict
    assert (f"{failed} of 100 cells failed" in result.sentence) == (failed > 0)


def test_a_result_is_judged_with_its_control() -> None:
    result = judged(tiny(), {"tiny": table({"run.at_limit": [True] * 12})}, (), 0.0)
    assert (result.finding.verdict, result.control.verdict) == (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED)
    json.dumps(result.as_dict(), allow_nan=False)
