"""What gradient descent does on real data, features as given or standardised.

The start has β = 1e-3 in label units and the step is 1/λ_max(K), unless said otherwise. Steps of events shift a
little with the rounding of K, which depends on the machine's BLAS; the bounds allow for it.
"""

from __future__ import annotations

import numpy as np
import pytest
from helpers import real_data

from relubias import Network, Problem, Run, gradient_descent, read, starts
from relubias.status import Status

ONE = Network.single()


def problem_of(name: str, *, centre_labels: bool = False, preprocess: str = "none") -> Problem:
    return read(real_data(name), target="y", centre_labels=centre_labels, preprocess=preprocess)


def run_from_all_active(name: str, *, centre_labels: bool = False, until: int | None = None) -> Run:
    problem = problem_of(name, centre_labels=centre_labels)
    return gradient_descent(problem, ONE, starts.all_active(problem, ONE, scale=1e-3), until=until)


def test_yarn_changes_its_pattern_for_the_last_time_after_66_million_steps() -> None:
    run = run_from_all_active("yarn.csv.gz").require_limit()
    assert run.pattern_changes == 10
    assert run.stabilised_at == pytest.approx(66_655_127, abs=50)
    assert np.all(run.interpolated[run.problem.labels > 0])
    slowest = np.linalg.eigvalsh(run.problem.gram[np.ix_(run.state.pattern[0], run.state.pattern[0])])[0]
    assert np.log(1e10) / (run.step_size * slowest) > 1e9, "plain steps could not do this"


def test_yarn_with_centred_labels_settles_after_435_changes() -> None:
    run = run_from_all_active("yarn.csv.gz", centre_labels=True).require_limit()
    assert run.pattern_changes == 435
    assert run.stabilised_at == pytest.approx(157_838, abs=5)


def test_gasoline_has_positive_labels_only_and_is_linear_regression() -> None:
    run = run_from_all_active("gasoline.csv.gz").require_limit()
    assert run.status is Status.CERTIFIED
    assert run.pattern_changes == 0
    assert np.all(run.interpolated)


def test_gasoline_with_centred_labels_is_quiet_for_a_long_time_and_then_changes_again() -> None:
    """82 226 changes up to step 681 269, and then, 20 million quiet steps later, row 60 comes on."""
    run = run_from_all_active("gasoline.csv.gz", centre_labels=True, until=20_400_000)
    assert run.pattern_changes == pytest.approx(82_226, abs=10)
    assert int(run.last_change.max()) == pytest.approx(681_269, abs=100)
    later = run.continue_(until=20_500_000)
    fresh = later.events[later.events["time"] > 700_000]
    assert fresh[0]["sample"] == 59
    assert fresh[0]["kind"] == 1
    assert fresh[0]["time"] == pytest.approx(20_460_000, abs=5_000)


def test_riboflavin_has_no_positive_label_so_that_one_positive_neuron_learns_nothing() -> None:
    run = run_from_all_active("riboflavin.csv.gz").require_limit()
    assert run.status is Status.CERTIFIED
    assert np.all(run.state.predictions == 0)


def test_riboflavin_with_centred_labels_settles_after_a_quarter_million_changes() -> None:
    run = run_from_all_active("riboflavin.csv.gz", centre_labels=True).require_limit()
    assert run.pattern_changes == pytest.approx(261_169, rel=0.01)
    assert run.stabilised_at == pytest.approx(3_832_727, rel=0.01)


@pytest.mark.parametrize("name", ["golub_leukemia.csv.gz", "srbct_ews.csv.gz"])
def test_raw_gene_expression_kills_the_neuron_at_step_one(name: str) -> None:
    run = run_from_all_active(name)
    assert run.status is Status.DEAD
    assert run.dead == {0: 1}
    assert not np.any(run.state.pattern)
    assert "try" in run.message


@pytest.mark.parametrize(
    ("name", "positives", "median", "largest"), [("golub_leukemia", 25, 60, 200), ("srbct_ews", 29, 20, 20)]
)
def test_standardised_gene_expression_is_interpolated_from_every_gaussian_start(
    name: str, positives: int, median: int, largest: int
) -> None:
    problem = problem_of(f"{name}.csv.gz", preprocess="standardise")
    settled = []
    for seed in range(20):
        run = gradient_descent(problem, ONE, starts.gaussian(problem, ONE, scale=1e-3, rng=seed)).require_limit()
        assert np.count_nonzero(run.interpolated & (problem.labels > 0)) == positives
        settled.append(run.stabilised_at or 0)
    assert np.median(settled) <= median
    assert max(settled) <= largest


def test_standardised_riboflavin_with_centred_labels_is_certified() -> None:
    problem = problem_of("riboflavin.csv.gz", centre_labels=True, preprocess="standardise")
    for seed in range(5):
        gradient_descent(problem, ONE, starts.gaussian(problem, ONE, scale=1e-3, rng=seed)).require_limit()


def test_standardised_features_leave_no_all_active_start() -> None:
    problem = problem_of("golub_leukemia.csv.gz", preprocess="standardise")
    with pytest.raises(ValueError, match="centred"):
        starts.all_active(problem, ONE)
