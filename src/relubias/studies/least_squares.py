r"""Least squares through the medians of several sizes, with resamples and a test of lack of fit.

    m = A b + e,      b̂ = A⁺ m,      b* = A⁺ m*,

m the S (log) medians, m* those of resampled trials. With R = I − A A⁺, the projection onto what the design leaves
over, Q = ‖R m‖² is compared with Q* = ‖R (m* − m)‖², its resamples under the hypothesis: the scatter of the medians
about the law against what the scatter of the trials explains. p = (1 + #{Q* ≥ Q}) / (1 + #resamples).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relubias.linalg.gram import Array


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Coefficients, their resamples, and what they leave over.

    Attributes
    ----------
    coefficients : ndarray, shape (k,)
    draws : ndarray, shape (k, resamples)
    residual : ndarray, shape (S,)
    lack_of_fit : float
        p-value of the hypothesis that the medians obey the design.
    """

    coefficients: Array
    draws: Array
    residual: Array
    lack_of_fit: float


def least_squares(design: Array, medians: Array, resampled: Array) -> LeastSquares:
    """Fit medians, shape (S,), and resampled medians, shape (S, resamples), on a design of shape (S, k)."""
    inverse = np.linalg.pinv(design).astype(np.float64, copy=False)
    rest = np.eye(len(design)) - design @ inverse
    residual: Array = rest @ medians
    scatter = np.sum((rest @ (resampled - medians[:, None])) ** 2, axis=0)
    # Residuals at rounding level are no evidence against a law.
    rounding = len(medians) * (8.0 * np.finfo(np.float64).eps * (1.0 + float(np.abs(medians).max()))) ** 2
    beyond = np.count_nonzero(scatter >= max(float(residual @ residual) - rounding, 0.0))
    p_value = (1 + int(beyond)) / (1 + resampled.shape[1])
    return LeastSquares(inverse @ medians, inverse @ resampled, residual, p_value)
