"""What several tests of the flow share: problems of unit trace, and the smoothed flow as an independent reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate
from numpy.typing import NDArray

from relubias import Network, Problem, State

Array = NDArray[np.float64]


def unit_trace_problem(n: int, d: int, seed: int, *, sizes: bool = True) -> Problem:
    """Gaussian features with tr K/n = 1; labels of both signs, half each, of sizes in [½, 2] or all 1."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d))
    labels = np.where(np.arange(n) < (n + 1) // 2, 1.0, -1.0)
    return Problem.from_features(
        features / np.sqrt(np.sum(features**2) / n), labels * rng.uniform(0.5, 2.0, n) if sizes else labels
    )


def smoothed_flow(start: State, until: float, width: float) -> Array:
    """β at `until` by an implicit integrator, with the slope of σ changing smoothly over `width` around the kink."""
    problem, network = start.problem, start.network
    m, n = start.primal.shape
    gram, signs, below = problem.gram, network.output_weights[:, None], network.activation.slope_below or 0.0

    def slope(beta: Array) -> Array:
        return below + (1 - below) * 0.5 * (1 + np.tanh(beta / width))

    def residual(beta: Array) -> Array:
        z = beta / width
        value = below * beta + (1 - below) * 0.5 * (beta + width * np.logaddexp(z, -z))
        return np.asarray((signs * value).sum(axis=0) - problem.labels)

    def speed(_: float, flat: Array) -> Array:
        beta = flat.reshape(m, n)
        return np.asarray(((-signs * slope(beta) * residual(beta)) @ gram).ravel())

    def jacobian(_: float, flat: Array) -> Array:
        beta = flat.reshape(m, n)
        slopes, r = slope(beta), residual(beta)
        bend = (1 - below) * 0.5 / width / np.cosh(np.clip(beta / width, -300, 300)) ** 2
        result = np.zeros((m, n, m, n))
        for k in range(m):
            for other in range(m):
                rates = -signs[k] * signs[other] * slopes[k] * slopes[other]
                rates = rates - (signs[k] * bend[k] * r if k == other else 0.0)
                result[k, :, other, :] = gram * rates
        return result.reshape(m * n, m * n)

    solution: Any = scipy.integrate.solve_ivp(
        speed, (0.0, until), start.primal.ravel(), method="Radau", jac=jacobian, rtol=1e-10, atol=1e-13
    )
    return np.asarray(solution.y[:, -1].reshape(m, n))


def small_start(n: int, d: int, network: Network, seed: int) -> State:
    """A small problem with labels of both signs, and a Gaussian start that is not small."""
    from relubias import starts

    rng = np.random.default_rng(seed)
    problem = Problem.from_features(rng.normal(size=(n, d)) / np.sqrt(d), rng.normal(size=n))
    return starts.from_weights(problem, network, rng.normal(size=(network.n_neurons, d)))
