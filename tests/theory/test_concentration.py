"""How close K is to ‖λ‖₁ I."""

import numpy as np
import pytest

from relubias import ArgumentError, Problem, sampling, theory


def test_deviation_and_eigenvalues_are_those_of_numpy() -> None:
    problem = sampling.gaussian(n_samples=30, n_features=500, rng=0)
    found = theory.concentration(problem)
    values = np.linalg.eigvalsh(problem.gram / 500)
    assert found.trace == 500
    assert found.deviation == pytest.approx(np.abs(values - 1).max(), rel=1e-9)
    assert (found.smallest, found.largest) == pytest.approx((values[0], values[-1]), rel=1e-9)
    off = problem.gram[~np.eye(30, dtype=bool)] / 500
    assert found.interference == pytest.approx(np.sqrt(30 * np.mean(off**2)), rel=1e-12)
    assert found.diagonal_spread == pytest.approx(np.std(np.diagonal(problem.gram)) / 500, rel=1e-12)


@pytest.mark.parametrize("d", [10**4, 10**8])
def test_isotropic_samples_deviate_as_predicted(d: int) -> None:
    found = theory.concentration(sampling.gaussian(n_samples=200, n_features=d, rng=1))
    assert found.predicted is not None
    assert found.deviation == pytest.approx(found.predicted, rel=0.1)
    assert found.interference == pytest.approx(np.sqrt(200 / d), rel=0.05)


def test_a_dominant_direction_counts() -> None:
    spectrum = [200.0] + [1.0] * 20_000
    found = theory.concentration(sampling.gaussian(n_samples=100, n_features=20_001, spectrum=spectrum, rng=2))
    assert found.predicted is not None
    assert found.dinf is not None
    assert 100 / found.dinf > 0.5
    assert 0.5 < found.deviation / found.predicted < 1.1


def test_of_unknown_samples_there_is_an_estimate() -> None:
    rng = np.random.default_rng(3)
    found = theory.concentration(Problem.from_features(rng.standard_normal((40, 4000)), rng.standard_normal(40)))
    assert found.dinf is None
    assert found.predicted == pytest.approx(2 * np.sqrt(0.01), rel=0.1)
    assert found.as_dict()["dinf"] is None


def test_zero_samples_are_refused() -> None:
    with pytest.raises(ArgumentError, match="all samples are zero"):
        theory.concentration(Problem.from_gram(np.zeros((2, 2)), [1.0, -1.0]))
