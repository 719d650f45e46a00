"""Residuals of the optimality conditions of the minimum-norm program, for whoever's multipliers, in extended precision.

    min ½‖w‖²   s.t.   β_i = y_i (y_i > 0),   β_i ≤ 0 (y_i ≤ 0),   β = Xw.

w = Xᵀa is the solution if and only if β = Ka meets these constraints, a_i ≤ 0 on negatives and a_i β_i = 0 there.
Everything is recomputed from K, y and a alone; nothing that relubias says of its own answer is used.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from relubias.linalg.gram import Array


def residual(gram: Array, labels: Array, dual: Array) -> float:
    """Return the largest violation of multipliers a, relative to the labels, to the multipliers and to ‖w‖²."""
    extended = np.asarray(dual, dtype=np.longdouble)
    return _worst(np.asarray(gram, dtype=np.longdouble) @ extended, labels, extended, np.diagonal(gram))


def residual_of_weights(features: Array, labels: Array, weights: Array) -> float:
    """Return the same for weights: of the multipliers nearest to them, with ‖w − Xᵀa‖/‖w‖ as a further residual."""
    precise, extended = np.asarray(features, dtype=np.longdouble), np.asarray(weights, dtype=np.longdouble)
    gram, primal = features @ features.T, precise @ extended
    factor = scipy.linalg.cho_factor(gram)
    dual = np.zeros(len(labels), dtype=np.longdouble)
    for _ in range(3):  # refined, since the rounding of one solve is no fault of the weights
        dual = dual + scipy.linalg.cho_solve(factor, np.asarray(precise @ (extended - precise.T @ dual), dtype=float))
    outside = extended - precise.T @ dual
    stray = float(np.sqrt(outside @ outside / (extended @ extended)))
    return max(stray, _worst(primal, labels, dual, np.diagonal(gram)))


def _worst(
    primal: np.ndarray[tuple[int], np.dtype[np.longdouble]],
    labels: Array,
    dual: np.ndarray[tuple[int], np.dtype[np.longdouble]],
    squares: Array,
) -> float:
    """The largest of the violations of constraints, signs and complementarity."""
    positive = labels > 0
    lengths = np.sqrt(squares)
    violated = np.where(positive, np.abs(primal - labels), np.maximum(primal, 0.0))
    wrong_sign = np.where(positive, 0.0, np.maximum(dual, 0.0)) * lengths
    slack = np.where(positive, 0.0, np.abs(dual * primal))
    parts = (
        violated.max() / np.abs(labels[positive]).max(),
        wrong_sign.max() / (lengths * np.abs(dual)).max(),
        slack.sum() / np.abs(dual @ primal),
    )
    return max(float(part) for part in parts)


def on_active_set(gram: Array, labels: Array, dual: Array) -> Array:
    """Return the multipliers of the program in which only the constraints with a ≠ 0 are left, by one Cholesky factor.

    They are those of w* if and only if the active set is right, whoever found it.
    """
    active = (labels > 0) | (dual < 0)
    solved = np.zeros(len(labels))
    block = gram[np.ix_(active, active)]
    solved[active] = scipy.linalg.cho_solve(scipy.linalg.cho_factor(block), np.maximum(labels[active], 0.0))
    return solved
