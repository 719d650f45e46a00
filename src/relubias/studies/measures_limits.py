"""What claims about other dynamics read off a cell: the limit of the flow from the same start, and the variation norm.

The distance to the flow is that of the weights, so that it needs no matching of neurons: both runs begin alike. For
trained output weights on orthogonal samples the least variation norm is known in closed form (Boursier, Pillaud-Vivien
and Flammarion 2022): S₊ + S₋ with S_±² = Σ_{±y_i > 0} y_i²/‖x_i‖².
"""

from __future__ import annotations

import math

import numpy as np

from relubias.dynamics.flow import gradient_flow
from relubias.studies.measured import Measure, Measured, Undefined


def _from_flow(cell: Measured) -> float:
    """‖W − W_flow‖/‖W_flow‖, both at their proven limits."""
    if cell.run.is_flow:
        raise Undefined("the run is a flow itself")
    if not cell.run.at_limit:
        raise Undefined(f"the run has no proven limit ({cell.run.status})")
    flow = gradient_flow(cell.problem, cell.network, cell.start)
    if not flow.at_limit:
        raise Undefined(f"the flow has no proven limit ({flow.status})")
    if not flow.state.norm > 0:
        raise Undefined("the flow ends at 0, so that no distance is relative to it")
    moved = cell.run.state.dual - flow.state.dual
    square = float(np.sum(moved * cell.problem.operator.matvec(moved.T).T))
    return math.sqrt(max(square, 0.0)) / flow.state.norm


def _excess(cell: Measured) -> float:
    """Σ_k |a_k| ‖w_k‖ over S₊ + S₋, less 1."""
    problem, state = cell.problem, cell.run.state
    gram = problem.gram
    if np.any(gram != np.diag(np.diagonal(gram))) or not np.all(np.diagonal(gram) > 0):
        raise Undefined("the least variation norm is known for orthogonal samples only")
    shares = problem.labels**2 / np.diagonal(gram)
    least = sum(math.sqrt(float(shares[sign * problem.labels > 0].sum())) for sign in (1, -1))
    if not least > 0:
        raise Undefined("all labels are 0, and so is the least variation norm")
    return float(np.abs(state.output_weights) @ state.norms) / least - 1.0


#: Measures of limits, by their columns.
LIMITS: dict[str, Measure] = {
    "flow.distance": Measure("real", "relative distance to the limit of the flow from the same start", _from_flow),
    "variation.excess": Measure("real", "variation norm over its least on orthogonal samples, less 1", _excess),
}
