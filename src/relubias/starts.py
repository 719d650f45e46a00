"""Initial states, in label units.

* **All active.** β = ε·1 for every neuron where 1 is in the range of K (w = Xᵀ K⁺ ε1), else the weights of least
  norm with X w ≥ ε, where there are any: with multipliers a,

      min ½‖w‖²  s.t.  X w ≥ ε1       ⇔       min_{a ≥ 0} ½ aᵀK a − ε 1ᵀa,   w = Xᵀa.

  There are none exactly where some non-negative combination of the samples is zero (Gordan): a zero row, say, or
  centred columns, whose samples sum to zero.
* **Gaussian.** w ~ N(0, σ² I) with σ = ε/√(tr K/n), so that β ~ ε N(0, K/(tr K/n)). Within the span,
  β = σ K^½ z and α = σ (K^½)⁺ z with z ~ N(0, I_n); outside it ‖w^⊥‖² ~ σ² χ²(d − rank).

* **Disjoint.** Each sample is active, at β = ε, in exactly one neuron whose sign is that of its label, and inactive
  at depth β = −τ in all others; samples with label 0 are inactive everywhere. Gradient descent then trains the
  neurons on disjoint parts of the data for as long as no inactive sample is lifted above 0. How deep is deep
  enough is a prediction of ours, τ ≳ √(2 ln(n(m − 1))) max_k ‖y_k‖/√d₂ with the labels y_k of neuron k, n_k in number.
  The default, 3 √(n/d₂) max|y|, is deeper wherever ln(n(m − 1)) ≤ 4.5 n/n_k: with equal shares up to n = 8000 for
  m = 2, and to many more for more neurons.

* **Balanced**, for trained output weights: Gaussian w_k in the span and a_k = s_k ‖w_k‖; *aligned*, one neuron of
  each sign is active on all samples whose labels have its sign.

A sample moves a ReLU neuron only where it is active (σ′(0) = 0): a start without any active sample is refused.
Activations without an inactive side take every start but the disjoint one.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relubias.arguments import generator_of
from relubias.errors import ArgumentError, StartError
from relubias.linalg.block_pivoting import NonNegativeMinimum, non_negative_minimum
from relubias.linalg.factor import EPS
from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.nouns import require_nouns
from relubias.problem import Problem
from relubias.state import State

#: The default scale is this fraction of the root mean square of the labels, or this number where all are 0.
SMALL = 1e-3
#: Pre-activations this close to ε, relative, count as ε; they are then set to it.
EXACT = 1e-8
#: Steps of iterative refinement: at condition 1e11 each gains about four digits.
REFINEMENTS = 2


def all_active(problem: Problem, network: Network, *, scale: float | None = None) -> State:
    """The state in which every sample is active in every neuron, with β = `scale` where that is possible.

    Parameters
    ----------
    problem : Problem
    network : Network
        Every neuron gets the same weights.
    scale : float, optional
        ε, in label units; by default 1e-3 of the root mean square of the labels.

    Returns
    -------
    State
        β = ε exactly where 1 ∈ range(K); else β ≥ ε with least ‖w‖.

    Raises
    ------
    ArgumentError
        If the scale is not a positive finite number.
    StartError
        If no weights make all samples active; the message says why.
    """
    require_nouns(problem, network)
    size = _checked_scale(problem, scale)
    operator = problem.operator
    ones = np.ones(problem.n_samples)
    dual, primal = _solved(problem, ones)
    if np.all(np.abs(primal - 1.0) <= EXACT):
        primal = ones
    else:
        program = non_negative_minimum(operator.block(np.arange(problem.n_samples)), ones)
        if not program.solved:
            raise StartError(_impossible(problem, program))
        dual = operator.project(program.solution)
        primal = np.maximum(operator.matvec(program.solution), 1.0)
    shape = (network.n_neurons, 1)
    state = State(problem, network, np.tile(size * dual, shape), np.tile(size * primal, shape), np.zeros(shape[0]))
    return require_movable(state)


def gaussian(
    problem: Problem,
    network: Network,
    *,
    scale: float | None = None,
    rng: int | np.random.Generator,
    orthogonal: bool = False,
) -> State:
    """Gaussian weights w_k ~ N(0, σ² I), independent for each neuron, with β ~ `scale` · N(0, K/(tr K/n)).

    Parameters
    ----------
    problem : Problem
    network : Network
    scale : float, optional
        ε, in label units: the root mean square of β. By default 1e-3 of that of the labels.
    rng : int or numpy.random.Generator
    orthogonal : bool
        Whether to draw the part of the weights outside the span of the samples too: itself where the features are
        at hand, else its norm.

    Raises
    ------
    ArgumentError
        If the scale is not a positive finite number, `rng` is neither an int nor a Generator, or the orthogonal part
        is asked for and the number of features is unknown.
    StartError
        If the start can never move.
    """
    require_nouns(problem, network)
    size = _checked_scale(problem, scale)
    generator = generator_of(rng)
    operator = problem.operator
    trace = float(operator.diagonal.sum()) / problem.n_samples
    if trace == 0.0:
        raise StartError("all samples are zero, so no start can ever move and nothing can be learned.")
    deviation = size / math.sqrt(trace)
    if orthogonal and problem.features is not None:
        weights = deviation * generator.standard_normal((network.n_neurons, int(problem.n_features or 0)))
        return require_movable(State.from_weights(problem, network, weights))
    values, vectors = operator.eigensystem
    kept = values > operator.cutoff
    basis, roots = vectors[:, kept], np.sqrt(values[kept])
    coordinates = deviation * generator.standard_normal((network.n_neurons, problem.n_samples)) @ basis
    norms = np.zeros(network.n_neurons)
    if orthogonal:
        norms = deviation * np.sqrt(_chi_square(problem, generator, network.n_neurons))
    # A sample that is zero has β = 0 exactly, whatever the eigenvectors say.
    present = operator.diagonal > 0
    dual, primal = (coordinates / roots) @ basis.T * present, (coordinates * roots) @ basis.T * present
    return require_movable(State(problem, network, dual, primal, norms))


def disjoint(
    problem: Problem,
    network: Network,
    *,
    scale: float | None = None,
    depth: float | None = None,
    partition: ArrayLike | None = None,
) -> State:
    """The state in which each sample is active in exactly one neuron, of the sign of its label.

    Parameters
    ----------
    problem : Problem
    network : Network
        With a neuron for each sign among the labels.
    scale : float, optional
        ε, in label units; by default 1e-3 of the root mean square of the labels.
    depth : float, optional
        τ ≥ 0, in label units: inactive samples have β = −τ. By default 3 √(n/d₂) max|y|, with d₂ as
        drawn where that is known, else as estimated.
    partition : array_like of int, shape (n_samples,), optional
        The neuron of each sample, −1 for none; by default samples of one sign take turns among its neurons.

    Raises
    ------
    ArgumentError
        If the scale or the depth is out of range, the partition gives a sample to a neuron of the other sign, or the
        activation has no inactive side.
    StartError
        If a sign among the labels has no neuron, K is singular and has no weights with these β, or d₂ cannot
        be estimated and no depth is given.
    """
    require_nouns(problem, network)
    _require_sides(network)
    size = _checked_scale(problem, scale)
    owner = _dealt(problem, network) if partition is None else _checked_partition(problem, network, partition)
    tau = _default_depth(problem) if depth is None else float(depth)
    if not (math.isfinite(tau) and tau >= 0):
        raise ArgumentError(f"depth must be a finite number ≥ 0 in label units; it is {depth!r}.")
    primal = np.where(np.arange(network.n_neurons)[:, None] == owner, size, -tau)
    duals = np.empty_like(primal)
    for k, wanted in enumerate(primal):
        duals[k], got = _solved(problem, wanted)
        if np.max(np.abs(got - wanted)) > EXACT * np.max(np.abs(wanted)):
            raise StartError(
                f"no weights give neuron {k + 1} its active and its inactive samples: K has rank "
                f"{problem.operator.rank} for {problem.n_samples} samples; use starts.gaussian(problem, network, "
                "rng=0), --start gaussian, instead."
            )
    return require_movable(State(problem, network, duals, primal, np.zeros(network.n_neurons)))


def from_weights(problem: Problem, network: Network, weights: ArrayLike, *, outer: ArrayLike | None = None) -> State:
    """The state with these weights.

    Parameters
    ----------
    problem : Problem
    network : Network
    weights : array_like, shape (n_neurons, n_features); (n_features,) for one neuron
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
    StartError
        If the start can never move.
    """
    require_nouns(problem, network)
    return require_movable(State.from_weights(problem, network, weights, outer=outer))


def from_dual(problem: Problem, network: Network, dual: ArrayLike, *, outer: ArrayLike | None = None) -> State:
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
    StartError
        If the start can never move.
    """
    require_nouns(problem, network)
    return require_movable(State.from_dual(problem, network, dual, outer=outer))


