"""The minimum variation norm: the smallest network where both layers are trained. (Ours but for orthogonal rows [1]_.)

    min Σ_k |a_k| ‖w_k‖    over networks Σ_k a_k σ(w_kᵀx) of any number of neurons with f = y on the samples.

(a, w) and (a/c, c w) are the same neuron, so that ‖W‖² alone is no measure; with both layers ½ Σ (‖w_k‖² + a_k²) is at
least Σ |a_k|‖w_k‖, with equality for *balanced* neurons, ‖w_k‖ = |a_k|. Gradient flow keeps a_k² − ‖w_k‖², and from a
vanishing balanced start it is this norm that training is compared with. u_k = |a_k| w_k makes a convex program of it
(:mod:`relubias.references.any_number`): in closed form for orthogonal rows, by a search with a proof for up to 16
samples, else an interval.

References
----------
.. [1] E. Boursier, L. Pillaud-Vivien and N. Flammarion, "Gradient flow dynamics of shallow ReLU networks for square
       loss and orthogonal inputs", NeurIPS 2022.
"""

from __future__ import annotations

import numpy as np

from relubias.errors import ArgumentError
from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.problem import Problem
from relubias.references.any_number import smallest_of_any_number
from relubias.references.conditions import LARGEST_FLOOR, TOLERANCE
from relubias.references.constrained import listed_samples
from relubias.references.gauge import VARIATION
from relubias.references.lifting import pre_activations, state_of
from relubias.references.reach import reachable, sufficient
from relubias.references.record import KKT, MinimumNorm
from relubias.references.search import MOST
from relubias.references.smallest import Smallest
from relubias.state import State
from relubias.status import Optimality


def minimum_variation(problem: Problem, network: Network) -> MinimumNorm:
    """Find the minimum variation norm Σ_k |a_k|‖w_k‖ of networks of any number of neurons, of either sign.

    Parameters
    ----------
    problem : Problem
    network : Network
        One whose output weights are trained. Its own number of neurons does not matter: with any, Σ_k |a_k|‖w_k‖ is at
        least `lower_bound` if it fits the labels.

    Returns
    -------
    MinimumNorm
        `norm` is Σ_k |a_k|‖w_k‖, not ‖W‖; `network` and `state` have the neurons that were found, balanced.
        ``optimal``: the interval is at most 1e-8, relative. ``budget``: the minimum is in [lower_bound, norm].
        ``infeasible``: no network fits all labels (rows that coincide up to a factor, zero rows); the state is the
        smallest of the networks of least loss. `kkt`: primal is the largest |f − y| over max|y| as computed from K,
        complementarity the relative width of the interval; the prices of `lower_bound` meet their own conditions
        exactly, and dual is 0.

    Raises
    ------
    ArgumentError
        If the activation is not the ReLU, or the output weights are fixed signs.
    """
    require_both_layers(network)
    labels, kept = reachable(problem)
    found = smallest_of_any_number(problem, labels, kept, VARIATION)
    scale = float(np.max(np.abs(problem.labels), initial=0.0)) or 1.0
    rows = tuple(int(i) for i in np.flatnonzero(labels != problem.labels))
    if not np.isfinite(found.size):
        found = _nothing(problem.n_samples, found.lower_bound)
    misfit, state = _balanced(problem, labels, found)
    missed = float(np.max(np.abs(state.predictions - problem.labels), initial=0.0))
    width = (found.size - found.lower_bound) / found.size if found.size > 0 else 0.0
    kkt = KKT(primal=max(misfit, missed if rows else 0.0) / scale, dual=0.0, complementarity=width)
    status, message = _verdict(problem, found, misfit / scale, width, rows)
    return MinimumNorm(
        problem=problem,
        network=state.network,
        of="variation",
        status=status,
        message=message,
        state=state,
        norm=found.size,
        lower_bound=found.lower_bound,
        kkt=kkt,
        infeasible_rows=rows,
    )


def variation_norm(state: State) -> float:
    """Σ_k |a_k| ‖w_k‖ of any state, the parts outside the span of the samples included."""
    return float(np.abs(state.output_weights) @ state.norms)


