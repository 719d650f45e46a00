"""The gap law and the closed form, against training and solvers that know nothing of them."""

import math

import numpy as np
import pytest

from relubias import ArgumentError, Network, Problem, gap, gradient_descent, minimum_norm, sampling, starts, step_sizes
from relubias.comparison import Gap
from relubias.linalg.gram import Array
from relubias.state import State
from relubias.theory.predictions import GapLaw, gap_law, kappa, limit_after_one_change

FOUR, SIX = Network.of_signs([1, 1, -1, -1]), Network.of_signs([1, 1, 1, -1, -1, -1])


def drawn(n: int, d: float, seed: int, labels: Array | None = None) -> Problem:
    return sampling.gaussian(n_samples=n, n_features=int(d), rng=seed, labels=labels)


def begun(problem: Problem, network: Network) -> State:
    return starts.disjoint(problem, network) if network.n_neurons > 2 else starts.all_active(problem, network)


def measured(problem: Problem, network: Network, c: float) -> tuple[GapLaw, Gap]:
    """The law, and the gap to the global or to the partition's minimum norm."""
    start, step = begun(problem, network), step_sizes.relative(problem, c)
    run = gradient_descent(problem, network, start, step_size=step).require_limit()
    if network.n_neurons > 2:
        star = minimum_norm(problem, network, of="partition", state=start)
    else:
        star = minimum_norm(problem, network)
    return gap_law(problem, network, start, step_size=step), gap(run, star)


@pytest.mark.parametrize("c", [1.0, 0.5])
@pytest.mark.parametrize("network", [Network.single(), Network.pair(), FOUR, SIX], ids=["1", "2", "4", "6"])
def test_the_corrected_law_is_the_gap_within_two_per_cent(network: Network, c: float) -> None:
    law, found = measured(drawn(100, 1e6, seed=0), network, c)
    assert law.applies, law.unmet
    assert found.absolute == pytest.approx(law.corrected, rel=0.02)
    np.testing.assert_allclose(found.per_neuron, law.corrected_per_neuron, rtol=0.04)
    # The correction is needed: without it disjoint starts, whose depth is that of the interference, miss by more.
    if network.n_neurons > 2:
        assert abs(found.absolute / law.gap - 1) > 0.03


def test_the_law_of_one_neuron_is_the_formula_of_its_docstring() -> None:
    problem = drawn(30, 1e5, seed=1)
    start, c = starts.all_active(problem, Network.single(), scale=0.01), 0.3
    law = gap_law(problem, Network.single(), start, step_size=step_sizes.relative(problem, c))
    negative = problem.labels[problem.labels < 0]
    assert law.gap == pytest.approx(np.linalg.norm(c * negative + 0.01 * (1 - c)) / math.sqrt(1e5), rel=1e-12)


def test_the_correction_is_kappa_to_first_order() -> None:
    problem = drawn(100, 1e8, seed=2)
    start = starts.all_active(problem, Network.single(), scale=1e-9)
    law = gap_law(problem, Network.single(), start, step_size=step_sizes.relative(problem, 0.5))
    assert law.kappa is not None
    assert 1 - law.corrected / law.gap == pytest.approx(law.kappa * math.sqrt(100 / 1e8) / 0.5, rel=1e-2)


def test_kappa_of_labels_between_a_half_and_two() -> None:
    sizes = np.random.default_rng(0).uniform(0.5, 2.0, 200_000)
    assert kappa(sizes * np.repeat([1, -1], 100_000)) == pytest.approx(0.267, abs=2e-3)
    assert kappa(sizes) is None


def test_a_disjoint_start_has_the_gap_of_its_depth() -> None:
    problem = drawn(60, 1e6, seed=3)
    law = gap_law(problem, SIX, starts.disjoint(problem, SIX, depth=0.5), step_size=step_sizes.relative(problem, 1.0))
    assert law.gap == pytest.approx(0.5 * math.sqrt(5 * 60 / 1e6), rel=1e-12)


def test_the_relative_gap_does_not_depend_on_the_dimension() -> None:
    labels = np.repeat([1.0, -1.0], 20)
    laws = []
    for d in (1e4, 1e12):
        problem = drawn(40, d, seed=4, labels=labels)
        start = starts.all_active(problem, Network.single())
        laws.append(gap_law(problem, Network.single(), start, step_size=step_sizes.relative(problem, 0.5)).relative)
    assert laws[0] == pytest.approx(laws[1], rel=1e-12)
    assert laws[0] == pytest.approx(0.5, rel=2e-3)


def test_another_step_is_another_law() -> None:
    """Negative control: with the step mistaken by a tenth the two do not agree."""
    problem = drawn(100, 1e6, seed=0)
    _, found = measured(problem, Network.single(), 0.5)
    start = starts.all_active(problem, Network.single())
    wrong = gap_law(problem, Network.single(), start, step_size=step_sizes.relative(problem, 0.55))
    assert abs(found.absolute / wrong.corrected - 1) > 0.05


@pytest.mark.parametrize(
    ("c", "scale", "reason"),
    [
        (2.5, 1e-3, "is not below 2"),
        (0.1, 1.0, "does not turn every other sample off"),
        (0.02, 1e-6, "less deep than three times"),
    ],
)
def test_what_the_law_assumes_is_said_where_it_fails(c: float, scale: float, reason: str) -> None:
    problem = drawn(50, 1e4, seed=5)
    start = starts.all_active(problem, Network.single(), scale=scale)
    law = gap_law(problem, Network.single(), start, step_size=step_sizes.relative(problem, c))
    assert not law.applies
    assert any(reason in text for text in law.unmet)


@pytest.mark.parametrize("network", [Network.single(), Network.pair(), SIX], ids=["1", "2", "6"])
def test_a_run_with_one_change_ends_at_the_closed_form(network: Network) -> None:
    problem = drawn(40, 1e5, seed=6)
    start, step = begun(problem, network), step_sizes.relative(problem, 0.7)
    run = gradient_descent(problem, network, start, step_size=step)
    assert run.certified
    assert run.stabilised_at in (0, 1)
    limit = limit_after_one_change(problem, network, start, step_size=step)
    np.testing.assert_allclose(limit.primal, run.state.primal, rtol=0, atol=1e-13)
    assert np.linalg.norm(problem.operator.lengths(limit.dual - run.state.dual)) < 1e-12 * run.state.norm


def test_a_run_with_more_changes_does_not() -> None:
    problem = drawn(20, 60, seed=7)
    network = Network.single()
    start, step = starts.all_active(problem, network), step_sizes.relative(problem, 0.1)
    run = gradient_descent(problem, network, start, step_size=step)
    assert run.pattern_changes > 1
    limit = limit_after_one_change(problem, network, start, step_size=step)
    assert np.max(np.abs(limit.primal - run.state.primal)) > 1e-3


def test_neurons_that_share_samples_have_no_closed_form() -> None:
    problem, network = drawn(10, 1e4, seed=8), Network.of_signs([1, 1])
    start = starts.all_active(problem, network)
    with pytest.raises(ArgumentError, match=r"row \d+ is active in several neurons; the closed form is"):
        limit_after_one_change(problem, network, start, step_size=step_sizes.relative(problem, 0.5))


@pytest.mark.parametrize("network", [Network.single(activation="tanh"), Network.pair(train_output=True)])
def test_other_networks_have_no_law(network: Network) -> None:
    problem = drawn(10, 1e4, seed=9)
    start = starts.all_active(problem, network)
    with pytest.raises(ArgumentError, match="ReLU neurons with fixed output weights"):
        gap_law(problem, network, start, step_size=1e-5)
