"""What claims about other dynamics read off a cell: the limit of the flow from the same start, and the variation norm.

The distance to the flow is that of the weights, so that it needs no matching of neurons: both runs begin alike. The
gap of the flow to w* stands in the same row as that of the run itself, for the same draw and the same start. For
trained output weights on orthogonal samples the least variation norm is known in closed form (Boursier, Pillaud-Vivien
and Flammarion 2022): S₊ + S₋ with S_±² = Σ_{±y_i > 0} y_i²/‖x_i‖².
"""

from __future__ import annotations

import math

import numpy as np

from relubias.comparison import gap as gap_between
from relubias.dynamics.run import Run
from relubias.studies.measured import Measure, Measured, Undefined


def _flow(cell: Measured) -> Run:
    if not cell.flow.at_limit:
        raise Undefined(f"the flow has no proven limit ({cell.flow.status})")
    return cell.flow


def _from_flow(cell: Measured) -> float:
    """‖W − W_flow‖/‖W_flow‖, both at their proven limits."""
    if cell.run.is_flow:
        raise Undefined("the run is a flow itself")
    if not cell.run.at_limit:
        raise Undefined(f"the run has no proven limit ({cell.run.status})")
    flow = _flow(cell)
    if not flow.state.norm > 0:
        raise Undefined("the flow ends at 0, so that no distance is relative to it")
    moved = cell.run.state.dual - flow.state.dual
    square = float(np.sum(moved * cell.problem.operator.matvec(moved.T).T))
    return math.sqrt(max(square, 0.0)) / flow.state.norm


def _flow_gap(cell: Measured) -> float:
    """‖W_flow − W*‖/‖W*‖, whether or not the flow fits all labels."""
    if not cell.reference.is_solution:
        raise Undefined(cell.reference.message)
    relative = gap_between(_flow(cell), cell.reference).relative
    if relative is None:
        raise Undefined("w* = 0, so that no gap is relative to it")
    return float(relative)


def _flow_fits(cell: Measured) -> float:
    positive = cell.problem.labels > 0
    if not np.any(positive):
        raise Undefined("there is no positive label")
    return float(np.mean(_flow(cell).interpolated[positive]))


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
    "flow.gap": Measure("real", "relative gap of the flow from the same start", _flow_gap),
    "flow.positive_fitted": Measure("real", "share of positive labels interpolated by that flow", _flow_fits),
    "variation.excess": Measure("real", "variation norm over its least on orthogonal samples, less 1", _excess),
}
