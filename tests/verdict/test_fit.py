"""Dependent samples: what can be interpolated, what cannot, and how far training is from the best there is."""

from __future__ import annotations

import numpy as np
from helpers import random_problem, real_data

from relubias import Analysis, Descent, Network, Problem, Status, analyze, read
from relubias.verdict.fit import misfit


def said(analysis: Analysis) -> str:
    return "\n".join(analysis.verdict)


def positive_problem(n: int, d: int, seed: int) -> Problem:
    """More samples than features, all labels positive, and a positive feature: no sample ever becomes inactive."""
    rng = np.random.default_rng(seed)
    features = np.column_stack([5.0 + rng.uniform(size=n), rng.normal(size=(n, d - 1))])
    return Problem.from_features(features, 3.0 + 0.1 * rng.normal(size=n))


def test_training_without_a_solution_ends_at_the_least_squares_compromise() -> None:
    problem = positive_problem(12, 3, seed=0)
    analysis = analyze(problem)
    weights, *_ = np.linalg.lstsq(problem.features, problem.labels)
    error = np.abs(problem.features @ weights - problem.labels)
    text = said(analysis)
    assert analysis.run.status is Status.CERTIFIED
    assert f"the loss ½‖f − y‖² is {0.5 * error @ error:.4g}; at the least-squares" in text.replace(
        "The loss", "the loss"
    )
    assert "The 12 samples span 3 dimensions: any labels of 3 linearly independent samples can be interpolated" in text
    assert (
        "No weights fit the positive labels on all samples at once: every least-squares compromise misses all 12 "
        f"samples, row {error.argmax() + 1} by the most, {error.max():.4g}." in text
    )
    assert "from the least-squares compromise of least norm, ‖w‖ = " in text
    assert "There is no linear interpolant" not in text, "it is the same compromise"


def test_samples_outside_every_conflict_are_met() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(6, 40))
    features[1] = features[0]
    analysis = analyze(Problem.from_features(features, np.array([1.0, 2.0, 1.0, 1.0, -1.0, -1.0])))
    text = said(analysis)
    assert "misses 2 of 6 samples (row 1 and row 2) and meets the others" in text
    assert "No weights fit the positive labels and predict 0 elsewhere on all samples at once" in text


def test_the_misfit_of_a_neuron_and_that_of_a_linear_model_are_measured_against_what_each_should_fit() -> None:
    problem = random_problem(10, 4, seed=1)
    analysis = analyze(problem, dynamics=Descent(budget=1e4))
    assert analysis.linear is not None
    assert analysis.reference is not None
    weights, *_ = np.linalg.lstsq(problem.features, problem.labels)
    assert np.allclose(misfit(analysis.linear), np.abs(problem.features @ weights - problem.labels))
    wanted = np.where(problem.labels > 0, problem.labels, 0.0)
    assert np.allclose(misfit(analysis.reference), np.abs(analysis.reference.state.predictions - wanted))


def test_a_run_on_its_way_is_measured_against_the_least_loss() -> None:
    problem = random_problem(20, 2_000, seed=1)
    analysis = analyze(problem, dynamics=Descent(until=3))
    labels = problem.labels
    least = 0.5 * np.sum(labels[labels < 0] ** 2)
    assert f"; the least possible is {least:.4g}, that of w*." in said(analysis)
    residual = np.where(labels > 0, np.abs(analysis.run.state.residual), 0.0)
    assert f"; among the positive labels it is {residual.max():.4g} (row {residual.argmax() + 1})" in said(analysis)


def test_one_neuron_can_fit_what_no_linear_model_can() -> None:
    rng = np.random.default_rng(5)
    problem = Problem.from_features(rng.normal(size=(30, 20)), np.where(np.arange(30) < 6, 1.0, -1.0))
    text = said(analyze(problem, dynamics=Descent(budget=1e4)))
    assert "The 30 samples span 20 dimensions" in text
    assert "One neuron can do all that is asked of it: w* fits 6 positive labels and predicts 0 elsewhere." in text
    assert "There is no linear interpolant of all labels: every least-squares compromise misses all 30 samples" in text


def test_a_pair_is_told_what_a_linear_model_misses() -> None:
    text = said(analyze(random_problem(12, 5, seed=0), Network.pair(), dynamics=Descent(until=100)))
    assert "The 12 samples span 5 dimensions" in text
    assert "There is no linear interpolant of all labels: every least-squares compromise misses all 12 samples" in text


def test_tecator_as_it_is_ends_at_the_compromise() -> None:
    analysis = analyze(read(real_data("tecator.csv.gz"), target="y"), dynamics=Descent(budget=1e7))
    text = said(analysis)
    assert analysis.run.status is Status.CERTIFIED
    assert "The 215 samples span 100 dimensions" in text
    assert "every least-squares compromise misses all 215 samples, row 22 by the most, 3.358" in text
    assert analysis.reference is not None
    assert abs(analysis.run.state.norm / analysis.reference.norm - 1) < 1e-6


def test_tecator_with_centred_labels_says_how_far_it_got() -> None:
    problem = read(real_data("tecator.csv.gz"), target="y", centre_labels=True)
    analysis = analyze(problem, dynamics=Descent(budget=1e5))
    text = said(analysis)
    assert analysis.run.status is Status.BUDGET
    assert f"is spent at step {analysis.run.steps} after {analysis.run.pattern_changes} changes of pattern" in text
    assert f"The loss ½‖f − y‖² is {analysis.run.state.loss:.4g}; the least possible is 6284, that of w*." in text
    assert "One neuron can do all that is asked of it: w* fits 85 positive labels and predicts 0 elsewhere." in text
