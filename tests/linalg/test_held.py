"""Holding pre-activations at zero is a Schur complement, whatever the operator is backed by."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import assert_close

from relubias.linalg.factor import GramOperator
from relubias.linalg.factored import FactorOperator
from relubias.linalg.held import Held, mixed_modes

FEATURES = np.random.default_rng(0).normal(size=(8, 8))
GRAM = FEATURES @ FEATURES.T
OPERATORS = [GramOperator(GRAM), FactorOperator(GRAM, FEATURES)]


@pytest.mark.parametrize("operator", OPERATORS, ids=["gram", "factor"])
def test_held_samples_stay_and_the_others_move_by_the_schur_complement(operator: GramOperator) -> None:
    index, rates = np.array([1, 4, 6]), np.random.default_rng(1).normal(size=(8, 2))
    rates[index] = 0.0
    held = Held.of(operator, index)
    moved = rates.copy()
    moved[held.index] = held.speeds(rates)
    assert_close(GRAM @ moved, held.image(rates), relative=1e-11)
    assert np.all(held.image(rates)[index] == 0.0)


@pytest.mark.parametrize("operator", OPERATORS, ids=["gram", "factor"])
def test_mixed_modes_decompose_the_reduced_curvature(operator: GramOperator) -> None:
    slopes = np.array([[1.0, 0, 0.3, 1, 0, 0.3, 0, 1], [0.3, 1, 1, 0, 0.3, 0.3, 1, 1]])
    held = slopes == 0.0
    mixed = mixed_modes(operator, slopes, held)
    total = np.zeros((8, 8))
    for row, mask in zip(slopes, held, strict=True):
        inner = GRAM[np.ix_(mask, mask)]
        reduced = GRAM - GRAM[:, mask] @ np.linalg.solve(inner, GRAM[mask])
        total += row[:, None] * reduced * row
    modes = mixed.modes
    assert_close((modes.vectors * modes.values) @ modes.vectors.T, total, relative=1e-12)
    for k in range(2):
        rates = slopes[k][:, None] * modes.vectors
        assert_close(GRAM @ (rates + mixed.speeds[k]), modes.images[k], relative=1e-11)


@pytest.mark.parametrize("operator", OPERATORS, ids=["gram", "factor"])
def test_dependent_samples_are_held_by_the_others(operator: GramOperator) -> None:
    features = np.vstack([FEATURES[:3], FEATURES[:1] + FEATURES[1:2]])
    kind = type(operator)
    gram = features @ features.T
    small = kind(gram) if kind is GramOperator else FactorOperator(gram, features)
    held = Held.of(small, np.array([0, 1, 3]))
    assert len(held.index) == 2
    moved = np.array([0.0, 0.0, 1.0, 0.0])
    moved[held.index] = held.speeds(moved)
    assert_close((gram @ moved)[[0, 1, 3]], np.zeros(3), relative=1e-12, scale=1.0)
