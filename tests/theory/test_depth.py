"""The depth that is enough: what the other samples do to an inactive one, as drawn."""

from __future__ import annotations

import numpy as np
import pytest

from relubias import Network, Problem, gradient_descent, sampling, starts, theory

FOUR = Network.of_signs([1, 1, -1, -1])


def test_an_inactive_sample_is_moved_by_a_normal_number_of_the_stated_size() -> None:
    """After training each pair has moved by ξ with the standard deviation ‖y_k‖/√d₂, pairs of a draw together."""
    ratios = []
    for seed in range(20):
        problem = sampling.gaussian(n_samples=40, n_features=20_000, rng=seed)
        start = starts.disjoint(problem, FOUR, depth=1.0, scale=1e-6)
        run = gradient_descent(problem, FOUR, start, step_size=0.5 / 20_000)
        units = theory.depth_units(start)
        assert units is not None
        sigma = units[:, None] / np.sqrt(2 * np.log(3 * 40))
        ratios.append(((run.state.primal - start.primal) / sigma)[~start.pattern])
    found = np.concatenate(ratios)
    assert abs(found.mean()) < 0.1
    assert found.std() == pytest.approx(1.0, abs=0.05)


def test_more_neurons_and_fewer_samples_need_less_depth() -> None:
    problem = sampling.gaussian(n_samples=60, n_features=10**6, rng=0)
    sizes = []
    for m in (2, 6, 20):
        network = Network.of_signs([1, -1] * (m // 2))
        units = theory.depth_units(starts.disjoint(problem, network, depth=0.1))
        assert units is not None
        sizes.append(units.max())
    assert sizes[0] > sizes[1] > sizes[2]


def test_without_d2_there_is_no_depth() -> None:
    problem = Problem.from_gram(np.eye(3), [1.0, -1.0, 1.0])
    assert theory.depth_units(starts.all_active(problem, Network.pair())) is None
