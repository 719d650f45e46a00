"""Did the ReLU of one neuron select the samples whose labels have its sign?"""

from __future__ import annotations

import numpy as np

from relubias.dynamics.run import Run
from relubias.verdict.parts import Parts, exceptions, is_silent, words
from relubias.wording import portion


def selection(parts: Parts) -> list[str]:
    """Did the ReLU select the samples whose labels have the sign of the neuron?"""
    run = parts.run
    labels = run.problem.labels
    if not np.any(labels):
        return ["all labels are 0: weights without an active sample fit them, w = 0 among them"]
    if run.network.n_neurons > 1 or run.network.activation.name != "relu" or not _fitting(run):
        return []
    sign, (own, other) = run.signs[0], words(run)
    fitting, opposed = sign * labels > 0, sign * labels < 0
    if not np.any(fitting):
        return [_nothing_to_learn(run, own, other)]
    if not np.any(opposed | (labels == 0)):
        return [_nothing_to_deselect(run, own)]
    fitted, silent = fitting & run.interpolated, opposed & is_silent(run)
    clean = np.array_equal(fitted, fitting) and np.array_equal(silent, opposed)
    opening = f"ReLU selected the {own} samples" if clean else f"ReLU did not select exactly the {own} samples"
    text = f"{opening}: {portion(fitted, fitting)} {own} labels are interpolated{exceptions(run, fitted, fitting)}"
    if np.any(opposed):
        text += f"; on {portion(silent, opposed)} {other} labels the prediction is exactly 0"
        text += exceptions(run, silent, opposed)
    zero = labels == 0
    if np.any(zero):
        text += f"; on {portion(zero & is_silent(run), zero)} labels of 0 it is exactly 0"
        text += exceptions(run, is_silent(run), zero)
    return [text]


def _fitting(run: Run) -> bool:
    """Whether training was to fit labels at all, and not to separate their signs."""
    return run.loss != "logistic"


def _nothing_to_learn(run: Run, own: str, other: str) -> str:
    side = "≥ 0" if own == "positive" else "≤ 0"
    silent = portion(is_silent(run), np.ones(run.problem.n_samples, dtype=bool))
    return (
        f"no label is {own}: a {own} neuron can only output values {side}, so that 0 is its best fit of every {other} "
        f"label, and w* = 0 attains it; the prediction is exactly 0 on {silent} samples"
    )


def _nothing_to_deselect(run: Run, own: str) -> str:
    text = f"all labels are {own}, so that there is no sample for the ReLU to leave out"
    if run.pattern_changes == 0 and np.all(run.state.pattern):
        return f"{text}; no sample was ever inactive, and training was linear regression throughout"
    return f"{text}; {portion(run.interpolated, np.ones_like(run.interpolated))} labels are interpolated"
