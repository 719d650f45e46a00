"""Judges of the laws for two and more neurons: yes where the law holds, no with another constant."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pandas as pd
import pytest
from claim_cases import scaling_rows

from relubias.claims import Verdict, disjoint_gap, equal_steps_many, pair_law

Tables = dict[str, pd.DataFrame]
SIZES = [1e6, 1e8, 1e10]


def power(factor: float, x: str) -> Callable[[pd.DataFrame], Any]:
    """factor/√x."""
    return lambda part: factor * part[x] ** -0.5


def pair(constant: float = 1.0, neuron: float = 1.0) -> Tables:
    """Gaps of pairs over d for two c, and one neuron that is off its law by a factor."""
    parts = []
    for c in (1.0, 0.1):
        rows = scaling_rows({pair_law.D: SIZES}, power(c * constant, pair_law.D), scatter=1e-4)
        same: dict[str, Any] = {pair_law.STEP: f"{c:g}/trace", "problem.label_norm": 1.0, "problem.n_samples": 50}
        parts.append(rows.assign(**same))
    table = pd.concat(parts, ignore_index=True)
    found: dict[str, Any] = {
        "problem.lambda_norm": table[pair_law.D],
        "problem.d2": table[pair_law.D],
        "law.worst_ratio": neuron,
    }
    return {pair_law.ID: table.assign(**found)}


def disjoint(constant: float = 1.0, neuron: float = 1.0) -> Tables:
    """Gaps of a disjoint start over d for both numbers of neurons."""
    parts = []
    for signs, m in disjoint_gap.NEURONS.items():
        rows = scaling_rows(
            {disjoint_gap.D: SIZES},
            power(constant * (50 * (m - 1)) ** 0.5, disjoint_gap.D),
            scatter=1e-4,
        )
        parts.append(rows.assign(**{disjoint_gap.SIGNS: signs}))
    table = pd.concat(parts, ignore_index=True)
    same: dict[str, Any] = {
        disjoint_gap.DEPTH: 1.0,
        "run.partition_kept": True,
        "law.worst_ratio": neuron,
        "problem.n_samples": 50,
    }
    found = {"problem.lambda_norm": table[disjoint_gap.D], "problem.interference": table[disjoint_gap.D] ** -0.5}
    return {disjoint_gap.ID: table.assign(**same, **found)}


def steps(four: float = 1.0) -> Tables:
    """Gaps of one law for all numbers of neurons, but for a factor for four."""
    parts = []
    for signs in equal_steps_many.NEURONS:
        factor = four if signs == "+,+,-,-" else 1.0
        rows = scaling_rows({"x": [1.0]}, power(factor, "x"), scatter=0.005)
        parts.append(rows.assign(**{equal_steps_many.SIGNS: signs}))
    same = {"law.gap": 1.0, "law.corrected": 1.0, "gap.relative": 0.5}
    return {equal_steps_many.ID: pd.concat(parts, ignore_index=True).assign(**same)}


def test_each_law_is_supported_where_it_holds() -> None:
    assert pair_law.judge(pair()).verdict is Verdict.SUPPORTED
    assert disjoint_gap.judge(disjoint()).verdict is Verdict.SUPPORTED
    assert equal_steps_many.judge(steps()).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize("world", [{"constant": 1.05}, {"neuron": 1.03}])
def test_no_law_is_supported_with_another_constant_or_one_other_neuron(world: dict[str, float]) -> None:
    assert pair_law.judge(pair(**world)).verdict is Verdict.NOT_SUPPORTED
    assert disjoint_gap.judge(disjoint(**world)).verdict is Verdict.NOT_SUPPORTED
    assert equal_steps_many.judge(steps(1.05)).verdict is Verdict.NOT_SUPPORTED


@pytest.mark.parametrize(
    ("claim", "rows"), [(pair_law, pair()), (disjoint_gap, disjoint()), (equal_steps_many, steps())]
)
def test_a_minimum_norm_that_is_not_proven_decides_nothing(claim: ModuleType, rows: Tables) -> None:
    table = rows[claim.ID]
    rows = {claim.ID: table.assign(**{"reference.status": ["budget" if t < 4 else "optimal" for t in table["trial"]]})}
    assert claim.judge(rows).verdict is Verdict.INCONCLUSIVE
