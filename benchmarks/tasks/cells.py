"""A whole cell of a study: draw, certified limit, w* and gap; and what no cell can do without."""

from __future__ import annotations

import numpy as np
import scipy.linalg

import relubias
from benchmarks.tasks.training import limit

FLOOR = "n²/2 normal numbers, one product and one Cholesky factorisation"


def cell(n_samples: int, n_features: int, *, rng: int = 0, fraction: float = 0.5) -> relubias.Gap:
    """Draw a problem, go to the certified limit at η = fraction/‖λ‖₁, find w*, and return the gap.

    Raises
    ------
    RuntimeError
        If w* comes without its proof.
    """
    problem = relubias.sampling.gaussian(n_samples=n_samples, n_features=n_features, rng=rng)
    run = limit(problem, step_size=relubias.step_sizes.relative(problem, fraction))
    star = relubias.minimum_norm(problem, run.network)
    if star.status != "optimal":
        raise RuntimeError(f"w* is not proven: {star.message}")
    return relubias.gap(run, star)


def floor(n_samples: int) -> None:
    """Draw a triangle of normal numbers, multiply it by itself, and factor the product."""
    triangle = np.zeros((n_samples, n_samples), order="F")
    rows, columns = np.tril_indices(n_samples)
    triangle[rows, columns] = np.random.default_rng(0).standard_normal(len(rows))
    triangle[np.diag_indices(n_samples)] += n_samples
    product, _ = scipy.linalg.lapack.dlauum(triangle, lower=1)
    scipy.linalg.lapack.dpotrf(product, lower=1)
