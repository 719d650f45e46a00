"""What the finite step does: gradient descent at several steps beside gradient flow and the minimum norm.

    δ(η) = ‖W_∞(η) − W_flow‖_F,      gap(η) = ‖W_∞(η) − W*‖_F,      c = η ‖λ‖₁ (or η tr K/n).

Gradient descent is the explicit Euler method for the flow, so that δ is of order η as η → 0; on real time scales
of the problem. What is left of the gap as η → 0 is that of the flow. The exponent p of δ ∝ η^p is fitted by least
squares through the logarithms; its standard error is that of the fit. Steps are not independent trials: it tells
curvature, not chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from relubias import step_sizes as steps_module
from relubias.comparison import Gap, gap
from relubias.dynamics.descent import gradient_descent
from relubias.dynamics.flow import gradient_flow
from relubias.dynamics.run import Progress, Run
from relubias.errors import ArgumentError
from relubias.network import Network
from relubias.nouns import require_nouns
from relubias.problem import Problem
from relubias.references import minimum_norm
from relubias.references.record import MinimumNorm
from relubias.state import State
from relubias.status import Optimality, Status

#: Steps that are compared where none are asked for, as fractions of the default step 1/λ_max(H).
FRACTIONS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
#: Distances up to this fraction of ‖W‖ are rounding.
ROUNDING = 1e-9
#: An exponent is fitted through so many steps at least.
FEWEST = 3
#: With a larger standard error than this the distances follow no power of the step.
UNCLEAR = 0.25
#: Added to the message of a comparison that was interrupted.
STOPPED = " The comparison was interrupted; smaller steps were not tried."


class Exponent(NamedTuple):
    """A fitted exponent, its standard error, and through how many steps."""

    value: float
    error: float
    steps: int

    @property
    def is_clear(self) -> bool:
        """Whether the distances follow a power of the step at all."""
        return self.error <= UNCLEAR


@dataclass(frozen=True, eq=False)
class StepRow:
    """Gradient descent at one step.

    Attributes
    ----------
    step_size : float
        η.
    relative_step : float
        c = η‖λ‖₁.
    run : Run
    to_flow : float
        δ = ‖W − W_flow‖_F.
    gap : Gap or None
        To the minimum-norm solution; None where there is none.
    """

    step_size: float
    relative_step: float
    run: Run
    to_flow: float
    gap: Gap | None


@dataclass(frozen=True, eq=False)
class StepComparison:
    """Gradient descent at several steps beside gradient flow and the minimum norm.

    Attributes
    ----------
    problem, network, start : Problem, Network, State
    flow : Run
        Gradient flow from the same start.
    reference : MinimumNorm or None
        w*; None where `reference_note` says why.
    flow_gap : Gap or None
        Distance of the flow to w*.
    rows : tuple of StepRow
        One a step, the largest first.
    order : Exponent or None
        p of δ ∝ η^p over the steps with a limit; None for fewer than 3 of them, where the flow has none, or where the
        distances follow no power.
    message : str
        What was found, in one sentence.
    reference_note : str
        Why there is no reference; empty where there is one.
    interrupted : bool
        True where the user stopped the comparison; the steps until then are here.
    """

    problem: Problem
    network: Network
    start: State
    flow: Run
    reference: MinimumNorm | None
    flow_gap: Gap | None
    rows: tuple[StepRow, ...]
    order: Exponent | None
    message: str
    reference_note: str = ""
    interrupted: bool = False

    def __repr__(self) -> str:
        return f"<StepComparison of {len(self.rows)} steps with gradient flow: {self.message}>"

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-able values, one column a quantity and one entry a step; None where not finite."""
        rows = self.rows
        return {
            "message": self.message,
            "flow": {
                "status": str(self.flow.status),
                "message": self.flow.message,
                "gap": None if self.flow_gap is None else self.flow_gap.as_dict(),
            },
            "reference": None if self.reference is None else {"of": self.reference.of, "norm": self.reference.norm},
            "reference_note": self.reference_note or None,
            "order": None if self.order is None else self.order._asdict(),
            "interrupted": self.interrupted,
            "steps": {
                "step_size": [row.step_size for row in rows],
                "relative_step": [row.relative_step for row in rows],
                "status": [str(row.run.status) for row in rows],
                "pattern_changes": [row.run.pattern_changes for row in rows],
                "distance_to_flow": [_finite(row.to_flow) for row in rows],
                "absolute_gap": [None if row.gap is None else _finite(row.gap.absolute) for row in rows],
                "relative_gap": [None if row.gap is None else _finite(row.gap.relative) for row in rows],
            },
        }


