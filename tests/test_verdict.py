"""What an analysis means: the sentences say what the numbers say."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import no_positive_label, random_problem

import relubias
from relubias import Analysis, Descent, Network, Problem, Run, Status, analyze, sampling, starts
from relubias.verdict import Parts, verdict

Array = np.ndarray
ONE = Network.single()


def said(analysis: Analysis) -> str:
    return "\n".join(analysis.verdict)


def parts_of(analysis: Analysis, **changes: Any) -> Parts:
    """The parts of an analysis with some of them replaced, fields of the run by ``run_...``."""
    run_changes = {name[4:]: value for name, value in changes.items() if name.startswith("run_")}
    run = dataclasses.replace(analysis.run, **run_changes)
    others = {name: value for name, value in changes.items() if not name.startswith("run_")}
    parts = Parts(run, analysis.regime, analysis.reference, analysis.linear, analysis.gap, "", "")
    return parts._replace(**others)


def reworded(analysis: Analysis, **changes: Any) -> str:
    return "\n".join(verdict(parts_of(analysis, **changes)))


def stopped(analysis: Analysis, status: Status, message: str = "why.") -> dict[str, Any]:
    return {"run_status": status, "run_message": message, "run_stabilised_at": None}


@pytest.fixture(scope="module")
def clean() -> Analysis:
    """n = 20, d = 20 000: everything is as the theorems say."""
    return analyze(random_problem(20, 20_000, seed=1))


def test_in_the_regime_positive_samples_are_selected(clean: Analysis) -> None:
    text = said(clean)
    assert "The data are in the regime of the paper's theorems, as far as d₂ tells." in text
    assert (
        "ReLU selected the positive samples: all 10 positive labels are interpolated; "
        "on all 10 negative labels the prediction is exactly 0." in text
    )
    assert (
        "The activation pattern changed at 1 step, the last at step 1; no later change is possible: certified." in text
    )
    assert "10 samples active at the start went off for the last time at step 1." in text


def test_a_negative_neuron_is_told_in_mirrored_words() -> None:
    problem = random_problem(20, 20_000, seed=1)
    mirrored = Problem.from_features(problem.features, -problem.labels)
    text = said(analyze(mirrored, Network.single(sign=-1)))
    assert (
        "ReLU selected the negative samples: all 10 negative labels are interpolated; "
        "on all 10 positive labels the prediction is exactly 0." in text
    )


def test_both_gaps_stand_side_by_side_with_the_norm_and_the_proof(clean: Analysis) -> None:
    assert clean.gap is not None
    assert clean.reference is not None
    assert clean.gap.relative is not None
    absolute, relative, norm = (f"{x:.4g}" for x in (clean.gap.absolute, clean.gap.relative, clean.reference.norm))
    text = said(clean)
    assert f"The limit is at distance {absolute} (absolute), {relative} (relative to ‖w*‖ = {norm})" in text
    assert f"no solution is shorter than {clean.reference.lower_bound:.10g}" in text
    assert "The linear minimum-norm interpolant, which fits labels of both signs, has norm" in text


@pytest.mark.parametrize(("fraction", "scale"), [(0.1, 1e-3), (0.5, 1e-3), (0.5, 0.2), (1.0, 0.2)])
def test_the_relative_gap_is_explained_by_the_finite_step(fraction: float, scale: float) -> None:
    """At n/d = 1/2500 the law is right to its first correction, about √(n/d₂)/(4c), for starts of any size ε."""
    problem = random_problem(20, 50_000, seed=2)
    start = starts.all_active(problem, ONE, scale=scale)
    step_size = relubias.step_sizes.relative(problem, fraction)
    analysis = analyze(problem, ONE, start, dynamics=Descent(step_size=step_size))
    labels = problem.labels
    kept = fraction * np.abs(labels[labels < 0]) - (1 - fraction) * start.primal[0, labels < 0]
    law = np.linalg.norm(kept) / np.linalg.norm(labels[labels > 0])
    assert f"it is about ‖c |y₋| − (1 − c) β₀‖/‖y₊‖ = {law:.4g} with c = η‖λ‖₁ = {fraction:.4g}" in said(analysis)
    assert analysis.gap is not None
    assert analysis.gap.relative == pytest.approx(law, rel=0.5 * np.sqrt(20 / 50_000) / fraction)


def test_the_finite_step_explains_nothing_where_other_samples_were_left_out() -> None:
    """The law is that of exactly the samples of the other sign going off at step 1."""
    problem = random_problem(20, 50_000, seed=2)
    step_size = relubias.step_sizes.relative(problem, 0.5)
    analysis = analyze(problem, ONE, dynamics=Descent(step_size=step_size))
    primal = analysis.run.state.primal.copy()
    primal[0, np.flatnonzero(problem.labels > 0)[0]] = -1.0
    other = dataclasses.replace(analysis.run.state, primal=primal)
    assert "effect of the finite step" in "\n".join(verdict(parts_of(analysis)))
    assert "effect of the finite step" not in "\n".join(verdict(parts_of(analysis, run_state=other)))


def test_outside_the_regime_the_finite_step_explains_nothing() -> None:
    assert "effect of the finite step" not in said(analyze(random_problem(20, 15, seed=1)))


def test_exceptions_are_named_five_at_most(clean: Analysis) -> None:
    dual = clean.run.state.dual.copy()
    primal = clean.run.state.primal.copy()
    primal[0, :7] *= 0.9
    primal[0, 12] = 1.0
    text = reworded(clean, run_state=dataclasses.replace(clean.run.state, dual=dual, primal=primal))
    assert "ReLU did not select exactly the positive samples: 3 of 10 positive labels are interpolated" in text
    assert "(not row 1, row 2, row 3, row 4, row 5 and 2 more)" in text
    assert "on 9 of 10 negative labels the prediction is exactly 0 (not row 13)" in text


def test_positive_labels_alone_are_linear_regression() -> None:
    problem = random_problem(15, 300, seed=4)
    text = said(analyze(Problem.from_features(problem.features, np.abs(problem.labels) + 2.0)))
    assert "All labels are positive" in text
    assert "no sample was ever inactive, and training was linear regression throughout" in text
    assert "The activation pattern never changed; no later change is possible: certified." in text
    assert "centred labels (--centre-labels), if the ReLU is to have labels of the other sign to leave out" in text


def test_negative_labels_alone_are_explained_and_the_remedy_is_named() -> None:
    analysis = analyze(no_positive_label())
    text = said(analysis)
    assert analysis.run.status is Status.CERTIFIED
    assert np.all(analysis.run.state.predictions == 0)
    assert "No label is positive: a positive neuron can only output values ≥ 0, so that 0 is its best fit" in text
    assert "the prediction is exactly 0 on all 12 samples" in text
    assert "undefined (relative to ‖w*‖ = 0)" in text
    assert "w* = 0 is the shortest needs no proof" in text
    assert "centred labels (--centre-labels), a negative neuron (--network=-) or a pair (--network pair)" in text


def test_a_pair_is_the_remedy_for_labels_of_the_other_sign(clean: Analysis) -> None:
    assert "a pair of neurons (--network pair): no neuron here has the sign of the negative labels" in said(clean)


def test_labels_of_zero_are_counted_apart() -> None:
    problem = random_problem(20, 2_000, seed=1)
    labels = np.where(np.arange(20) % 5 == 0, 0.0, problem.labels)
    text = said(analyze(Problem.from_features(problem.features, labels)))
    assert "on all 4 labels of 0 it is exactly 0" in text


def test_labels_all_zero_have_a_verdict_too() -> None:
    text = said(analyze(Problem.from_gram([[1.0]], [0.0])))
    assert "All labels are 0" in text
    assert "The pre-activation tends to 0, the kink of the activation, for row 1." in text


def test_a_death_is_told_with_its_step_and_what_stayed_unfit() -> None:
    """Samples that all point the same way: the many negative labels drag the positive one down."""
    rng = np.random.default_rng(0)
    features = 10.0 + rng.normal(size=(12, 30))
    analysis = analyze(Problem.from_features(features, np.where(np.arange(12) == 0, 1.0, -1.0)))
    text = said(analysis)
    assert analysis.run.status is Status.DEAD
    assert "The neuron died at step 1: since then it has no active sample" in text
    assert "It was needed: 1 positive label stayed unfit." in text
    assert "Try next: standardised features (--preprocess standardise): as they are, few directions dominate" in text


def test_standardising_is_advised_only_where_it_can_be_done(tmp_path: Path) -> None:
    advice = "--preprocess standardise"
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(12) == 0, 1.0, -1.0)
    problem = Problem.from_features(10.0 + rng.normal(size=(12, 30)), labels)
    analysis = analyze(problem)
    assert advice in said(analysis)
    assert Analysis.load(analysis.save(tmp_path / "analysis.npz")).verdict == analysis.verdict
    without = analyze(Problem.load(problem.save(tmp_path / "problem.npz")))
    assert advice not in said(without)
    again = Analysis.load(without.save(tmp_path / "without.npz"))
    assert again.verdict == without.verdict
    for features in (False, True):
        drawn = sampling.subspace(n_samples=12, n_features=60, dimension=3, features=features, rng=0)
        assert "outside the regime" in said(analyze(drawn))
        assert advice not in said(analyze(drawn))


def test_centring_the_labels_is_not_advised_for_draws() -> None:
    for labels in ("signs fraction=1", "signs fraction=0"):
        drawn = sampling.gaussian(n_samples=8, n_features=500, labels=labels, rng=0)
        assert "--centre-labels" not in said(analyze(drawn))
        assert "--centre-labels" in said(analyze(dataclasses.replace(drawn, population=None)))


def test_a_step_too_large_is_measured_against_the_stable_one() -> None:
    problem = random_problem(20, 400, seed=1)
    stable = relubias.step_sizes.stable(problem, Network.single(), 1.0)
    text = said(analyze(problem, dynamics=Descent(step_size=5 * stable)))
    assert "a smaller step" in text
    assert f"is 5 times the largest one that is stable for every pattern, 2/λ_max(H), and {stable / 4:.3g}" in text


def test_a_finite_run_speaks_of_its_state_and_of_the_limit_beyond() -> None:
    text = said(analyze(random_problem(20, 2_000, seed=1), dynamics=Descent(until=3)))
    assert "Training has no certified limit (reached)" in text
    assert "(of 3 taken); later changes are not excluded" in text
    assert "The state after 3 steps is at distance" in text
    assert "Try next: the exact limit" in text


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (Status.BUDGET, "a larger budget"),
        (Status.INTERRUPTED, "the exact limit"),
        (Status.CYCLING, "run.cycle holds the states that repeat"),
    ],
)
def test_every_early_end_has_its_remedy(clean: Analysis, status: Status, remedy: str) -> None:
    text = reworded(clean, **stopped(clean, status))
    assert f"Training has no certified limit ({status}): why." in text
    assert remedy in text


def test_conflicting_duplicates_and_zero_rows_are_named() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(10, 50))
    features[3], features[6] = features[1], 0.0
    labels = np.arange(1.0, 11.0)
    text = said(analyze(Problem.from_features(features, labels)))
    assert "Row 2 and row 4 coincide but have different labels, so that no model can interpolate them all." in text
    assert "Every feature of row 7 is 0, where no weights of the first layer change the prediction." in text
    assert "There is no gap to report, since the reference is infeasible" in text


def free_directions(analysis: Analysis) -> int:
    """The slow count: directions of weight space in which w* stays a solution, by an SVD of the rows that hold it."""
    problem, reference = analysis.problem, analysis.reference
    assert reference is not None
    weights = reference.state.weights()[0]
    pre = problem.features @ weights
    held = (problem.labels > 0) | (np.abs(pre) <= 1e-9 * np.abs(pre).max())
    return int(problem.n_features or 0) - int(np.linalg.matrix_rank(problem.features[held]))


@pytest.mark.parametrize(("n", "d"), [(12, 40), (30, 20)])
def test_the_number_of_free_directions_is_that_of_weight_space(n: int, d: int) -> None:
    rng = np.random.default_rng(5)
    features = rng.normal(size=(n, d))
    labels = np.where(np.arange(n) < 6, 1.0, -1.0)
    analysis = analyze(Problem.from_features(features, labels))
    free = free_directions(analysis)
    expected = f"{free} directions of the {d} being free at w*" if free else "no direction is free at w*"
    assert expected in said(analysis)


def test_as_many_positive_samples_as_features_leave_one_solution() -> None:
    rng = np.random.default_rng(5)
    features = rng.normal(size=(8, 3))
    weights = rng.normal(size=3)
    features *= np.sign(features @ weights)[:, None]
    analysis = analyze(Problem.from_features(features, features @ weights))
    assert "w* is the only solution" in said(analysis)


def test_without_features_solutions_are_counted_in_the_span(clean: Analysis) -> None:
    problem = clean.problem
    text = said(analyze(Problem.from_gram(problem.gram, problem.labels)))
    assert "K has rank 20 for 20 samples; infinitely many weights fit as well as w*" in text


def test_the_part_of_the_start_outside_the_span_is_mentioned() -> None:
    problem = random_problem(10, 200, seed=1)
    start = starts.gaussian(problem, Network.single(), rng=0, orthogonal=True)
    assert "outside the span of the samples, which training never moves" in said(analyze(problem, start=start))


def test_no_sentence_is_empty_or_repeated(clean: Analysis) -> None:
    assert len(set(clean.verdict)) == len(clean.verdict)
    assert all(sentence.endswith(".") and len(sentence) > 20 for sentence in clean.verdict)
    assert isinstance(clean.run, Run)
