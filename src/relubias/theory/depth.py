r"""How deep an inactive sample has to lie to stay inactive: the "negative enough" of Lemma 6. (Ours.)

Let samples be nearly orthogonal: K_ii ≈ ‖λ‖₁, and K_ij has the variance ‖λ‖₂² = ‖λ‖₁²/d₂ for i ≠ j. While neuron k
learns the labels y_k of its own samples P_k, their coefficients go from about 0 to ‖λ‖₁ α_j ≈ |y_j|, all others stand
still, and an inactive sample i is moved by

    ξ_i = Σ_{j∈P_k} K_ij α_j ~ N(0, σ_k²),        σ_k = ‖y_k‖₂/√d₂,

nearly independently of the next one. It comes on where ξ_i exceeds its depth τ = −β_{k,i}. There are N pairs of a
neuron and a sample that is not its own, N = n(m − 1) from a disjoint start, and of N such numbers the largest is about
√(2 ln N) σ: at the depth

    τ = x u,        u = √(2 ln N) max_k ‖y_k‖₂/√d₂,

one of them comes on with a probability of at most

    N Φ(−x √(2 ln N)) ≤ N^{1−x²}/(x √(4π ln N)),

which tends to 0 for x ≥ 1. Where all σ_k are alike it tends to 1 for x < 1; it is ½ where Φ(x √(2 ln N))^N = ½, at
x = 0.81, 0.85, 0.89 for N = 100, 500, 8000. So u is the size of the depth that is enough, and n, m, d₂ and the labels
matter through it alone.

**In dual coefficients**, in which the lemma is stated, β_{k,i} = ‖λ‖₁ α_{k,i} + Σ_{j≠i} K_ij α_j up to the scatter of
K_ii, where the sum is again of the size of ξ: deep enough is −‖λ‖₁ α_{k,i} of the same size u. As long as the sample
is off, α_{k,i} stands still.
"""

from __future__ import annotations

import math

import numpy as np

from relubias.linalg.gram import Array
from relubias.state import State


def depth_units(start: State) -> Array | None:
    """u_k = √(2 ln N) ‖y_k‖₂/√d₂ of each neuron: the depth from which inactive samples tend to stay inactive.

    Parameters
    ----------
    start : State
        Its own samples are those that are active in a neuron of the sign of their label; N counts the other pairs of
        neuron and sample, and is taken as 2 where there are fewer.

    Returns
    -------
    ndarray, shape (n_neurons,), or None
        In label units; None where d₂ cannot be estimated.
    """
    d2 = start.problem.d2
    if d2 is None:
        return None
    own = start.pattern & (start.network.output_weights[:, None] * start.problem.labels > 0)
    sizes = np.linalg.norm(np.where(own, start.problem.labels, 0.0), axis=1)
    pairs = max(2, int(own.size - own.sum()))
    return np.asarray(math.sqrt(2.0 * math.log(pairs)) * sizes / math.sqrt(d2))