def require_both_layers(network: Network) -> None:
    """Refuse networks for which the variation norm is not the measure.

    Raises
    ------
    ArgumentError
        Unless the activation is the ReLU and the output weights are trained.
    """
    if network.activation.name != "relu":
        raise ArgumentError(f"minimum-norm references are built for the ReLU, not for {network.activation.name!r}.")
    if not network.train_output:
        raise ArgumentError(
            "the variation norm Σ|a_k|‖w_k‖ measures networks whose output weights are trained too: make this one with "
            "train_output=True, or ask for of='global'."
        )


def _balanced(problem: Problem, labels: Array, found: Smallest) -> tuple[float, State]:
    """How far f is from the labels before rounding is taken up, and the state of balanced neurons; w = 0 for none."""
    if not len(found.signs):
        network = Network.single(train_output=True)
        zeros = np.zeros((1, problem.n_samples))
        missed = float(np.max(np.abs(labels), initial=0.0))
        return missed, State(problem, network, zeros, zeros, np.zeros(1), outer=np.zeros(1))
    signs = [int(sign) for sign in found.signs]
    primal = pre_activations(problem, found.duals)
    misfit = float(np.max(np.abs(found.signs @ np.maximum(primal, 0.0) - labels)))
    fixed = State(problem, Network.of_signs(signs), found.duals, primal, np.zeros(len(signs)))
    if misfit <= LARGEST_FLOOR * float(np.max(np.abs(labels))):  # what is left is rounding, and is taken up
        fixed = state_of(problem, fixed.network, found.duals, primal, found.patterns, labels)
    roots = np.sqrt(found.lengths)[:, None]
    network = Network.of_signs(signs, train_output=True)
    outer = found.signs * roots[:, 0]
    return misfit, State(problem, network, fixed.dual / roots, fixed.primal / roots, np.zeros(len(signs)), outer=outer)


def _nothing(n_samples: int, lower_bound: float) -> Smallest:
    """No network that fits."""
    none, rows = np.zeros(0), np.zeros((0, n_samples))
    return Smallest(none, rows > 0, rows, none, np.inf, lower_bound, np.zeros(n_samples), 0)


def _verdict(
    problem: Problem, found: Smallest, misfit: float, width: float, rows: tuple[int, ...]
) -> tuple[Optimality, str]:
    between = f"is between {found.lower_bound:.10g} and {found.size:.10g}"
    many = int(np.count_nonzero(sufficient(problem))) > MOST
    if not np.isfinite(found.size):
        reason = "this nearly singular Gram matrix leaves too few digits"
        if many:
            reason = (
                f"of more than {MOST} samples one neuron for each sign is tried, and for these dependent rows none fits"
            )
        return Optimality.BUDGET, (
            f"no network that fits all labels was found: {reason}; the minimum variation norm is at least "
            f"{found.lower_bound:.10g}."
        )
    if rows:
        return Optimality.INFEASIBLE, (
            f"no network fits all labels, of however many neurons: {listed_samples(problem, rows)} are zero, or "
            "coincide up to a factor with samples of other labels, or depend on such; the minimum variation norm of "
            f"the least-squares compromises {between}."
        )
    if found.size == 0.0:
        return Optimality.OPTIMAL, "the minimum variation norm is 0, of w = 0, exactly."
    count = len(found.signs)
    reached = f"reached by {count} balanced neuron{'s' if count > 1 else ''} (‖w_k‖ = |a_k|)"
    if found.proven and misfit <= TOLERANCE:
        return Optimality.OPTIMAL, (
            f"the minimum variation norm Σ|a_k|‖w_k‖ over any number of neurons is proven: it is known to {width:.1e}, "
            f"relative, and {reached}."
        )
    reason = f"a search with a proof takes at most {MOST} samples" if many else "the digits run out"
    return Optimality.BUDGET, (
        f"the minimum variation norm Σ|a_k|‖w_k‖ over any number of neurons {between} (relative width {width:.1e}), "
        f"the latter {reached}: {reason}."
    )
