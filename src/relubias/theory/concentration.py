"""How close K is to a multiple of the identity, and how close it should be.

The theorems rest on K ≈ L·I for n samples with covariance spectrum λ, L = ‖λ‖₁. For Gaussian features

    E K_ij² = L²/d₂  (i ≠ j),     Var K_ii = 2L²/d₂,

so that K/L − I is nearly a random symmetric matrix with entries of variance 1/d₂, whose largest eigenvalue tends to
2√(n/d₂) (Wigner) where no direction of λ stands out; for isotropic features it is 2√(n/d) + n/d (Marchenko and
Pastur). A direction of size ‖λ‖_∞ adds about n/d_∞ to it. The *predicted deviation* is the sum of the two,

    ‖K/L − I‖ ≈ 2√(n/d₂) + n/d_∞,

an approximation of ours, exact in the limit for isotropic features and a bound up to o(1) for a dominant direction.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from relubias import step_sizes
from relubias.nouns import require_problem
from relubias.problem import Problem


@dataclass(frozen=True)
class Concentration:
    """The distance of K from a multiple of the identity.

    Attributes
    ----------
    trace : float
        L: ‖λ‖₁ where the distribution is known, else tr K/n.
    d2, dinf : float or None
        Effective dimensions of the distribution; d₂ is estimated from K where it is not known, d_∞ cannot be.
    deviation : float
        ‖K/L − I‖, the largest |eigenvalue|.
    predicted : float or None
        2√(n/d₂) + n/d_∞, without the second term where d_∞ is not known; None where d₂ cannot be estimated.
    smallest, largest : float
        The extreme eigenvalues of K/L.
    diagonal_spread : float
        Standard deviation of K_ii/L over the samples.
    interference : float
        Root mean square of K_ij/L off the diagonal, times √n: √(n/d₂) as measured.
    """

    trace: float
    d2: float | None
    dinf: float | None
    deviation: float
    predicted: float | None
    smallest: float
    largest: float
    diagonal_spread: float
    interference: float

    def as_dict(self) -> dict[str, Any]:
        """All fields as JSON-able values."""
        return {key: value if value is None or math.isfinite(value) else None for key, value in asdict(self).items()}


def concentration(problem: Problem) -> Concentration:
    """Measure how far K is from ‖λ‖₁ I, and set it beside the predicted deviation. (Ours.)

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    Concentration

    Raises
    ------
    ArgumentError
        If all samples are zero.
    """
    require_problem(problem)
    gram, n = problem.gram, problem.n_samples
    population = problem.population
    trace = 1.0 / step_sizes.relative(problem, 1.0)
    dinf = None if population is None else population.dinf
    values = problem.operator.spectrum / trace
    low, high = float(values[0]), float(values[-1])
    off = gram - np.diag(np.diagonal(gram))
    d2 = problem.d2
    predicted = None
    if d2 is not None:
        predicted = 2.0 * math.sqrt(n / d2) + (n / dinf if dinf is not None else 0.0)
    return Concentration(
        trace=trace,
        d2=d2,
        dinf=dinf,
        deviation=max(abs(high - 1.0), abs(1.0 - low)),
        predicted=predicted,
        smallest=low,
        largest=high,
        diagonal_spread=float(np.std(np.diagonal(gram))) / trace,
        interference=float(np.sqrt(np.sum(off**2) / max(1, n - 1))) / trace,
    )
