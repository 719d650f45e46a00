"""Orthogonal rows: the smallest networks in closed form, for every choice of signs. (Ours; both layers: [1]_.)

Let x_iᵀx_j = 0 for i ≠ j, zero rows and copies left aside. Every network that fits the labels has (in the notation of
:mod:`relubias.references.gauge`)

    S₊ ≥ L₊,    S₋ ≥ L₋,        L_±² = Σ_{±y_i>0} y_i²/‖x_i‖²,

and both are attained at once, by one neuron for each sign:

    u₊ = Σ_{y_i>0} y_i x_i/‖x_i‖²,        u₋ = Σ_{y_i<0} |y_i| x_i/‖x_i‖².

*They fit*: x_iᵀu₊ is y_i where y_i > 0, else 0, and likewise for u₋, and ‖u_±‖ = L_±. *No network is smaller*: take
prices z_i = y_i/(‖x_i‖²L₊) where y_i > 0 and 0 elsewhere. For orthogonal rows and a unit vector u, with P the positive
labels,

    Σ_P z_i σ(x_iᵀu) ≤ (Σ_P z_i²‖x_i‖²)^½ (Σ_P (x_iᵀu)²/‖x_i‖²)^½ ≤ 1 · ‖u‖ = 1,

and −Σ_P z_i σ(x_iᵀu) ≤ 0, so that M₊ = 1 and M₋ = 0, and L₊ = zᵀy ≤ M₊S₊ + M₋S₋ = S₊; likewise for the other sign.
Hence

* the minimum variation norm is L₊ + L₋, reached with ‖w_±‖ = |a_±| = √L_±;
* with p neurons of sign + and q of sign −, output weights ±1, the minimum of ‖W‖² is L₊²/p + L₋²/q: equal neurons u₊/p
  and u₋/q reach the bound of Cauchy and Schwarz. A sign without neurons leaves its labels at 0, the best fit that
  there is; they count as 0 here.

"Orthogonal" is meant up to rounding: |K_ij| ≤ (n + 16) ε √(K_ii K_jj). The neurons are computed from K as it is,
K a = y₊, and the lower bound is that of the prices with all that rounding may do to it
(:mod:`relubias.references.load`).

References
----------
.. [1] E. Boursier, L. Pillaud-Vivien and N. Flammarion, "Gradient flow dynamics of shallow ReLU networks for square
       loss and orthogonal inputs", NeurIPS 2022.
"""

from __future__ import annotations

import numpy as np

from relubias.linalg.factor import EPS, GramOperator
from relubias.linalg.gram import Array
from relubias.references.gauge import Gauge
from relubias.references.load import rough_load
from relubias.references.smallest import Smallest, bound_from


def is_orthogonal(operator: GramOperator) -> bool:
    """Whether rows, none of them zero, are orthogonal up to rounding."""
    units = operator.roots
    cosines = np.abs(operator.gram / units / units[:, None])
    np.fill_diagonal(cosines, 0.0)
    return bool(cosines.max(initial=0.0) <= (operator.n_samples + 16) * EPS)


def orthogonal_network(operator: GramOperator, labels: Array, gauge: Gauge) -> Smallest:
    """The smallest network for orthogonal rows; labels of a sign without neurons must be 0."""
    signs = np.array([sign for sign in (1, -1) if np.any(sign * labels > 0)], dtype=np.float64)
    targets = np.maximum(signs[:, None] * labels, 0.0)
    duals = operator.pseudo_solve(targets)
    return two_neurons(operator, labels, signs, duals, gauge)


def two_neurons(operator: GramOperator, labels: Array, signs: Array, duals: Array, gauge: Gauge) -> Smallest:
    """One neuron for each sign as a network, with the bound from its own coefficients as prices."""
    lengths = operator.lengths(duals)
    sums = [float(lengths[signs == sign].sum()) for sign in (1, -1)]
    slopes = np.where(signs > 0, *gauge.slopes(*sums))
    # The prices of a sign point along its neuron; their length is what one more unit of this neuron costs.
    prices = np.asarray((signs * slopes / lengths) @ duals)
    prices = np.where(prices * labels > 0, prices, 0.0)
    loads = [rough_load(operator, sign * prices) if sign in gauge.signs else 0.0 for sign in (1, -1)]
    bound, prices = bound_from(labels, prices, loads, gauge)
    size = gauge.size(*sums)
    patterns = np.asarray(signs[:, None] * labels > 0)
    return Smallest(signs, patterns, duals, lengths, size, min(bound, size), prices, 1)
