"""What theory says about the limit before training has begun. (Ours.)

Let samples be nearly orthogonal, K ≈ L·I with L = ‖λ‖₁, and write c = ηL. One step then moves each sample on its own,

    L α_{k,i}(1) = β_{k,i}(0) − c s_k r_i(0) 1[i active in k],

and a sample that this step leaves at −u_{k,i} < 0 stays inactive, so that its coefficient stays what it is. The
minimum-norm solution has no such coefficients, and they are all that tells the limit from it:

    ‖w_k − w*_k‖ ≈ L^(−½) ‖u_k‖₂,        u_{k,i} = c s_k r_i(0) − β_{k,i}(0) on the samples O_k that k does not keep.

**The gap law.** For one neuron with all samples active at ε it is L^(−½)‖c y₋ + ε(1 − c)1‖₂; for a pair the same with
all labels, c√(1/L)‖y‖₂ as ε → 0; from a disjoint start at depth τ it is τ √((m − 1) n/L) in all.

**Its correction.** The other samples move the prediction at i by ξ ~ N(0, σ_k²), σ_k = ‖own labels of k‖/√d₂. Where
ξ > 0 the constraint β ≤ 0 binds, and w* has the coefficient −ξ/L. What is left of the difference is u − ξ⁺:

    E ‖u − ξ⁺‖² = Σ u_i² − 2 Σ u_i σ_k/√(2π) + |O_k| σ_k²/2.

To first order in σ this is the factor 1 − κ √(n/d₂)/c with κ = E|y₋| (‖y₊‖/√n)/(√(2π) E y₋²) for one neuron and ε → 0.

The gap does not shrink against ‖w*‖ ≈ L^(−½)‖y₊‖ however many dimensions there are: it is an effect of the finite
step, and of how deep a disjoint start puts its inactive samples.

**Closed form.** If the only change of pattern is at step 1, with A the samples active in a neuron after it and O the
rest, and no sample active in two neurons, then w_k(∞) = X_Aᵀ K_AA⁻¹(s_k y_A − K_AO α_O(1)) + X_Oᵀ α_O(1), exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relubias import step_sizes
from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.nouns import require_nouns, require_state
from relubias.problem import Problem
from relubias.state import State
from relubias.wording import number


@dataclass(frozen=True, eq=False)
class GapLaw:
    """The predicted distance between the limit of gradient descent and the minimum-norm solution.

    Attributes
    ----------
    gap : float
        L^(−½)‖u‖₂, the leading order, in units of the weights.
    per_neuron : ndarray, shape (n_neurons,)
        L^(−½)‖u_k‖₂ of each neuron.
    corrected, corrected_per_neuron : float, ndarray
        The same with the correction for the interference of the other samples.
    relative : float or None
        The predicted ratio of `gap` to the predicted ‖w*‖; None where no label is fitted.
    kappa : float or None
        κ of the first-order correction, where there is one neuron; else None.
    unmet : tuple of str
        What the law assumes and does not hold here, one sentence each; empty where it applies.
    """

    gap: float
    per_neuron: Array
    corrected: float
    corrected_per_neuron: Array
    relative: float | None
    kappa: float | None
    unmet: tuple[str, ...]

    @property
    def applies(self) -> bool:
        """Whether all assumptions hold that can be told before training."""
        return not self.unmet

    def as_dict(self) -> dict[str, Any]:
        """All fields as JSON-able values."""
        return {
            "gap": self.gap,
            "per_neuron": self.per_neuron.tolist(),
            "corrected": self.corrected,
            "corrected_per_neuron": self.corrected_per_neuron.tolist(),
            "relative": self.relative,
            "kappa": self.kappa,
            "unmet": list(self.unmet),
        }


def gap_law(problem: Problem, network: Network, start: State, *, step_size: float) -> GapLaw:
    """Predict the gap from the start, the labels, ‖λ‖₁ and d₂ alone; no training and no solver is needed.

    Parameters
    ----------
    problem : Problem
    network : Network
        ReLU neurons with fixed output weights.
    start : State
    step_size : float
        η.

    Raises
    ------
    ArgumentError
        If the network is none of those, the step is no positive number, or all samples are zero.
    """
    state, eta = _checked(problem, network, start, step_size)
    trace = 1.0 / step_sizes.relative(problem, 1.0)
    c = eta * trace
    signs, labels = state.network.output_weights[:, None], state.problem.labels
    left = c * signs * state.residual * state.pattern - state.primal
    kept = state.pattern & (signs * labels > 0)
    depths = np.where(kept, 0.0, left)
    loads = _loads(state, kept)
    width = np.zeros(len(signs))
    if state.problem.d2 is not None and math.isfinite(state.problem.d2):
        width = np.linalg.norm(loads, axis=1) / math.sqrt(state.problem.d2)
    squares = np.sum(depths**2, axis=1)
    reduced = squares - 2.0 * depths.sum(axis=1) * width / math.sqrt(2.0 * math.pi)
    reduced += 0.5 * np.sum(~kept, axis=1) * width**2
    each, better = np.sqrt(squares / trace), np.sqrt(np.maximum(reduced, 0.0) / trace)
    size = float(np.linalg.norm(loads)) / math.sqrt(trace)
    gap = float(np.linalg.norm(each))
    return GapLaw(
        gap=gap,
        per_neuron=each,
        corrected=float(np.linalg.norm(better)),
        corrected_per_neuron=better,
        relative=gap / size if size > 0 else None,
        kappa=kappa(labels * state.network.signs[0]) if len(signs) == 1 else None,
        unmet=_unmet(state, depths, kept, width, c),
    )


def kappa(labels: Array) -> float | None:
    """κ = E|y₋| (‖y₊‖/√n)/(√(2π) E y₋²), of the first-order correction to the gap law. (Ours.)

    0.267 for labels ±U[½, 2], half of each sign.

    Parameters
    ----------
    labels : ndarray, shape (n_samples,)
        s y, signed as the one neuron is.

    Returns
    -------
    float or None
        None without negative labels.
    """
    negative, positive = labels[labels < 0], labels[labels > 0]
    if not len(negative):
        return None
    root = float(np.linalg.norm(positive)) / math.sqrt(len(labels))
    return float(np.mean(np.abs(negative)) * root / (math.sqrt(2.0 * math.pi) * np.mean(negative**2)))


def limit_after_one_change(problem: Problem, network: Network, start: State, *, step_size: float) -> State:
    """The limit of training if the pattern changes at step 1 and never again: the closed form, in O(n³).

    Parameters
    ----------
    problem : Problem
    network : Network
        ReLU neurons with fixed output weights.
    start : State
    step_size : float
        η.

    Returns
    -------
    State
        Where the pattern after one step leads. It is the limit of training if the pattern keeps, which a run tells.

    Raises
    ------
    ArgumentError
        If after one step some sample is active in several neurons, for which there is no closed form, or the network
        is none of those.
    """
    state, eta = _checked(problem, network, start, step_size)
    operator, labels = problem.operator, problem.labels
    signs = state.network.output_weights[:, None]
    dual, primal = after_one_step(state, eta)
    active = primal > 0
    shared = np.flatnonzero(active.sum(axis=0) > 1)
    if len(shared):
        raise ArgumentError(
            f"after one step {state.problem.sample(int(shared[0]))} is active in several neurons; the closed form is "
            "for patterns that share no sample, gradient_descent finds the limit of any."
        )
    limit = np.zeros_like(dual)
    for k, own in enumerate(active):
        rows, frozen = np.flatnonzero(own), np.where(own, 0.0, dual[k])
        limit[k] = frozen
        target = signs[k] * labels - operator.matvec(frozen)
        if len(rows):
            limit[k, rows] = np.linalg.lstsq(operator.block(rows), target[rows], rcond=None)[0]
    dual, primal = operator.project(limit), operator.matvec(limit.T).T
    return State(problem, network, dual, primal, state.orthogonal_norms, state.orthogonal)


def after_one_step(state: State, step_size: float) -> tuple[Array, Array]:
    """α and β after one step of gradient descent on ReLU neurons, each shape (n_neurons, n_samples)."""
    moved = step_size * state.network.output_weights[:, None] * state.residual * state.pattern
    return state.dual - moved, state.primal - state.problem.operator.matvec(moved.T).T


def _checked(problem: Problem, network: Network, start: State, step_size: float) -> tuple[State, float]:
    require_nouns(problem, network)
    require_state(problem, network, start)
    if network.activation.name != "relu" or network.train_output:
        raise ArgumentError(
            f"this prediction is for ReLU neurons with fixed output weights, not for {network}; "
            "relubias.analyze measures any network."
        )
    return start, step_sizes.checked(step_size)


def _loads(state: State, kept: NDArray[np.bool_]) -> Array:
    """What each neuron is to predict on its own samples; equal shares where several have the sign of the label."""
    shares = np.maximum(kept.sum(axis=0), 1)
    return np.asarray(np.where(kept, np.abs(state.problem.labels) / shares, 0.0))


def _unmet(state: State, depths: Array, kept: NDArray[np.bool_], width: Array, c: float) -> tuple[str, ...]:
    """What the law assumes, seen before training."""
    reasons = []
    labels = state.problem.labels
    if not 0.0 < c * float(kept.sum(axis=0).max(initial=0)) < 2.0:
        reasons.append(f"c = η‖λ‖₁ = {number(c)} is not below 2, where one step overshoots.")
    helped = (state.network.output_weights[:, None] * labels > 0).any(axis=0)
    if np.any(helped & ~kept.any(axis=0)):
        reasons.append("some sample starts inactive in every neuron of the sign of its label.")
    if np.any((depths <= 0) & ~kept):
        reasons.append("the first step does not turn every other sample off: c|y| must exceed what the start gives it.")
    elif np.any(~kept & (depths < 3.0 * width[:, None])):
        reasons.append("some sample is turned off less deep than three times √(1/d₂)‖y‖, by which the others lift it.")
    if state.orthogonal_norm > 0:
        reasons.append("the start has a part outside the span of the samples, which stays in the gap.")
    return tuple(reasons)
