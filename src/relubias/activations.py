"""Activation functions σ, one small record each.

    σ(z) = z for z > 0,    σ(z) = a z for z ≤ 0,        σ′(0) = a by convention,

so that a sample is *active* exactly where z > 0. ReLU: a = 0; leaky ReLU: 0 < a < 1; identity: a = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

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
    value : callable
        σ(z) for an array z.
    slope_below : float or None
        a, where σ is piecewise linear as above; else None.
    """

    name: str
    value: Callable[[Array], Array]
    slope_below: float | None = None


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
    return Activation(name, partial(_leaky, slope), slope)


def _leaky(slope: float, z: Array) -> Array:
    return np.maximum(z, slope * z)


RELU = Activation("relu", _relu, 0.0)
LEAKY_RELU = leaky_relu()
IDENTITY = Activation("identity", _identity, 1.0)

_BY_NAME = {entry.name: entry for entry in (RELU, LEAKY_RELU, IDENTITY)}


def activation(name: str | Activation) -> Activation:
    """Return the activation called `name`, ``"relu"``, ``"leaky-relu"``, ``"leaky-relu:0.1"`` or ``"identity"``.

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
        raise ArgumentError(f"activation={name!r} is not known; choose one of: {', '.join(_BY_NAME)}.")
    return _BY_NAME[name]
