"""Cycles and deaths in sentences."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers import random_problem

from relubias import Analysis, Descent, Network, Problem, Status, analyze, starts
from relubias.dynamics.cycles import Cycle
from relubias.verdict.parts import Parts
from relubias.verdict.training import cycling, deaths

ONE = Network.single()


def parts_of(analysis: Analysis) -> Parts:
    return Parts(analysis.run, analysis.regime, analysis.reference, analysis.linear, analysis.gap, "", "")


@pytest.fixture(scope="module")
def chatter() -> Analysis:
    """Fewer features than samples: samples near the kink flip for ever."""
    problem = random_problem(6, 3, seed=1)
    start = starts.gaussian(problem, ONE, rng=1)
    for step in np.linspace(0.8, 1.2, 9) / problem.operator.largest:
        analysis = analyze(problem, ONE, start, dynamics=Descent(step_size=float(step), budget=1e5))
        if analysis.run.cycle is not None:
            return analysis
    pytest.fail("no cycle found")


def test_samples_that_flip_are_named(chatter: Analysis) -> None:
    cycle = chatter.run.cycle
    assert cycle is not None
    active = cycle.states[:, 0] > 0
    flips = [f"row {i + 1}" for i in range(6) if len(set(active[:, i])) == 2]
    assert flips
    text = "\n".join(cycling(parts_of(chatter)))
    assert f"the cycle has {cycle.period} states; within it β moves by up to {cycle.amplitude:.2g}" in text
    one = len(flips) == 1
    who = flips[0] if one else f"{', '.join(flips[:-1])} and {flips[-1]}"
    assert f"{len(flips)} sample{'' if one else 's'} ({who}) flip{'s' if one else ''} between" in text


def test_the_edge_of_stability_is_told_from_chatter_and_its_mean_interpolates() -> None:
    problem = Problem.from_features(np.array([[1.0]]), [1.0])
    analysis = analyze(problem, start=starts.all_active(problem, ONE, scale=0.5), dynamics=Descent(step_size=2.0))
    assert analysis.run.status is Status.CYCLING
    text = "\n".join(cycling(parts_of(analysis)))
    assert "no sample flips within the cycle: the step is at the edge of stability, η λ_max(H) = 2 for" in text
    assert "the weights averaged over one period interpolate 1 of 1 labels" in text
    assert "largest misfit" not in text


def test_a_mean_that_does_not_interpolate_names_its_largest_misfit(chatter: Analysis) -> None:
    cycle = chatter.run.cycle
    assert cycle is not None
    misfit = np.abs(np.maximum(cycle.mean[0], 0) - chatter.problem.labels)
    text = "\n".join(cycling(parts_of(chatter)))
    assert f"their largest misfit is {misfit.max():.4g} (row {misfit.argmax() + 1})" in text


def test_a_cycle_kept_in_part_says_so(chatter: Analysis) -> None:
    cycle = chatter.run.cycle
    assert cycle is not None
    long = Cycle(cycle.period + 5, cycle.states, cycle.mean, cycle.amplitude)
    run = dataclasses.replace(chatter.run, cycle=long)
    text = cycling(parts_of(dataclasses.replace(chatter, run=run)))[0]
    assert f"{cycle.period + 5} states, of which {cycle.period} are kept" in text


def test_a_neuron_without_a_start_never_died() -> None:
    problem, network = random_problem(10, 100, seed=6), Network.of_signs([1, -1, 1])
    primal = starts.all_active(problem, network).primal.copy()
    primal[2] = -0.5
    start = starts.from_dual(problem, network, np.linalg.solve(problem.gram, primal.T).T)
    analysis = analyze(problem, network, start)
    assert deaths(parts_of(analysis)) == ["neuron 3 has had no active sample from the start, and it will never move"]


def test_many_deaths_are_counted() -> None:
    analysis = analyze(random_problem(10, 100, seed=6), Network.of_signs([1, -1]))
    run = dataclasses.replace(analysis.run, dead={k: k + 3 for k in range(9)}, network=Network.of_signs([1] * 9))
    start = dataclasses.replace(run.start, primal=np.ones((9, 10)))
    texts = deaths(parts_of(dataclasses.replace(analysis, run=dataclasses.replace(run, start=start))))
    assert texts[4].startswith("neuron 5 died at step 7:")
    assert texts[5:] == ["4 more neurons died, the last at step 11 (run.dead names them all)"]
