"""Features with independent components that are not Gaussian: bounded ones, for which the theorems hold as well, and
heavy-tailed ones, for which they are not claimed.

Every z has mean zero and variance 1, but Student's t with ν ≤ 2 degrees of freedom, which has no variance:

    Rademacher         ±1 with probability ½ each
    uniform            on [−√3, √3]
    sparse signs       ±1/√p with probability p/2 each, else 0
    truncated normal   g given |g| ≤ b, over √(1 − 2 b φ(b)/(2Φ(b) − 1)), g standard normal
    Student t          t_ν √((ν − 2)/ν), for ν ≤ 2 as it is
    log-normal         (exp(σ g − σ²/2) − 1)/√(exp(σ²) − 1)

The Gram matrix of any of these depends on all the entries of X: they are streamed.

Bounded components are sub-Gaussian, ‖z‖_ψ₂² = inf{t²: E exp(z²/t²) ≤ 2} < ∞, but the theorems hold up to constants that
grow with it. It is 8/3 for Gaussian components, less for Rademacher, uniform and truncated normal ones, and for sparse
signs 1/(p log(1 + 1/p)), which grows without bound as p → 0: they count as sub-Gaussian up to twice the Gaussian value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from relubias.linalg.gram import Array
from relubias.population import Population
from relubias.sampling.law import IndependentComponents
from relubias.sampling.records import real, settle

#: The largest ‖z‖_ψ₂² that counts as sub-Gaussian, twice that of a Gaussian; a convention of ours.
HEAVIEST = 16.0 / 3.0


@dataclass(frozen=True)
class Rademacher(IndependentComponents):
    """Signs, ±1 with probability ½ each."""

    kind: ClassVar[str] = "rademacher"

    @property
    def sub_gaussian(self) -> bool:
        """Bounded."""
        return True

    def standardised(self, generator: np.random.Generator, shape: tuple[int, int]) -> Array:
        """One random bit a number."""
        count = shape[0] * shape[1]
        bits = np.unpackbits(np.frombuffer(generator.bytes((count + 7) // 8), dtype=np.uint8), count=count)
        return np.asarray(2.0 * bits.reshape(shape) - 1.0, dtype=np.float64)


@dataclass(frozen=True)
class Uniform(IndependentComponents):
    """Uniform on [−√3, √3]."""

    kind: ClassVar[str] = "uniform"

    @property
    def sub_gaussian(self) -> bool:
        """Bounded."""
        return True

    def standardised(self, generator: np.random.Generator, shape: tuple[int, int]) -> Array:
        """Uniform numbers, centred."""
        return math.sqrt(12.0) * (generator.random(shape) - 0.5)


@dataclass(frozen=True)
class SparseSigns(IndependentComponents):
    """±1/√p with probability p/2 each, else 0; `density` is p in (0, 1]."""

    kind: ClassVar[str] = "sparse-signs"
    density: float

    def __post_init__(self) -> None:
        super().__post_init__()
        density = real(self.density, "density", "above 0 and at most 1", lambda number: 0.0 < number <= 1.0)
        settle(self, density=density)

    @property
    def sub_gaussian(self) -> bool:
        """Unless signs are so rare that they are spikes: from a density of about 0.073 on."""
        return 1.0 / (self.density * math.log1p(1.0 / self.density)) <= HEAVIEST

    def standardised(self, generator: np.random.Generator, shape: tuple[int, int]) -> Array:
        """One uniform number says whether there is a sign, and which."""
        chance = generator.random(shape)
        signs = np.subtract(chance < self.density / 2, chance >= 1.0 - self.density / 2, dtype=np.float64)
        return signs / math.sqrt(self.density)


@dataclass(frozen=True)
class TruncatedNormal(IndependentComponents):
    """Standard normal numbers of absolute value at most `bound`, scaled to variance 1."""

    kind: ClassVar[str] = "truncated-normal"
    bound: float

    def __post_init__(self) -> None:
        super().__post_init__()
        # below, rounding eats the variance, and the law is uniform; above, the normal law is truncated nowhere
        wanted = "from 0.01 (nearly uniform) to 8 (nearly normal)"
        settle(self, bound=real(self.bound, "bound", wanted, lambda number: 0.01 <= number <= 8.0))

    @property
    def sub_gaussian(self) -> bool:
        """Bounded."""
        return True

    def standardised(self, generator: np.random.Generator, shape: tuple[int, int]) -> Array:
        """By the inverse of the distribution function, on the side where it has digits."""
        from scipy.special import ndtri  # slow to import

        b, mass = self.bound, math.erf(self.bound / math.sqrt(2.0))
        variance = 1.0 - 2.0 * b * math.exp(-(b**2) / 2) / (math.sqrt(2.0 * math.pi) * mass)
        centred = mass * (generator.random(shape) - 0.5)
        sizes = np.minimum(-ndtri(0.5 - np.abs(centred)), b)
        return np.copysign(sizes, centred) / math.sqrt(variance)


@dataclass(frozen=True)
class StudentT(IndependentComponents):
    """Student's t with `degrees` of freedom ν > 0, of variance 1 where ν > 2: heavy tails, a negative control."""

    kind: ClassVar[str] = "student-t"
    degrees: float

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, degrees=real(self.degrees, "degrees", "a positive finite number", lambda number: number > 0))

    @property
    def population(self) -> Population:
        """Of the spectrum; for ν ≤ 2 the trace is infinite.

        d₂ and d_∞ are then those of components cut off at any one size: they do not depend on it.
        """
        known = super().population
        return known if self.degrees > 2 else replace(known, trace=math.inf)

    @property
    def sub_gaussian(self) -> bool:
        """Tails are heavier than those of any Gaussian."""
        return False

    def standardised(self, generator: np.random.Generator, shape: tuple[int, int]) -> Array:
        """Student's t, scaled."""
        numbers = generator.standard_t(self.degrees, shape)
        return numbers * math.sqrt((self.degrees - 2.0) / self.degrees) if self.degrees > 2 else numbers


@dataclass(frozen=True)
class LogNormal(IndependentComponents):
    """exp(`sigma` g) with g standard normal, centred and scaled: skewed and heavy-tailed, a negative control."""

    kind: ClassVar[str] = "log-normal"
    sigma: float

    def __post_init__(self) -> None:
        super().__post_init__()
        # beyond, no sample that anyone can draw shows the variance; below, the law is normal and digits are lost
        wanted = "from 1e-06 (nearly normal) to 10"
        settle(self, sigma=real(self.sigma, "sigma", wanted, lambda number: 1e-6 <= number <= 10.0))

    @property
    def sub_gaussian(self) -> bool:
        """Tails are heavier than those of any Gaussian."""
        return False

    def standardised(self, generator: np.random.Generator, shape: tuple[int, int]) -> Array:
        """Log-normal numbers, centred and scaled."""
        exponents = self.sigma * generator.standard_normal(shape) - self.sigma**2 / 2
        return np.expm1(exponents) / math.sqrt(math.expm1(self.sigma**2))
