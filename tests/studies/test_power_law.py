"""Exponents come with intervals that cover as stated, and what is no power law is told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from study_rows import NOISES, fail, study_rows

from relubias.errors import ArgumentError
from relubias.studies.fit import PowerLaw, exponent_test, power_law

D, N = "problem.n_features", "problem.n_samples"
SIZES = [10**3, 10**4, 10**5, 10**6, 10**7]


def root(rows: pd.DataFrame) -> pd.Series:
    return 3.0 * rows[D] ** -0.5


def fits(studies: int, *, trials: int, noise: str, sizes: list[int] = SIZES) -> list[PowerLaw]:
    """Fits of so many independent studies of the law 3 d^(−½)."""
    rows = [study_rows({D: sizes}, root, trials=trials, noise=noise, scatter=0.3, seed=s) for s in range(studies)]
    return [power_law(table, y="gap.absolute", x=D, resamples=1000, rng=s) for s, table in enumerate(rows)]


@pytest.mark.parametrize("noise", NOISES)
def test_intervals_of_500_studies_cover_and_a_wrong_exponent_is_rejected(noise: str) -> None:
    found = fits(500, trials=20, noise=noise)
    hits = sum(fit.exponent().contains(-0.5) for fit in found)
    covered = sum(fit.prefactor.contains(3.0) for fit in found)
    rejected = sum(not fit.holds for fit in found)
    for covering in (hits, covered):
        assert covering_as_stated(covering, 500)
    assert binomtest(rejected, 500, 0.05, alternative="greater").pvalue > 1e-3
    # The negative control: with the same intervals, an exponent that is off by less than a tenth fails the test.
    wrong = sum(fit.exponent().contains(-0.42) for fit in found)
    assert not covering_as_stated(wrong, 500)
    assert np.median([fit.exponent().value for fit in found]) == pytest.approx(-0.5, abs=0.005)


def covering_as_stated(hits: int, studies: int) -> bool:
    """Whether the coverage is between 90 and 99 %, up to the chance of this many studies."""
    low = binomtest(hits, studies, 0.90, alternative="less").pvalue
    high = binomtest(hits, studies, 0.99, alternative="greater").pvalue
    return hits / studies >= 0.90 and min(low, high) > 1e-3


@pytest.mark.parametrize("trials", [5, 6])
def test_few_trials_and_few_sizes_still_cover(trials: int) -> None:
    found = fits(500, trials=trials, noise="student", sizes=SIZES[:3])
    assert covering_as_stated(sum(fit.exponent().contains(-0.5) for fit in found), 500)


def test_two_exponents_are_told_apart() -> None:
    grid = {N: [10, 30, 100, 300], D: SIZES}
    rows = study_rows(grid, lambda rows: 2.0 * rows[N] ** 0.5 * rows[D] ** -0.75, scatter=0.2)
    fit = power_law(rows, y="gap.absolute", x=[N, D])
    assert [fit.index(N), fit.index(D)] == [0, 1]
    assert fit.exponent(N).contains(0.5)
    assert fit.exponent(D).contains(-0.75)
    assert fit.holds
    assert fit.at([[100, 1e6]])[0] == pytest.approx(2 * 100**0.5 * 1e6**-0.75, rel=0.1)
    assert not exponent_test(fit, -0.7, coordinate=D).consistent
    with pytest.raises(ArgumentError, match="name one of"):
        fit.exponent()


def test_an_exact_law_is_found_to_rounding_and_holds() -> None:
    rows = study_rows({D: SIZES}, root, scatter=0.0)
    fit = power_law(rows, y="gap.absolute", x=D)
    assert fit.exponent() == pytest.approx((-0.5, -0.5, -0.5), abs=1e-12)
    assert fit.prefactor.value == pytest.approx(3.0, rel=1e-11)
    assert fit.holds
    assert fit.farthest == pytest.approx(1.0, abs=1e-12)


def test_a_plateau_is_no_power_law() -> None:
    rows = study_rows({D: SIZES}, lambda rows: 0.02 + rows[D] ** -0.5, scatter=0.1)
    fit = power_law(rows, y="gap.absolute", x=D)
    assert not fit.holds
    assert "do not follow a power law" in fit.message
    assert "do not follow" in exponent_test(fit, -0.5).message


def test_wild_cells_move_nothing() -> None:
    rows = study_rows({D: SIZES}, root, scatter=0.05)
    wild = rows.copy()
    wild.loc[wild["trial"] < 3, "gap.absolute"] *= 1e6 * (wild[D] == SIZES[-1]) + 1.0
    fit = power_law(wild, y="gap.absolute", x=D)
    assert fit.exponent().contains(-0.5)
    # A mean would have been moved: the control.
    means = np.log(wild.groupby(D)["gap.absolute"].mean().to_numpy(dtype=float))
    assert np.polyfit(np.log(SIZES), means, 1)[0] > -0.3


def test_a_size_that_lost_cells_keeps_its_weight() -> None:
    rows = study_rows({D: SIZES}, root, scatter=0.0)
    rows.loc[rows[D] == SIZES[-1], "gap.absolute"] *= 2.0
    lost = fail(rows, list(rows.index[(rows[D] == SIZES[-1]) & (rows["trial"] >= 6)]), "memory", "gap.absolute")
    whole, part = (power_law(table, y="gap.absolute", x=D) for table in (rows, lost))
    assert part.exponent().value == pytest.approx(whole.exponent().value, abs=1e-12)
    assert part.trials.tolist() == [20, 20, 20, 20, 6]
    assert part.tally.dropped == {"failed": 14}
    assert "14 failed" in part.message


def test_the_law_is_equivariant() -> None:
    rows = study_rows({D: SIZES}, root, scatter=0.3)
    fit = power_law(rows, y="gap.absolute", x=D)
    scaled = rows.assign(**{"gap.absolute": 1e9 * rows["gap.absolute"], D: 1e-3 * rows[D]})
    other = power_law(scaled, y="gap.absolute", x=D)
    assert other.exponent() == pytest.approx(tuple(fit.exponent()), rel=1e-9)
    assert other.prefactor.value == pytest.approx(fit.prefactor.value * 1e9 * 1e3 ** fit.exponent().value, rel=1e-9)
    assert other.lack_of_fit == pytest.approx(fit.lack_of_fit, abs=2e-3)


def test_the_order_of_rows_and_the_seed_decide_nothing_but_the_resamples() -> None:
    rows = study_rows({D: SIZES}, root, scatter=0.3)
    fit, shuffled, reseeded = (
        power_law(table, y="gap.absolute", x=D, rng=rng)
        for table, rng in ((rows, 0), (rows.sample(frac=1, random_state=1), 0), (rows, 1))
    )
    assert shuffled.exponent() == fit.exponent()
    assert reseeded.exponent().value == fit.exponent().value
    assert reseeded.exponent().low != fit.exponent().low
    assert reseeded.exponent() == pytest.approx(tuple(fit.exponent()), abs=0.01)


def test_the_test_of_an_exponent_agrees_with_its_interval() -> None:
    fit = power_law(study_rows({D: SIZES}, root, scatter=0.5), y="gap.absolute", x=D)
    middle, low, high = fit.exponent()
    for value in np.linspace(low - 0.1, high + 0.1, 101):
        verdict = exponent_test(fit, float(value))
        assert verdict.consistent == (low <= value <= high)
        # The ends of the interval are interpolated, so that next to them p may be off by one resample.
        assert verdict.consistent == (verdict.p_value >= 0.05) or verdict.p_value == pytest.approx(0.05, abs=1e-3)
    assert exponent_test(fit, middle).p_value > 0.7
    assert "inconsistent" in exponent_test(fit, 0.5).message


@pytest.mark.parametrize("value", [np.nan, np.inf, "half"])
def test_a_hypothesis_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ArgumentError, match="finite number"):
        exponent_test(power_law(study_rows({D: SIZES}, root), y="gap.absolute", x=D), value)


def test_two_sizes_are_no_law() -> None:
    rows = study_rows({D: SIZES[:2]}, root)
    with pytest.raises(ArgumentError, match="2 usable values and a power law needs 3"):
        power_law(rows, y="gap.absolute", x=D)


def test_sizes_whose_cells_failed_do_not_count() -> None:
    rows = study_rows({D: SIZES[:3]}, root)
    lost = fail(rows, list(rows.index[(rows[D] == SIZES[2]) & (rows["trial"] >= 4)]), "memory", "gap.absolute")
    with pytest.raises(ArgumentError, match=r"2 usable values .* 16 failed \(“memory”\) and 4 at sizes with"):
        power_law(lost, y="gap.absolute", x=D)


def test_collinear_coordinates_are_refused() -> None:
    rows = study_rows({D: SIZES}, root)
    rows[N] = 1e-2 * rows[D]
    with pytest.raises(ArgumentError, match="collinear"):
        power_law(rows, y="gap.absolute", x=[N, D])


def test_as_many_sizes_as_coefficients_leave_nothing_to_judge_by() -> None:
    rows = study_rows({D: SIZES[:3]}, root)
    rows[N] = rows[D].map({SIZES[0]: 10, SIZES[1]: 30, SIZES[2]: 20})
    with pytest.raises(ArgumentError, match="measure 4 sizes"):
        power_law(rows, y="gap.absolute", x=[N, D])


@pytest.mark.parametrize("x", [[], [D, D], "gap.absolute"])
def test_coordinates_must_differ_from_each_other_and_from_y(x: list[str] | str) -> None:
    with pytest.raises(ArgumentError, match="different columns"):
        power_law(study_rows({D: SIZES}, root), y="gap.absolute", x=x)
