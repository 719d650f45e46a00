"""The compiled walk around one period in the coordinates of :mod:`relubias.dynamics.period_map`."""

from __future__ import annotations

import numpy as np

from relubias.dynamics.kernel import compiled
from relubias.linalg.gram import Array


@compiled
def walk(
    images: Array,
    signs: Array,
    labels: Array,
    below: float,
    step_size: float,
    base: Array,
    point: Array,
    period: int,
    roots: Array,
    blur: Array,
    states: Array,
    total: Array,
    low: Array,
    high: Array,
) -> float:
    """Take `period` steps from z = `point`, in place, and return how near the path comes to a kink.

    β_k = base_k + C_k z with `images` C of shape (n_neurons, n_samples, v), zero outside the columns of its neuron. The
    distance |β_{k,i}| − blur_{k,i} counts in units of √K_ii; it is −∞ where a sample whose row of C is zero would move
    the weights. `states` receives the first β, `total`, `low` and `high` the sum and the range of all.
    """
    n_neurons, n, size = images.shape
    clearance = np.inf
    primal = np.empty((n_neurons, n))
    for step in range(period):
        for k in range(n_neurons):
            for i in range(n):
                value = base[k, i]
                for c in range(size):
                    value += images[k, i, c] * point[c]
                primal[k, i] = value
                total[k, i] += value
                low[k, i] = min(low[k, i], value)
                high[k, i] = max(high[k, i], value)
                if step < states.shape[0]:
                    states[step, k, i] = value
                if roots[k, i] > 0.0:
                    clearance = min(clearance, (abs(value) - blur[k, i]) / roots[k, i])
        for i in range(n):
            residual = -labels[i]
            for k in range(n_neurons):
                if primal[k, i] > 0.0:
                    residual += signs[k] * primal[k, i]
                else:
                    residual += signs[k] * below * primal[k, i]
            for k in range(n_neurons):
                slope = 1.0 if primal[k, i] > 0.0 else below
                if slope != 0.0:
                    moved = False
                    for c in range(size):
                        if images[k, i, c] != 0.0:
                            moved = True
                            point[c] -= step_size * signs[k] * slope * residual * images[k, i, c]
                    if not moved:
                        return -np.inf
    return clearance
