"""Judges of flows, other activations, losses and of test errors: yes to the world they claim, no to each other one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from claim_cases import table

from relubias.claims import Verdict, activations, finite_step, flow_near, load, losses, orthogonal_rows, test_error
from relubias.claims.claim import Rows

#: pytest takes a module of this name for a test otherwise.
errors = test_error
del test_error


def scattered(values: Any, seed: int, size: float = 0.01) -> Any:
    """Values with scatter in their logarithms."""
    values = np.asarray(values, dtype=float)
    return values * np.exp(size * np.random.default_rng(seed).standard_normal(len(values)))


def step_rows(exponent: float = 1.0, *, bend: float = 0.0, status: str = "certified") -> Rows:
    cells = [(c, trial) for c in finite_step.STEPS for trial in range(20)]
    c = np.array([c for c, _ in cells])
    distance = scattered(c**exponent * np.exp(bend * np.log(c / 0.01) ** 2), 0, 0.05)
    columns = {finite_step.STEP: [f"{value:g}/trace" for value in c], finite_step.DISTANCE: distance}
    return {finite_step.ID: table(columns, **{"run.status": status})}


@pytest.mark.parametrize(
    ("world", "verdict"),
    [
        ({}, "supported"),
        ({"exponent": 0.9}, "not supported"),
        ({"exponent": 0.5}, "not supported"),
        ({"bend": 0.1}, "inconclusive"),
        ({"status": "budget"}, "inconclusive"),
    ],
)
def test_the_distance_to_the_flow_has_to_be_proportional_to_the_step(world: dict[str, Any], verdict: str) -> None:
    from relubias.claims.result import opinion

    assert opinion(load("finite_step").judge, step_rows(**world)).verdict == verdict


def near_rows(*, flow: float = 1e-3, slope: float = -1.0, fitted: float = 1.0) -> Rows:
    cells = [d for d in (500.0, 1000.0, 4000.0) for _ in range(40)]
    rows = table({flow_near.D: cells})
    rows[flow_near.DESCENT] = scattered(np.full(len(rows), 0.9), 0)
    rows[flow_near.FLOW] = scattered(flow * (rows[flow_near.D] / 500) ** slope, 1, 0.3)
    return {flow_near.ID: rows.assign(**{flow_near.FITTED: 1.0, flow_near.FLOW_FITTED: fitted})}


@pytest.mark.parametrize(
    ("world", "verdict"),
    [
        ({}, Verdict.SUPPORTED),
        ({"flow": 0.5}, Verdict.NOT_SUPPORTED),
        ({"slope": 0.5}, Verdict.NOT_SUPPORTED),
        ({"fitted": 0.96}, Verdict.NOT_SUPPORTED),
    ],
)
def test_the_flow_has_to_be_near_to_come_nearer_and_to_be_a_solution(world: Any, verdict: Verdict) -> None:
    assert flow_near.judge(near_rows(**world)).verdict is verdict


def test_half_the_step_stands_for_the_flow_trial_by_trial() -> None:
    rows = near_rows()[flow_near.ID]
    half = rows.drop(columns=[flow_near.FLOW, flow_near.FLOW_FITTED]).assign(**{flow_near.DESCENT: 0.45})
    control = load("flow_near").control.rows({flow_near.ID: rows, flow_near.CONTROL: half})
    assert (control[flow_near.ID][flow_near.FLOW] == 0.45).all()
    assert flow_near.judge(control).verdict is Verdict.NOT_SUPPORTED


def orthogonal(*, gap: float = 1e-15, power: float = 0.5, size: float = 0.1, fitted: int = 8) -> Rows:
    first = table({orthogonal_rows.GAP: [gap] * 20}, **{"run.interpolated": 8})
    cells = [scale for scale in (1e-1, 1e-3, 1e-6) for _ in range(12)]
    both = table({orthogonal_rows.SCALE: cells}, **{"run.status": "converged", "run.interpolated": fitted})
    both[orthogonal_rows.EXCESS] = scattered(size * both[orthogonal_rows.SCALE] ** power, 2, 0.05)
    return {orthogonal_rows.ID: first, orthogonal_rows.LAYERS: both}


@pytest.mark.parametrize(
    ("world", "verdict"),
    [
        ({}, Verdict.SUPPORTED),
        ({"gap": 1e-3}, Verdict.NOT_SUPPORTED),
        ({"power": -0.1}, Verdict.NOT_SUPPORTED),
        ({"power": 0.01, "size": 0.2}, Verdict.NOT_SUPPORTED),
        ({"fitted": 7}, Verdict.NOT_SUPPORTED),
    ],
)
def test_both_halves_of_orthogonal_samples_can_be_missed(world: Any, verdict: Verdict) -> None:
    assert orthogonal_rows.judge(orthogonal(**world)).verdict is verdict


def activation_rows(column: str = "", value: float = 1.0, *, cycling: bool = True, distance: float = 1e-15) -> Rows:
    names = [*activations.LEAKY, "identity", "absolute"]
    rows = table({activations.ACTIVATION: [name for name in names for _ in range(40)]})
    shares = dict.fromkeys((*activations.FITTED, "run.positive_kept", "run.negative_off"), 1.0)
    rows = rows.assign(**(shares | ({column: value} if column else {}) | {activations.LINEAR: distance}))
    rows.loc[rows[activations.ACTIVATION] == "absolute", "run.status"] = "cycling" if cycling else "certified"
    return {activations.ID: rows}


@pytest.mark.parametrize(
    ("world", "verdict"),
    [
        ({}, Verdict.SUPPORTED),
        ({"column": "run.negative_fitted", "value": 0.9}, Verdict.NOT_SUPPORTED),
        ({"column": "run.positive_kept", "value": 0.9}, Verdict.NOT_SUPPORTED),
        ({"column": "run.negative_off", "value": 0.9}, Verdict.NOT_SUPPORTED),
        ({"distance": 1e-3}, Verdict.NOT_SUPPORTED),
        ({"cycling": False}, Verdict.NOT_SUPPORTED),
    ],
)
def test_every_activation_has_to_do_what_is_said_of_it(world: Any, verdict: Verdict) -> None:
    assert activations.judge(activation_rows(**world)).verdict is verdict


def loss_rows(column: str = "", value: float = 1.0, *, depth: float = 0.97) -> Rows:
    rows = table(
        {losses.LOSS: [name for name in losses.LOSSES for _ in range(40)]}, **dict.fromkeys(losses.COLUMNS, 1.0)
    )
    rows.loc[rows[losses.LOSS] != "squared", "run.status"] = "converged"
    other = rows[losses.LOSS] == "huber"
    if column:
        rows.loc[other, column] = value
    rows[losses.STEP], rows[losses.GAP] = 1.0, np.where(other, depth, 0.97)
    return {losses.ID: rows}


@pytest.mark.parametrize(
    ("world", "verdict"),
    [({}, Verdict.SUPPORTED), ({"depth": 0.7}, Verdict.NOT_SUPPORTED), ({"depth": 1.3}, Verdict.NOT_SUPPORTED)]
    + [({"column": column, "value": 0.9}, Verdict.NOT_SUPPORTED) for column in losses.COLUMNS],
)
def test_every_loss_has_to_select_to_fit_and_to_have_its_depth(world: Any, verdict: Verdict) -> None:
    assert losses.judge(loss_rows(**world)).verdict is verdict


def error_rows(linear: float = 1.5, relu: float = 1.0, *, d: float = -0.5, n: float = 1.0, least: float = 0.05) -> Rows:
    """What is learned of each teacher, over what w* learns, with powers of d and n; E(0) = 2."""
    rows: dict[str, pd.DataFrame] = {}
    for teacher, ratio in (("linear", linear), ("relu", relu)):
        over_d = table({errors.D: [x for x in (1e4, 1e5, 1e6) for _ in range(40)]}, **{errors.NOTHING: 2.0})
        over_n = table({errors.N: [x for x in (50.0, 100.0, 200.0) for _ in range(10)]}, **{errors.NOTHING: 2.0})
        for part, learned in ((over_d, (over_d[errors.D] / 1e6) ** d), (over_n, (over_n[errors.N] / 100) ** n)):
            skill = scattered(least * learned, 3) if least > 0 else least * learned
            part[errors.SHORTEST], part[errors.END], part[errors.LINE] = 2 - skill, 2 - ratio * skill, 2 - 4 * skill
            part[errors.GAP] = 0.5
        rows |= {f"{errors.ID}-{teacher}": over_d, f"{errors.ID}-{teacher}-n": over_n}
    return rows


@pytest.mark.parametrize(
    ("world", "verdict"),
    [
        ({}, Verdict.SUPPORTED),
        ({"linear": 1.0}, Verdict.NOT_SUPPORTED),
        ({"linear": 4.0}, Verdict.NOT_SUPPORTED),
        ({"relu": 1.5}, Verdict.NOT_SUPPORTED),
        ({"d": 0.2}, Verdict.NOT_SUPPORTED),
        ({"n": -0.5}, Verdict.NOT_SUPPORTED),
    ],
)
def test_what_is_learned_has_its_ratio_and_its_slopes(world: Any, verdict: Verdict) -> None:
    assert errors.judge(error_rows(**world)).verdict is verdict


def test_nothing_is_supported_where_the_minimum_norm_learns_nothing() -> None:
    from relubias.claims.result import opinion

    assert opinion(errors.judge, error_rows(least=-0.01)).verdict is not Verdict.SUPPORTED


def test_the_linear_interpolant_in_the_place_of_the_limit_is_refused() -> None:
    rows = {name: part.assign(**{errors.END: part[errors.LINE]}) for name, part in error_rows().items()}
    assert errors.judge(rows).verdict is Verdict.NOT_SUPPORTED


def test_a_minimum_norm_that_is_not_proven_decides_nothing() -> None:
    rows = error_rows()
    rows[f"{errors.ID}-linear"].loc[:20, "reference.status"] = "budget"
    assert errors.judge(rows).verdict is Verdict.INCONCLUSIVE
