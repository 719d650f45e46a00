"""Judges of what becomes of single samples: yes where all is as claimed, no otherwise, and no for the uncertified."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from claim_cases import table

from relubias.claims import (
    Verdict,
    closed_form,
    failure_rate,
    feature_families,
    lemma_activity,
    lemma_inactivity,
    load,
    selection,
    settling_step,
)

D = "problem.features.n_features"


def selection_rows(*, distance: float = 1.0, silent: float = 1.0, falls: float = -0.5) -> pd.DataFrame:
    """Distances that are a factor off the law at every c but 1, where they are d to a power."""
    cells = [(d, c) for d in (1e4, 1e5, 1e7) for c in (0.1, 0.5, 1.0, 1.5) for _ in range(20)]
    rows = table({D: [d for d, _ in cells], selection.STEP: [f"{c:g}/trace" for _, c in cells]})
    c, spread = np.array([c for _, c in cells]), 0.002 * np.random.default_rng(0).standard_normal(len(rows))
    rows[selection.LABELS], rows[selection.NEGATIVE] = 9.0, 6.0
    law = np.abs(1 - c) * 6 / 9 * distance
    rows["linear.distance"] = np.where(c == 1, 5.0 * rows[D] ** falls, law) * (1 + spread)
    return rows.assign(**{"run.positive_fitted": 1.0, "run.negative_silent": silent})


def test_selection_is_supported_though_the_distance_vanishes_at_c_1() -> None:
    assert selection.judge({selection.ID: selection_rows()}).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize("world", [{"distance": 1.05}, {"distance": 0.95}, {"silent": 0.98}, {"falls": -0.3}])
def test_selection_needs_the_distance_the_zeros_and_the_meeting(world: dict[str, float]) -> None:
    assert selection.judge({selection.ID: selection_rows(**world)}).verdict is Verdict.NOT_SUPPORTED


def test_selection_is_not_decided_where_a_size_has_no_limits() -> None:
    rows = selection_rows()
    rows.loc[(rows[D] == 1e7) & (rows[selection.STEP] == "0.5/trace"), "run.status"] = "budget"
    assert selection.judge({selection.ID: rows}).verdict is Verdict.INCONCLUSIVE


def activity_rows(lost: int, *, lasting: bool = True, counter: int = 1) -> dict[str, pd.DataFrame]:
    rows = table({lemma_activity.LOST: [1] * lost + [0] * (100 - lost)}, **{"lemmas.activity_tested": 10})
    rows = rows.assign(**{"lemmas.guaranteed": False, "lemmas.lasting": lasting, lemma_activity.N: 20, D: 2000})
    return {lemma_activity.ID: rows, lemma_activity.COUNTER: table({lemma_activity.LOST: [counter]})}


@pytest.mark.parametrize(("lost", "verdict"), [(0, Verdict.SUPPORTED), (50, Verdict.NOT_SUPPORTED)])
def test_lemma_5_is_judged_run_by_run(lost: int, verdict: Verdict) -> None:
    assert lemma_activity.judge(activity_rows(lost)).verdict is verdict


def test_audits_that_end_too_early_decide_nothing_but_by_what_was_lost() -> None:
    assert lemma_activity.judge(activity_rows(0, lasting=False)).verdict is Verdict.INCONCLUSIVE
    assert lemma_activity.judge(activity_rows(50, lasting=False)).verdict is Verdict.NOT_SUPPORTED


def test_lemma_5_is_not_supported_by_an_audit_that_sees_no_loss() -> None:
    assert lemma_activity.judge(activity_rows(0, counter=0)).verdict is Verdict.NOT_SUPPORTED


def inactivity_rows(*, lasting: bool = True, **world: float) -> dict[str, pd.DataFrame]:
    """Runs as claimed; `world` has what differs: a column in deep runs, or `back`, how many return in shallow ones."""
    back = world.pop("back", 9)
    cells = [depth for depth in lemma_inactivity.DEPTHS for _ in range(40)]
    same = {lemma_inactivity.SIZE: 1.0, lemma_inactivity.D2: 6000.0, lemma_inactivity.TESTED: 300}
    held = dict.fromkeys((lemma_inactivity.FROM, lemma_inactivity.DUAL, lemma_inactivity.MOVED), 0.0)
    rows = table({lemma_inactivity.DEPTH: cells}, **same, **held, **{"lemmas.lasting": lasting})
    far, near = rows[lemma_inactivity.DEPTH] == 2.0, rows[lemma_inactivity.DEPTH] == 0.1
    rows[lemma_inactivity.DEEPEST] = rows[lemma_inactivity.DEPTH]
    rows = rows.assign(**dict.fromkeys((lemma_inactivity.BACK, lemma_inactivity.OWN, lemma_inactivity.OTHERS), 0))
    rows.loc[near, lemma_inactivity.BACK] = back
    first = rows[far | near].assign(**{"dynamics.step_size": "0.5/trace"})
    for name, value in world.items():
        in_first = name.startswith("first_")
        column = getattr(lemma_inactivity, name.removeprefix("first_").upper())
        part = first if in_first else rows
        part.loc[part[lemma_inactivity.DEPTH] == 2.0, column] = value
    return {lemma_inactivity.ID: rows, lemma_inactivity.FIRST: first}


def test_lemma_6_is_supported_where_the_deep_stay_and_the_shallow_come_back() -> None:
    assert lemma_inactivity.judge(inactivity_rows()).verdict is Verdict.SUPPORTED
    # What comes back from less than the depth that is claimed to be enough does not matter.
    assert lemma_inactivity.judge(inactivity_rows(dual=1.4, first_from=1.4)).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(
    "world",
    [
        {"own": 1}, {"others": 1}, {"dual": 1.6}, {"moved": 1.6}, {"first_from": 1.6}, {"first_dual": 1.6},
        {"first_moved": 1.6}, {"back": 0},
    ],
)  # fmt: skip
def test_each_half_of_lemma_6_is_needed(world: dict[str, float]) -> None:
    assert lemma_inactivity.judge(inactivity_rows(**world)).verdict is Verdict.NOT_SUPPORTED  # type: ignore[arg-type]


def test_of_lemma_6_audits_that_end_too_early_decide_nothing_but_by_what_came_back() -> None:
    assert lemma_inactivity.judge(inactivity_rows(lasting=False)).verdict is Verdict.INCONCLUSIVE
    assert lemma_inactivity.judge(inactivity_rows(lasting=False, own=1)).verdict is Verdict.NOT_SUPPORTED


def settled_rows(late: float) -> pd.DataFrame:
    cells = [d for d in (50.0, 12_800.0, 51_200.0) for _ in range(50)]
    rows = table({D: cells}, **{"run.stabilised_at": 1.0})
    last = (rows[D] > 50) & (rows["trial"] % 10 < 10 * late)
    first = rows[D] == 50
    rows[settling_step.SETTLED] = ~(last | first)
    rows.loc[first | last, "run.stabilised_at"] = 30.0
    return rows


@pytest.mark.parametrize(("late", "verdict"), [(0.0, Verdict.SUPPORTED), (0.5, Verdict.NOT_SUPPORTED)])
def test_settling_is_judged_where_d_is_large(late: float, verdict: Verdict) -> None:
    assert settling_step.judge({settling_step.ID: settled_rows(late)}).verdict is verdict


def failure_rows(rates: dict[float, float], *, unfitted: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)) -> pd.DataFrame:
    """Rates of failure by d, and of unfitted labels at each d in order."""
    cells = [(d, trial < rate * 50) for d, rate in rates.items() for trial in range(50)]
    rows = table({D: [d for d, _ in cells]}, **{"run.positive_kept": 1.0, "run.dead": 0})
    fitted = [
        0.9 if trial < share * 50 else 1.0 for _, share in zip(rates, unfitted, strict=False) for trial in range(50)
    ]
    return rows.assign(**{"run.negative_off": [0.9 if bad else 1.0 for _, bad in cells], "run.positive_fitted": fitted})


@pytest.mark.parametrize(
    ("rates", "verdict"),
    [
        ({50: 1.0, 500: 0.4, 50_000: 0.0}, Verdict.SUPPORTED),
        ({50: 1.0, 500: 1.0, 50_000: 0.9}, Verdict.NOT_SUPPORTED),
        ({50: 0.0, 500: 0.0, 50_000: 0.0}, Verdict.NOT_SUPPORTED),
        ({50: 0.6, 100: 0.2, 500: 0.9, 50_000: 0.0}, Verdict.NOT_SUPPORTED),
    ],
)
def test_failures_have_to_be_usual_become_rare_and_never_rise(rates: dict[float, float], verdict: Verdict) -> None:
    assert failure_rate.judge({failure_rate.ID: failure_rows(rates)}).verdict is verdict


@pytest.mark.parametrize("unfitted", [(0.0, 0.0, 0.0), (1.0, 1.0, 1.0)])
def test_labels_have_to_be_unfitted_where_d_is_small_and_only_there(unfitted: tuple[float, ...]) -> None:
    rows = failure_rows({50: 1.0, 500: 0.4, 50_000: 0.0}, unfitted=unfitted)
    assert failure_rate.judge({failure_rate.ID: rows}).verdict is Verdict.NOT_SUPPORTED


def test_labels_that_are_unfitted_so_far_decide_nothing() -> None:
    rows = failure_rows({50: 1.0, 500: 0.4, 50_000: 0.0})
    rows.loc[rows[D] == 50, "run.status"] = "budget"
    assert failure_rate.judge({failure_rate.ID: rows}).verdict is Verdict.INCONCLUSIVE


def test_uncertified_runs_may_be_failures() -> None:
    rows = failure_rows({50: 1.0, 50_000: 0.0})
    rows.loc[rows[D] == 50_000, "run.status"] = "budget"
    assert failure_rate.judge({failure_rate.ID: rows}).verdict is Verdict.INCONCLUSIVE
    rows = failure_rows({50: 0.0, 50_000: 0.0})
    rows.loc[rows[D] == 50, "run.status"] = "budget"
    assert failure_rate.judge({failure_rate.ID: rows}).verdict is Verdict.INCONCLUSIVE


def family_rows(kept: float = 1.0, ratio: float = 1.0) -> dict[str, pd.DataFrame]:
    families = [
        '{"kind": "gaussian", "n_features": 100}',
        '{"density": 0.3, "kind": "sparse-signs", "n_features": 100}',
    ]
    noise = 1 + 0.005 * np.random.default_rng(0).standard_normal(80)
    same = {"run.positive_kept": 1.0, "run.negative_off": 1.0, "law.ratio": noise}
    rows = table({feature_families.FEATURES: [name for name in families for _ in range(40)]}, **same)
    second = rows[feature_families.FEATURES] == families[1]
    rows.loc[second, "run.positive_kept"] = kept
    rows.loc[second, "law.ratio"] *= ratio
    spectra = table(
        {"problem.features.spectrum": [name for name in "abc" for _ in range(10)]}, **{**same, "law.ratio": 1.0}
    )
    return {feature_families.ID: rows, feature_families.SPECTRA: spectra}


def test_families_are_supported_where_each_is_as_claimed() -> None:
    finding = feature_families.judge(family_rows())
    assert finding.verdict is Verdict.SUPPORTED
    assert "sparse-signs 0.3" in finding.sentence


@pytest.mark.parametrize("world", [{"kept": 0.95}, {"ratio": 1.05}])
def test_one_other_family_is_enough_for_a_no(world: dict[str, float]) -> None:
    assert feature_families.judge(family_rows(**world)).verdict is Verdict.NOT_SUPPORTED


def form_rows(distance: float) -> pd.DataFrame:
    rows = table(
        {
            closed_form.DISTANCE: [1e-14] * 29 + [distance] + [0.5] * 10,
            D: [100.0] * 40,
            closed_form.SIGNS: ["pair"] * 40,
        }
    )
    return rows.assign(**{closed_form.SETTLED: [True] * 30 + [False] * 10})


@pytest.mark.parametrize(("distance", "verdict"), [(1e-13, Verdict.SUPPORTED), (1e-6, Verdict.NOT_SUPPORTED)])
def test_the_closed_form_is_judged_by_the_farthest_run_that_settled(distance: float, verdict: Verdict) -> None:
    assert closed_form.judge({closed_form.ID: form_rows(distance)}).verdict is verdict


def test_without_a_run_that_settled_nothing_is_known_of_the_closed_form() -> None:
    rows = form_rows(1e-13).assign(**{closed_form.SETTLED: False})
    assert closed_form.judge({closed_form.ID: rows}).verdict is Verdict.INCONCLUSIVE


def test_the_control_of_the_closed_form_has_the_runs_that_changed_later() -> None:
    rows = load("closed_form").control.rows({closed_form.ID: form_rows(1e-14)})[closed_form.ID]
    assert (rows[closed_form.DISTANCE] == 0.5).all()
    assert closed_form.judge({closed_form.ID: rows}).verdict is Verdict.NOT_SUPPORTED
