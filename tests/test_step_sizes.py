"""Natural units of the step size, by their definitions, and their limit of stability."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers import random_problem

from relubias import Network, Problem, step_sizes
from relubias.errors import ArgumentError
from relubias.population import Population

PROBLEM = random_problem(8, 30, seed=0)
LARGEST = float(np.linalg.eigvalsh(PROBLEM.gram)[-1])


@pytest.mark.parametrize("neurons", [1, 2, 5])
def test_the_largest_curvature_is_that_of_all_samples_active_in_all_neurons(neurons: int) -> None:
    signs = [(-1) ** k for k in range(neurons)]
    everything = np.kron(np.outer(signs, signs), PROBLEM.gram)
    network = Network.of_signs(signs)
    largest = float(np.linalg.eigvalsh(everything)[-1])
    assert step_sizes.largest_curvature(PROBLEM, network) == pytest.approx(largest, rel=1e-12)
    assert step_sizes.stable(PROBLEM, network) == pytest.approx(1.0 / largest, rel=1e-12)
    assert step_sizes.stable(PROBLEM, network, 0.25) == pytest.approx(0.5 / largest, rel=1e-12)


def test_a_linear_iteration_grows_exactly_beyond_a_fraction_of_one() -> None:
    def growth(fraction: float) -> float:
        eta = step_sizes.stable(PROBLEM, Network.single(), fraction)
        return float(np.abs(1.0 - eta * np.linalg.eigvalsh(PROBLEM.gram)).max())

    assert growth(0.999) < 1.0 < growth(1.001)


def test_relative_steps_are_in_units_of_the_mean_squared_length() -> None:
    lengths = np.square(np.asarray(PROBLEM.features)).sum(axis=1)
    assert step_sizes.relative(PROBLEM) == pytest.approx(0.5 / lengths.mean())
    assert step_sizes.relative(PROBLEM, 2.0) == pytest.approx(2.0 / lengths.mean())


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_steps_and_fractions_are_positive_finite_numbers(value: float) -> None:
    with pytest.raises(ArgumentError, match="step_size must be a positive finite number; it is"):
        step_sizes.checked(value)
    with pytest.raises(ArgumentError, match="fraction must be"):
        step_sizes.stable(PROBLEM, Network.single(), value)
    with pytest.raises(ArgumentError, match="fraction must be"):
        step_sizes.relative(PROBLEM, value)


def test_a_checked_step_is_the_given_one() -> None:
    assert step_sizes.checked(1e-300) == 1e-300


def test_zero_samples_have_no_natural_unit() -> None:
    zeros = Problem.from_gram(np.zeros((3, 3)), np.ones(3))
    with pytest.raises(ArgumentError, match="all samples are zero"):
        step_sizes.stable(zeros, Network.pair())
    with pytest.raises(ArgumentError, match="all samples are zero"):
        step_sizes.relative(zeros)


def test_relative_steps_use_the_trace_that_the_samples_were_drawn_with() -> None:
    drawn = dataclasses.replace(PROBLEM, population=Population(31.0, 30.0, 30.0))
    assert step_sizes.relative(drawn) == 0.5 / 31.0
    assert step_sizes.relative(drawn) != step_sizes.relative(PROBLEM)
    wild = dataclasses.replace(PROBLEM, population=Population(np.inf, 30.0, 30.0))
    assert step_sizes.relative(wild) == step_sizes.relative(PROBLEM)
