"""The smallest network of any number of neurons that fits the labels, as a record, and what prices prove. (Ours.)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.factor import EPS
from relubias.linalg.gram import Array
from relubias.references.gauge import Gauge

#: Intervals up to this width, relative to the norm, prove that nothing is smaller.
WIDTH = 1e-8


@dataclass(frozen=True, eq=False)
class Smallest:
    """The smallest network that was found, and the bound that proves it.

    Attributes
    ----------
    signs : ndarray, shape (J,)
    patterns : ndarray of bool, shape (J, n)
        On which rows neurons are active; on some of them they may be at zero.
    duals : ndarray, shape (J, n)
        u_j = Xᵀ duals_j.
    lengths : ndarray, shape (J,)
        ‖u_j‖.
    size : float
        G; infinite where the labels are not fitted.
    lower_bound : float
        No network that fits the labels has a smaller G, rounding of K included.
    prices : ndarray, shape (n,)
        z, with G*(M₊(z), M₋(z)) ≤ 1.
    rounds : int
        Programs solved.
    """

    signs: Array
    patterns: NDArray[np.bool_]
    duals: Array
    lengths: Array
    size: float
    lower_bound: float
    prices: Array
    rounds: int

    @property
    def proven(self) -> bool:
        """Whether the interval is at most 1e-8, relative."""
        return self.size - self.lower_bound <= WIDTH * self.size < np.inf


def bound_from(labels: Array, prices: Array, loads: Sequence[float], gauge: Gauge) -> tuple[float, Array]:
    """Return zᵀy/G*(M₊, M₋), rounding of the sum included, and the prices z/G*."""
    size = gauge.dual(*loads)
    if size == 0.0:
        return 0.0, prices
    terms = prices.astype(np.longdouble) * labels
    value = float(terms.sum()) - 4 * EPS * float(np.abs(terms).sum())
    return max(0.0, value / size) * (1 - 4 * EPS), prices / size
