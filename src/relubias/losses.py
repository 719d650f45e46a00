"""Losses ℓ(f, y), one small record each; training minimises L = Σ_i ℓ(f(x_i), y_i).

    squared    ½ (f − y)²                         log-cosh   log cosh(f − y)
    Huber      ½ r² for |r| ≤ δ, else δ|r| − ½δ²   absolute   |f − y|
    logistic   log(1 + e^(−y f)), for labels ±1

Another one is another record: :class:`Loss` says what it needs.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from relubias.arguments import is_number
from relubias.errors import ArgumentError
from relubias.linalg.gram import Array

#: The kink of the absolute loss counts as if it were rounded off over this fraction of the root mean square label.
ROUNDED = 0.01


@dataclass(frozen=True)
class Loss:
    """A loss of one sample, as a function of the prediction f and the label y.

    Attributes
    ----------
    name : str
    value, slope : callable
        ℓ(f, y) and ∂ℓ/∂f for arrays f and y of equal shape.
    curvature : callable
        A bound of ∂²ℓ/∂f² over all f, from the array of labels: it sets the default step.
    fits : bool
        Whether ℓ is least exactly at f = y and grows with |f − y|, so that fitting the labels minimises it.
    """

    name: str
    value: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    curvature: Callable[[Array], float]
    fits: bool = True

    def total(self, predictions: Array, labels: Array) -> float:
        """L = Σ_i ℓ(f_i, y_i)."""
        return float(np.sum(self.value(predictions, labels)))


def _one(labels: Array) -> float:
    return 1.0


def _squared(f: Array, y: Array) -> Array:
    return 0.5 * np.square(f - y)


def _squared_slope(f: Array, y: Array) -> Array:
    return f - y


def huber(width: float = 1.0) -> Loss:
    """The Huber loss, quadratic for |f − y| ≤ `width` (in label units) and linear beyond.

    Raises
    ------
    ArgumentError
        If the width is not a positive finite number.
    """
    if not (is_number(width) and 0.0 < width < math.inf):
        raise ArgumentError(f"width={width!r} of a Huber loss must be a positive finite number, in label units.")
    return _huber(float(width))


@cache
def _huber(width: float) -> Loss:
    """One record a width, so that equal losses compare equal."""
    name = "huber" if width == 1.0 else f"huber:{width!r}"
    return Loss(name, _HuberValue(width), _HuberSlope(width), _one)


@dataclass(frozen=True)
class _HuberValue:
    width: float

    def __call__(self, f: Array, y: Array) -> Array:
        size = np.abs(f - y)
        inside = np.minimum(size, self.width)
        return 0.5 * np.square(inside) + self.width * (size - inside)


@dataclass(frozen=True)
class _HuberSlope:
    width: float

    def __call__(self, f: Array, y: Array) -> Array:
        return np.clip(f - y, -self.width, self.width)


def _log_cosh(f: Array, y: Array) -> Array:
    size = np.abs(f - y)
    # log cosh r = r + log(1 + e^(−2r)) − log 2; for small r as log(1 + 2 sinh²(r/2)), where nothing cancels.
    small = np.minimum(size, 1.0)
    return np.where(size < 1.0, np.log1p(2.0 * np.square(np.sinh(0.5 * small))), _far_log_cosh(size))


def _far_log_cosh(size: Array) -> Array:
    return size + np.log1p(np.exp(-2.0 * size)) - math.log(2.0)


def _log_cosh_slope(f: Array, y: Array) -> Array:
    return np.tanh(f - y)


def _logistic(f: Array, y: Array) -> Array:
    return np.logaddexp(0.0, -y * f)


def _logistic_slope(f: Array, y: Array) -> Array:
    from scipy.special import expit

    return np.asarray(-y * expit(-y * f))


def _logistic_curvature(labels: Array) -> float:
    return 0.25 * float(np.max(np.square(labels))) or 0.25


def _absolute(f: Array, y: Array) -> Array:
    return np.abs(f - y)


def _absolute_slope(f: Array, y: Array) -> Array:
    return np.sign(f - y)


def _absolute_curvature(labels: Array) -> float:
    return 1.0 / (ROUNDED * (math.sqrt(float(np.mean(np.square(labels)))) or 1.0))


SQUARED = Loss("squared", _squared, _squared_slope, _one)
HUBER = huber()
LOG_COSH = Loss("log-cosh", _log_cosh, _log_cosh_slope, _one)
LOGISTIC = Loss("logistic", _logistic, _logistic_slope, _logistic_curvature, fits=False)
ABSOLUTE = Loss("absolute", _absolute, _absolute_slope, _absolute_curvature)

_BY_NAME = {entry.name: entry for entry in (SQUARED, HUBER, LOG_COSH, LOGISTIC, ABSOLUTE)}


def loss(name: str | Loss) -> Loss:
    """Return the loss called `name`: ``"squared"``, ``"huber"``, ``"huber:0.5"``, ``"log-cosh"``, …

    Raises
    ------
    ArgumentError
        If there is none of that name.
    """
    if isinstance(name, Loss):
        return name
    family, colon, width = str(name).partition(":")
    if family == HUBER.name and colon:
        try:
            return huber(float(width))
        except ValueError as error:
            raise ArgumentError(f"loss={name!r}: {width!r} is not a positive width, in label units.") from error
    if name not in _BY_NAME:
        close = difflib.get_close_matches(str(name), _BY_NAME, n=1)
        meant = f" (did you mean {close[0]!r}?)" if close else ""
        raise ArgumentError(f"loss={name!r} is not known{meant}; choose one of: {', '.join(_BY_NAME)}.")
    return _BY_NAME[name]
