"""Synthetic claims and rows: a claim that runs in no time, and tables as a store gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
from study_rows import study_rows

from relubias.claims.claim import Claim, Control, Finding, Quantity, Rows, study, whole
from relubias.studies.spec import Study


def table(columns: Mapping[str, Sequence[Any]], **same: Any) -> pd.DataFrame:
    """One row an entry; every cell done, certified, and with a proven minimum norm."""
    proven = {"run.status": "certified", "reference.status": "optimal"}
    rows = pd.DataFrame(columns).assign(status="done", message="", **proven).assign(**same)
    rows["trial"] = range(1, len(rows) + 1)
    return rows


def scaling_rows(
    grid: Mapping[str, Sequence[float]], law: Callable[[pd.DataFrame], Any], **options: Any
) -> pd.DataFrame:
    """Rows of a law, see study_rows, with a proven minimum norm in every cell."""
    return study_rows(grid, law, **options).assign(**{"reference.status": "optimal"})


def same_rows(claim: Claim, rows: Rows) -> bool:
    """Whether the control of a claim gives its judge just what the claim itself does."""
    judged = claim.control.rows(rows)
    return all(study.name in judged and judged[study.name].equals(rows[study.name]) for study in claim.studies(True))


def tiny(id: str = "tiny", *, degrees: float = 80.0, repeats: int = 12) -> Claim:
    """Two samples at an angle, whose limit is certified in a few steps: was there one?"""

    def studies(quick: bool) -> Sequence[Study]:
        problem = {"kind": "two-samples", "angle": degrees}
        return [study(id, repeats=repeats, measure=("run.status", "run.at_limit"), problem=problem)]

    def judge(rows: Rows) -> Finding:
        share = Quantity.share("certified", whole(rows[id], "run.at_limit"), least=0.7)
        return Finding.of([share], f"Certified in {share}.", otherwise=f"Not certified, in {share}.")

    def turned(rows: Rows) -> Rows:
        return {id: rows[id].assign(**{"run.at_limit": ~rows[id]["run.at_limit"].astype(bool)})}

    return Claim(
        id=id,
        title="A limit is certified",
        statement="There is one.",
        source="ours",
        chapter="Where it ends",
        place=99,
        studies=studies,
        judge=judge,
        control=Control("The opposite of what was measured.", rows=turned),
    )
