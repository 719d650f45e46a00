"""The factor with some samples in front: its blocks are those of elimination, and it proves that K is regular."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relubias.linalg.factor import KEPT, GramOperator
from relubias.linalg.ordered import ordered_factor, regularity


def gram_of(n_samples: int, n_features: int, seed: int) -> np.ndarray:
    features = np.random.default_rng(seed).standard_normal((n_samples, n_features))
    return features @ features.T


@given(st.integers(0, 10**6), st.integers(1, 12))
@settings(max_examples=60)
def test_the_blocks_are_those_of_elimination_up_to_the_shift(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    gram, front = gram_of(size, 2 * size + 5, seed), rng.random(size) < 0.5
    units = np.exp2(rng.integers(-2, 3, size).astype(np.float64))
    found = ordered_factor(gram, front)
    assert found is not None
    head, half, schur = found.blocks(units)
    scaled = gram / units / units[:, None]
    first, rest = scaled[np.ix_(front, front)], scaled[np.ix_(front, ~front)]
    np.testing.assert_allclose(head @ head.T, first, rtol=0, atol=1e-11 * np.trace(scaled))
    np.testing.assert_allclose(head @ half, rest, rtol=0, atol=1e-11 * np.trace(scaled))
    expected = scaled[np.ix_(~front, ~front)] - rest.T @ np.linalg.solve(first, rest) if front.any() else scaled
    np.testing.assert_allclose(schur, expected, rtol=0, atol=1e-9 * np.trace(scaled))
    assert np.array_equal(np.concatenate([found.front, found.rest]), np.argsort(~front, kind="stable"))


@pytest.mark.parametrize(("n_features", "is_regular"), [(7, False), (8, True), (30, True)])
def test_it_proves_what_the_plain_factor_proves(n_features: int, is_regular: bool) -> None:
    gram, front = gram_of(8, n_features, 3), np.arange(8) % 2 == 0
    assert GramOperator(gram).is_regular is is_regular
    operator = GramOperator(gram)
    found = operator.ordered(front)
    assert (found is not None) is is_regular
    assert operator.is_regular is is_regular
    assert operator.ordered(front) is found


def test_an_eigenvalue_at_the_shift_is_not_called_regular() -> None:
    size = 6
    vectors = np.linalg.qr(np.random.default_rng(0).standard_normal((size, size)))[0]
    for factor, expected in ((0.5, False), (4.0, True)):
        values = np.ones(size)
        values[0] = factor * regularity(size) * (size - 1)
        gram = (vectors * values) @ vectors.T
        assert (ordered_factor(0.5 * (gram + gram.T), np.ones(size, dtype=bool)) is not None) is expected


def test_regularity_that_is_proven_is_not_proven_again(monkeypatch: pytest.MonkeyPatch) -> None:
    front = np.arange(6) < 3
    operators = [GramOperator(gram_of(6, 40, 1)) for _ in range(2)]
    assert operators[0].is_conditioned(1e10)  # which is more
    assert operators[1].ordered(front) is not None
    monkeypatch.setattr(GramOperator, "_exceeds", pytest.fail)
    assert all(operator.is_regular for operator in operators)


def test_what_was_asked_before_does_not_change_the_factor() -> None:
    front, gram = np.arange(6) < 3, gram_of(6, 40, 1)
    first, second = GramOperator(gram), GramOperator(gram)
    assert first.is_regular
    assert second.ordered(~front) is not None
    factors = [operator.ordered(front) for operator in (first, second)]
    assert factors[0] is not None
    assert factors[1] is not None
    for name in ("head", "half", "schur"):
        np.testing.assert_array_equal(getattr(factors[0], name), getattr(factors[1], name))


def test_large_factors_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relubias.linalg.factor.KEPT", 5)
    operator, front = GramOperator(gram_of(6, 40, 1)), np.ones(6, dtype=bool)
    assert operator.ordered(front) is not operator.ordered(front)
    assert KEPT > 2000
