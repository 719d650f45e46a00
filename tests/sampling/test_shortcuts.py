"""Gram matrices that are drawn without the features have the law of those that are drawn with them.

Each shortcut is held against X, drawn entry by entry from the definition, by Kolmogorov and Smirnov's two-sample
test on functionals of K: spectral ones, single entries, and what training makes of it. The p-values of all cases and
functionals are corrected together (Holm); draws that are wrong by little are rejected by the very same test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

import relubias
from relubias.sampling.features import Equicorrelated, Gaussian, Subspace
from relubias.sampling.spectra import Blocks, Spiked
from relubias.sampling.wishart import bartlett_factor, triangular_product

pytestmark = pytest.mark.slow

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator], Array]

FUNCTIONALS = ("log det K", "tr K", "λ_min", "λ_max", "K_11", "K_12", "gap", "settling step")
DRAWS = 1000
LEVEL = 0.01


def functionals(gram: Array) -> list[float]:
    """What is compared; labels are ±1, half each, and training starts with all samples active."""
    n = len(gram)
    problem = relubias.Problem.from_gram(gram, np.where(np.arange(n) % 2, -1.0, 1.0))
    network = relubias.Network.single()
    run = relubias.gradient_descent(problem, network, relubias.starts.all_active(problem, network))
    gap = relubias.gap(run, relubias.minimum_norm(problem, network)).absolute
    settled = np.inf if run.stabilised_at is None else run.stabilised_at
    eigenvalues = np.linalg.eigvalsh(gram)
    entries = (gram[0, 0], gram[0, 1])
    return [np.log(eigenvalues).sum(), np.trace(gram), eigenvalues[0], eigenvalues[-1], *entries, gap, settled]


def sample(draw: Draw, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    return np.array([functionals(draw(rng)) for _ in range(DRAWS)])


def p_values(one: Array, other: Array) -> dict[str, float]:
    """Of the two-sample test on each functional."""
    return {name: float(scipy.stats.ks_2samp(one[:, k], other[:, k]).pvalue) for k, name in enumerate(FUNCTIONALS)}


def rejected(values: Mapping[str, float]) -> list[str]:
    """Holm: of m hypotheses, the k-th smallest p-value is held against LEVEL/(m − k + 1) until one is larger."""
    found: list[str] = []
    for name in sorted(values, key=lambda name: values[name]):
        if values[name] > LEVEL / (len(values) - len(found)):
            break
        found.append(name)
    return found


def explicit(n: int, eigenvalues: Array) -> Draw:
    """K of Gaussian rows, drawn entry by entry."""

    def draw(rng: np.random.Generator) -> Array:
        features = rng.standard_normal((n, len(eigenvalues))) * np.sqrt(eigenvalues)
        return np.asarray(features @ features.T)

    return draw


def explicit_equicorrelated(n: int, d: int, rho: float) -> Draw:
    """K of rows that share a common part, from their definition."""

    def draw(rng: np.random.Generator) -> Array:
        common = rng.standard_normal(d)
        features = np.sqrt(rho) * common + np.sqrt(1 - rho) * rng.standard_normal((n, d))
        return np.asarray(features @ features.T)

    return draw


def explicit_subspace(n: int, d: int, dimension: int) -> Draw:
    """K of rows whose last coordinates are zero: a subspace like any other."""
    return explicit(n, np.repeat([d / dimension, 0.0], [dimension, d - dimension]))


class Case(NamedTuple):
    shortcut: Draw
    explicit: Draw


def cases() -> dict[str, Case]:
    """Sizes at which log det K has little room and much, and spectra of which a part is streamed and a part is not."""
    found = {
        f"isotropic ({n}, {d})": Case(partial(Gaussian(d).gram, n), explicit(n, np.ones(d)))
        for n, d in ((20, 25), (20, 21), (50, 200))
    }
    spiked = Gaussian(40, spectrum=Spiked(3, 20.0))
    blocks = Gaussian(75, spectrum=Blocks(((4.0, 25), (2.0, 10), (1.0, 40))))
    found["spiked (20, 40)"] = Case(partial(spiked.gram, 20), explicit(20, np.repeat([20.0, 1.0], [3, 37])))
    found["blocks (20, 75)"] = Case(partial(blocks.gram, 20), explicit(20, np.repeat([4.0, 2.0, 1.0], [25, 10, 40])))
    found["equicorrelated (20, 60)"] = Case(
        partial(Equicorrelated(60, 0.2).gram, 20), explicit_equicorrelated(20, 60, 0.2)
    )
    found["subspace (20, 200)"] = Case(partial(Subspace(200, 30).gram, 20), explicit_subspace(20, 200, 30))
    return found


def one_degree_too_few(n: int, d: int) -> Draw:
    """Bartlett's diagonal with d − i degrees of freedom where it has d − i + 1."""
    return lambda rng: triangular_product(bartlett_factor(d - np.arange(n, dtype=np.float64) - 1.0, rng))


@cache
def reference(n: int, d: int) -> Array:
    return sample(explicit(n, np.ones(d)), seed=1000 + n + d)


def test_no_shortcut_is_told_from_the_explicit_draw() -> None:
    values = {
        f"{name}: {functional}": value
        for seed, (name, case) in enumerate(cases().items())
        for functional, value in p_values(sample(case.shortcut, 2 * seed), sample(case.explicit, 2 * seed + 1)).items()
    }
    assert len(values) == 7 * len(FUNCTIONALS)
    assert rejected(values) == []


def test_one_wrong_degree_of_freedom_is_rejected_where_d_is_close_to_n() -> None:
    found = rejected(p_values(sample(one_degree_too_few(20, 21), seed=50), reference(20, 21)))
    assert {"log det K", "λ_min"} <= set(found)


def test_three_per_cent_more_features_are_rejected() -> None:
    found = rejected(p_values(sample(partial(Gaussian(206).gram, 50), seed=51), reference(50, 200)))
    assert {"log det K", "tr K"} <= set(found)


def test_the_correction_is_that_of_holm() -> None:
    assert rejected({"a": 0.004, "b": 0.002, "c": 0.5}) == ["b", "a"]
    assert rejected({"a": 0.004, "b": 0.004, "c": 0.5}) == []
    assert rejected({"a": 0.011}) == []


def test_what_training_makes_of_k_is_compared_at_its_proven_limit() -> None:
    """All but a few draws settle, in more than one way: the last two functionals are not constant."""
    values = reference(20, 25)
    assert np.mean(np.isfinite(values[:, -1])) > 0.99
    assert len(np.unique(values[:, -1])) > 2
    assert np.all(values[:, -2] > 0)
