"""Slow, obvious references and a catalogue of problems for the tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import nnls

from relubias.problem import Problem

Array = NDArray[np.float64]
#: g and t of a constraint gᵀW = t or gᵀW ≤ t on weights.
Half = tuple[Array, float]


def weight_space_descent(features: Array, labels: Array, weights: Array, signs: Array, eta: float, steps: int) -> Array:
    """Full-batch gradient descent written from its definition; weights of shape (m, d)."""
    for _ in range(steps):
        pre = weights @ features.T
        residual = signs @ np.maximum(pre, 0) - labels
        weights = weights - eta * signs[:, None] * ((residual * (pre > 0)) @ features)
    return weights


def gram_descent(gram: Array, labels: Array, primal: Array, eta: float, steps: int) -> tuple[Array, list[int]]:
    """One positive neuron in β alone; also returns the steps at which the pattern changed."""
    changes = []
    for step in range(1, steps + 1):
        active = primal > 0
        primal = primal - gram @ (eta * (primal - labels) * active)
        if np.any((primal > 0) != active):
            changes.append(step)
    return primal, changes


def least_norm(equal: list[Half], below: list[Half], size: int) -> float:
    """min ‖W‖ s.t. gᵀW = t and gᵀW ≤ t: least norm for the equations, then least distance in what they leave free."""
    rows = np.array([g for g, _ in equal]).reshape(len(equal), size)
    targets = np.array([t for _, t in equal])
    start, basis = np.zeros(size), np.eye(size)
    if len(equal):
        start = np.linalg.pinv(rows, rcond=1e-11) @ targets
        if np.abs(rows @ start - targets).max() > 1e-9:
            return np.inf
        _, values, right = np.linalg.svd(rows)
        basis = right[np.count_nonzero(values > 1e-11 * values[0]) :].T
    outer = np.array([g for g, _ in below])
    factor, demand = -outer @ basis, outer @ start - np.array([t for _, t in below])
    decided = np.linalg.norm(factor, axis=1) < 1e-11
    factor[decided], demand[decided & (np.abs(demand) < 1e-11)] = 0.0, 0.0
    design = np.vstack([factor.T, demand])
    right_side = np.append(np.zeros(len(design) - 1), 1.0)
    rest = design @ nnls(design, right_side, maxiter=2000)[0] - right_side
    if np.linalg.norm(rest) < 1e-7:
        return np.inf
    step = -rest[:-1] / rest[-1]
    if np.any(factor @ step < demand - 1e-8):
        return np.inf
    return float(np.hypot(np.linalg.norm(start), np.linalg.norm(step)))


def signed_labels(n: int, rng: np.random.Generator) -> Array:
    """Labels of both signs, half each, with sizes in [½, 2]."""
    return np.where(np.arange(n) < (n + 1) // 2, 1.0, -1.0) * rng.uniform(0.5, 2.0, n)


def random_problem(n: int, d: int, seed: int) -> Problem:
    """Gaussian features and labels of both signs."""
    rng = np.random.default_rng(seed)
    return Problem.from_features(rng.normal(size=(n, d)), signed_labels(n, rng))


def ill_conditioned(n: int = 28, d: int = 60, condition: float = 4e8, seed: int = 0) -> Problem:
    """A problem whose K has the given condition number, as spectra of real samples do."""
    rng = np.random.default_rng(seed)
    left, _ = np.linalg.qr(rng.normal(size=(n, n)))
    right, _ = np.linalg.qr(rng.normal(size=(d, n)))
    # All entries of the first left vector positive, as for spectra: samples are alike.
    left[:, 0] = 1.0 / np.sqrt(n)
    left, _ = np.linalg.qr(left)
    left *= np.sign(left[0, 0])
    values = np.geomspace(1.0, condition**-0.5, n)
    return Problem.from_features((left * values) @ right.T, signed_labels(n, rng))


def nearly_equal_rows(seed: int = 0) -> Problem:
    """Two rows at cosine 1 − 3e-10."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(20, 100))
    features[7] = features[3] + np.sqrt(6e-10) * rng.normal(size=100)
    return Problem.from_features(features, signed_labels(20, rng))


def no_positive_label(seed: int = 0) -> Problem:
    """All labels negative."""
    rng = np.random.default_rng(seed)
    return Problem.from_features(rng.normal(size=(12, 60)), -rng.uniform(0.5, 2.0, 12))


def real_data(name: str) -> Path:
    """Path of a real data set, or skip."""
    folder = os.environ.get("RELUBIAS_DATA")
    if not folder or not (Path(folder) / name).exists():
        pytest.skip(f"real data are not at hand: set RELUBIAS_DATA to the folder that holds {name}")
    return Path(folder) / name


def assert_close(one: Any, other: Any, relative: float, scale: float | None = None) -> None:
    """Assert that two arrays differ by at most `relative` times the largest entry (or `scale`)."""
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    assert one.shape == other.shape
    size = float(np.abs(other).max(initial=0.0)) if scale is None else scale
    assert np.abs(one - other).max(initial=0.0) <= relative * size
