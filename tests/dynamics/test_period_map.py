"""Training that approaches a cycle: the proof, and what it says, against plain steps."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import assert_close, random_problem, weight_space_descent

from relubias import starts
from relubias.dynamics.descent import gradient_descent
from relubias.dynamics.period_map import approach
from relubias.dynamics.run import Resume, Run
from relubias.dynamics.stepping import Iterate
from relubias.errors import StartError
from relubias.network import Network
from relubias.problem import Problem
from relubias.status import Status

ONE = Network.single()
CASES = [(12, 5, seed, ONE) for seed in range(6)] + [(30, 10, seed, ONE) for seed in range(4)]
CASES += [(12, 4, 0, Network.pair()), (30, 10, 4, Network.pair()), (61, 11, 0, ONE)]


def cycling(n: int, d: int, seed: int, network: Network = ONE, fraction: float = 0.5) -> Run:
    """A run of a problem with fewer features than samples."""
    problem = random_problem(n, d, seed)
    step = 2 * fraction / (network.n_neurons * problem.operator.largest)
    return gradient_descent(problem, network, starts.gaussian(problem, network, rng=seed), step_size=step, budget=2e6)


def stepped(run: Run, steps: int) -> np.ndarray:
    """Weights of plain gradient descent in weight space, so many steps after the run stopped."""
    problem, network = run.problem, run.network
    weights = np.linalg.lstsq(problem.features, run.state.primal.T, rcond=None)[0].T
    return weight_space_descent(
        np.asarray(problem.features), problem.labels, weights, network.output_weights, run.step_size, steps
    )


@pytest.mark.parametrize(("n", "d", "seed", "network"), CASES)
def test_plain_steps_arrive_on_the_cycle_and_go_around_it(n: int, d: int, seed: int, network: Network) -> None:
    run = cycling(n, d, seed, network)
    assert run.status is Status.CYCLING
    assert run.cycle is not None
    turns = -(-300 // run.cycle.period)
    for offset in (0, 1, run.cycle.period // 2):
        weights = stepped(run, turns * run.cycle.period + offset)
        assert_close(weights @ np.asarray(run.problem.features).T, run.cycle.states[offset], relative=1e-8)


def test_the_states_of_a_cycle_are_successive_steps_and_their_mean_is_the_mean() -> None:
    run = cycling(30, 10, 0)
    cycle = run.cycle
    assert cycle is not None
    states = cycle.states
    for now, after in zip(states, np.roll(states, -1, axis=0), strict=True):
        moves = run.step_size * (np.maximum(now[0], 0) - run.problem.labels) * (now[0] > 0)
        assert_close(now[0] - run.problem.gram @ moves, after[0], relative=1e-10)
    assert_close(states.mean(axis=0), cycle.mean, relative=1e-12)
    assert len({tuple(state[0]) for state in states}) == cycle.period


def test_a_period_is_not_a_multiple_of_a_shorter_one() -> None:
    cycle = cycling(30, 10, 5).cycle
    assert cycle is not None
    for period in range(1, cycle.period):
        if cycle.period % period == 0:
            assert np.abs(cycle.states[period] - cycle.states[0]).max() > 1e-6


def test_the_way_to_the_cycle_is_no_longer_than_it_says() -> None:
    run = cycling(12, 5, 6)
    cycle = run.cycle
    assert cycle is not None
    assert cycle.distance > 1e-12
    there = np.linalg.lstsq(run.problem.features, cycle.states[0, 0], rcond=None)[0]
    here = np.linalg.lstsq(run.problem.features, run.state.primal[0], rcond=None)[0]
    assert np.linalg.norm(there - here) <= cycle.distance * (1 + 1e-6) + 1e-13


def begun(run: Run) -> Iterate:
    """The iterate where the run stopped."""
    iterate = Iterate.begin(run.start, run.step_size)
    assert isinstance(run.resume, Resume)
    changed = np.asarray(run.last_change, dtype=np.int64)
    iterate.restore(run.resume, run.steps, run.pattern_changes, run.events, run.events_dropped, changed)
    return iterate


def test_a_wrong_period_is_not_proven() -> None:
    run = cycling(30, 10, 0)
    assert run.cycle is not None
    period = run.cycle.period
    assert approach(begun(run), period, allowed=np.inf, kept=1) is not None
    for wrong in (1, period - 1, period + 1):
        assert approach(begun(run), wrong, allowed=np.inf, kept=1) is None


def test_a_state_far_from_the_cycle_is_not_proven_to_approach_it() -> None:
    run = cycling(30, 10, 0)
    assert run.cycle is not None
    iterate = begun(run)
    iterate.place(iterate.primal + 0.3 * iterate.operator.matvec(np.eye(30)[0]) / iterate.operator.largest)
    assert approach(iterate, run.cycle.period, allowed=np.inf, kept=1) is None


def test_the_product_of_factors_ends_once_it_contracts() -> None:
    long, slow = cycling(30, 10, 4), cycling(12, 5, 4)
    for run, whole in ((long, False), (slow, True)):
        assert run.cycle is not None
        proof = approach(begun(run), run.cycle.period, allowed=np.inf, kept=1)
        assert proof is not None
        assert (proof.linear is not None) == whole
        assert_close(proof.cycle.mean, run.cycle.mean, relative=1e-9)


def test_a_proof_that_is_too_dear_is_not_begun() -> None:
    run = cycling(30, 10, 4)
    assert run.cycle is not None
    iterate = begun(run)
    before = iterate.flops
    assert approach(iterate, run.cycle.period, allowed=1e4, kept=1) is None
    assert iterate.flops == before


def test_a_cycle_past_stability_is_proven_through_the_whole_product() -> None:
    found = 0
    for seed in range(40):
        try:
            run = cycling(6, 3, seed, fraction=1.1)
        except StartError:
            continue
        if run.cycle is None or not run.cycle.distance:
            continue
        found += 1
        weights = stepped(run, 50 * run.cycle.period)
        assert_close(weights @ np.asarray(run.problem.features).T, run.cycle.states[0], relative=1e-7)
    assert found >= 3


def test_a_far_step_within_a_cycle_is_reached_in_whole_turns() -> None:
    problem = random_problem(30, 10, 0)
    start = starts.gaussian(problem, ONE, rng=0)
    run = gradient_descent(problem, ONE, start)
    assert run.cycle is not None
    far = run.steps + 10**12 * run.cycle.period + 5
    reached = gradient_descent(problem, ONE, start, until=far)
    assert (reached.status, reached.steps) == (Status.REACHED, far)
    assert_close(reached.state.primal, run.cycle.states[5], relative=1e-9)
    assert_close(problem.gram @ reached.state.dual[0], reached.state.primal[0], relative=1e-9)
    near = gradient_descent(problem, ONE, start, until=run.steps + 4 * run.cycle.period)
    later = gradient_descent(problem, ONE, start, until=run.steps + (4 + 10**6) * run.cycle.period)
    turn = gradient_descent(problem, ONE, start, until=run.steps + 5 * run.cycle.period)
    assert later.pattern_changes - near.pattern_changes == 10**6 * (turn.pattern_changes - near.pattern_changes)
    assert later.last_change.max() > later.steps - run.cycle.period


def test_a_sample_that_flips_for_ever_makes_no_cycle_of_rounding_size() -> None:
    problem = Problem.from_gram(np.eye(2), [1.0, -1.0])
    run = gradient_descent(problem, ONE, starts.all_active(problem, ONE, scale=0.1), step_size=1.0)
    assert run.cycle is None


def test_a_long_walk_far_from_the_cycle_follows_the_turns_to_it() -> None:
    """Many samples and few features: the proof is found while training is still well away from its cycle."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((400, 4)) * np.where(rng.random(400) < 0.02, 1.0, 0.05)[:, None]
    problem = Problem.from_features(features, rng.standard_normal(400))
    start = starts.gaussian(problem, ONE, rng=0)
    step = 1.8 / problem.operator.largest
    run = gradient_descent(problem, ONE, start, step_size=step, budget=1e6)
    assert run.cycle is not None
    for turns in (1, 3, 100):
        until = run.steps + turns * run.cycle.period
        far = gradient_descent(problem, ONE, start, step_size=step, until=until)
        weights = weight_space_descent(features, problem.labels, start.weights(), np.ones(1), step, until)
        assert_close(far.state.primal, weights @ features.T, relative=1e-11)


def test_the_product_of_factors_is_not_trusted_beyond_its_rounding() -> None:
    """Two neurons that share all their samples: nothing contracts one direction, and the norm is 1 but for rounding."""
    two = Network.of_signs([1, 1])
    problem = Problem.from_features(np.array([[-2.0], [3.0]]), [-2.0, 1.0])
    start = starts.from_weights(problem, two, [[1.5], [-0.5]])
    step = 3.0 / (2 * problem.operator.largest)
    run = gradient_descent(problem, two, start, step_size=step, budget=1e4)
    assert run.status in (Status.BUDGET, Status.CYCLING)
    if run.status is Status.BUDGET:
        assert "could not be proven" in run.message


def test_recording_every_step_of_chatter_costs_no_more_than_the_steps() -> None:
    problem = random_problem(30, 10, 0)
    start = starts.gaussian(problem, ONE, rng=0)
    iterate = Iterate.begin(start, 0.5 / problem.operator.largest)
    iterate.near_from = 10**9
    for _ in range(5000):
        iterate.advance(1, (np.inf, np.inf))
    assert len(iterate.recent) <= 1001
    assert len(iterate.recent_events()) == iterate.listed
