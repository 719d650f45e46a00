"""Judges of the gap, of the step and of K: yes where the law holds, no with another exponent or constant."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from claim_cases import scaling_rows, table

from relubias.claims import Verdict, concentration, relative_gap, start_scale, step_size, theta_constants

D = "problem.features.n_features"


def relative_rows(exponent: float = 0.0, constant: float = 1.0) -> pd.DataFrame:
    sizes = [1e6, 1e8, 1e10, 1e12]
    rows = scaling_rows({D: sizes}, lambda part: 0.9 * part[D] ** exponent, scatter=0.02, y=relative_gap.RELATIVE)
    rows[relative_gap.STEP], rows[relative_gap.LAW] = "1/trace", rows[relative_gap.RELATIVE] / constant
    return rows


def test_a_relative_gap_that_stays_is_supported() -> None:
    assert relative_gap.judge({relative_gap.ID: relative_rows()}).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize("world", [{"exponent": -0.5}, {"exponent": -0.04}, {"constant": 1.1}])
def test_a_relative_gap_that_falls_or_is_another_is_not_supported(world: dict[str, float]) -> None:
    assert relative_gap.judge({relative_gap.ID: relative_rows(**world)}).verdict is Verdict.NOT_SUPPORTED


def theta_rows(power: float = 0.0, constant: float = 1.0) -> pd.DataFrame:
    """Gaps whose quotient is a constant times a power of n."""
    rng = np.random.default_rng(0)
    cells = [(n, n * ratio, c) for n in (20, 80) for ratio in (400, 10**5) for c in (1.0, 0.5) for _ in range(20)]
    rows = table({theta_constants.N: [n for n, *_ in cells], D: [float(d) for _, d, _ in cells]})
    rows[theta_constants.STEP] = [f"{c:g}/trace" for *_, c in cells]
    rows[theta_constants.TRACE], rows[theta_constants.NEGATIVE] = rows[D], np.sqrt(0.5 * rows[theta_constants.N])
    c = np.array([c for *_, c in cells])
    quotient = constant * (rows[theta_constants.N] / 20) ** power * (1 + 0.005 * rng.standard_normal(len(rows)))
    rows["gap.absolute"] = quotient * c * rows[theta_constants.NEGATIVE] / np.sqrt(rows[D])
    return rows


@pytest.mark.parametrize(
    ("world", "verdict"),
    [
        ({}, Verdict.SUPPORTED),
        ({"power": 0.1}, Verdict.NOT_SUPPORTED),
        ({"power": -0.1}, Verdict.NOT_SUPPORTED),
        ({"constant": 1.1}, Verdict.NOT_SUPPORTED),
        ({"constant": 0.9}, Verdict.NOT_SUPPORTED),
    ],
)
def test_both_constants_can_be_missed(world: dict[str, float], verdict: Verdict) -> None:
    assert theta_constants.judge({theta_constants.ID: theta_rows(**world)}).verdict is verdict


def scale_rows(*, ratio: float = 1.0, beyond: float = 0.0) -> pd.DataFrame:
    cells = [part for part in start_scale.PARTS for _ in range(30)]
    rows = table({start_scale.SCALE: cells}, **{start_scale.STEP: "0.5/trace", "law.corrected": 1.0})
    small = rows[start_scale.SCALE] < 1
    rows["gap.absolute"], rows["problem.lambda_norm"] = np.where(small, ratio, 3.0), 1.0
    rows[start_scale.OFF] = np.where(small, 1.0, beyond)
    return rows


@pytest.mark.parametrize(
    ("world", "verdict"),
    [({}, Verdict.SUPPORTED), ({"ratio": 1.03}, Verdict.NOT_SUPPORTED), ({"beyond": 1.0}, Verdict.NOT_SUPPORTED)],
)
def test_the_law_has_to_hold_up_to_its_end_and_to_end_there(world: dict[str, float], verdict: Verdict) -> None:
    assert start_scale.judge({start_scale.ID: scale_rows(**world)}).verdict is verdict


def step_rows(exponent: float = 1.0, *, above: float = 0.0) -> dict[str, pd.DataFrame]:
    rows = scaling_rows(
        {step_size.STEP: [0.01, 0.1, 0.5, 1.5]}, lambda part: part[step_size.STEP] ** exponent, scatter=0.02
    )
    steps = [step_size.BELOW, step_size.ABOVE]
    edge = table({step_size.STEP: [f"{c}/trace" for c in steps for _ in range(40)]}, **{"run.dead": 0})
    edge[step_size.FITTED] = [value for value in (1.0, above) for _ in range(40)]
    return {step_size.ID: rows, step_size.EDGE: edge}


@pytest.mark.parametrize(
    ("world", "verdict"),
    [({}, Verdict.SUPPORTED), ({"exponent": 1.1}, Verdict.NOT_SUPPORTED), ({"above": 1.0}, Verdict.NOT_SUPPORTED)],
)
def test_the_step_needs_its_exponent_and_its_bound(world: dict[str, float], verdict: Verdict) -> None:
    assert step_size.judge(step_rows(**world)).verdict is verdict


def deviation_rows(**constants: float) -> dict[str, pd.DataFrame]:
    rows = {}
    for name in (concentration.ID, concentration.BULK, concentration.SPIKE):
        constant = constants.get(name.rpartition("-")[2], 1.0)
        sizes = {concentration.N: [25.0, 50.0, 100.0, 200.0]}
        part = scaling_rows(sizes, lambda cells: 1 - cells[concentration.N] ** -1.0, scatter=0.002, y="x")
        part[concentration.DEVIATION], part[concentration.PREDICTED] = constant * part["x"], 1.0
        rows[name] = part
    return rows


@pytest.mark.parametrize(
    ("world", "verdict"),
    [
        ({}, Verdict.SUPPORTED),
        ({"concentration": 0.8}, Verdict.NOT_SUPPORTED),
        ({"blocks": 1.5}, Verdict.NOT_SUPPORTED),
        ({"spike": 1.4}, Verdict.NOT_SUPPORTED),
        ({"spike": 0.5}, Verdict.SUPPORTED),
    ],
)
def test_k_concentrates_as_predicted_or_not(world: dict[str, float], verdict: Verdict) -> None:
    assert concentration.judge(deviation_rows(**world)).verdict is verdict
