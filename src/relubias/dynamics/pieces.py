"""One piece of gradient flow: while every sample keeps its mode in every neuron, the flow is linear.

A sample is *on* (slope 1), *off* (slope a) or *held* at zero in each neuron. With D_k the slopes, P_k the Schur
complement that eliminates the held samples Z_k, S = Σ_k D_k P_k D_k = QΛQᵀ and c = Qᵀr (see
:mod:`relubias.linalg.held`),

    ṙ = −S r,      β_k(t) = β_k − s_k P_k D_k Q (G(t) ∘ c),      α_k(t) = α_k − s_k (D_k Q + V_k) (G(t) ∘ c),

G_j(t) = (1 − e^{−λ_j t})/λ_j, and V_k the speeds of the held samples, so that theirs are v = −s_k V_k (e^{−Λt} ∘ c).
The piece ends when the first of these functions turns negative:

    |β_{k,i}|  of a sample that is on or off,        v − v_on  and  v_off − v  of one that slides.

Modes with λ_j = 0 move no weights and are left out; the residual that they carry stays for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relubias.activations import Activation
from relubias.dynamics.exponentials import INFINITY, ExponentialSums, decay, growth
from relubias.errors import ArgumentError
from relubias.linalg.factor import EPS, GramOperator, spectral_error
from relubias.linalg.gram import Array
from relubias.linalg.held import MixedModes, mixed_modes
from relubias.network import Network
from relubias.problem import Problem

#: What a watched function is about.
BETA, TO_ON, TO_OFF = 0, 1, -1
#: Error of a coefficient of the residual, in spectral errors.
NOISE = 0.125
#: Rounding errors of one sample of the residual.
ERRORS = 8.0


@dataclass(frozen=True, eq=False)
class Point:
    """Where the flow is, and in which modes it goes on from there.

    Attributes
    ----------
    time : float
    primal, dual : ndarray, shape (n_neurons, n_samples)
        β and α.
    residual : ndarray, shape (n_samples,)
        r, carried along by its own equation: as f − y its digits would be lost as it decays, and with them the order of
        late events.
    error : ndarray, shape (n_samples,)
        Bound of the rounding error of r: a residual that passes through zero is not known to be zero there.
    mode : ndarray of int8, shape (n_neurons, n_samples)
        +1 on, −1 off, 0 held at zero.
    contact : ndarray of int8, shape (n_neurons, n_samples)
        1 or 2 where β is just leaving zero, to this order.
    """

    time: float
    primal: Array
    dual: Array
    residual: Array
    error: Array
    mode: NDArray[np.int8]
    contact: NDArray[np.int8]


class Next(NamedTuple):
    """The end of a piece: `time` from its beginning, and who ends it: neurons, samples, and what they do."""

    time: float
    neurons: NDArray[np.intp]
    samples: NDArray[np.intp]
    causes: NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Field:
    """What the flow is a flow of: the data, and the network that is trained on them.

    Parallel samples x_j = c_j x_i reach the kink together and leave it together: they have one p between the slopes in
    common there, not one each. Such a class slides as one, with the box between the sums over its members,

        v_on = −s_k Σ_j c_j φ′(+c_j) r_j,        v_off = −s_k Σ_j c_j φ′(−c_j) r_j .

    Attributes
    ----------
    slope_below : float
        a.
    lead : ndarray of int, shape (n_samples,)
        The first sample of the class of each sample.
    ratio : ndarray, shape (n_samples,)
        c_j, with respect to that one.
    """

    operator: GramOperator
    labels: Array
    signs: Array
    activation: Activation
    slope_below: float
    lead: NDArray[np.intp]
    ratio: Array

    @classmethod
    def of(cls, problem: Problem, network: Network) -> Field:
        """The field of one problem and network.

        Raises
        ------
        ArgumentError
            If the activation is not piecewise linear.
        """
        activation = network.activation
        if activation.slope_below is None:
            raise ArgumentError(
                f"gradient flow is built for piecewise linear activations, not for {activation.name!r}; "
                'use Network(..., activation="relu"), "leaky-relu" or "identity".'
            )
        lead, ratio = parallel_classes(problem.operator)
        return cls(
            problem.operator, problem.labels, network.output_weights, activation, activation.slope_below, lead, ratio
        )

    @property
    def kinked(self) -> bool:
        """False for the identity, which has no kink to look for."""
        return self.slope_below != 1.0

    def slopes(self, mode: NDArray[np.int8]) -> Array:
        """φ′ for each mode; 0 for held samples."""
        return np.where(mode > 0, 1.0, np.where(mode < 0, self.slope_below, 0.0))

    def together(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The classes that have a member in the mask, shape (n_neurons, n_samples)."""
        some = np.zeros_like(mask)
        neurons, samples = np.nonzero(mask)
        some[neurons, self.lead[samples]] = True
        return some[:, self.lead]

    def sides(self, values: Array) -> tuple[Array, Array]:
        """Σ_j c_j φ′(±c_j) z_j over the classes, at their first samples, for z of shape (n_samples, …): on and off."""
        upper = np.where(self.ratio > 0.0, 1.0, self.slope_below) * self.ratio
        lower = np.where(self.ratio > 0.0, self.slope_below, 1.0) * self.ratio
        on, off = np.zeros_like(values), np.zeros_like(values)
        np.add.at(on, self.lead, (upper * values.T).T)
        np.add.at(off, self.lead, (lower * values.T).T)
        return on, off

    def residual(self, primal: Array) -> Array:
        """R = f − y."""
        return np.asarray(self.signs @ self.activation.value(primal) - self.labels)


