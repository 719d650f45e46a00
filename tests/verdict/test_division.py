"""Several neurons: who fits what, whether a pair decouples, whether a partition is kept or invaded."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import random_problem

from relubias import Analysis, Descent, Network, Problem, analyze, starts, step_sizes
from relubias.verdict.division import TOLD, disjoint_owners, invaders, start_depth

SIX = Network.of_signs([1, 1, 1, -1, -1, -1])


def said(analysis: Analysis) -> str:
    return "\n".join(analysis.verdict)


@pytest.fixture(scope="module")
def problem() -> Problem:
    return random_problem(30, 3_000, seed=3)


@pytest.fixture(scope="module")
def kept(problem: Problem) -> Analysis:
    return analyze(problem, SIX, starts.disjoint(problem, SIX))


@pytest.fixture(scope="module")
def invaded(problem: Problem) -> Analysis:
    return analyze(problem, SIX, starts.disjoint(problem, SIX, depth=0.01))


def test_a_pair_at_high_dimension_decouples() -> None:
    analysis = analyze(random_problem(20, 20_000, seed=1), Network.pair())
    step = analysis.run.stabilised_at
    assert (
        f"The two neurons decoupled: from step {step} on and for ever, the positive one is active on exactly the "
        "positive labels, the negative one on exactly the negative ones." in said(analysis)
    )


def test_labels_of_one_sign_leave_nothing_to_be_divided() -> None:
    drawn = random_problem(10, 1000, seed=0)
    problem = Problem.from_features(drawn.features, np.abs(drawn.labels))
    assert not any("decouple" in sentence for sentence in analyze(problem, Network.pair()).verdict)


def test_a_pair_that_does_not_decouple_names_the_samples() -> None:
    analysis = analyze(random_problem(40, 400, seed=1), Network.pair())
    labels, pattern = analysis.problem.labels, analysis.run.state.pattern
    wrong = np.flatnonzero(np.where(labels > 0, pattern[1], pattern[0]))
    assert len(wrong) == 4
    names = [f"row {i + 1}" for i in wrong]
    assert (
        "The two neurons did not decouple; at the end: 4 samples active in a neuron of the other sign or "
        f"with label 0 ({', '.join(names[:3])} and {names[3]})." in said(analysis)
    )


def test_a_pair_on_its_way_is_decoupled_so_far_only() -> None:
    analysis = analyze(random_problem(20, 20_000, seed=1), Network.pair(), dynamics=Descent(until=5))
    assert "on and so far, the positive one" in said(analysis)


def test_a_deep_disjoint_start_keeps_its_partition(kept: Analysis, problem: Problem) -> None:
    text = said(kept)
    assert "The partition of the disjoint start is kept for ever: no sample changed its activity" in text
    assert "Neuron 1 (+) alone fits 5 positive labels; it is active on none of the 15 negative labels." in text
    estimate = problem.facts.d2_estimate
    assert estimate is not None
    depth = 3 * np.sqrt(30 / estimate.value) * np.abs(problem.labels).max()
    longest = max(np.linalg.norm(problem.labels[own]) for own in kept.run.start.pattern)
    size = np.sqrt(2 * np.log(30 * 5)) * longest / np.sqrt(estimate.value)
    assert (
        f"Inactive samples started at depth {depth:.4g}, {depth / size:.4g} times √(2 ln N) max ‖y_k‖/√d₂ = {size:.4g}"
        in text
    )
    assert "deeper" not in text


def test_a_shallow_one_is_invaded_and_the_first_invader_is_named(invaded: Analysis) -> None:
    run = invaded.run
    ever = invaders(run).any(axis=0)
    first = next(e for e in run.events if e["kind"] > 0 and not run.start.pattern[e["neuron"], e["sample"]])
    text = said(invaded)
    assert f"The partition of the disjoint start was invaded: {ever.sum()} samples (row" in text
    assert f", the first at step {first['time']}: row {first['sample'] + 1} in neuron {first['neuron'] + 1};" in text
    still = (invaders(run) & run.state.pattern).any(axis=0).sum()
    assert f"{still} of {ever.sum()} are active there at the end." in text
    assert "Try next: a deeper disjoint start (--depth" in text


def test_the_remedy_for_an_invaded_partition_works(invaded: Analysis, problem: Problem) -> None:
    sentence = next(s for s in invaded.verdict if "deeper" in s)
    depth = float(sentence.split("--depth ")[1].split(",")[0])
    again = analyze(problem, SIX, starts.disjoint(problem, SIX, depth=depth))
    assert not np.any(invaders(again.run))


def test_a_start_with_all_samples_active_is_no_partition(problem: Problem) -> None:
    run = analyze(problem, SIX).run
    assert not disjoint_owners(run)
    assert disjoint_owners(analyze(problem, SIX, starts.disjoint(problem, SIX, depth=0.5)).run)


def test_the_depth_is_that_of_the_shallowest_inactive_sample(problem: Problem) -> None:
    start = starts.disjoint(problem, SIX, depth=0.25)
    assert start_depth(analyze(problem, SIX, start).run) == 0.25


def test_the_stable_step_counts_the_neurons_of_a_sample() -> None:
    """Two neurons of one sign that share everything: H = 2K, and the bound is 2/(2 λ_max(K)) from start to end."""
    samples = random_problem(12, 3_000, seed=2)
    problem = Problem.from_features(samples.features, np.abs(samples.labels))
    network = Network.of_signs([1, 1])
    analysis = analyze(problem, network)
    assert np.all(analysis.run.state.pattern)
    bound = step_sizes.stable(problem, network, 1.0)
    assert bound == pytest.approx(1.0 / np.linalg.eigvalsh(problem.gram)[-1])
    assert (
        f"A sample is active in at most 2 neurons at the start and 2 at the end, which makes steps up to "
        f"2/(p λ_max(K)) = {bound:.4g} and {bound:.4g} stable there; the bound 2/λ_max(H) of the pattern at the end is "
        f"{bound:.4g}, and η is 0.5 times that." in said(analysis)
    )
    assert "Neuron 1 (+) alone fits 0 positive labels and shares 12 with other neurons" in said(analysis)


def test_of_many_neurons_some_are_told_and_the_rest_counted() -> None:
    problem = random_problem(12, 3_000, seed=2)
    analysis = analyze(problem, Network.of_signs([1, -1] * 6))
    sentences = [s for s in analysis.verdict if s.startswith("Neuron ") and "alone fits" in s]
    assert len(sentences) == TOLD
    assert "4 more neurons move; the table of the limit has all of them." in said(analysis)