def balanced(
    problem: Problem,
    network: Network,
    *,
    scale: float | None = None,
    aligned: bool = False,
    rng: int | np.random.Generator,
) -> State:
    """Gaussian weights in the span of the samples with |a_k| = ‖w_k‖: the balanced start of two trained layers.

    Parameters
    ----------
    problem : Problem
    network : Network
        With trained output weights.
    scale : float, optional
        Root mean square of ‖w_k‖ in units of (‖y‖/√(tr K/n))^½, about the size at which one neuron of each sign fits
        the labels; by default 1e-3.
    aligned : bool
        Whether the first positive neuron is active on all samples with positive labels and the first negative one on
        all with negative labels; the others are random.
    rng : int or numpy.random.Generator

    Raises
    ------
    ArgumentError
        If the output weights are not trained, or an option is out of range.
    StartError
        If the start can never move, or `aligned` is impossible: labels without a neuron of their sign, or samples that
        no weights make active together.

    Notes
    -----
    From a small aligned start, on orthogonal samples, gradient flow tends to the network of least variation norm
    (Boursier, Pillaud-Vivien, Flammarion 2022).
    """
    if not network.train_output:
        raise ArgumentError("a balanced start is for trained output weights; make the network with train_output=True.")
    relative = SMALL if scale is None else float(scale)
    if not (math.isfinite(relative) and relative > 0):
        raise ArgumentError(f"scale must be a positive finite number; it is {scale!r}.")
    drawn = gaussian(problem, replace(network, train_output=False), scale=1.0, rng=rng)
    dual, primal = drawn.dual.copy(), drawn.primal.copy()
    if aligned:
        for sign in (1, -1):
            members = np.flatnonzero(np.sign(problem.labels) == sign)
            if len(members):
                k = _first_of(network, sign, len(members))
                dual[k], primal[k] = _active_on(problem, members, primal[k])
    labels, trace = float(np.linalg.norm(problem.labels)), float(problem.operator.diagonal.mean())
    natural = math.sqrt((labels or 1.0) / math.sqrt(trace))
    # A Gaussian start of scale 1 has ‖w_k‖² of mean rank/(tr K/n).
    factor = relative * natural * math.sqrt(trace / problem.operator.rank)
    state = State(problem, network, factor * dual, factor * primal, np.zeros(network.n_neurons))
    return require_movable(replace(state, outer=network.output_weights * state.norms))


