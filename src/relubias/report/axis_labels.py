"""What the columns of a study are called on an axis: one glossary for all figures of studies.

A column has a dotted name, ``gap.absolute`` say. One that is not in the glossary keeps its last word, with spaces for
underscores; one without a dot, such as the "n/d" that somebody has added, stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relubias.studies.tally import unit_of

if TYPE_CHECKING:
    from pandas import DataFrame

#: Words for the columns that studies vary or measure.
LABELS = {
    "trial": "trial",
    "c": "c = η‖λ‖₁",
    "problem.n_samples": "number of samples n",
    "problem.n_features": "number of features d",
    "problem.lambda_norm": "‖λ‖₁",
    "problem.trace": "tr K/n",
    "problem.label_norm": "norm of the labels ‖y‖",
    "problem.d2": "effective dimension d₂",
    "problem.dinf": "effective dimension d∞",
    "problem.negative_norm": "norm of the negative labels ‖y₋‖",
    "problem.condition": "condition number of K",
    "network.signs": "output signs",
    "start.scale": "scale of the start",
    "start.depth": "depth of the start",
    "start.norm": "norm of the start",
    "dynamics.step_size": "step η",
    "dynamics.until": "last step",
    "run.step_size": "step η",
    "run.status": "how training ended",
    "run.steps": "steps",
    "run.stabilised_at": "step of the last change of pattern",
    "run.pattern_changes": "steps at which the pattern changes",
    "run.interpolated": "interpolated labels",
    "run.active": "active samples",
    "run.dead": "dead neurons",
    "run.norm": "norm of the weights ‖W‖",
    "run.loss": "loss at the end",
    "run.test_error": "test error of training",
    "run.cost": "work in plain steps",
    "reference.norm": "minimum norm ‖W*‖",
    "reference.lower_bound": "lower bound of the norm",
    "reference.kkt": "residual of the optimality conditions",
    "reference.test_error": "test error of the minimum norm",
    "linear.norm": "norm of the linear interpolant",
    "linear.test_error": "test error of the linear interpolant",
    "linear.distance": "distance to the linear interpolant, over its norm",
    "zero.test_error": "test error of predicting 0",
    "flow.distance": "distance to the limit of the flow, over its norm",
    "flow.gap": "relative gap of the flow",
    "variation.excess": "variation norm over its least, less 1",
    "gap.absolute": "absolute gap ‖W − W*‖",
    "gap.relative": "relative gap ‖W − W*‖/‖W*‖",
    "gap.prediction": "largest difference of predictions",
}
#: Steps in natural units.
UNITS = {"trace": "step η‖λ‖₁", "lmax": "step η λ_max(H)"}


def axis_label(rows: DataFrame, column: str) -> str:
    """What a column is called on an axis, its natural unit included."""
    return UNITS[unit_of(rows, column)] if unit_of(rows, column) else words_of(column)


def words_of(column: str) -> str:
    """What a column is called in a sentence."""
    if column in LABELS:
        return LABELS[column]
    # "problem.features.n_features" names the same thing as "problem.n_features".
    ends = f"{column.split('.')[0]}.{column.split('.')[-1]}"
    return LABELS.get(ends, column.rsplit(".", 1)[-1].replace("_", " ") if "." in column else column)
