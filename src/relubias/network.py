"""The model: one hidden layer, with output weights that are fixed signs or trained along.

f(x) = Σ_k a_k σ(w_kᵀ x),      a_k = s_k ∈ {+1, −1}, or a_k ∈ ℝ that starts with this sign,      k = 1 … m
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from relubias.activations import RELU, Activation
from relubias.activations import activation as activation_named
from relubias.arguments import is_whole
from relubias.errors import ArgumentError
from relubias.linalg.gram import Array

_NAMED = {"single": (1,), "pair": (1, -1)}
_SIGNS = {"+": 1, "+1": 1, "1": 1, "-": -1, "-1": -1, "−": -1}


@dataclass(frozen=True)
class Network:
    """A hidden layer and the signs of its output weights.

    Attributes
    ----------
    signs : tuple of int
        s_k ∈ {+1, −1}, one a neuron.
    activation : Activation
        σ; the ReLU by default.
    train_output : bool
        Whether the output weights are trained too; else they stay the signs.

    Raises
    ------
    ArgumentError
        If there is no neuron, or a sign is neither +1 nor −1.
    """

    signs: tuple[int, ...]
    activation: Activation = RELU
    train_output: bool = False

    def __post_init__(self) -> None:
        if not self.signs:
            raise ArgumentError("a network needs at least one neuron; give signs such as [+1] or [+1, -1].")
        for sign in self.signs:
            if sign not in (1, -1):
                raise ArgumentError(f"output sign {sign!r} is neither +1 nor -1.")

    @classmethod
    def single(cls, *, sign: int = 1, activation: str | Activation = "relu", train_output: bool = False) -> Network:
        """One neuron.

        Parameters
        ----------
        sign : {1, -1}
            Of the output weight.
        activation : str or Activation
            σ: its name, such as ``"relu"`` or ``"leaky-relu:0.1"``, or a record of :mod:`relubias.activations`.
        train_output : bool
            Whether the output weight is trained too.

        Returns
        -------
        Network

        Raises
        ------
        ArgumentError
            If the sign is neither +1 nor −1, or no activation has that name.
        """
        return cls((_checked_sign(sign),), activation_named(activation), train_output)

    @classmethod
    def pair(cls, *, activation: str | Activation = "relu", train_output: bool = False) -> Network:
        """Two neurons with signs +1 and −1.

        Parameters
        ----------
        activation, train_output
            As for :meth:`single`.

        Returns
        -------
        Network

        Raises
        ------
        ArgumentError
            If no activation has that name.
        """
        return cls((1, -1), activation_named(activation), train_output)

    @classmethod
    def of_signs(
        cls, signs: Iterable[int], *, activation: str | Activation = "relu", train_output: bool = False
    ) -> Network:
        """One neuron for each sign.

        Parameters
        ----------
        signs : iterable of {1, -1}
            s_k, at least one.
        activation, train_output
            As for :meth:`single`.

        Returns
        -------
        Network

        Raises
        ------
        ArgumentError
            If there is no sign, one is neither +1 nor −1, or no activation has that name.
        """
        return cls(tuple(_checked_sign(sign) for sign in signs), activation_named(activation), train_output)

    @property
    def n_neurons(self) -> int:
        """Number of neurons m."""
        return len(self.signs)

    @property
    def output_weights(self) -> Array:
        """The signs as an array of floats, shape (m,)."""
        return np.array(self.signs, dtype=np.float64)

    def output(self, primal: Array, *, outer: Array | None = None) -> Array:
        """Return f = Σ_k a_k σ(β_k), in label units, from pre-activations at p points.

        Parameters
        ----------
        primal : ndarray, shape (n_neurons, p)
            β, in label units.
        outer : ndarray, shape (n_neurons,), optional
            The output weights a; by default the signs.

        Returns
        -------
        ndarray, shape (p,)
        """
        return (self.output_weights if outer is None else outer) @ self.activation.value(primal)

    def as_dict(self) -> dict[str, Any]:
        """The network as JSON-able values, from which :meth:`from_dict` rebuilds it."""
        return {
            "signs": list(self.signs),
            "activation": self.activation.name,
            "train_output": self.train_output,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Network:
        """Rebuild a network from :meth:`as_dict`.

        Parameters
        ----------
        values : dict
            Without ``train_output``, the output weights are fixed.

        Returns
        -------
        Network

        Raises
        ------
        ArgumentError
            If there is no sign, one is neither +1 nor −1, or no activation has that name.
        """
        return cls.of_signs(
            values["signs"], activation=values["activation"], train_output=values.get("train_output", False)
        )

    def __str__(self) -> str:
        names = {
            (1,): "one positive neuron",
            (-1,): "one negative neuron",
            (1, -1): "a pair of neurons (+, −)",
        }
        signs = ", ".join("+" if sign > 0 else "−" for sign in self.signs)
        name = names.get(self.signs, f"{self.n_neurons} neurons ({signs})")
        kind = "" if self.activation is RELU else f", {self.activation.name}"
        return name + kind + (", output weights trained" if self.train_output else "")


def signs_from_text(text: str) -> tuple[int, ...] | None:
    """Read ``single``, ``pair`` or a list of signs such as ``+,+,-``; None if it is none of these."""
    if text in _NAMED:
        return _NAMED[text]
    signs = [_SIGNS.get(item.strip()) for item in text.split(",")]
    known = tuple(sign for sign in signs if sign is not None)
    return known if len(known) == len(signs) else None


def _checked_sign(sign: object) -> int:
    if is_whole(sign) and sign in (1, -1):
        return 1 if sign == 1 else -1
    raise ArgumentError(f"output sign {sign!r} is neither +1 nor -1.")
