"""The compiled loop: its passes without branches say what the plain definitions say."""

from __future__ import annotations

import numpy as np
import pytest

from relubias.dynamics.kernel import misfit, misfits, n_remarkable


@pytest.mark.parametrize("below", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("signs", [[1.0], [1.0, -1.0, 1.0]])
def test_all_misfits_at_once_are_those_of_single_samples(below: float, signs: list[float]) -> None:
    rng = np.random.default_rng(0)
    primal, labels = rng.standard_normal((len(signs), 13)), rng.standard_normal(13)
    residual = np.full(13, np.nan)
    misfits(primal, np.array(signs), labels, below, residual)
    assert residual.tolist() == [misfit(primal, np.array(signs), labels, below, i) for i in range(13)]
    assert residual[0] == pytest.approx(
        sum(s * (z if z > 0 else below * z) for s, z in zip(signs, primal[:, 0], strict=True)) - labels[0]
    )


def test_changed_signs_and_numbers_that_are_too_large_are_remarkable() -> None:
    primal = np.array([[1.0, -1.0, 0.0], [2.0, -0.0, -3.0]])
    logged = np.where(primal > 0, 1, -1).astype(np.int8)
    assert n_remarkable(primal, logged, 10.0) == 0
    for entry, value in (((0, 0), -1.0), ((0, 0), 0.0), ((1, 1), 1e-300), ((1, 2), -10.0), ((0, 1), np.nan)):
        moved = primal.copy()
        moved[entry] = value
        assert n_remarkable(moved, logged, 10.0) == 1, value
