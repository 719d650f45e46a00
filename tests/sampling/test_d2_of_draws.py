"""The interval of d₂ from one drawn K holds the d₂ that the law states, as often as the interval says.

For equal eigenvalues it holds it more often: the estimate is a degenerate U-statistic there, whose variance the
jackknife doubles.
"""

from __future__ import annotations

import pytest
import scipy.stats

from relubias.facts import estimate_d2
from relubias.sampling.features import Gaussian
from relubias.sampling.spectra import Isotropic, PowerLaw, Spectrum, Spiked

DRAWS = 200


def least(rate: float) -> int:
    """Fewer of the draws than this happen five times in a thousand where the coverage is this rate."""
    return int(scipy.stats.binom.ppf(0.005, DRAWS, rate))


def covered(law: Gaussian, d2: float) -> int:
    """In how many draws of 200 samples the interval holds this number; draw s has seed s."""
    estimates = [estimate_d2(law.gram(200, seed)) for seed in range(DRAWS)]
    return sum(estimate is not None and estimate.low <= d2 <= estimate.high for estimate in estimates)


@pytest.mark.parametrize(
    ("spectrum", "rate"),
    [(Isotropic(), 0.95), (PowerLaw(1.0), 0.95), (Spiked(10, 20.0), 0.95), (Spiked(1, 1000.0), 0.91)],
)
def test_the_interval_holds_d2_at_its_stated_rate(spectrum: Spectrum, rate: float) -> None:
    law = Gaussian(1000, spectrum=spectrum)
    assert covered(law, law.population.d2) >= least(rate)
    for wrong in (0.6, 1.6):
        assert covered(law, wrong * law.population.d2) < least(rate)
