"""Multipliers by elimination: what they carry along is what would be computed afresh."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias.linalg.block_pivoting import non_negative_minimum
from relubias.linalg.factor import GramOperator
from relubias.references import elimination
from relubias.references.conditions import Constraints, evidence
from relubias.references.constrained import best_multipliers
from relubias.references.elimination import multipliers

WIDE = float(np.finfo(np.longdouble).eps)


def setting(seed: int, *, spread: float = 0.0, stretch: int = 20) -> tuple[GramOperator, Constraints]:
    """Constraints of random labels; singular values of X over so many decades, rows of lengths 2^±stretch."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    rows = rng.normal(size=(n, 2 * n)) * np.exp2(rng.integers(-stretch, stretch + 1, size=(n, 1)))
    if spread:
        left, _, right = np.linalg.svd(rows, full_matrices=False)
        rows = left * 10.0 ** -np.linspace(0, spread, n) @ right
    labels = rng.normal(size=n)
    return GramOperator(rows @ rows.T), Constraints(np.maximum(labels, 0.0), labels > 0)


@pytest.mark.parametrize("spread", [0.0, 4.0, 7.0])
@pytest.mark.parametrize("seed", range(8))
def test_the_image_that_comes_along_is_that_of_the_multipliers(seed: int, spread: float) -> None:
    operator, constraints = setting(seed, spread=spread)
    found = multipliers(operator, constraints)
    assert found is not None
    assert found.image is not None
    afresh = operator.wide_matvec(found.dual)
    floor = operator.roots * float(operator.roots @ np.abs(found.dual))
    assert np.all(np.abs(found.image - afresh) <= 8 * len(floor) * WIDE * floor)
    told, anew = (
        evidence(operator, constraints, found.dual, image=found.image),
        evidence(operator, constraints, found.dual),
    )
    assert told.norm == pytest.approx(anew.norm, rel=1e-14)
    assert told.kkt.worst == pytest.approx(anew.kkt.worst, rel=0.2, abs=1e-16)


def test_a_last_correction_that_is_large_brings_no_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elimination, "SMALL", -1.0)
    operator, constraints = setting(3)
    found = multipliers(operator, constraints)
    assert found is not None
    assert found.image is None


@pytest.mark.parametrize("seed", range(8))
def test_the_factor_of_the_program_is_one_of_its_passive_block(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(12, 20)) * np.exp2(rng.integers(-20, 20, size=(12, 1)))
    matrix = rows @ rows.T
    program = non_negative_minimum(matrix, rng.normal(size=12))
    assert program.solved
    assert program.factor is not None
    block = matrix[np.ix_(program.passive, program.passive)]
    lower = program.factor.lower
    np.testing.assert_allclose(np.tril(lower) @ np.tril(lower).T, block, rtol=1e-12, atol=1e-12 * block.max())


def test_a_program_with_dependent_rows_brings_no_factor() -> None:
    matrix = np.ones((2, 2))
    program = non_negative_minimum(matrix, np.array([1.0, 1.0]))
    assert program.solved
    assert program.factor is None


@pytest.mark.parametrize("spread", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(8))
def test_the_factor_that_proved_regularity_gives_the_same_multipliers(seed: int, spread: float) -> None:
    operator, constraints = setting(seed, spread=spread, stretch=1)
    exact = multipliers(operator, constraints)
    factor = operator.ordered(constraints.equal)
    assert factor is not None
    quick = multipliers(operator, constraints, factor=factor)
    assert exact is not None
    assert quick is not None
    lengths = operator.roots * np.abs(exact.dual)
    np.testing.assert_allclose(operator.roots * quick.dual, operator.roots * exact.dual, atol=1e-9 * lengths.max())
    assert evidence(operator, constraints, quick.dual, image=quick.image).is_at_last_digits


@given(st.integers(0, 10**6))
@settings(max_examples=80)
def test_ties_are_decided_as_without_the_shift(seed: int) -> None:
    """Rows and labels of small whole numbers, with samples of label 0 whose multiplier and slack both vanish."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 9))
    rows = np.hstack([rng.integers(-1, 2, (size, size)), 2 * np.eye(size)])
    labels = rng.integers(-1, 3, size).astype(float)
    constraints = Constraints(np.maximum(labels, 0.0), labels > 0)
    if not constraints.scale:
        return
    operator = GramOperator(rows @ rows.T)
    quick, proof = best_multipliers(operator, constraints, is_final=True)
    exact, _ = best_multipliers(operator, constraints)
    assert proof.kkt.worst <= 1e-14
    np.testing.assert_allclose(quick, exact, atol=1e-12)


def test_signs_that_depend_on_the_shift_are_found_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relubias.linalg.ordered.regularity", lambda size: 1e-3)
    tried: list[bool] = []

    def seen(*given: Any, factor: Any = None, **options: Any) -> Any:
        tried.append(factor is None)
        return multipliers(*given, factor=factor, **options)

    monkeypatch.setattr("relubias.references.constrained.multipliers", seen)
    for seed in range(40):
        operator, constraints = setting(seed, stretch=0)
        if not constraints.scale:
            continue
        tried.clear()
        _, proof = best_multipliers(operator, constraints, is_final=True)
        assert proof.kkt.worst <= 1e-13
        if tried == [False, True]:
            return
    pytest.fail("no sign depended on the shift")
