"""All feature laws alike: what K and X have in expectation, what depends on the seed, and what is refused."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers import assert_close

from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.population import Population
from relubias.sampling.features import (
    FEATURE_LAWS,
    Equicorrelated,
    FeatureLaw,
    Gaussian,
    LogNormal,
    Rademacher,
    SparseSigns,
    StudentT,
    Subspace,
    TruncatedNormal,
    Uniform,
    features_from_dict,
)
from relubias.sampling.spectra import Blocks, Eigenvalues, Geometric, Isotropic, PowerLaw, Spectrum, Spiked

SPECTRA: tuple[Spectrum, ...] = (
    Isotropic(3.0),
    PowerLaw(0.5),
    Geometric(0.9),
    Spiked(2, 9.0),
    Blocks(((2.0, 12), (1.0, 14), (0.5, 4))),
    Eigenvalues(tuple(np.linspace(0.0, 2.0, 30))),
)

#: Laws whose rows are independent; all have 30 features, and fourth moments.
INDEPENDENT: tuple[FeatureLaw, ...] = (
    *(Gaussian(30, spectrum=spectrum) for spectrum in SPECTRA),
    Rademacher(30, spectrum=PowerLaw(0.5)),
    Uniform(30, spectrum=Spiked(2, 9.0)),
    SparseSigns(30, 0.3),
    TruncatedNormal(30, 1.5, spectrum=Geometric(0.9)),
    StudentT(30, 9.0),
    LogNormal(30, 0.3, spectrum=PowerLaw(0.5)),
    Subspace(30, 7),
)
EVERY = (*INDEPENDENT, Equicorrelated(30, 0.4, spectrum=PowerLaw(0.5)))

#: Laws that draw the same numbers for K as for X.
STREAMED = tuple(law for law in INDEPENDENT if not isinstance(law, Gaussian | Subspace))


def named(law: FeatureLaw) -> str:
    spectrum = getattr(law, "spectrum", None)
    return law.kind if spectrum is None else f"{law.kind}-{spectrum.kind}"


every = pytest.mark.parametrize("law", EVERY, ids=named)


def deviations(values: Array, expected: float) -> float:
    """By how many standard errors the mean of independent values misses what is expected."""
    error = np.std(values) / math.sqrt(len(values))
    return abs(float(np.mean(values)) - expected) / max(float(error), 1e-12 * abs(expected))


def moments(draw: Callable[[np.random.Generator], Array], population: Population, seed: int) -> dict[str, float]:
    """Standard errors by which E K_11 = ‖λ‖₁, E K_12 = 0 and E K_12² = ‖λ‖₂² are missed in 3000 draws of K."""
    rng = np.random.default_rng(seed)
    grams = np.array([draw(rng) for _ in range(3000)])
    squares = population.trace**2 / population.d2
    return {
        "length": deviations(grams[:, 0, 0], population.trace),
        "product": deviations(grams[:, 0, 1], 0.0),
        "square": deviations(grams[:, 0, 1] ** 2, squares),
    }


def outer(law: FeatureLaw, n_rows: int, rng: np.random.Generator) -> Array:
    features = law.rows(n_rows, rng)
    return np.asarray(features @ features.T)


@pytest.mark.parametrize("law", INDEPENDENT, ids=named)
def test_moments_of_k_are_those_of_the_population(law: FeatureLaw) -> None:
    """4.5 standard errors are passed once in 1e5 times; there are 78 of them here."""
    for seed, draw in enumerate((lambda rng: law.gram(3, rng), lambda rng: outer(law, 3, rng))):
        assert max(moments(draw, law.population, seed).values()) < 4.5


def test_a_population_that_is_off_is_seen_in_the_moments() -> None:
    law = Gaussian(30, spectrum=PowerLaw(0.5))
    known = law.population
    longer = Population(1.1 * known.trace, 1.21 * known.d2, known.dinf)
    rounder = Population(known.trace, 1.2 * known.d2, known.dinf)
    assert moments(lambda rng: law.gram(3, rng), longer, 0)["length"] > 4.5
    assert moments(lambda rng: law.gram(3, rng), rounder, 0)["square"] > 4.5


@every
@pytest.mark.parametrize("n_rows", [1, 8, 40])
def test_k_is_a_gram_matrix_of_the_rank_that_its_rows_can_have(law: FeatureLaw, n_rows: int) -> None:
    gram = law.gram(n_rows, 5)
    assert gram.shape == (n_rows, n_rows)
    assert gram.dtype == np.float64
    assert np.array_equal(gram, gram.T)
    dimension = {"subspace": 7}.get(law.kind, 29 if named(law) == "gaussian-given" else 30)
    eigenvalues = np.linalg.eigvalsh(gram)
    assert eigenvalues[0] > -1e-13 * eigenvalues[-1]
    assert np.linalg.matrix_rank(gram) == min(n_rows, dimension)


@every
def test_the_seed_alone_decides_the_bits(law: FeatureLaw) -> None:
    for draw in (law.gram, law.rows):
        one = draw(6, 3)
        assert np.array_equal(one, draw(6, np.random.default_rng(3)))
        assert not np.array_equal(one, draw(6, 4))
    generator = np.random.default_rng(3)
    assert not np.array_equal(law.gram(6, generator), law.gram(6, generator))


@pytest.mark.parametrize("law", STREAMED, ids=named)
def test_streamed_laws_draw_the_same_numbers_with_and_without_the_features(law: FeatureLaw) -> None:
    features = law.rows(9, 2)
    assert features.shape == (9, 30)
    assert_close(law.gram(9, 2), features @ features.T, 1e-14)


@every
def test_a_law_comes_back_from_its_plain_values(law: FeatureLaw) -> None:
    values = law.as_dict()
    assert values["kind"] == law.kind
    assert features_from_dict(values) == law
    assert np.array_equal(features_from_dict(values).gram(4, 0), law.gram(4, 0))


def test_every_kind_is_held_here() -> None:
    assert {law.kind for law in EVERY} == set(FEATURE_LAWS)


def test_a_law_is_read_from_toml() -> None:
    text = 'kind = "gaussian"\nn_features = 9620\n[spectrum]\nkind = "blocks"\nparts = [[30, 120], [1, 9500]]'
    law = features_from_dict(tomllib.loads(text))
    assert law == Gaussian(9620, spectrum=Blocks(((30.0, 120), (1.0, 9500))))
    assert features_from_dict({"kind": "student-t", "n_features": 5, "degrees": 3}) == StudentT(5, 3.0)


def test_the_number_of_features_costs_nothing_where_eigenvalues_are_equal() -> None:
    d = 10**12
    halves = Blocks(((3.0, d // 2), (1.0, d // 2)))
    laws: tuple[FeatureLaw, ...] = (
        Gaussian(d),
        Gaussian(d, spectrum=halves),
        Gaussian(d, spectrum=Spiked(5, 1e10)),
        Gaussian(d, spectrum=Geometric(0.5)),
        Equicorrelated(d, 0.1),
        Subspace(d, 10**9),
    )
    for law in laws:
        gram = law.gram(30, 0)
        # six standard deviations of the mean length of 30 rows; those of equicorrelated rows have a part in common
        spread = 6 * math.sqrt(2 / (law.population.d2 * (1 if law.kind == "equicorrelated" else 30)))
        assert abs(np.mean(np.diag(gram)) / law.population.trace - 1) < spread


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0), "n_features must be a whole number from 1 to 1,000,000,000,000,000; it is 0"),
        (lambda: Gaussian(10**16), "n_features must be a whole number from 1 to"),
        (lambda: Gaussian(2.5), "n_features must be a whole number"),  # type: ignore[arg-type]
        (lambda: Gaussian(5, spectrum="flat"), "spectrum must be a record of relubias.sampling.spectra"),  # type: ignore[arg-type]
        (lambda: Gaussian(5, spectrum=Eigenvalues((1.0, 2.0))), "2 eigenvalues for 5 features"),
        (lambda: Rademacher(5, spectrum=Spiked(6, 2.0)), "6 spikes need as many features"),
        (lambda: SparseSigns(5, 0.0), "density must be above 0 and at most 1; it is 0.0"),
        (lambda: SparseSigns(5, 1.1), "density must be above 0 and at most 1"),
        (lambda: TruncatedNormal(5, 0.0), "bound must be from 0.01"),
        (lambda: StudentT(5, 0.0), "degrees must be a positive finite number"),
        (lambda: LogNormal(5, 11.0), "sigma must be from 1e-06 .* to 10"),
        (lambda: Equicorrelated(5, -0.1), "correlation must be from 0 to 1; it is -0.1"),
        (lambda: Subspace(5, 6), "the dimension of the subspace must be a whole number from 1 to 5; it is 6"),
        (lambda: Gaussian(5).gram(0, 0), "the number of rows must be a whole number from 1 to 20,000; it is 0"),
        (lambda: Gaussian(5).rows(10**6, 0), "the number of rows must be a whole number"),
        (lambda: Gaussian(5).gram(3, -1), "rng must be a non-negative int or a numpy Generator"),
        (lambda: LogNormal(5, 1e-200), "sigma must be from 1e-06"),
        (lambda: StudentT(5, 0.001).gram(3, 0), "too large for float64; take lighter tails"),
        (lambda: StudentT(5, 0.001).rows(3, 0), "too large for float64; take lighter tails"),
        (lambda: features_from_dict({"kind": ["gaussian"]}), r"features\.kind \['gaussian'\] is not known"),
        (lambda: features_from_dict({"kind": "cauchy"}), r"features\.kind 'cauchy' is not known; known are gaussian"),
        (lambda: features_from_dict({"kind": "gaussian"}), r"features\.n_features is missing"),
        (
            lambda: features_from_dict({"kind": "uniform", "n_features": 4, "low": 0}),
            r"features\.low: the field 'low' is not known",
        ),
    ],
)
def test_what_is_no_law_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()
