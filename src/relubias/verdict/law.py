"""What the gap law for nearly orthogonal samples says of the distance that was measured."""

from __future__ import annotations

import numpy as np

from relubias.comparison import Gap
from relubias.dynamics.run import Run
from relubias.references.record import MinimumNorm
from relubias.theory.predictions import GapLaw, gap_law
from relubias.verdict.parts import Parts
from relubias.wording import listed, number


def predicted(run: Run, reference: MinimumNorm | None) -> GapLaw | None:
    """The law for this run and reference; None where it is about others."""
    network = run.network
    exact = not run.is_flow and run.descends_exactly and network.activation.name == "relu"
    if not exact or reference is None or reference.of not in ("global", "partition"):
        return None
    if not run.problem.operator.largest > 0 or not _comparable(run, reference):
        return None
    return gap_law(run.problem, network, run.start, step_size=run.step_size)


def _comparable(run: Run, reference: MinimumNorm) -> bool:
    """Whether training shares out the labels as the reference does: among all globally, where they begin else."""
    own = run.network.output_weights[:, None] * run.problem.labels > 0
    return reference.of == "partition" or bool(np.array_equal(run.start.pattern & own, own))


def law(parts: Parts) -> str:
    """How far the measured distance is from the predicted one, neuron by neuron."""
    run, gap = parts.run, parts.gap
    found = predicted(run, parts.reference)
    if found is None or gap is None or not run.at_limit or not found.gap > 0:
        return ""
    if not found.applies:
        return (
            "the gap law for nearly orthogonal samples (ours) does not apply, since "
            f"{listed(text.rstrip('.') for text in found.unmet)}"
        )
    text = (
        f"the gap law for nearly orthogonal samples (ours) predicts a distance of {number(found.corrected)} from ‖λ‖₁, "
        f"d₂, η, the labels and the start alone; the distance is {number(gap.absolute / found.corrected)} times that"
    )
    return f"{text}{_each(found, gap)}"


def _each(found: GapLaw, gap: Gap) -> str:
    if len(gap.per_neuron) == 1:
        return ""
    ratios = (
        number(float(own / law)) if law > 0 else "—"
        for own, law in zip(gap.per_neuron, found.corrected_per_neuron, strict=True)
    )
    return f", neuron by neuron {listed(ratios)}"
