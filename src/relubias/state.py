"""A state of the network, seen from the data: primal and dual coefficients.

    β_k = X w_k   (primal),      w_k = Xᵀα_k + w_k^⊥   (dual),      β_k = K α_k,
    active:  D_k = 1[β_k > 0],   f = Σ_k a_k σ(β_k),   residual r = f − y,   loss L = ½‖r‖².

The dual coefficients are those of least Euclidean length, α = K⁺β; for singular K others give the same
weights. The part w^⊥ outside the span of the samples is never moved by gradient descent; only its norm matters here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relubias.errors import ArgumentError, DataError
from relubias.held_out import HeldOut
from relubias.linalg.gram import Array, cross_product
from relubias.network import Network
from relubias.problem import Problem


@dataclass(frozen=True, eq=False)
class State:
    """Weights of a network on a problem, in primal and dual coefficients.

    Attributes
    ----------
    problem : Problem
    network : Network
    dual : ndarray, shape (n_neurons, n_samples)
        α, in the units of weight per feature.
    primal : ndarray, shape (n_neurons, n_samples)
        β = Kα, in label units.
    orthogonal_norms : ndarray, shape (n_neurons,)
        ‖w_k^⊥‖.
    orthogonal : ndarray, shape (n_neurons, n_features), or None
        w^⊥ itself, where it is nonzero and at hand.
    outer : ndarray, shape (n_neurons,), or None
        The output weights a_k where they are trained; None stands for the signs.
    """

    problem: Problem
    network: Network
    dual: Array
    primal: Array
    orthogonal_norms: Array
    orthogonal: Array | None = None
    outer: Array | None = None

    @classmethod
    def from_dual(cls, problem: Problem, network: Network, dual: ArrayLike, *, outer: ArrayLike | None = None) -> State:
        """The state with weights w_k = Xᵀα_k.

        Parameters
        ----------
        problem : Problem
        network : Network
        dual : array_like, shape (n_neurons, n_samples); (n_samples,) for one neuron
            α.
        outer : array_like, shape (n_neurons,), optional
            The output weights, where the network trains them; by default its signs.

        Returns
        -------
        State

        Raises
        ------
        ArgumentError
            If a shape is wrong, an entry is not finite, or `outer` is given to a network that does not train it.
        """
        coefficients = _shaped(dual, (network.n_neurons, problem.n_samples), "dual")
        primal = problem.operator.matvec(coefficients.T).T
        dual, nothing = problem.operator.project(coefficients), np.zeros(network.n_neurons)
        return cls(problem, network, dual, primal, nothing, outer=_checked_outer(network, outer))

    @classmethod
    def from_weights(
        cls, problem: Problem, network: Network, weights: ArrayLike, *, outer: ArrayLike | None = None
    ) -> State:
        """The state with the given weights, split into the span of the samples and the rest.

        Parameters
        ----------
        problem : Problem
        network : Network
        weights : array_like, shape (n_neurons, n_features); (n_features,) for one neuron
            W.
        outer : array_like, shape (n_neurons,), optional
            The output weights, where the network trains them; by default its signs.

        Returns
        -------
        State

        Raises
        ------
        DataError
            If the problem has no features.
        ArgumentError
            If a shape is wrong, an entry is not finite, or `outer` is given to a network that does not train it.
        """
        if problem.features is None:
            raise DataError(
                "this problem has its Gram matrix but no features; give dual coefficients instead of weights."
            )
        matrix = _shaped(weights, (network.n_neurons, int(problem.n_features or 0)), "weights")
        primal = problem.primal_of(matrix)
        dual = problem.operator.pseudo_solve(primal)
        rest = matrix - problem.weights_of(dual)
        norms = np.linalg.norm(rest, axis=1)
        # What is left of weights inside the span is rounding, not an orthogonal part.
        inside = norms <= 1e-7 * np.linalg.norm(matrix, axis=1)
        rest[inside], norms[inside] = 0.0, 0.0
        outside = rest if np.any(norms) else None
        return cls(problem, network, dual, primal, norms, outside, _checked_outer(network, outer))

    def __repr__(self) -> str:
        active = ", ".join(str(int(count)) for count in self.pattern.sum(axis=1))
        return f"<State of {self.network}: ‖W‖ = {self.norm:.4g}, loss {self.loss:.4g}, active samples {active}>"

    @property
    def pattern(self) -> NDArray[np.bool_]:
        """D: which samples are active in which neuron, shape (n_neurons, n_samples)."""
        return np.asarray(self.primal > 0)

    @property
    def predictions(self) -> Array:
        """f at the samples, shape (n_samples,)."""
        return self.network.output(self.primal, outer=self.outer)

    @property
    def residual(self) -> Array:
        """r = f − y, shape (n_samples,)."""
        return self.predictions - self.problem.labels

    @property
    def loss(self) -> float:
        """L = ½‖r‖²."""
        return 0.5 * float(self.residual @ self.residual)

    @cached_property
    def norms(self) -> Array:
        """‖w_k‖, shape (n_neurons,), the orthogonal part included."""
        return np.hypot(self.problem.operator.lengths(self.dual), self.orthogonal_norms)

    @property
    def norm(self) -> float:
        """‖W‖_F over all neurons."""
        return float(np.linalg.norm(self.norms))

    @property
    def orthogonal_norm(self) -> float:
        """‖W^⊥‖_F, the part that training never moves."""
        return float(np.linalg.norm(self.orthogonal_norms))

    @property
    def output_weights(self) -> Array:
        """The output weight of each neuron, shape (n_neurons,)."""
        return self.network.output_weights if self.outer is None else self.outer

    @property
    def balance(self) -> Array:
        """a_k² − ‖w_k‖², shape (n_neurons,): gradient flow on both layers keeps it where σ is homogeneous."""
        return np.square(self.output_weights) - np.square(self.norms)

    def weights(self) -> Array:
        """Return W, shape (n_neurons, n_features).

        Raises
        ------
        DataError
            If the problem has no features, or the orthogonal part is known by its norm only.
        """
        inside = self.problem.weights_of(self.dual)
        if self.orthogonal is not None:
            return inside + self.orthogonal
        if self.orthogonal_norm > 0:
            raise DataError("the part of the weights outside the span of the samples is known by its norm only.")
        return inside

    def predict(self, features: Any) -> Array:
        """Return f at new points, shape (n_new,), in label units.

        Parameters
        ----------
        features : array, sparse array, callable, source of column blocks or HeldOut, shape (n_new, n_features)
            Raw, as in the file: where those of the problem were preprocessed, new ones are treated in the same way here
            (see :meth:`Problem.prepared`). Points that are known by their inner products with the samples, such as
            `problem.test`, need no features.

        Raises
        ------
        DataError
            If the problem has no features, the numbers of features differ, or the orthogonal part is known by
            its norm only.

        Notes
        -----
        Where labels were centred, f predicts centred ones; add `problem.label_mean`.
        """
        return self.network.output(self.primal_at(features), outer=self.outer)

    def primal_at(self, features: Any) -> Array:
        """Return β_k = w_kᵀx at new points, shape (n_neurons, n_new), in label units.

        Parameters
        ----------
        features : array, sparse array, callable, source of column blocks or HeldOut, shape (n_new, n_features)
            As for :meth:`predict`.

        Raises
        ------
        DataError
            As :meth:`predict` does.
        """
        new: Any
        if isinstance(features, HeldOut):
            new, cross = features.features, features.cross_gram
            if cross.shape[1] != self.problem.n_samples:
                raise DataError(f"the test points are beside {cross.shape[1]} samples, not {self.problem.n_samples}.")
        else:
            new = self.problem.prepared(features)
            cross = self.problem.cross_gram(new)
        primal = self.dual @ cross.T
        if self.orthogonal_norm == 0:
            return primal
        if self.orthogonal is None:
            raise DataError("the part of the weights outside the span of the samples is known by its norm only.")
        if new is None:
            raise DataError(
                "the weights have a part outside the span of the samples, so that predictions need features."
            )
        return primal + cross_product(self.orthogonal, new)

    @property
    def test_error(self) -> float | None:
        """Mean squared error at the test points of the problem, in squared label units.

        None where there are none, or where the weights have a part outside the span of the samples whose inner
        products with the points are not known.
        """
        test = self.problem.test
        if test is None or not self._reaches(test):
            return None
        return test.error(self.predict(test))

    def _reaches(self, test: HeldOut) -> bool:
        """Whether predictions at these points can be told."""
        return self.orthogonal_norm == 0 or (self.orthogonal is not None and test.features is not None)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays from which :meth:`from_arrays` rebuilds the state; problem and network are kept elsewhere."""
        arrays = {"dual": self.dual, "primal": self.primal, "orthogonal_norms": self.orthogonal_norms}
        more = {"orthogonal": self.orthogonal, "outer": self.outer}
        return arrays | {name: array for name, array in more.items() if array is not None}

    @classmethod
    def from_arrays(cls, problem: Problem, network: Network, arrays: Mapping[str, NDArray[Any]]) -> State:
        """Rebuild a state from :meth:`to_arrays`, bit for bit.

        Parameters
        ----------
        problem : Problem
        network : Network
        arrays : dict of ndarray

        Returns
        -------
        State
        """
        own = (arrays["dual"], arrays["primal"], arrays["orthogonal_norms"])
        return cls(problem, network, *own, arrays.get("orthogonal"), arrays.get("outer"))


def _checked_outer(network: Network, outer: ArrayLike | None) -> Array | None:
    if outer is None:
        return None
    if not network.train_output:
        raise ArgumentError(
            "the output weights of this network are its signs; make it with train_output=True to give others."
        )
    array = np.array(outer, dtype=np.float64)
    if array.shape != (network.n_neurons,) or not np.all(np.isfinite(array)):
        raise ArgumentError(f"outer must be {network.n_neurons} finite numbers, the output weight of each neuron.")
    return array


def _shaped(values: ArrayLike, shape: tuple[int, int], what: str) -> Array:
    array = np.array(values, dtype=np.float64)
    if array.ndim == 1 and shape[0] == 1:
        array = array[None, :]
    if array.shape != shape:
        raise ArgumentError(
            f"{what} must have shape {shape} (neurons, entries); the given array has shape {array.shape}."
        )
    if not np.all(np.isfinite(array)):
        raise ArgumentError(f"{what} must be finite numbers.")
    return array
