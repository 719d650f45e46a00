"""Several neurons under linear constraints are one neuron on lifted samples. (Ours.)

A constraint on the pre-activations of one sample i, Σ_k c_k β_{k,i} = t or ≤ t, is one on the weights W as a whole,

    gᵀ W = t or ≤ t,       g = c ⊗ x_i ∈ R^{m d},

so that min ½‖W‖² under p of them is the program of one neuron with the *lifted* samples g_1 … g_p, and all that is
known of that program serves here too: elimination, the factor of X, evidence, lower bounds. The lifted Gram matrix is

    S_rs = g_rᵀg_s = (c_rᵀc_s) K_{i_r i_s},

and multipliers a of the constraints are the dual coefficients α_k = Σ_r a_r c_{r,k} e_{i_r} of the neurons.

A sample is fitted within one *piece*: a set A of neurons that are active on it. There

    Σ_{k∈A} s_k β_k = y,     β_k ≥ 0 (k ∈ A),     β_k ≤ 0 (k ∉ A),

where f is linear, and f = 0 is the best that A can do for a label y whose sign no neuron in A has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relubias.linalg.blas import gram_product
from relubias.linalg.factor import GramOperator
from relubias.linalg.factored import FactorOperator
from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.problem import Problem
from relubias.references.conditions import Constraints
from relubias.state import State

#: One constraint on the neurons at one sample: its coefficients c, its target t, and whether it is an equality.
Row = tuple[tuple[float, ...], float, bool]


@dataclass(frozen=True, eq=False)
class Lifted:
    """Constraints on the pre-activations of m neurons, one row each.

    Attributes
    ----------
    coefficients : ndarray, shape (p, m)
        c.
    samples : ndarray of int, shape (p,)
        The sample of each row.
    constraints : Constraints
        t and which rows are equalities, shape (p,).
    """

    coefficients: Array
    samples: NDArray[np.intp]
    constraints: Constraints

    def operator(self, operator: GramOperator) -> GramOperator:
        """The operator of the lifted samples, backed as that of the samples is."""
        gram = operator.gram[np.ix_(self.samples, self.samples)] * gram_product(self.coefficients)
        if operator.factor is None:
            return GramOperator(gram)
        factor = self.coefficients[:, :, None] * operator.factor[self.samples][:, None, :]
        return FactorOperator(gram, factor.reshape(len(self.samples), factor.shape[1] * factor.shape[2]))

    def dual(self, multipliers: Array, n_samples: int) -> Array:
        """α of each neuron from the multipliers a of the rows, shape (m, n_samples)."""
        dual = np.zeros((self.coefficients.shape[1], n_samples))
        np.add.at(dual.T, self.samples, multipliers[:, None] * self.coefficients)
        return dual


def lifted(rows: Sequence[Sequence[Row]], n_neurons: int) -> Lifted:
    """Collect the constraints of each sample."""
    flat = [(sample, row) for sample, own in enumerate(rows) for row in own]
    coefficients = np.array([row[0] for _, row in flat], dtype=np.float64).reshape(len(flat), n_neurons)
    targets = np.array([row[1] for _, row in flat], dtype=np.float64)
    equal = np.array([row[2] for _, row in flat], dtype=bool)
    return Lifted(coefficients, np.array([sample for sample, _ in flat], dtype=np.intp), Constraints(targets, equal))


def piece(network: Network, active: NDArray[np.bool_], label: float) -> list[Row]:
    """The constraints of the piece of one sample with the set `active` of neurons, shape (m,).

    Where exactly one active neuron has the sign of the label, it is active by the equality, and there is no row for it.
    """
    signs, own = network.output_weights, np.flatnonzero(active)
    helping = [k for k in own if signs[k] * label > 0 or (label == 0 and len(set(signs[own])) > 1)]
    rows: list[Row] = [(_unit(network, k, 1.0), 0.0, False) for k in np.flatnonzero(~active)]
    if not helping:
        return [(_unit(network, k, 1.0), 0.0, True) for k in own] + rows
    implied = [sign for sign in (1.0, -1.0) if sign * label >= 0 and np.count_nonzero(signs[own] == sign) == 1]
    skipped = next((k for k in own if implied and signs[k] == implied[0]), None)
    return [
        (tuple(np.where(active, signs, 0.0)), float(label), True),
        *[(_unit(network, k, -1.0), 0.0, False) for k in own if k != skipped],
        *rows,
    ]


def _unit(network: Network, neuron: int | np.intp, value: float) -> tuple[float, ...]:
    return tuple(value if k == neuron else 0.0 for k in range(network.n_neurons))


def pre_activations(problem: Problem, dual: Array) -> Array:
    """β_k = K α_k of each neuron, shape (m, n), accumulated in extended precision."""
    return np.array([problem.operator.wide_matvec(own) for own in dual], dtype=np.float64)


def fitted_labels(network: Network, pattern: NDArray[np.bool_], labels: Array) -> Array:
    """What each sample can be fitted to within the pattern, shape (m, n): its label, or 0 where no neuron helps."""
    helps = np.any(pattern & (network.output_weights[:, None] * labels > 0), axis=0)
    return np.where(helps, labels, 0.0)


def state_of(
    problem: Problem, network: Network, dual: Array, primal: Array, pattern: NDArray[np.bool_], labels: Array
) -> State:
    """The state with these dual coefficients, its pre-activations set to the piece that they meet up to rounding."""
    signs = network.output_weights
    exact = np.where(pattern, np.maximum(primal, 0.0), np.minimum(primal, 0.0))
    for i in np.flatnonzero(np.any(pattern, axis=0)):
        if labels[i] == 0 and len(set(signs[pattern[:, i]])) == 1:
            exact[pattern[:, i], i] = 0.0
            continue
        # The largest of the neurons that help takes up the rounding, so that f is the label exactly.
        helping = pattern[:, i] & (signs * (labels[i] or 1.0) > 0)
        if np.any(helping):
            k = int(np.argmax(np.where(helping, exact[:, i], -1.0)))
            others = float(signs @ np.maximum(exact[:, i], 0.0)) - signs[k] * exact[k, i]
            exact[k, i] = max(0.0, signs[k] * (labels[i] - others))
    return State(problem, network, problem.operator.project(dual), exact, np.zeros(network.n_neurons))
