"""Floor 3: where the minimum norm is.

:func:`minimum_norm` finds the solution of least norm with a proof; :func:`certify` judges any other candidate.
"""

from __future__ import annotations

from relubias.errors import ArgumentError
from relubias.network import Network
from relubias.nouns import require_nouns
from relubias.problem import Problem
from relubias.references.certify import Certificate, certify
from relubias.references.linear import linear_interpolator
from relubias.references.record import KKT, MinimumNorm
from relubias.references.single import single_neuron

__all__ = ["KKT", "Certificate", "MinimumNorm", "certify", "checked_of", "minimum_norm"]

_BUILDERS = {"global": single_neuron, "linear": linear_interpolator}


def minimum_norm(problem: Problem, network: Network, *, of: str = "global") -> MinimumNorm:
    """Find the solution of minimum ℓ₂ norm, with the residuals and the lower bound that prove it.

    Parameters
    ----------
    problem : Problem
    network : Network
    of : {"global", "linear"}
        ``"global"``: among the global minimisers of the loss, min ‖w‖ s.t. x_iᵀw = s y_i where s y_i > 0 and
        x_iᵀw ≤ 0 elsewhere (one neuron of sign s). ``"linear"``: among the linear interpolators, s X w = y.

    Returns
    -------
    MinimumNorm
        Its status is ``optimal`` only where the residuals of the optimality conditions, recomputed from K, are at
        most 1e-9 relative, or at the rounding level of K.

    Raises
    ------
    ArgumentError
        If `of` is not one of the choices, or ``"global"`` is asked of a network with several neurons.
    """
    require_nouns(problem, network)
    return _BUILDERS[checked_of(of)](problem, network)


def checked_of(of: str) -> str:
    """Return `of` if it names a reference.

    Raises
    ------
    ArgumentError
        Otherwise.
    """
    if of not in _BUILDERS:
        raise ArgumentError(f"of={of!r} is not known; choose one of: {', '.join(_BUILDERS)}.")
    return of
