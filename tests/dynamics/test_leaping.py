"""Leaps: the formulas of the module, and bounds that really bound."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from helpers import assert_close, gram_descent, ill_conditioned, random_problem
from hypothesis import given
from hypothesis import strategies as st

from relubias import starts
from relubias.dynamics.certificates import limit_by_modes
from relubias.dynamics.leaping import INFINITY, Leap, Rates
from relubias.dynamics.stepping import Iterate
from relubias.network import Network
from relubias.problem import Problem
from relubias.state import State

ONE = Network.single()


@given(rate=st.floats(1e-12, 1.999), time=st.integers(0, 300))
def test_growth_is_the_sum_of_decays(rate: float, time: int) -> None:
    rates = Rates(np.array([rate]), 1.0)
    expected = sum((1.0 - rate) ** s for s in range(time))
    assert rates.growth(time)[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert rates.decay(time)[0] == pytest.approx((1.0 - rate) ** time, rel=1e-9, abs=1e-300)
    length = sum(abs(1.0 - rate) ** s for s in range(time))
    assert rates.path_length(time, rates.growth(time))[0] == pytest.approx(length, rel=1e-9, abs=1e-12)


@given(
    rates=st.lists(st.floats(1e-6, 1.99), min_size=1, max_size=5), first=st.integers(0, 40), length=st.integers(0, 40)
)
def test_growth_stays_in_its_range(rates: list[float], first: int, length: int) -> None:
    modes = Rates(np.array(rates), 1.0)
    low, high = modes.growth_range(first, first + length, modes.growth(first + length))
    for time in range(first, first + length + 1):
        now = modes.growth(time)
        assert np.all(now >= low - 1e-12 * np.abs(low))
        assert np.all(now <= high + 1e-12 * np.abs(high))


def test_growth_range_includes_infinity() -> None:
    values = np.array([0.1, 1.7])
    rates = Rates(values, 1.0)
    low, high = rates.growth_range(3, INFINITY, rates.growth(INFINITY))
    assert np.all(low <= 1 / values)
    assert np.all(1 / values <= high)


@pytest.mark.parametrize("fraction", [0.4, 0.5, 0.9])
def test_a_leap_is_many_steps(fraction: float) -> None:
    problem = random_problem(20, 40, seed=0)
    eta = 2 * fraction / problem.operator.largest
    iterate = Iterate.begin(starts.all_active(problem, ONE), eta)
    iterate.advance(500, (np.inf, np.inf))
    leap, changes = Leap.of(iterate), iterate.changes
    iterate.advance(40, (np.inf, np.inf))
    assert iterate.changes == changes
    assert np.array_equal(iterate.pattern, leap.active)
    assert_close(leap.primal_at(40), iterate.primal, relative=1e-12)
    assert_close(leap.dual_at(40), iterate.dual, relative=1e-12)
    assert np.all(
        np.abs(leap.primal_at(40) - iterate.primal)
        <= leap.margin(40) + 40 * np.finfo(float).eps * np.abs(iterate.primal).max()
    )


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
    iterate.near_from = 10**9  # all steps are wanted, however near they come to earlier ones
    iterate.advance(300, (np.inf, np.inf))
    leap = Leap.of(iterate)
    iterate.advance(25, (np.inf, np.inf))
    assert np.array_equal(iterate.pattern, leap.active)
    assert_close(leap.primal_at(25), iterate.primal, relative=1e-12)
    assert_close(leap.dual_at(25), iterate.dual, relative=1e-12)


def exact_limit(iterate: Iterate) -> np.ndarray:
    """β(∞) of the present pattern of one positive neuron, in 50 digits, with K as it is stored."""
    gram, active = iterate.operator.gram, np.flatnonzero(iterate.pattern[0])
    with mpmath.workdps(50):
        block = mpmath.matrix(gram[np.ix_(active, active)].tolist())
        moved = mpmath.lu_solve(block, mpmath.matrix(iterate.residual[active].tolist()))
        return np.array(
            [
                float(mpmath.mpf(b) - mpmath.fdot(row[active].tolist(), moved))
                for b, row in zip(iterate.primal[0], gram, strict=True)
            ]
        )


@pytest.mark.parametrize("condition", [1e2, 1e6, 1e9])
@pytest.mark.parametrize("seed", range(3))
def test_margins_hold_against_fifty_digits(condition: float, seed: int) -> None:
    """The residual sits in the stiff modes and inactive samples lie along the soft ones: the worst case."""
    rng = np.random.default_rng(seed)
    left, _ = np.linalg.qr(rng.normal(size=(10, 10)))
    right, _ = np.linalg.qr(rng.normal(size=(14, 14)))
    active = left * np.geomspace(1.0, condition**-0.5, 10) @ right[:, :10].T
    features = np.vstack([active, right[:, 9] + 0.3 * right[:, 11], 0.5 * right[:, 9] + right[:, 0]])
    labels = np.append(left[:, 0] + left[:, 1] + 1e-3, [-1.0, -1.0])
    problem = Problem.from_gram(features @ features.T, labels)
    primal = np.append(np.full(10, 1e-3), [-1.0, -1.0])
    start = State(problem, ONE, np.zeros((1, 12)), primal[None, :], np.zeros(1))
    iterate = Iterate.begin(start, 1.0 / problem.operator.largest)
    leap = Leap.of(iterate)
    error = np.abs(leap.primal_at(INFINITY)[0] - exact_limit(iterate))
    assert np.all(error <= leap.margin(INFINITY)[0])
    refined = limit_by_modes(iterate, leap)
    assert np.all(np.abs(refined.primal[0] - exact_limit(iterate)) <= refined.margin[0])


@pytest.mark.parametrize("distance", [1e-1, 1e-4, 1e-8])
def test_margins_hold_at_the_edge_of_stability(distance: float) -> None:
    problem = random_problem(6, 9, seed=2)
    positive = Problem.from_features(problem.features, np.abs(problem.labels))
    iterate = Iterate.begin(starts.all_active(positive, ONE), (2.0 - distance) / positive.operator.largest)
    leap = Leap.of(iterate)
    error = np.abs(leap.primal_at(INFINITY)[0] - exact_limit(iterate))
    assert np.all(error <= leap.margin(INFINITY)[0])
    time = int(1 / distance)
    with mpmath.workdps(50):
        gram, eta = mpmath.matrix(positive.gram.tolist()), mpmath.mpf(iterate.step_size)
        turn = (mpmath.eye(6) - eta * gram) ** time
        exact = turn * mpmath.matrix(iterate.residual.tolist()) + mpmath.matrix(positive.labels.tolist())
        error = np.abs(leap.primal_at(time)[0] - np.array([float(value) for value in exact]))
    assert np.all(error <= leap.margin(time)[0])