def compare(
    problem: Problem,
    network: Network | None = None,
    start: State | None = None,
    *,
    step_sizes: Sequence[float] | None = None,
    budget: float = 1e8,
    progress: Callable[[Progress], None] | None = None,
    announce: Callable[[str], None] | None = None,
) -> StepComparison:
    """Run gradient descent at several steps and gradient flow from the same start, and measure all distances.

    Parameters
    ----------
    problem : Problem
    network : Network, optional
        By default one positive neuron.
    start : State, optional
        By default that of :func:`relubias.analyze`.
    step_sizes : sequence of float, optional
        η; by default seven from 1/λ_max(H) down to a hundredth of it.
    budget : float
        Work allowed to each run of gradient descent, in plain-step equivalents.
    progress, announce : callable, optional
        As for :func:`relubias.analyze`.

    Returns
    -------
    StepComparison

    Raises
    ------
    ArgumentError
        If there is no step or one is not a positive number, the start belongs to another problem, or gradient flow
        is not built for the network.
    KeyboardInterrupt
        If the user stops it before the first step is run; later the steps so far are returned.
    """
    from relubias.analysis import default_start

    network = Network.single() if network is None else network
    require_nouns(problem, network)
    etas = _checked(problem, network, step_sizes)
    say = announce or (lambda text: None)
    if start is None:
        start, _ = default_start(problem, network)
    say("gradient flow")
    flow = gradient_flow(problem, network, start, progress=progress)
    if flow.status is Status.INTERRUPTED:
        raise KeyboardInterrupt  # nothing has been compared yet
    reference, note = _reference(problem, network, flow.state)
    rows: list[StepRow] = []
    for eta in etas:
        say(f"gradient descent, {len(rows) + 1} of {len(etas)}: with the step {eta:.4g}")
        run = gradient_descent(problem, network, start, step_size=eta, budget=budget, progress=progress)
        to_flow = float(np.linalg.norm(problem.operator.lengths(run.state.dual - flow.state.dual)))
        rows.append(
            StepRow(
                step_size=eta,
                relative_step=eta / steps_module.relative(problem, 1.0),
                run=run,
                to_flow=to_flow,
                gap=None if reference is None else gap(run, reference),
            )
        )
        if run.status is Status.INTERRUPTED:
            break
    fitted = _order(flow, rows)
    interrupted = rows[-1].run.status is Status.INTERRUPTED
    return StepComparison(
        problem=problem,
        network=network,
        start=start,
        flow=flow,
        reference=reference,
        flow_gap=None if reference is None else gap(flow, reference),
        rows=tuple(rows),
        order=fitted if fitted is not None and fitted.is_clear else None,
        message=_message(flow, rows, fitted) + (STOPPED if interrupted else ""),
        reference_note=note,
        interrupted=interrupted,
    )


def _checked(problem: Problem, network: Network, step_sizes: Sequence[float] | None) -> list[float]:
    if network.train_output:
        raise ArgumentError(
            "steps are compared at exact limits, which networks with trained output weights do not have."
        )
    if step_sizes is None:
        return [fraction * steps_module.stable(problem, network) for fraction in FRACTIONS]
    etas = sorted({steps_module.checked(eta) for eta in step_sizes}, reverse=True)
    if not etas:
        raise ArgumentError("step_sizes is empty; give at least one step, or None for seven of them.")
    return etas


def _reference(problem: Problem, network: Network, near: State) -> tuple[MinimumNorm | None, str]:
    """w*, where it is proven; else why there is none to compare with."""
    try:
        star = minimum_norm(problem, network, state=near)
    except ArgumentError as error:
        return None, str(error)
    if star.status is Optimality.INTERRUPTED:
        raise KeyboardInterrupt  # nothing has been compared yet
    return (star, "") if star.status is Optimality.OPTIMAL else (None, star.message)


def _order(flow: Run, rows: Sequence[StepRow]) -> Exponent | None:
    """Fit log δ = p log η + const over the steps with a limit."""
    # Distances at rounding level have no order.
    least = ROUNDING * flow.state.norm
    kept = [row for row in rows if row.run.at_limit and row.to_flow > least]
    if len(kept) < FEWEST or not flow.at_limit:
        return None
    x, y = np.log([row.step_size for row in kept]), np.log([row.to_flow for row in kept])
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    rest = y - y.mean() - slope * x
    error = math.sqrt(float(rest @ rest) / max(1, len(kept) - 2) / float(x @ x))
    return Exponent(slope, error, len(kept))


def _message(flow: Run, rows: Sequence[StepRow], order: Exponent | None) -> str:
    if not flow.at_limit:
        return f"gradient flow has no certified limit (status {flow.status}), so no order is fitted."
    missing = sum(not row.run.at_limit for row in rows)
    left_out = f"; {missing} of {len(rows)} steps have no certified limit and are left out" if missing else ""
    if order is None:
        return f"fewer than {FEWEST} steps end at a distance from gradient flow that can be fitted{left_out}."
    if not order.is_clear:
        return (
            f"the distances to gradient flow follow no power of η (a fit through {order.steps} steps has the exponent "
            f"{order.value:.2g} with a standard error of {order.error:.2g}{left_out})."
        )
    return (
        f"the distance to gradient flow shrinks like η^{order.value:.2f} (standard error of the fit {order.error:.2g}, "
        f"{order.steps} steps{left_out})."
    )


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None
