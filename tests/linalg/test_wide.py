"""Products beyond double precision, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from relubias.linalg.factor import GramOperator
from relubias.linalg.wide import wide_product

WIDE = float(np.finfo(np.longdouble).eps)


def exact(matrix: np.ndarray, vector: np.ndarray) -> list[Fraction]:
    """K a, with every digit."""
    parts = [Fraction(float(a)) + Fraction(float(a - np.float64(a))) for a in vector]
    return [sum((Fraction(float(k)) * a for k, a in zip(row, parts, strict=True)), Fraction(0)) for row in matrix]


def errors(found: np.ndarray, right: list[Fraction]) -> np.ndarray:
    """How far an extended-precision vector is from fractions."""
    pairs = zip(found, right, strict=True)
    return np.array([abs(float(Fraction(float(v)) + Fraction(float(v - np.float64(v))) - r)) for v, r in pairs])


def gram_and_vector(n: int, d: int, seed: int, *, cancelling: bool) -> tuple[np.ndarray, np.ndarray]:
    """K, and a of extended precision; K a is small beside |K||a| if they cancel."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) * np.exp2(rng.integers(-2, 3, size=(n, 1)))
    gram = rows @ rows.T
    vector = rng.normal(size=n)
    if cancelling:
        vector = np.linalg.eigh(gram)[1][:, 0]
    return gram, vector.astype(np.longdouble) * (1 + WIDE * rng.integers(0, 500, n))


@pytest.mark.parametrize("cancelling", [False, True])
@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 2), (7, 5), (64, 70), (90, 300)])
def test_the_product_has_the_digits_of_extended_precision(n: int, d: int, cancelling: bool) -> None:
    gram, vector = gram_and_vector(n, d, n, cancelling=cancelling)
    largest = float(gram.diagonal().max())
    found = wide_product(gram, vector, largest)
    worst = errors(found, exact(gram, vector)).max()
    allowed = 2 * max(WIDE, 2.0**-64) * largest * float(np.abs(vector).sum())
    assert worst <= allowed
    if n > 50 and not cancelling and WIDE < 1e-18:  # double precision has not as many
        assert errors((gram @ vector.astype(float)).astype(np.longdouble), exact(gram, vector)).max() > 10 * allowed


def test_several_blocks_of_rows_are_the_same_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    gram, vector = gram_and_vector(50, 60, 3, cancelling=False)
    whole = wide_product(gram, vector, float(gram.diagonal().max()))
    monkeypatch.setattr("relubias.linalg.wide.ENTRIES", 170)
    blocks = wide_product(gram, vector, float(gram.diagonal().max()))
    assert np.all(np.abs(blocks - whole) <= 2 * WIDE * np.abs(whole).max())


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_no_size_of_the_numbers_loses_digits(scale: float) -> None:
    gram, vector = gram_and_vector(20, 30, 5, cancelling=False)
    small, large = min(scale, 1.0), max(scale, 1.0)
    gram, vector = gram * small, vector.astype(float) * large
    largest = float(gram.diagonal().max())
    found = wide_product(gram, vector, largest)
    right = exact(gram, vector)
    allowed = 50 * max(WIDE, 2.0**-64) * largest * float(np.abs(vector).sum()) + 1e-320
    assert errors(found, right).max() <= allowed


@pytest.mark.parametrize("vector", [np.zeros(4), np.array([np.inf, 0.0, 0.0, 1.0]), np.array([np.nan, 0.0, 0.0, 1.0])])
def test_nothing_and_what_is_not_finite_come_out_as_they_would(vector: np.ndarray) -> None:
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(wide_product(np.ones((4, 4)), vector, 1.0), np.ones((4, 4)) @ vector)


def test_samples_of_very_different_lengths_keep_their_own_digits() -> None:
    """Relative to the longest sample the image of the shortest one would be rounding."""
    rng = np.random.default_rng(1)
    lengths = 10.0 ** rng.uniform(-12, 12, 30)
    rows = rng.normal(size=(30, 40)) * lengths[:, None]
    gram = rows @ rows.T
    vector = rng.normal(size=30) / lengths
    found = GramOperator(gram).wide_matvec(vector)
    assert np.all(errors(found, exact(gram, vector)) <= 50 * WIDE * (np.abs(gram) @ np.abs(vector)))
