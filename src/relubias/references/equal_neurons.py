"""The minimum-norm global minimiser of many neurons of fixed signs, where equal neurons are one. (Ours.)

p equal neurons u₊/p of sign + and q equal neurons u₋/q of sign − compute σ(u₊ᵀx) − σ(u₋ᵀx) and have
‖W‖² = ‖u₊‖²/p + ‖u₋‖²/q. Where the least shared load (:mod:`relubias.references.shared`) is attained by one neuron for
each sign, no network of these signs is shorter. For orthogonal rows that is always so, with ‖u_±‖² = Σ_± y_i²/‖x_i‖²
(:mod:`relubias.references.orthogonal`). Other networks may be as short.
"""

from __future__ import annotations

import numpy as np

from relubias.network import Network
from relubias.problem import Problem
from relubias.references.any_number import is_orthogonal_problem
from relubias.references.conditions import TOLERANCE
from relubias.references.constrained import listed_samples
from relubias.references.lifting import pre_activations, state_of
from relubias.references.reach import wanted
from relubias.references.record import KKT, MinimumNorm
from relubias.references.shared import SharedLoad, shared_load
from relubias.references.smallest import WIDTH
from relubias.status import Optimality


def orthogonal_minimum(problem: Problem, network: Network) -> MinimumNorm | None:
    """The minimum norm in closed form where the rows are orthogonal; else None.

    Raises
    ------
    ArgumentError
        If the network is no ReLU network of fixed signs.
    """
    return equal_neurons(problem, network, shared_load(problem, network)) if is_orthogonal_problem(problem) else None


def equal_neurons(problem: Problem, network: Network, load: SharedLoad) -> MinimumNorm:
    """Divide each load equally; the load must be reached so (`load.reached`).

    The status is ``optimal`` where the interval is at most 1e-8, relative; else ``budget``. It is ``infeasible`` where
    coinciding or zero rows keep labels from being fitted; the state then has the least norm among those of least loss.
    """
    signs = np.array(network.signs)
    duals = np.zeros((network.n_neurons, problem.n_samples))
    for sign, dual in zip(load.signs, load.duals, strict=True):
        duals[signs == sign] = dual / np.count_nonzero(signs == sign)
    primal = pre_activations(problem, duals)
    pattern = np.asarray(signs[:, None] * load.labels > 0)
    misfit = float(np.max(np.abs(network.output(primal) - load.labels), initial=0.0))
    scale = float(np.max(np.abs(load.labels), initial=0.0)) or 1.0
    norm, bound = float(np.sqrt(load.load)), float(np.sqrt(load.lower_bound))
    width = (norm - bound) / norm if norm > 0 else 0.0
    rows = tuple(int(i) for i in np.flatnonzero(load.labels != wanted(problem.labels, network.signs)))
    between = f"is between {bound:.10g} and {norm:.10g} (relative width {width:.1e})"
    status, message = Optimality.BUDGET, f"the minimum norm {between}."
    if rows:
        status = Optimality.INFEASIBLE
        message = (
            f"no weights fit all labels: {listed_samples(problem, rows)} coincide with samples of other labels or are "
            f"zero; the least norm of the least-squares compromises {between}."
        )
    elif norm == 0.0:
        status, message = Optimality.OPTIMAL, "the minimum-norm global minimiser is w = 0, exactly."
    elif width <= WIDTH and misfit <= TOLERANCE * scale:
        status = Optimality.OPTIMAL
        message = (
            "the minimum-norm global minimiser is proven: equal neurons of each sign share its load, and their norm is "
            f"that of the bound for all networks of these signs to {width:.1e}, relative."
        )
    return MinimumNorm(
        problem=problem,
        network=network,
        of="global",
        status=status,
        message=message,
        state=state_of(problem, network, duals, primal, pattern, load.labels),
        norm=norm,
        lower_bound=min(bound, norm),
        kkt=KKT(primal=misfit / scale, dual=0.0, complementarity=width),
        infeasible_rows=rows,
    )
