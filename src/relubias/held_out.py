"""Points that are not trained on, seen from the samples through their inner products with them.

A model whose weights lie in the span of the samples, w_k = Xᵀα_k, has at new points the pre-activations

    X_test w_k = (X_test Xᵀ) α_k,

so that the cross Gram matrix X_test Xᵀ is all that predictions need, in however many dimensions the points lie.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relubias.errors import DataError
from relubias.linalg.gram import Array
from relubias.linalg.validation import real_array

#: What test points are rebuilt from.
_ARRAYS = ("cross_gram", "squared_norms", "labels")


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Test points of a problem.

    Attributes
    ----------
    cross_gram : ndarray, shape (n_test, n_samples)
        X_test Xᵀ.
    squared_norms : ndarray, shape (n_test,)
        ‖x‖² of each point.
    labels : ndarray, shape (n_test,)
        What the model is compared with; of drawn problems with a teacher, its output without noise.
    features : array or FeatureSource, shape (n_test, n_features), or None
        X_test itself, treated as the samples were, where it is at hand; it is not saved.

    Raises
    ------
    DataError
        If shapes do not match, an entry is not a finite real number, or a squared norm is negative.
    """

    cross_gram: Array
    squared_norms: Array
    labels: Array
    features: Any = None

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            array = np.array(real_array(getattr(self, name), f"{name} of the test points"), dtype=np.float64)
            if not np.all(np.isfinite(array)):
                raise DataError(f"{name} of the test points must be finite numbers.")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        count = len(self.labels) if self.labels.ndim == 1 else -1
        if self.cross_gram.ndim != 2 or len(self.cross_gram) != count or self.squared_norms.shape != (count,):
            raise DataError(
                "test points need a cross Gram matrix of shape (n_test, n_samples), and n_test squared norms and "
                f"labels; the shapes are {self.cross_gram.shape}, {self.squared_norms.shape} and {self.labels.shape}."
            )
        if count == 0 or np.any(self.squared_norms < 0):
            raise DataError("there must be at least one test point, and no squared norm may be negative.")
        shape: Any = (count, 0) if self.features is None else getattr(self.features, "shape", ())
        if len(shape) != 2 or shape[0] != count:
            raise DataError(f"the features of {count} test points have shape {shape}; give one row a point.")

    def __repr__(self) -> str:
        return f"<HeldOut: {self.n_points:,} test points beside {self.cross_gram.shape[1]:,} samples>"

    @property
    def n_points(self) -> int:
        """Number of test points."""
        return len(self.labels)

    def require_beside(self, gram: Array) -> None:
        """Refuse inner products that no points could have with these samples.

        Raises
        ------
        DataError
            If the number of samples differs, or |x_testᵀx_i| > ‖x_test‖ ‖x_i‖ beyond rounding.
        """
        if self.cross_gram.shape[1] != len(gram):
            raise DataError(
                f"the test points are beside {self.cross_gram.shape[1]} samples, the problem has {len(gram)}."
            )
        most = np.sqrt(self.squared_norms)[:, None] * np.sqrt(np.maximum(np.diagonal(gram), 0.0))
        excess = np.abs(self.cross_gram) - most * (1.0 + 1e-8)
        if np.any(excess > 0):
            point, sample = (int(i) + 1 for i in np.unravel_index(np.argmax(excess), excess.shape))
            raise DataError(
                f"test point {point} and sample {sample} have an inner product larger than the product of their norms; "
                "the cross Gram matrix must be X_test Xᵀ of the same features as K."
            )

    def error(self, predictions: Array) -> float:
        """Return the mean squared error of predictions, shape (n_test,), in squared label units."""
        return float(np.mean(np.square(predictions - self.labels)))

    @property
    def error_of_zero(self) -> float:
        """Mean squared error of predicting 0, beside which other errors can be read."""
        return self.error(np.zeros(self.n_points))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays from which :meth:`from_arrays` rebuilds the points without their features."""
        return {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> HeldOut:
        """Rebuild test points from :meth:`to_arrays`.

        Raises
        ------
        DataError
            If an array is missing or cannot be used.
        """
        if missing := [name for name in _ARRAYS if name not in arrays]:
            raise DataError(f"the test points have no {missing[0]}; the file is damaged.")
        return cls(*(arrays[name] for name in _ARRAYS))
