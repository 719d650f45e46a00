"""Covariance spectra: the eigenvalues λ_1, …, λ_d of the feature covariance, for any d.

A spectrum is a rule that is written down without d numbers. What is asked of it costs as little:

* the sums behind ‖λ‖₁, d₂ and d_∞, in closed form, or for the power law by the formula of Euler and Maclaurin,

      Σ_{m<j≤d} f(j) = ∫_m^d f + (f(d) − f(m))/2 + (f′(d) − f′(m))/12 − (f‴(d) − f‴(m))/720 + …;

* which eigenvalues are equal, for those are drawn together at no cost in d (:mod:`~relubias.sampling.wishart`);
* the eigenvalues from one place to another, for those that have to be drawn one by one.

The sums are taken relative to the largest eigenvalue, so that they do not overflow where λ has unusual units.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relubias.arguments import is_number
from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.population import Population
from relubias.sampling.records import LARGEST, as_plain, items, real, rebuilt, settle, size, whole

#: So many terms of Σ j^−a are added one by one; the remainder of the formula is then below rounding.
EXPLICIT_TERMS = 1000

#: −log of the smallest positive number in double precision, rounded up.
UNDERFLOW = 745.2


class Group(NamedTuple):
    """An eigenvalue and its multiplicity."""

    value: float
    multiplicity: int


class Sums(NamedTuple):
    """λ_max, and Σ_j (λ_j/λ_max)^p for p = 1 and 2."""

    largest: float
    first: float
    second: float


class Split(NamedTuple):
    """Eigenvalues that occur often, and the spectrum of the `n_rest` others."""

    frequent: tuple[Group, ...]
    rest: Spectrum
    n_rest: int


@dataclass(frozen=True)
class Spectrum(ABC):
    """The eigenvalues of a covariance, as a rule for any number of features."""

    kind: ClassVar[str]

    @abstractmethod
    def sums(self, n_features: int) -> Sums:
        """The sums behind ‖λ‖₁, ‖λ‖₂² and ‖λ‖_∞.

        Parameters
        ----------
        n_features : int
            d.

        Returns
        -------
        Sums
        """

    @abstractmethod
    def eigenvalues(self, first: int, last: int) -> Array:
        """The eigenvalues at places `first` to `last` − 1, shape (last − first,).

        Parameters
        ----------
        first, last : int
            Counted from 0.
        """

    def require(self, n_features: int) -> None:  # noqa: B027 - most rules hold for any number of features
        """Refuse a number of features that the spectrum cannot have.

        Parameters
        ----------
        n_features : int
            d.

        Raises
        ------
        ArgumentError
            If it is one.
        """

    def support(self, n_features: int) -> int:
        """From this place on, all eigenvalues are zero in double precision.

        Parameters
        ----------
        n_features : int
            d.

        Returns
        -------
        int
        """
        return n_features

    def split(self, n_features: int, at_least: int) -> Split:
        """Set apart the eigenvalues that the rule has at least so many times, and is known to have.

        Parameters
        ----------
        n_features : int
            d.
        at_least : int

        Returns
        -------
        Split
        """
        return Split((), self, n_features)

    def blocks(self, n_features: int, width: int) -> Iterator[Array]:
        """The eigenvalues in order, `width` at a time, up to the last one that is not zero.

        Parameters
        ----------
        n_features : int
            d.
        width : int

        Yields
        ------
        ndarray, shape (width,)
            The last one may be shorter.
        """
        last = self.support(n_features)
        for first in range(0, last, width):
            yield self.eigenvalues(first, min(first + width, last))

    def population(self, n_features: int) -> Population:
        """‖λ‖₁, d₂ = ‖λ‖₁²/‖λ‖₂² and d_∞ = ‖λ‖₁/‖λ‖_∞.

        Parameters
        ----------
        n_features : int
            d.

        Returns
        -------
        Population
        """
        largest, first, second = self.sums(n_features)
        return Population(largest * first, first**2 / second, first)

    def as_dict(self) -> dict[str, Any]:
        """The rule as plain values, from which ``spectrum_from_dict`` rebuilds it."""
        return as_plain(self)


class Grouped(Spectrum):
    """A spectrum of few values, each with a multiplicity."""

    @abstractmethod
    def groups(self, n_features: int) -> tuple[Group, ...]:
        """The values in order, with their multiplicities."""

    def sums(self, n_features: int) -> Sums:
        """The sums over the groups."""
        groups = self.groups(n_features)
        largest = max(value for value, count in groups if count)
        ratios = [(value / largest, count) for value, count in groups]
        first, second = (math.fsum(ratio**power * count for ratio, count in ratios) for power in (1, 2))
        return Sums(largest, first, second)

    def eigenvalues(self, first: int, last: int) -> Array:
        """The eigenvalues from place `first`, each group repeated as often as it occurs."""
        values, ends = self._table(last)
        return values[np.searchsorted(ends, np.arange(first, last), side="right")]

    def _table(self, n_features: int) -> tuple[Array, NDArray[np.int64]]:
        """The values of the groups and the places where they end."""
        return _tabulated(self.groups(n_features))

    def split(self, n_features: int, at_least: int) -> Split:
        """Set apart the groups of at least so many; zero eigenvalues are in neither part."""
        groups = [group for group in self.groups(n_features) if group.value > 0 and group.multiplicity > 0]
        rest = tuple((value, count) for value, count in groups if count < at_least)
        return Split(
            tuple(group for group in groups if group.multiplicity >= at_least),
            Blocks(rest) if rest else self,
            sum(count for _, count in rest),
        )


@dataclass(frozen=True)
class Isotropic(Grouped):
    """λ_j = `value` for all j."""

    kind: ClassVar[str] = "isotropic"
    value: float = 1.0

    def __post_init__(self) -> None:
        settle(self, value=size(self.value, "the eigenvalue of an isotropic spectrum"))

    def groups(self, n_features: int) -> tuple[Group, ...]:
        """One group."""
        return (Group(self.value, n_features),)


@dataclass(frozen=True)
class Spiked(Grouped):
    """The first `count` eigenvalues are `size`, all others are 1."""

    kind: ClassVar[str] = "spiked"
    count: int
    size: float

    def __post_init__(self) -> None:
        settle(self, count=whole(self.count, "the number of spikes"), size=size(self.size, "the size of a spike"))

    def require(self, n_features: int) -> None:
        """There must be as many features as spikes."""
        if self.count > n_features:
            raise ArgumentError(f"{self.count:,} spikes need as many features; there are {n_features:,}.")

    def groups(self, n_features: int) -> tuple[Group, ...]:
        """The spikes, and the others."""
        spikes = min(self.count, n_features)
        return Group(self.size, spikes), Group(1.0, n_features - spikes)


@dataclass(frozen=True)
class Blocks(Grouped):
    """Blocks of equal eigenvalues: pairs (value, count), whose counts add up to the number of features."""

    kind: ClassVar[str] = "blocks"
    parts: tuple[tuple[float, int], ...]

    def __post_init__(self) -> None:
        wrong = ArgumentError(
            "a spectrum of blocks needs pairs (eigenvalue, how often it occurs), such as [(30, 120), (1, 9500)]; "
            f"it is {self.parts!r:.80}."
        )
        try:
            pairs = [(value, count) for value, count in map(items, items(self.parts) or ())]  # type: ignore[misc]
        except (TypeError, ValueError):
            raise wrong from None
        parts = tuple((_block_value(value), whole(count, "the size of a block")) for value, count in pairs)
        if not any(value > 0 for value, _ in parts):
            raise wrong
        settle(self, parts=parts)

    def require(self, n_features: int) -> None:
        """The counts must add up to the number of features."""
        total = sum(count for _, count in self.parts)
        if total != n_features:
            raise ArgumentError(f"the blocks of the spectrum have {total:,} eigenvalues for {n_features:,} features.")

    def groups(self, n_features: int) -> tuple[Group, ...]:
        """The blocks."""
        return tuple(Group(value, count) for value, count in self.parts)

    @cached_property
    def _own_table(self) -> tuple[Array, NDArray[np.int64]]:
        return _tabulated(self.groups(0))

    def _table(self, n_features: int) -> tuple[Array, NDArray[np.int64]]:
        return self._own_table


@dataclass(frozen=True)
class PowerLaw(Spectrum):
    """λ_j = j^−a with `exponent` a ≥ 0."""

    kind: ClassVar[str] = "power-law"
    exponent: float

    def __post_init__(self) -> None:
        settle(self, exponent=_not_negative(self.exponent, "the exponent of a power law"))

    def sums(self, n_features: int) -> Sums:
        """Σ j^−a and Σ j^−2a."""
        return Sums(1.0, power_sum(n_features, self.exponent), power_sum(n_features, 2.0 * self.exponent))

    def eigenvalues(self, first: int, last: int) -> Array:
        """j^−a for j = `first` + 1 … `last`."""
        return np.arange(first + 1, last + 1, dtype=np.float64) ** -self.exponent

    def split(self, n_features: int, at_least: int) -> Split:
        """All eigenvalues are equal where a = 0, and different otherwise."""
        return super().split(n_features, at_least) if self.exponent else Isotropic().split(n_features, at_least)

    def support(self, n_features: int) -> int:
        """Where j^−a underflows."""
        if self.exponent * math.log(n_features) <= UNDERFLOW:
            return n_features
        return min(n_features, math.ceil(math.exp(UNDERFLOW / self.exponent)))


@dataclass(frozen=True)
class Geometric(Spectrum):
    """λ_j = q^(j−1) with `ratio` 0 < q < 1."""

    kind: ClassVar[str] = "geometric"
    ratio: float

    def __post_init__(self) -> None:
        settle(self, ratio=real(self.ratio, "the ratio of a geometric spectrum", "between 0 and 1", _inside_unit))

    def sums(self, n_features: int) -> Sums:
        """(1 − q^d)/(1 − q) for q and q²."""
        q, decay = self.ratio, n_features * math.log(self.ratio)
        return Sums(1.0, math.expm1(decay) / (q - 1.0), math.expm1(2.0 * decay) / ((q - 1.0) * (q + 1.0)))

    def eigenvalues(self, first: int, last: int) -> Array:
        """q^(j−1) for j = `first` + 1 … `last`."""
        return np.float64(self.ratio) ** np.arange(first, last, dtype=np.float64)

    def support(self, n_features: int) -> int:
        """Where q^(j−1) underflows."""
        return min(n_features, math.ceil(UNDERFLOW / -math.log(self.ratio)) + 1)


@dataclass(frozen=True)
class Eigenvalues(Spectrum):
    """Eigenvalues that are given one by one, as many as there are features."""

    kind: ClassVar[str] = "given"
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        wrong = ArgumentError(
            "a given spectrum is a list of finite eigenvalues that are not negative and not all zero, the largest from "
            f"{1 / LARGEST:.0e} to {LARGEST:.0e}; it is {self.values!r:.80}."
        )
        try:
            array = np.array(self.values, dtype=np.float64)
        except (TypeError, ValueError):
            raise wrong from None
        if array.ndim != 1 or not np.all(np.isfinite(array) & (array >= 0)) or not np.any(array):
            raise wrong
        if not 1 / LARGEST <= array.max() <= LARGEST:
            raise wrong
        settle(self, values=tuple(array.tolist()))

    @cached_property
    def _array(self) -> Array:
        return np.array(self.values, dtype=np.float64)

    def require(self, n_features: int) -> None:
        """There must be as many eigenvalues as features."""
        if len(self.values) != n_features:
            raise ArgumentError(f"the given spectrum has {len(self.values):,} eigenvalues for {n_features:,} features.")

    def sums(self, n_features: int) -> Sums:
        """The sums over the values."""
        largest = float(self._array.max())
        ratios = self._array / largest
        return Sums(largest, float(ratios.sum()), float(np.square(ratios).sum()))

    def eigenvalues(self, first: int, last: int) -> Array:
        """The values from place `first`."""
        return self._array[first:last]

    def split(self, n_features: int, at_least: int) -> Split:
        """Set apart the values that occur at least so many times; where there are some, zeros are in neither part."""
        unique, inverse, counts = np.unique(self._array, return_inverse=True, return_counts=True)
        frequent = (counts >= at_least) & (unique > 0)
        if not np.any(frequent):
            return Split((), self, n_features)
        rest = self._array[~frequent[inverse] & (self._array > 0)]
        groups = zip(unique[frequent].tolist(), counts[frequent].tolist(), strict=True)
        return Split(tuple(Group(*pair) for pair in groups), Eigenvalues(tuple(rest)) if len(rest) else self, len(rest))


def power_sum(n_terms: int, exponent: float) -> float:
    """Return Σ_{j=1}^{n_terms} j^−a for a ≥ 0, at no cost in the number of terms."""
    m, d, a = min(n_terms, EXPLICIT_TERMS), float(n_terms), float(exponent)
    head = math.fsum(float(j) ** -a for j in range(1, m + 1))
    if n_terms == m or a * math.log(m) > UNDERFLOW:  # then so does every term after these
        return head
    span = math.log(d / m)
    integral = span if a == 1.0 else float(m) ** (1.0 - a) * math.expm1((1.0 - a) * span) / (1.0 - a)

    def ends(power: float) -> float:
        return math.exp(-power * math.log(d)) - math.exp(-power * math.log(m))

    slopes = -a * ends(a + 1) / 12 + a * (a + 1) * (a + 2) * ends(a + 3) / 720
    return head + integral + ends(a) / 2 + slopes


def spectrum_from_dict(values: Any, where: str = "spectrum") -> Spectrum:
    """Rebuild a spectrum from its ``as_dict``.

    Raises
    ------
    ArgumentError
        With the key, if it is none.
    """
    return rebuilt(SPECTRA, values, where)


#: The spectra by their kind.
SPECTRA: dict[str, type[Spectrum]] = {
    maker.kind: maker for maker in (Isotropic, PowerLaw, Geometric, Spiked, Blocks, Eigenvalues)
}


def _tabulated(groups: tuple[Group, ...]) -> tuple[Array, NDArray[np.int64]]:
    return np.array([value for value, _ in groups]), np.cumsum([count for _, count in groups], dtype=np.int64)


def _block_value(value: Any) -> float:
    return 0.0 if is_number(value) and value == 0 else size(value, "an eigenvalue of a block that is not 0")


def _not_negative(value: Any, what: str) -> float:
    return real(value, what, "a finite number that is not negative", lambda number: number >= 0)


def _inside_unit(number: float) -> bool:
    return 0.0 < number < 1.0
