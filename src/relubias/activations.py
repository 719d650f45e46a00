"""Activation functions σ, one small record each.

Piecewise linear ones,

    σ(z) = z for z > 0,    σ(z) = a z for z ≤ 0,        σ′(0) = a by convention,

so that a sample is *active* exactly where z > 0: ReLU (a = 0), leaky ReLU (0 < a < 1), identity (a = 1), absolute value
(a = −1); they have exact limits. And those with a slope that changes along the way, which are trained step by step:

    softplus       log(1 + eᶻ)             GELU    z Φ(z)           tanh
    squared ReLU   max(z, 0)²              SiLU    z/(1 + e⁻ᶻ)

Another one is another record: :class:`Activation` says what it needs.
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


@dataclass(frozen=True)
class Activation:
    """A function σ applied entry by entry.

    Attributes
    ----------
    name : str
    value, slope : callable
        σ(z) and σ′(z) for an array z; at a kink one of the slopes beside it.
    steepest : callable
        The largest |σ′| where |σ| is at most a given number: it bounds the curvature of the loss near a fit.
    slope_below : float or None
        a, where σ is piecewise linear as above; else None.
    lowest : float
        The infimum of σ: a network of such neurons, all of one sign, fits no label beyond it.
    silent : bool
        Whether σ(z) = σ′(z) = 0 for all z ≤ 0, so that a neuron without an active sample never moves.
    """

    name: str
    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    steepest: Callable[[float], float]
    slope_below: float | None = None
    lowest: float = -math.inf
    silent: bool = False

    @property
    def has_pattern(self) -> bool:
        """Whether the sign of z matters by itself: σ has a kink at 0, or vanishes below it."""
        return self.silent or self.slope_below not in (None, 1.0)


def piecewise_linear(
    name: str, value: Callable[[Array], Array], slope_below: float, *, lowest: float = -math.inf
) -> Activation:
    """The record of σ(z) = z for z > 0 and `slope_below` · z elsewhere."""
    steepest = max(1.0, abs(slope_below))
    return Activation(
        name,
        value,
        _TwoSlopes(slope_below),
        _Constant(steepest),
        slope_below,
        lowest,
        silent=slope_below == 0.0,
    )


@dataclass(frozen=True)
class _Constant:
    """The same bound for every size; a record and not a closure, so that copies of a network compare equal."""

    bound: float

    def __call__(self, size: float) -> float:
        return self.bound


@dataclass(frozen=True)
class _Leaky:
    below: float

    def __call__(self, z: Array) -> Array:
        return np.maximum(z, self.below * z)


@dataclass(frozen=True)
class _TwoSlopes:
    below: float

    def __call__(self, z: Array) -> Array:
        return np.where(z > 0, 1.0, self.below)


def _relu(z: Array) -> Array:
    return np.maximum(z, 0.0)


def _identity(z: Array) -> Array:
    return z


def leaky_relu(slope: float = 0.01) -> Activation:
    """The leaky ReLU with σ′(z) = slope for z < 0.

    Raises
    ------
    ArgumentError
        If the slope is not between 0 and 1.
    """
    if not (is_number(slope) and 0.0 < slope < 1.0):
        raise ArgumentError(f"slope={slope!r} of a leaky ReLU must be a number between 0 and 1.")
    return _leaky_relu(float(slope))


@cache
def _leaky_relu(slope: float) -> Activation:
    """One record a slope, so that equal networks compare equal."""
    name = "leaky-relu" if slope == 0.01 else f"leaky-relu:{slope!r}"
    return piecewise_linear(name, _Leaky(slope), slope)


def _softplus(z: Array) -> Array:
    return np.logaddexp(0.0, z)


def _logistic(z: Array) -> Array:
    from scipy.special import expit

    return np.asarray(expit(z))


def _softplus_steepest(size: float) -> float:
    return -math.expm1(-size)  # σ′ = 1 − e^(−σ)


def _gelu(z: Array) -> Array:
    from scipy.special import ndtr

    return np.asarray(z * ndtr(z))


def _gelu_slope(z: Array) -> Array:
    from scipy.special import ndtr

    return np.asarray(ndtr(z) + z * np.exp(-0.5 * np.square(z)) / math.sqrt(2.0 * math.pi))


def _silu(z: Array) -> Array:
    return z * _logistic(z)


def _silu_slope(z: Array) -> Array:
    return _logistic(z) * (1.0 + z * _logistic(-z))


def _tanh_slope(z: Array) -> Array:
    small = np.exp(-2.0 * np.abs(z))  # 1 − tanh² would lose all digits of a small slope
    return 4.0 * small / np.square(1.0 + small)


def _squared_relu(z: Array) -> Array:
    return np.square(np.maximum(z, 0.0))


def _squared_relu_slope(z: Array) -> Array:
    return 2.0 * np.maximum(z, 0.0)


def _squared_relu_steepest(size: float) -> float:
    return 2.0 * math.sqrt(size)


RELU = piecewise_linear("relu", _relu, 0.0, lowest=0.0)
LEAKY_RELU = leaky_relu()
IDENTITY = piecewise_linear("identity", _identity, 1.0)
ABSOLUTE = piecewise_linear("absolute", np.abs, -1.0, lowest=0.0)
SOFTPLUS = Activation("softplus", _softplus, _logistic, _softplus_steepest, lowest=0.0)
#: The slope of GELU is largest at √2, where it is Φ(√2) + √2 φ(√2).
GELU = Activation("gelu", _gelu, _gelu_slope, _Constant(1.1289041451851548), lowest=-0.16997120747990369)
#: That of SiLU where z tanh(z/2) = 2, at z = 2.399….
SILU = Activation("silu", _silu, _silu_slope, _Constant(1.0998393201288669), lowest=-0.27846454276107380)
TANH = Activation("tanh", np.tanh, _tanh_slope, _Constant(1.0), lowest=-1.0)
SQUARED_RELU = Activation(
    "squared-relu", _squared_relu, _squared_relu_slope, _squared_relu_steepest, lowest=0.0, silent=True
)

_ALL = (RELU, LEAKY_RELU, IDENTITY, ABSOLUTE, SOFTPLUS, GELU, SILU, TANH, SQUARED_RELU)
_BY_NAME = {entry.name: entry for entry in _ALL}


def activation(name: str | Activation) -> Activation:
    """Return the activation called `name`: ``"relu"``, ``"leaky-relu:0.1"``, ``"gelu"``, …

    Raises
    ------
    ArgumentError
        If there is none of that name.
    """
    if isinstance(name, Activation):
        return name
    family, colon, slope = str(name).partition(":")
    if family == LEAKY_RELU.name and colon:
        try:
            return leaky_relu(float(slope))
        except ValueError as error:
            raise ArgumentError(f"activation={name!r}: {slope!r} is not a slope between 0 and 1.") from error
    if name not in _BY_NAME:
        close = difflib.get_close_matches(str(name), _BY_NAME, n=1)
        meant = f" (did you mean {close[0]!r}?)" if close else ""
        raise ArgumentError(f"activation={name!r} is not known{meant}; choose one of: {', '.join(_BY_NAME)}.")
    return _BY_NAME[name]
