"""Judges say yes to rows of a world where the claim is true, and no to rows of one where it is not."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from claim_cases import scaling_rows, table

from relubias.claims import Verdict, activity_single, gap_exponents, gap_law

KAPPA = 0.267


def law_rows(
    *, constant: float = 1.0, kappa: float = KAPPA, n: int = 50, seed: int = 0, labels: int = 0
) -> pd.DataFrame:
    """Gaps along constant·(1 − κ x), x = √(n/d₂)/c; the law says constant = 1 and its own κ."""
    rng = np.random.default_rng(seed)
    cells = [(d2, c) for d2 in (1e5, 1e7, 1e9) for c in (1.0, 0.1) for _ in range(20)]
    rows = table({"problem.d2": [cell[0] for cell in cells], "c": [cell[1] for cell in cells]})
    rows["dynamics.step_size"] = [f"{cell[1]:g}/trace" for cell in cells]
    rows["problem.n_samples"], rows[gap_law.LABELS] = n, json.dumps(gap_law.LAWS[labels])
    x = np.sqrt(n / rows["problem.d2"]) / rows["c"]
    rows["law.gap"] = rows["c"]
    rows["law.kappa"] = KAPPA
    rows["law.corrected"] = rows["law.gap"] * (1 - KAPPA * x)
    noise = 1 + 0.02 * KAPPA * x * rng.standard_normal(len(rows))
    rows["gap.absolute"] = constant * rows["law.gap"] * (1 - kappa * x) * noise
    return rows


def law_verdict(*, few: float = 1.0, third: float = KAPPA, **world: float) -> Verdict:
    """With another constant at n = 20, another κ for the third law of the labels, or the same for all."""
    sizes = [law_rows(**world), law_rows(n=20, **({"constant": few} | world))]  # type: ignore[arg-type]
    kappas = [law_rows(labels=place, **({"kappa": kappa} | world)) for place, kappa in enumerate((KAPPA, KAPPA, third))]  # type: ignore[arg-type]
    rows = {gap_law.ID: sizes, gap_law.COLLAPSE: [law_rows(seed=1, **world)], gap_law.LABELLED: kappas}  # type: ignore[arg-type]
    return gap_law.judge({name: pd.concat(parts, ignore_index=True) for name, parts in rows.items()}).verdict


def test_the_gap_law_is_supported_where_it_holds() -> None:
    assert law_verdict() is Verdict.SUPPORTED


@pytest.mark.parametrize(
    "world", [{"constant": 1.03}, {"kappa": 1.3 * KAPPA}, {"kappa": 0.0}, {"few": 1.03}, {"third": 1.3 * KAPPA}]
)
def test_the_gap_law_is_not_supported_with_another_constant_or_kappa(world: dict[str, float]) -> None:
    assert law_verdict(**world) is Verdict.NOT_SUPPORTED


def test_the_gap_law_is_judged_only_where_it_is_claimed() -> None:
    rows = pd.concat([law_rows(), law_rows(n=20)], ignore_index=True)
    outside = np.sqrt(rows["problem.n_samples"] / rows["problem.d2"]) / rows["c"] > 0.05
    assert outside.any()
    rows.loc[outside, "gap.absolute"] *= 2
    others = {gap_law.COLLAPSE: law_rows(seed=1), gap_law.LABELLED: law_rows(seed=2)}
    assert gap_law.judge({gap_law.ID: rows, **others}).verdict is Verdict.SUPPORTED


def exponent_rows(**exponents: float) -> dict[str, pd.DataFrame]:
    """Rows of the four studies; exponents that are not given are those of the claim."""
    rows = {}
    for name, x, claimed, _ in gap_exponents.EXPONENTS:
        power = exponents.get(name.rpartition("-")[2], claimed)
        sizes = [1e2, 1e3, 1e4, 1e5]
        rows[name] = scaling_rows({x: sizes}, _power(x, power), scatter=0.02)
    return rows


def _power(x: str, power: float) -> Callable[[pd.DataFrame], object]:
    return lambda part: part[x] ** power


def test_the_exponents_of_the_claim_are_supported() -> None:
    assert gap_exponents.judge(exponent_rows()).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize("part", ["d", "n", "trace", "fixed"])
def test_one_other_exponent_is_enough_for_a_no(part: str) -> None:
    finding = gap_exponents.judge(exponent_rows(**{part: 0.25}))
    assert finding.verdict is Verdict.NOT_SUPPORTED
    assert sum(quantity.met is False for quantity in finding.quantities) == 1


@pytest.mark.parametrize(
    ("faults", "verdict"), [(0, Verdict.SUPPORTED), (9, Verdict.INCONCLUSIVE), (60, Verdict.NOT_SUPPORTED)]
)
@pytest.mark.parametrize("half", ["run.positive_kept", "run.negative_off"])
def test_activity_is_judged_in_both_halves(half: str, faults: int, verdict: Verdict) -> None:
    rows = table({"run.positive_kept": [1.0] * 120, "run.negative_off": [1.0] * 120, "problem.n_samples": [20] * 120})
    rows.loc[: faults - 1, half] = 0.95
    assert activity_single.judge({activity_single.ID: rows}).verdict is verdict
