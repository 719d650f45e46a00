"""Step sizes in natural units.

**The exact case** (σ piecewise linear with slopes up to 1, squared loss, output weights fixed). While an activation
pattern holds, training is linear with matrix H = Σ_k D_k K D_k, and stable for η < 2/λ_max(H). A sample that is active
in p neurons counts p times: λ_max(H) ≤ p λ_max(K) ≤ m λ_max(K).

**In general** the curvature of L near a fit is that of the linearised network, at most

    c (s² λ_max(K) Σ_k a_k²  +  Σ_k ‖σ(β_k)‖²),         the second term if a_k is trained,

with c the largest second derivative of the loss in f, and s the steepest slope of σ where its values do not exceed the
labels and those at the start. Where a_k is trained, both terms grow until the labels are fitted, which takes a
variation norm up to V = √(2 yᵀK⁺y) with neurons of both signs: 2 V s² λ_max(K) is added.
This is a bound at the start and near such a fit, not for ever: of a loss that is not convex in the weights there is
none. (Ours.)
"""

from __future__ import annotations

import math

import numpy as np

from relubias.arguments import is_number
from relubias.errors import ArgumentError
from relubias.losses import SQUARED, Loss
from relubias.losses import loss as loss_named
from relubias.network import Network
from relubias.nouns import require_nouns, require_problem
from relubias.problem import Problem
from relubias.state import State


def largest_curvature(
    problem: Problem, network: Network, *, loss: str | Loss = SQUARED, start: State | None = None
) -> float:
    """Upper bound of the curvature of L in the weights, near a fit and at the start if one is given.

    For the squared loss and a ReLU it is m λ_max(K), attained where all samples are active in all neurons.

    Parameters
    ----------
    problem : Problem
    network : Network
    loss : str or Loss
        As for :func:`relubias.gradient_descent`.
    start : State, optional
        Whose pre-activations and output weights count too, where they matter.

    Returns
    -------
    float
        In units of 1/η.

    Raises
    ------
    ArgumentError
        If no loss has that name.
    """
    require_nouns(problem, network)
    labels, activation = problem.labels, network.activation
    hidden = np.zeros(1) if start is None else activation.value(start.primal)
    size = max(float(np.abs(labels).max(initial=0.0)), float(np.abs(hidden).max(initial=0.0)))
    steepest = problem.operator.largest * activation.steepest(size) ** 2
    if not network.train_output:
        bound = network.n_neurons * steepest
    else:
        outer = network.output_weights if start is None else start.output_weights
        needed = math.sqrt(2.0 * max(0.0, float(labels @ problem.operator.pseudo_solve(labels))))
        bound = steepest * (float(outer @ outer) + 2.0 * needed) + float(np.sum(np.square(hidden)))
    return bound * loss_named(loss).curvature(labels)


def stable(
    problem: Problem,
    network: Network,
    fraction: float = 0.5,
    *,
    loss: str | Loss = SQUARED,
    start: State | None = None,
) -> float:
    """Return fraction · 2/λ_max(H) for the worst pattern of this network.

    ``fraction=0.5`` is the default step of training, 1/λ_max(H); below 1 every pattern is stable, and at 1 the
    stiffest one oscillates for ever. For other activations and losses, or trained output weights, λ_max(H) is
    :func:`largest_curvature`.

    Parameters
    ----------
    problem : Problem
    network : Network
    fraction : float
        Of the largest stable step.
    loss, start
        As for :func:`largest_curvature`.

    Raises
    ------
    ArgumentError
        If the fraction is not positive, all samples are zero, or no loss has that name.
    """
    curvature = largest_curvature(problem, network, loss=loss, start=start)
    return _positive(fraction, "fraction") * 2.0 / _nonzero(curvature)


def relative(problem: Problem, fraction: float = 0.5) -> float:
    """Return fraction/‖λ‖₁: η in the units of the paper, c = η‖λ‖₁.

    Parameters
    ----------
    problem : Problem
        ‖λ‖₁ is that of the distribution where the samples were drawn from a known one of finite variance, else it is
        estimated by tr K / n.
    fraction : float
        c.

    Raises
    ------
    ArgumentError
        If the fraction is not positive, or all samples are zero.
    """
    require_problem(problem)
    known = problem.population
    trace = float(np.trace(problem.gram)) / problem.n_samples
    if known is not None and math.isfinite(known.trace):
        trace = known.trace
    return _positive(fraction, "fraction") / _nonzero(trace)


def from_text(
    text: str, problem: Problem, network: Network, *, loss: str | Loss = SQUARED, start: State | None = None
) -> float | None:
    """Read η: a number, ``0.5/lmax`` for 0.5/λ_max(H) of the worst pattern, ``0.5/trace`` for 0.5/‖λ‖₁.

    Parameters
    ----------
    text : str
    problem : Problem
    network : Network
    loss, start
        As for :func:`largest_curvature`.

    Returns
    -------
    float or None
        None if the text is none of these.

    Raises
    ------
    ArgumentError
        If it is not positive, its unit is zero as all samples are, or no loss has that name.
    """
    parts = parts_of(text)
    if parts is None:
        return None
    amount, unit = parts
    if unit == "lmax":
        return stable(problem, network, amount / 2.0, loss=loss, start=start)
    return relative(problem, amount) if unit == "trace" else checked(amount)


def parts_of(text: str) -> tuple[float, str] | None:
    """Split the text of a step into its number and its unit.

    Parameters
    ----------
    text : str

    Returns
    -------
    tuple of (float, str), or None
        The unit is ``lmax``, ``trace`` or empty; None if the text is no step.
    """
    value, slash, unit = text.partition("/")
    try:
        amount = float(value)
    except ValueError:
        return None
    return (amount, unit) if unit in ("lmax", "trace") or not slash else None


def checked(step_size: float) -> float:
    """Return η as a float.

    Parameters
    ----------
    step_size : float
        η.

    Raises
    ------
    ArgumentError
        If it is not a positive finite number.
    """
    return _positive(step_size, "step_size")


def _positive(value: float, what: str) -> float:
    number = float(value) if is_number(value) else math.nan
    if not (math.isfinite(number) and number > 0):
        raise ArgumentError(f"{what} must be a positive finite number; it is {value!r}.")
    return number


def _nonzero(scale: float) -> float:
    if scale == 0.0:
        raise ArgumentError(
            "all samples are zero, so there is no natural unit for the step size; nothing can be learned."
        )
    return scale
