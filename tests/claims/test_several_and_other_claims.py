"""Judges of claims on made-up rows, for which they have to say yes and no."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from relubias import claims
from relubias.claims.claim import Verdict
from relubias.claims.disjoint_depth import crossing

IDS = (
    "pair_decouples", "pair_law", "disjoint_partition", "disjoint_depth", "disjoint_gap", "equal_steps_many",
    "orthogonal_rows", "worst_case", "flow_near", "finite_step", "activations", "losses", "test_error",
)  # fmt: skip


def cells(columns: dict[str, Any], count: int) -> pd.DataFrame:
    """Done and certified cells."""
    head = {"trial": range(count), "status": "done", "failure": None, "run.status": "certified"}
    head["reference.status"] = "optimal"
    return pd.DataFrame(head | columns)


def pair(share: float) -> dict[str, pd.DataFrame]:
    """Draws of which a share decoupled."""
    decoupled = np.arange(100) < 100 * share
    columns = {name: decoupled.astype(float) for name in ("run.positive_fitted", "run.negative_fitted")}
    return {"pair_decouples": cells({"run.decoupled": decoupled, "problem.n_samples": 20} | columns, 100)}


def family(*distances: float) -> dict[str, pd.DataFrame]:
    """Limits of the family of Vardi and Shamir at these distances."""
    columns = {"problem.gamma": [1.0, 2.0, 5.0, 20.0], "gap.absolute": distances, "reference.norm": 26**0.5}
    return {"worst_case": cells(columns | {"run.loss": 0.0}, 4)}


@pytest.mark.parametrize(
    ("id", "yes", "no"),
    [
        ("pair_decouples", pair(1.0), pair(0.5)),
        ("worst_case", family(0.04, 0.1104, 0.2092, 0.2302), family(0.04, 0.04, 0.04, 0.04)),
    ],
)
def test_a_judge_says_yes_and_no(id: str, yes: dict[str, pd.DataFrame], no: dict[str, pd.DataFrame]) -> None:
    judge = claims.load(id).judge
    assert judge(yes).verdict is Verdict.SUPPORTED
    assert judge(no).verdict is Verdict.NOT_SUPPORTED


def test_a_threshold_is_where_the_monotone_share_crosses_one_half() -> None:
    logs = np.log([0.5, 1.0, 2.0])
    assert crossing(logs, np.array([0.0, 0.5, 1.0])) == pytest.approx(1.0)
    assert crossing(logs, np.array([0.0, 0.0, 1.0])) == pytest.approx(2**0.5)
    assert crossing(logs, np.array([0.0, 0.1, 0.2])) == pytest.approx(2.0)
    assert crossing(logs, np.array([0.9, 0.9, 1.0])) == pytest.approx(0.5)


@pytest.mark.parametrize("id", IDS)
def test_quick_studies_are_small(id: str) -> None:
    assert sum(study.n_cells for study in claims.load(id).all_studies(True)) <= 700
