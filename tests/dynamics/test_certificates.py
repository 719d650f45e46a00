"""The cheap certificate holds what it promises, and refuses where it must."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import assert_close, gram_descent, ill_conditioned, random_problem

from relubias import starts
from relubias.dynamics.certificates import limit_by_cholesky, limit_by_modes
from relubias.dynamics.leaping import Leap
from relubias.dynamics.stepping import Iterate
from relubias.network import Network

ONE = Network.single()


def iterate_after(n: int, d: int, seed: int, steps: int) -> Iterate:
    problem = random_problem(n, d, seed)
    iterate = Iterate.begin(starts.all_active(problem, ONE), 1.0 / problem.operator.largest)
    iterate.advance(steps, (np.inf, np.inf))
    return iterate


@pytest.mark.parametrize("seed", range(20))
def test_a_pattern_that_is_frozen_never_changes(seed: int) -> None:
    granted = []
    for steps in (0, 1, 3, 10, 30, 100, 300):
        iterate = iterate_after(12, 16, seed, steps)
        limit = limit_by_cholesky(iterate)
        assert limit is not None
        promising = limit_by_cholesky(iterate, promising=True)
        if limit.frozen.all():
            assert promising is not None
            assert promising.frozen.all()
            _, changes = gram_descent(
                iterate.operator.gram, iterate.labels, iterate.primal[0].copy(), iterate.step_size, 3000
            )
            assert changes == []
            granted.append(steps)
    assert granted[-1:] == [300]  # some were granted, so that something was tried


def test_the_certificate_refuses_before_the_last_change_and_grants_later() -> None:
    granted = [limit_by_cholesky(iterate_after(12, 16, 3, steps)) for steps in (0, 2000)]
    assert granted[0] is not None
    assert granted[1] is not None
    assert not granted[0].frozen.all()
    assert granted[1].frozen.all()
    assert limit_by_cholesky(iterate_after(12, 16, 3, 0), promising=True) is None


def test_the_distance_is_that_of_the_weights_and_never_grows() -> None:
    problem = random_problem(12, 16, seed=4)
    iterate = Iterate.begin(starts.all_active(problem, ONE), 1.9 / problem.operator.largest)
    iterate.advance(200, (np.inf, np.inf))
    limit = limit_by_cholesky(iterate)
    assert limit is not None
    before = limit.distance
    gap = limit.dual[0] - iterate.dual[0]
    assert limit.distance == pytest.approx(np.sqrt(gap @ problem.gram @ gap), rel=1e-6)
    for _ in range(10):
        iterate.advance(1, (np.inf, np.inf))
        now = limit_by_cholesky(iterate)
        assert now is not None
        assert now.distance <= before * (1 + 1e-12)
        before = now.distance


@pytest.mark.parametrize("condition", [1e2, 1e6, 1e9])
def test_both_ways_to_the_limit_agree_and_interpolate(condition: float) -> None:
    problem = ill_conditioned(condition=condition)
    iterate = Iterate.begin(starts.all_active(problem, ONE), 1.0 / problem.operator.largest)
    iterate.advance(2000, (np.inf, np.inf))
    one, other = limit_by_cholesky(iterate), limit_by_modes(iterate, Leap.of(iterate))
    assert one is not None
    assert_close(one.primal, other.primal, relative=1e-9)
    assert np.all(np.abs(one.primal - other.primal) <= one.margin + other.margin)
    active = iterate.pattern[0]
    assert_close(one.primal[0][active], problem.labels[active], relative=1e-10)


def test_no_cholesky_certificate_for_singular_matrices_or_unstable_steps() -> None:
    singular = random_problem(12, 5, seed=0)
    iterate = Iterate.begin(starts.gaussian(singular, ONE, rng=0), 1.0 / singular.operator.largest)
    assert limit_by_cholesky(iterate) is None
    regular = random_problem(12, 50, seed=0)
    unstable = Iterate.begin(starts.all_active(regular, ONE), 2.1 / regular.operator.largest)
    assert limit_by_cholesky(unstable) is None
