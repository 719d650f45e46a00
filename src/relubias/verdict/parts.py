"""What a verdict is about, and what its sentences have in common."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relubias import step_sizes
from relubias.comparison import Gap
from relubias.dynamics.run import Run
from relubias.errors import ArgumentError
from relubias.references.record import MinimumNorm
from relubias.theory.regime import Regime
from relubias.wording import samples

Mask = NDArray[np.bool_]


class Parts(NamedTuple):
    """What a verdict is about: the parts of an analysis, and whether it began with features at hand."""

    run: Run
    regime: Regime
    reference: MinimumNorm | None
    linear: MinimumNorm | None
    gap: Gap | None
    start_note: str
    reference_note: str
    had_features: bool = True


def active_pattern(run: Run) -> Mask:
    """Which samples are active in which neuron at the end, without those whose pre-activation tends to 0.

    Parameters
    ----------
    run : Run

    Returns
    -------
    ndarray of bool, shape (n_neurons, n_samples)
    """
    active = run.state.pattern.copy()
    for neuron, sample in run.at_zero:
        active[neuron, sample] = False
    return active


def is_silent(run: Run) -> Mask:
    """Samples on which every neuron is inactive, or whose pre-activation tends to 0: the prediction is exactly 0.

    Parameters
    ----------
    run : Run

    Returns
    -------
    ndarray of bool, shape (n_samples,)
    """
    if not run.network.activation.silent:
        return np.asarray(run.state.predictions == 0.0)
    return np.asarray(~active_pattern(run).any(axis=0))


def step_ratio(run: Run) -> float | None:
    """η as a multiple of the largest step that is stable for every pattern, 2/λ_max(H), or near a fit and the start.

    Parameters
    ----------
    run : Run

    Returns
    -------
    float or None
        None for gradient flow, if all samples are 0, and for a loss that only its author knows.
    """
    if run.is_flow:
        return None
    try:
        return run.step_size / step_sizes.stable(run.problem, run.network, 1.0, loss=run.loss, start=run.start)
    except ArgumentError:
        return None


def words(run: Run) -> tuple[str, str]:
    """The sign of the labels that a single neuron can fit, and the other one."""
    return ("positive", "negative") if run.signs[0] > 0 else ("negative", "positive")


def exceptions(run: Run, mask: Mask, whole: Mask) -> str:
    """Name the samples of `whole` that are not in `mask`, where there are both kinds."""
    return f" (not {samples(run.problem, whole & ~mask)})" if 0 < np.sum(whole & mask) < np.sum(whole) else ""


def in_some_neuron(pairs: Mask) -> Mask:
    """Samples for which a mask of shape (n_neurons, n_samples) holds in at least one neuron."""
    return np.asarray(pairs.any(axis=0))
