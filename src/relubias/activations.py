"""Activation functions σ, one small record each.

ReLU: σ(z) = max(z, 0) with the convention σ′(0) = 0, so that a sample is *active* exactly where z > 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

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
    """

    name: str
    value: Callable[[Array], Array]


def _relu(z: Array) -> Array:
    return np.maximum(z, 0.0)


RELU = Activation("relu", _relu)

_BY_NAME = {RELU.name: RELU}


def activation(name: str | Activation) -> Activation:
    """Return the activation called `name`.

    Raises
    ------
    ArgumentError
        If there is none of that name.
    """
    if isinstance(name, Activation):
        return name
    if name not in _BY_NAME:
        raise ArgumentError(f"activation={name!r} is not known; choose one of: {', '.join(_BY_NAME)}.")
    return _BY_NAME[name]
