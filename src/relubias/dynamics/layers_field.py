"""The velocity of the flow of both layers, for given modes, and how far it is from an event.

In each neuron a sample is *on* (slope 1), *off* (slope a) or *held* at the kink. Where β_{k,i} = 0 the speed v of its
dual coefficient lies between −a_k r_i and −a a_k r_i; that is attracting where a_k r_i > 0, and the speeds of the held
samples keep them there, K_ZZ v = −K_Z: α̇ (:mod:`relubias.linalg.held`). The *margin* of a sample says that its mode is
the right one: |β| with the sign of the mode where it is on or off, the distance of v to the ends of its box where it is
held. An event is a margin that falls below zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relubias.dynamics.sliding import Zeros, first_order
from relubias.errors import ArgumentError
from relubias.linalg.factor import GramOperator
from relubias.linalg.gram import Array
from relubias.linalg.held import Held
from relubias.network import Network
from relubias.problem import Problem

Modes = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class LayersPoint:
    """Where the flow is: time, β and α of shape (n_neurons, n_samples), a of shape (n_neurons,), and the modes."""

    time: float
    primal: Array
    dual: Array
    outer: Array
    mode: Modes


class Velocity(NamedTuple):
    """β̇, α̇ and ȧ."""

    primal: Array
    dual: Array
    outer: Array


class Settled(NamedTuple):
    """The modes of the zeros of one neuron: which samples, where they go, and whether that was the only way."""

    samples: NDArray[np.intp]
    mode: Modes
    unique: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LayersField:
    """What the flow is a flow of.

    Attributes
    ----------
    slope_below : float
        a, φ′ of a sample that is off.
    """

    operator: GramOperator
    labels: Array
    slope_below: float

    @classmethod
    def of(cls, problem: Problem, network: Network) -> LayersField:
        """The field of one problem and network.

        Raises
        ------
        ArgumentError
            If the activation is not piecewise linear with a slope between 0 and 1 below.
        """
        below = network.activation.slope_below
        if below is None or not 0.0 <= below <= 1.0:
            raise ArgumentError(
                "gradient flow on both layers is built for a ReLU, a leaky ReLU or the identity, not for "
                f"{network.activation.name!r}."
            )
        return cls(problem.operator, problem.labels, below)

    @property
    def kinked(self) -> bool:
        """False for the identity, which has no kink to look for."""
        return self.slope_below != 1.0

    @property
    def first_moment(self) -> float:
        """A time that is short for this problem: a hundredth of that in which a small neuron grows e-fold."""
        return 0.01 / self.rate if self.rate > 0.0 else 1.0

    @property
    def rate(self) -> float:
        """√λ_max(K) ‖y‖, the fastest relative growth of a small neuron."""
        return float(np.sqrt(self.operator.largest) * np.linalg.norm(self.labels))

    def modes_at(self, primal: Array) -> Modes:
        """On and off by the signs of β; a zero counts as off until it is settled."""
        return np.where((primal > 0) | (not self.kinked), 1, -1).astype(np.int8)

    def slopes(self, mode: Modes) -> Array:
        """φ′ for each mode; 0 for held samples."""
        return np.where(mode > 0, 1.0, np.where(mode < 0, self.slope_below, 0.0))

    def residual(self, slopes: Array, primal: Array, outer: Array) -> Array:
        """r = f − y."""
        return np.asarray(outer @ (slopes * primal) - self.labels)

    def held(self, mode: Modes) -> dict[int, Held]:
        """The held samples of each neuron that has some."""
        rows = {int(k): np.flatnonzero(mode[k] == 0) for k in np.flatnonzero((mode == 0).any(axis=1))}
        return {k: Held.of(self.operator, index) for k, index in rows.items()}

    def velocity(self, slopes: Array, held: dict[int, Held], primal: Array, outer: Array) -> Velocity:
        """The velocity at (β, a)."""
        hidden = slopes * primal
        residual = outer @ hidden - self.labels
        rates = -outer[:, None] * slopes * residual
        for k, part in held.items():
            rates[k, part.index] = part.speeds(rates[k])
        speed = self.operator.matvec(rates.T).T
        for k, part in held.items():
            speed[k, part.index] = 0.0
        return Velocity(speed, rates, -(hidden @ residual))

    def margins(self, mode: Modes, held: dict[int, Held], primal: Array, outer: Array) -> Array:
        """How far each sample is from losing its mode, shape (n_neurons, n_samples), in units of β or of α̇."""
        margins = mode * primal
        if held:
            slopes = self.slopes(mode)
            residual = self.residual(slopes, primal, outer)
            rates = self.velocity(slopes, held, primal, outer).dual
            for k in held:
                index = np.flatnonzero(mode[k] == 0)
                on, off = -outer[k] * residual[index], -self.slope_below * outer[k] * residual[index]
                margins[k, index] = np.minimum(rates[k, index] - on, off - rates[k, index])
        return margins

    def widths(self, mode: Modes, primal: Array, outer: Array, relative: float) -> Array:
        """How far below zero a margin may be by errors of integration: a fraction of the size of its neuron."""
        size = np.abs(primal).max(axis=1)[:, None]
        residual = self.residual(self.slopes(mode), primal, outer)
        speeds = np.abs(outer)[:, None] * max(float(np.abs(residual).max()), float(np.abs(self.labels).max()))
        return relative * np.where(mode == 0, speeds, size) + np.finfo(np.float64).tiny

    def settle(self, point: LayersPoint, neuron: int, index: NDArray[np.intp], noise: float) -> Settled:
        """Find the modes of the samples `index` of a neuron, which are at zero."""
        slopes = self.slopes(point.mode)
        residual = self.residual(slopes, point.primal, point.outer)
        own = slopes[neuron].copy()
        own[index] = 0.0
        zeros = Zeros(index, point.mode[neuron, index], np.zeros(len(index), dtype=np.int8))
        outer = float(point.outer[neuron])
        # The error is that of the rates, a_k times that of r.
        error = np.full(len(residual), noise * abs(outer) * float(np.abs(self.labels).max()))
        ends = (residual, self.slope_below * residual)
        found = first_order(self.operator, zeros, outer, (residual, error), ends, own)
        return Settled(index, found.place.astype(np.int8), found.unique)

    def moved(self, point: LayersPoint, neuron: int, settled: Settled) -> LayersPoint:
        """The point with these zeros set to exactly zero, in their new modes."""
        primal, mode = point.primal.copy(), point.mode.copy()
        primal[neuron, settled.samples] = 0.0
        mode[neuron, settled.samples] = settled.mode
        return replace(point, primal=primal, mode=mode)
