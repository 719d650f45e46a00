"""Leaps: the formulas of the module, and bounds that really bound."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import assert_close, gram_descent, ill_conditioned, random_problem
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias import starts
from relubias.dynamics.leaping import INFINITY, Leap, decay, growth, growth_range
from relubias.dynamics.stepping import Iterate
from relubias.network import Network

ONE = Network.single()


@given(rate=st.floats(1e-12, 1.999), time=st.integers(0, 300))
@settings(deadline=None, derandomize=True)
def test_growth_is_the_sum_of_decays(rate: float, time: int) -> None:
    values, eta = np.array([rate]), 1.0
    expected = sum((1.0 - rate) ** s for s in range(time))
    assert growth(values, eta, time)[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert decay(values, eta, time)[0] == pytest.approx((1.0 - rate) ** time, rel=1e-9, abs=1e-300)


@given(
    rates=st.lists(st.floats(1e-6, 1.99), min_size=1, max_size=5), first=st.integers(0, 40), length=st.integers(0, 40)
)
@settings(deadline=None, derandomize=True)
def test_growth_stays_in_its_range(rates: list[float], first: int, length: int) -> None:
    values = np.array(rates)
    low, high = growth_range(values, 1.0, first, first + length)
    for time in range(first, first + length + 1):
        now = growth(values, 1.0, time)
        assert np.all(now >= low - 1e-12 * np.abs(low))
        assert np.all(now <= high + 1e-12 * np.abs(high))


def test_growth_range_includes_infinity() -> None:
    values = np.array([0.1, 1.7])
    low, high = growth_range(values, 1.0, 3, INFINITY)
    assert np.all(low <= 1 / values)
    assert np.all(1 / values <= high)


@pytest.mark.parametrize("fraction", [0.4, 0.5, 0.9])
def test_a_leap_is_many_steps(fraction: float) -> None:
    problem = random_problem(20, 40, seed=0)
    eta = 2 * fraction / problem.operator.largest
    iterate = Iterate.begin(starts.all_active(problem, ONE), eta)
    iterate.advance(500, (np.inf, np.inf))
    leap = Leap.of(iterate)
    iterate.advance(40, (np.inf, np.inf))
    assert iterate.changes == iterate.copy().changes
    assert np.array_equal(iterate.pattern, leap.active)
    assert_close(leap.primal_at(40), iterate.primal, relative=1e-12)
    assert_close(leap.dual_at(40), iterate.dual, relative=1e-12)
    assert np.all(np.abs(leap.primal_at(40) - iterate.primal) <= leap.margin(40) + 1e-13)


@pytest.mark.parametrize("seed", range(8))
def test_a_search_never_passes_the_first_change(seed: int) -> None:
    problem = ill_conditioned(n=15, d=20, condition=1e4, seed=seed)
    start = starts.all_active(problem, ONE)
    eta = 1.0 / problem.operator.largest
    _, changes = gram_descent(problem.gram, problem.labels, start.primal[0].copy(), eta, 20_000)
    iterate = Iterate.begin(start, eta)
    for change in [*changes[:30], INFINITY]:
        outlook = Leap.of(iterate).search(INFINITY)
        left = change - iterate.steps
        assert outlook.quiet_until < left or change == INFINITY == outlook.quiet_until
        # It stops short of the change by no more than the last step, which plain stepping decides.
        assert outlook.quiet_until == left - 1 or change == INFINITY
        if change != INFINITY:
            iterate.advance(int(left), (np.inf, np.inf))


def test_two_neurons_leap_as_they_step() -> None:
    problem = random_problem(15, 40, seed=3)
    pair = Network.pair()
    iterate = Iterate.begin(starts.gaussian(problem, pair, rng=1), 0.5 / problem.operator.largest)
    iterate.advance(300, (np.inf, np.inf))
    leap = Leap.of(iterate)
    iterate.advance(25, (np.inf, np.inf))
    assert np.array_equal(iterate.pattern, leap.active)
    assert_close(leap.primal_at(25), iterate.primal, relative=1e-12)
    assert_close(leap.dual_at(25), iterate.dual, relative=1e-12)