def _first_of(network: Network, sign: int, n_labels: int) -> int:
    """The first neuron of a sign."""
    if sign not in network.signs:
        word = "positive" if sign > 0 else "negative"
        raise StartError(
            f"{n_labels} labels are {word}, but {network} has no {word} neuron to be active on them; add one, or leave "
            "aligned out."
        )
    return network.signs.index(sign)


def _active_on(problem: Problem, members: NDArray[np.intp], primal: Array) -> tuple[Array, Array]:
    """Weights as near to `primal` as can be that make the members active: β_i = |β_i| there, or at least that."""
    wanted = primal.copy()
    wanted[members] = np.abs(primal[members])
    dual, got = _solved(problem, wanted)
    if np.max(np.abs(got - wanted)) <= EXACT * np.max(np.abs(wanted)):
        return dual, wanted
    program = non_negative_minimum(problem.operator.block(members), wanted[members])
    if not program.solved:
        names = f"{problem.sample(int(members[0]))} and the {len(members) - 1} others of its sign"
        raise StartError(f"no weights make {names} active together; leave aligned out and try several seeds.")
    dual = np.zeros(problem.n_samples)
    dual[members] = program.solution
    dual = problem.operator.project(dual)
    return dual, problem.operator.matvec(dual)


def require_movable(state: State) -> State:
    """Return the state if some sample is active in some neuron, or inactive ones have a slope too.

    Parameters
    ----------
    state : State

    Raises
    ------
    StartError
        Otherwise: the gradient is zero there and training would never move.
    """
    activation, outer = state.network.activation, state.output_weights
    moved = outer[:, None] * activation.slope(state.primal)
    if np.any(moved) or (state.network.train_output and np.any(activation.value(state.primal))):
        return state
    if not activation.silent:
        raise StartError(
            "this start can never move: the gradient is exactly zero; use starts.gaussian(problem, network, rng=0), "
            "--start gaussian, or output weights that are not zero."
        )
    what = "zero weights" if state.norm == 0.0 else "this start"
    raise StartError(
        f"{what} can never move: no sample is active in any neuron, so the gradient is zero (σ′(0) = 0); "
        "use starts.all_active(problem, network), or starts.gaussian(problem, network, rng=0), --start gaussian, "
        "or another seed."
    )


def _require_sides(network: Network) -> None:
    """Refuse an activation of which no side is inactive, or less active: the parts would not be disjoint."""
    if network.activation.slope_below is None and not network.activation.silent:
        raise ArgumentError(
            f"with the activation {network.activation.name!r} every sample moves every neuron, so that no start is "
            "disjoint; use starts.gaussian(problem, network, rng=0), --start gaussian."
        )