@dataclass(frozen=True, eq=False)
class Piece:
    """The linear flow from a point on; times count from there.

    Attributes
    ----------
    mixed : MixedModes
    coefficients : ndarray, shape (r,)
        c = Qᵀr.
    lost : ndarray, shape (len(U),)
        The part of the residual that no mode carries.
    """

    field: Field
    point: Point
    slopes: Array
    mixed: MixedModes
    coefficients: Array
    lost: Array

    @classmethod
    def of(cls, field: Field, point: Point) -> Piece:
        """Decompose S for the modes of this point: one eigendecomposition."""
        slopes = field.slopes(point.mode)
        held = point.mode == 0
        mixed = mixed_modes(field.operator, slopes, held & (field.lead == np.arange(len(field.lead))))
        mixed.modes.images[held] = 0.0
        own, vectors = point.residual[mixed.modes.union], mixed.modes.vectors
        coefficients = vectors.T @ own
        complete = vectors.shape[0] == vectors.shape[1]
        lost = np.zeros(len(own)) if complete else own - vectors @ coefficients
        return cls(field, point, slopes, mixed, coefficients, lost)

    @property
    def residual(self) -> Array:
        """r at the beginning."""
        return self.point.residual

    def residual_at(self, time: float) -> Array:
        """r(t), shape (n_samples,)."""
        residual = self.residual.copy()
        modes = self.mixed.modes
        residual[modes.union] = modes.vectors @ (decay(self.rates, time) * self.coefficients) + self.lost
        return residual

    @property
    def rates(self) -> Array:
        """λ, ascending and positive."""
        return self.mixed.modes.values

    def _grown(self, time: float) -> Array:
        return growth(self.rates, time) * self.coefficients

    def primal_at(self, time: float) -> Array:
        """β(t), shape (n_neurons, n_samples)."""
        return self.point.primal - self.field.signs[:, None] * (self.mixed.modes.images @ self._grown(time))

    def dual_at(self, time: float) -> Array:
        """α(t), shape (n_neurons, n_samples)."""
        grown, union = self._grown(time), self.mixed.modes.union
        move = self.mixed.speeds @ grown
        move[:, union] += self.slopes[:, union] * (self.mixed.modes.vectors @ grown)
        return self.point.dual - self.field.signs[:, None] * move

    def error_at(self, time: float) -> Array:
        """Bound of the rounding error of r(t), shape (n_samples,)."""
        error, modes = self.point.error.copy(), self.mixed.modes
        left = decay(self.rates, time) * np.abs(self.coefficients)
        error[modes.union] = ERRORS * EPS * (np.abs(modes.vectors) @ left + np.abs(self.lost))
        return error

    def spectral_margin(self) -> Array:
        """How far rounding in the decomposition may move β(∞), shape (n_neurons, n_samples)."""
        modes, lost = self.mixed.modes, float(np.linalg.norm(self.lost))
        own, other = modes.rounding(np.abs(self.coefficients), lost, growth(self.rates, INFINITY))
        spectral = other * np.sqrt(self.field.operator.diagonal)[None, :] * np.ones(self.slopes.shape)
        if len(self.slopes) == 1:
            spectral = np.where(self.slopes == 1.0, own, spectral)
        return spectral

    def margin(self, time: float) -> Array:
        """How far products in β(t) may be off by rounding, shape (n_samples,)."""
        return (
            spectral_error(len(self.residual))
            * np.sqrt(self.field.operator.diagonal)
            * float(self._spread() @ growth(self.rates, time))
        )

    def _spread(self) -> Array:
        # |(P_k)_i D_k Q_j| ≤ √K_ii √λ_j, and c_j itself is known to some ε ‖r‖.
        error = NOISE * float(np.linalg.norm(self.residual[self.mixed.modes.union]))
        return np.sqrt(self.rates) * (np.abs(self.coefficients) + error)

    def search(self, last: float) -> Next:
        """Find the first end of a mode up to `last`, infinity included."""
        if not self.field.kinked or not len(self.rates):
            return Next(last, *_NOBODY)
        beta = np.flatnonzero((self.point.mode != 0) & (self.field.operator.diagonal > 0.0))
        leading = self.field.lead == np.arange(len(self.residual))
        held = np.flatnonzero((self.point.mode == 0) & leading)
        sums = self._watched(beta, held)
        found = sums.search(last)
        entries = np.concatenate([beta, held, held])[found.rows]
        causes = np.repeat(np.array([BETA, TO_ON, TO_OFF], dtype=np.int8), [len(beta), len(held), len(held)])
        neurons, samples = np.divmod(entries, len(self.residual))
        return Next(found.time, neurons, samples, causes[found.rows])

    def _watched(self, beta: NDArray[np.intp], held: NDArray[np.intp]) -> ExponentialSums:
        """|β| of the entries `beta`, and the distances of the speeds of the entries `held` from their two ends."""
        n, error = len(self.residual), spectral_error(len(self.residual))
        modes, rates, signs = self.mixed.modes, self.rates, self.field.signs
        side = self.point.mode.ravel()[beta] * signs[beta // n]
        falls = side[:, None] * modes.images.reshape(-1, len(rates))[beta] * self.coefficients
        start = np.abs(self.point.primal.ravel()[beta])
        roots = np.sqrt(self.field.operator.diagonal)[beta % n]
        ends, here, noise = self._distances(held)
        floor = error * noise
        here = np.where(here <= floor, 0.0, here)
        return ExponentialSums(
            rates=rates,
            start=np.concatenate([start, here]),
            weights=np.concatenate([falls, ends * rates]),
            contact=np.concatenate([self.point.contact.ravel()[beta], (here == 0.0).astype(np.int8)]),
            floor=np.concatenate([EPS * start, floor]),
            scale=np.concatenate([error * roots, np.zeros(len(here))]),
            spread=self._spread(),
        )

    def _distances(self, held: NDArray[np.intp]) -> tuple[Array, Array, Array]:
        """v − v_on and v_off − v: coefficients of e^{−λ_j t}, values now, and sums of sizes."""
        n, modes = len(self.residual), self.mixed.modes
        signs, samples = self.field.signs[held // n], held % n
        rows = np.zeros((n, len(self.rates)))
        rows[modes.union] = modes.vectors
        on, off = self.field.sides(rows)
        speed = -signs[:, None] * self.mixed.speeds.reshape(-1, len(self.rates))[held] * self.coefficients
        to_on, to_off = (signs[:, None] * side[samples] * self.coefficients for side in (on, off))
        now = self._speeds_now().ravel()[held]
        on_now, off_now = (signs * side[samples] for side in self.field.sides(self.residual))
        ends = np.concatenate([speed + to_on, -to_off - speed])
        here = np.concatenate([now + on_now, -off_now - now])
        moving = np.max(np.abs(self.slopes * self.residual), axis=1)[held // n]
        own = np.abs(speed).sum(axis=1) + np.abs(now) + moving
        upper, lower = np.abs(to_on).sum(axis=1) + np.abs(on_now), np.abs(to_off).sum(axis=1) + np.abs(off_now)
        return ends, here, np.concatenate([own + upper, own + lower])

    def _speeds_now(self) -> Array:
        """v of the held samples, what the lost part of the residual asks for included."""
        speeds = np.zeros(self.slopes.shape)
        for k, part in enumerate(self.mixed.held):
            if len(part.index):
                speeds[k, part.index] = part.speeds(-self.field.signs[k] * self.slopes[k] * self.residual)
        return speeds


def parallel_classes(operator: GramOperator) -> tuple[NDArray[np.intp], Array]:
    """Find the samples that are multiples of one another: the first of each class, and the multiples.

    Returns
    -------
    lead : ndarray of int, shape (n_samples,)
    ratio : ndarray, shape (n_samples,)
        c with x_j = c_j x_lead(j).
    """
    n = operator.n_samples
    lengths = operator.roots
    lead, ratio = np.arange(n), np.ones(n)
    cosines = operator.gram / np.where(lengths > 0.0, lengths, 1.0) / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    close = np.abs(cosines) >= 1.0 - 4 * (n + 16) * EPS
    for j in range(n):
        for i in np.flatnonzero(close[j, :j]):
            sign = 1.0 if cosines[j, i] > 0 else -1.0
            if lead[i] == i and _parallel(operator, int(i), j, sign):
                lead[j], ratio[j] = i, sign * lengths[j] / lengths[i]
                break
    return lead, ratio


def _parallel(operator: GramOperator, i: int, j: int, sign: float) -> bool:
    """Whether the features, where they are at hand, cannot tell two directions apart either."""
    if operator.factor is None:
        return True
    one, other = operator.factor[i], operator.factor[j]
    difference = one / np.linalg.norm(one) - sign * other / np.linalg.norm(other)
    return bool(np.linalg.norm(difference) <= 4 * (len(one) + 16) * EPS)


_NOBODY = (np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0, dtype=np.int8))