def _solved(problem: Problem, primal: Array) -> tuple[Array, Array]:
    """K⁺b, refined with residuals in extended precision, and K K⁺b: it is b where b is in the range of K."""
    operator = problem.operator
    dual = operator.pseudo_solve(primal)
    for _ in range(REFINEMENTS):
        dual = dual + operator.pseudo_solve(np.asarray(primal - operator.wide_matvec(dual), dtype=np.float64))
    return dual, np.asarray(operator.wide_matvec(dual), dtype=np.float64)


def _dealt(problem: Problem, network: Network) -> NDArray[np.intp]:
    """The neuron of each sample: samples of one sign take turns among the neurons of that sign."""
    owner = np.full(problem.n_samples, -1)
    for sign, word in ((1, "positive"), (-1, "negative")):
        members = np.flatnonzero(np.sign(problem.labels) == sign)
        neurons = np.flatnonzero(network.output_weights == sign)
        if len(members) and not len(neurons):
            raise StartError(
                f"{len(members)} labels are {word}, but {network} has no {word} neuron to take them; "
                "add one, or use starts.all_active(problem, network)."
            )
        owner[members] = np.resize(neurons, len(members))
    return owner


def _checked_partition(problem: Problem, network: Network, partition: ArrayLike) -> NDArray[np.intp]:
    owner = np.asarray(partition)
    if owner.shape != (problem.n_samples,) or owner.dtype.kind not in "iu":
        raise ArgumentError(f"partition must be {problem.n_samples} whole numbers, the neuron of each sample or -1.")
    if np.any((owner < -1) | (owner >= network.n_neurons)):
        raise ArgumentError(f"partition names neurons from 0 to {network.n_neurons - 1}, or -1 for none.")
    wrong = np.flatnonzero((owner >= 0) & (network.output_weights[owner] != np.sign(problem.labels)))
    if len(wrong):
        raise ArgumentError(
            f"partition gives {problem.sample(int(wrong[0]))} to a neuron whose sign is not that of its label."
        )
    return owner.astype(np.intp)


def _default_depth(problem: Problem) -> float:
    d2 = problem.d2
    if d2 is None:
        raise StartError("d₂ cannot be estimated from so few samples; give depth, in label units.")
    return 3.0 * math.sqrt(problem.n_samples / d2) * float(np.abs(problem.labels).max())


def _checked_scale(problem: Problem, scale: float | None) -> float:
    if scale is None:
        return SMALL * (problem.label_scale or 1.0)
    number = float(scale)
    if not (math.isfinite(number) and number > 0):
        raise ArgumentError(f"scale must be a positive finite number in label units; it is {scale!r}.")
    return number


def _chi_square(problem: Problem, generator: np.random.Generator, count: int) -> Array:
    """Squared norms of standard normal vectors outside the span of the samples, shape (count,)."""
    if problem.n_features is None:
        raise ArgumentError(
            "orthogonal=True needs the number of features, which this problem does not know; "
            "give n_features to Problem.from_gram, or leave the orthogonal part out."
        )
    freedom = max(0, problem.n_features - problem.operator.rank)
    return generator.chisquare(freedom, count) if freedom else np.zeros(count)


def _impossible(problem: Problem, program: NonNegativeMinimum) -> str:
    """Why no weights make every sample active, and what to do."""
    remedy = "use starts.gaussian(problem, network, rng=0), --start gaussian, instead."
    diagonal = problem.operator.diagonal
    zero = np.flatnonzero(diagonal == 0.0)
    if len(zero):
        return f"no weights make every sample active: {problem.sample(int(zero[0]))} is zero; {remedy}"
    total = float(problem.operator.matvec(np.ones(problem.n_samples)).sum())
    if total <= 16 * EPS * problem.n_samples * float(diagonal.sum()):
        return (
            "no weights make every sample active: the columns are centred, so the samples sum to zero and so do their "
            f"pre-activations; {remedy}"
        )
    if program.bounded:
        return f"weights that make every sample active could not be found for this nearly singular data; {remedy}"
    shares = program.solution * np.sqrt(diagonal)
    rows = [int(i) for i in np.flatnonzero(shares > EXACT * shares.max())]
    named = ", ".join(problem.sample(i) for i in rows[:5]) + (f" and {len(rows) - 5} more" if len(rows) > 5 else "")
    return (
        f"no weights make every sample active: {named} have a combination with positive coefficients that is zero; "
        f"{remedy}"
    )
