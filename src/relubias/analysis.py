"""One problem from its start to the verdict: the main function of this package.

Train one network on one problem to its exact limit w_∞, find the shortest solution w*, measure ‖w_∞ − w*‖ in
absolute and relative terms, judge whether the problem is in the regime of the theorems, and say what all of it means.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relubias import starts
from relubias.archive import load_record, nested, part, rebuilding, save_record
from relubias.comparison import Gap
from relubias.comparison import gap as gap_between
from relubias.dynamics.descent import Descent
from relubias.dynamics.flow import Flow
from relubias.dynamics.nearness import steps_to_limit
from relubias.dynamics.run import Progress, Run
from relubias.errors import ArgumentError, StartError
from relubias.losses import loss as loss_named
from relubias.network import Network
from relubias.nouns import require_nouns, require_state
from relubias.problem import Problem
from relubias.references import checked_of, minimum_norm, require_possible, suitable
from relubias.references.record import MinimumNorm
from relubias.references.searched import checked_budget
from relubias.state import State
from relubias.status import Optimality, Status
from relubias.theory.predictions import GapLaw
from relubias.theory.regime import Regime
from relubias.theory.regime import regime as regime_of
from relubias.verdict import Parts, active_pattern, is_silent, step_ratio, verdict
from relubias.verdict.law import predicted

#: Up to so many pre-activations it is told when training comes near its limit, which takes a decomposition.
_NEARNESS_SIZE = 1000


@dataclass(frozen=True, eq=False)
class Analysis:
    """Everything :func:`analyze` found about one problem.

    Attributes
    ----------
    problem : Problem
    run : Run
    reference : MinimumNorm or None
        w*; None where `reference_note` says why.
    linear : MinimumNorm or None
        The shortest interpolant of a linear model, K⁺y in dual coefficients; None where the user interrupted.
    gap : Gap or None
        Distance between the end of the run and w*; None where there is no feasible w*, or w* has the least variation
        norm: then norms are compared, in the verdict, and not weights, of which other networks may be as small.
    regime : Regime
    verdict : tuple of str
        What it all means, one sentence each.
    start_note : str
        What was done where no start was asked for and the usual one is impossible; else empty.
    reference_note : str
        Why there is no reference; empty where there is one.
    interrupted : bool
        True where the user stopped the computation; all that had been computed is here.
    had_features : bool
        Whether the features were at hand when it was made, so that something could be done to them.
    """

    problem: Problem
    run: Run
    reference: MinimumNorm | None
    linear: MinimumNorm | None
    gap: Gap | None
    regime: Regime
    verdict: tuple[str, ...]
    start_note: str = ""
    reference_note: str = ""
    interrupted: bool = False
    had_features: bool = True

    def __repr__(self) -> str:
        gap = "none" if self.gap is None else self.gap.message
        return f"<Analysis: {self.run!r}, gap: {gap}>"

    @cached_property
    def near_limit(self) -> int | None:
        """About from which step on training is within 1 % of its limit; None where it has none, or n m > 1000."""
        run = self.run
        return steps_to_limit(run) if run.state.primal.size <= _NEARNESS_SIZE else None

    @cached_property
    def law(self) -> GapLaw | None:
        """What the gap law predicts for this run; None where it is not about this network, reference or dynamics."""
        return predicted(self.run, self.reference)

    def as_dict(self) -> dict[str, Any]:
        """The analysis as JSON-able values.

        The step of a certified limit is infinite: it is None, and ``at_limit`` is True. No value is NaN or infinite.
        """
        return {
            "verdict": list(self.verdict),
            "problem": _problem_as_dict(self.problem),
            "regime": self.regime.as_dict(),
            "network": self.run.network.as_dict(),
            "start": {
                "note": self.start_note or None,
                "norm": self.run.start.norm,
                "orthogonal_norm": self.run.start.orthogonal_norm,
                "active": self.run.start.pattern.sum(axis=1).tolist(),
            },
            "run": _run_as_dict(self.run) | {"within_one_percent_from": self.near_limit},
            "reference": _reference_as_dict(self.reference),
            "reference_note": self.reference_note or None,
            "linear": _reference_as_dict(self.linear),
            "gap": None if self.gap is None else self.gap.as_dict(),
            "law": None if self.law is None else self.law.as_dict(),
            "neurons": _neurons_as_dict(self.run),
            "interrupted": self.interrupted,
            "samples": _samples_as_dict(self),
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the analysis with its problem (not the features) to one ``.npz`` file that :meth:`load` reads.

        Stored is what was expensive: the run and the references. The rest follows from them and is worked out
        again on loading.

        Parameters
        ----------
        path : path
            A file that is there is replaced.

        Returns
        -------
        Path
            Of the file.

        Raises
        ------
        ArgumentError
            If the file cannot be written.
        """
        arrays, meta = self.run.to_parts()
        references = {"reference": self.reference, "linear": self.linear}
        for name, reference in references.items():
            if reference is not None:
                own, values = reference.to_parts()
                arrays |= nested(name, own)
                meta[name] = values
        meta["analysis"] = {
            "start_note": self.start_note,
            "reference_note": self.reference_note,
            "interrupted": self.interrupted,
            "had_features": self.had_features,
        }
        return save_record(path, "analysis", arrays, meta)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Analysis:
        """Read what :meth:`save` wrote. Features are not stored, so that weights are not at hand.

        Parameters
        ----------
        path : path

        Returns
        -------
        Analysis

        Raises
        ------
        DataError
            If there is no such file, or it is not a saved analysis, whole and undamaged.
        """
        arrays, meta = load_record(path, "analysis")
        with rebuilding("analysis"):
            run = Run.from_parts(arrays, meta)
            reference, linear = (
                MinimumNorm.from_parts(run.problem, part(name, arrays), meta[name]) if name in meta else None
                for name in ("reference", "linear")
            )
            notes = meta["analysis"]
            return _conclude(
                run,
                _References(reference, linear, notes["reference_note"], notes["interrupted"]),
                notes["start_note"],
                had_features=bool(notes.get("had_features", False)),
            )


class _References(NamedTuple):
    reference: MinimumNorm | None
    linear: MinimumNorm | None
    note: str = ""
    interrupted: bool = False


def analyze(
    problem: Problem,
    network: Network | None = None,
    start: State | None = None,
    *,
    dynamics: Descent | Flow | None = None,
    of: str | None = None,
    search_budget: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    announce: Callable[[str], None] | None = None,
) -> Analysis:
    """Train to the exact limit, find the shortest solution, and say how they differ and why.

    Parameters
    ----------
    problem : Problem
    network : Network, optional
        By default one positive neuron.
    start : State, optional
        By default all samples are active at a thousandth of the root mean square of the labels; where no weights
        do that, a Gaussian start of that size, seed 0, and `start_note` says so.
    dynamics : Descent or Flow, optional
        How to train; by default gradient descent with the step 1/λ_max(H) to its limit.
    of : str, optional
        Which solutions w* is the shortest of; see :func:`relubias.minimum_norm`. By default all global minimisers
        for one neuron and for two of opposite sign; for other networks those with the partition of the start, where
        it has one, or with the pattern in which training ends; where the output weights are trained, the networks of
        any number of neurons that fit the labels, by their variation norm.
    search_budget : int, optional
        Convex programs that the branch and bound for the shortest solution of several neurons may solve; see the
        `budget` of :func:`relubias.minimum_norm`.
    progress : callable, optional
        Called now and then during training with a :class:`relubias.dynamics.run.Progress`.
    announce : callable, optional
        Called at the beginning of each stage with what is being done, in a few words.

    Returns
    -------
    Analysis

    Raises
    ------
    ArgumentError, StartError
        If an option makes no sense for this problem, or the start can never move.
    """
    network = Network.single() if network is None else network
    require_nouns(problem, network)
    say = announce or (lambda text: None)
    note = ""
    if start is None:
        say("looking for a start")
        start, note = default_start(problem, network)
    else:
        require_state(problem, network, start)
    of = suitable(network, start) if of is None else checked_of(of)
    require_possible(network, start, of)  # before the training, which may take long
    search_budget = checked_budget(search_budget)
    dynamics = Descent() if dynamics is None else dynamics
    say("training")
    run = dynamics.run(problem, network, start, progress=progress)
    found = _find_references(run, of, search_budget, say)
    say("comparing the two and collecting the facts of the problem")
    return _conclude(run, found, note, had_features=problem.features is not None)


def default_start(problem: Problem, network: Network) -> tuple[State, str]:
    """The start that is used where none is asked for, and a sentence where it is not the usual one."""
    try:
        return starts.all_active(problem, network), ""
    except StartError as error:
        note = f"{error} The analysis did so: its start is Gaussian, seed 0."
        return starts.gaussian(problem, network, rng=0), note


def _find_references(run: Run, of: str, budget: int | None, say: Callable[[str], None]) -> _References:
    if run.status is Status.INTERRUPTED:
        note = "the run was interrupted, so that the minimum-norm solution was not looked for"
        return _References(None, None, note, True)
    note, reference = "", None
    try:
        reference, note = reference_of(run, of, budget=budget, announce=say)
        if reference is not None and reference.status is Optimality.INTERRUPTED:
            return _References(reference, None, note, True)
        say("computing the linear minimum-norm interpolant")
        linear = reference if reference and of == "linear" else minimum_norm(run.problem, run.network, of="linear")
        return _References(reference, linear, note)
    except KeyboardInterrupt:
        # The run may have taken hours; an impatient moment afterwards must not lose it.
        note = note if reference or note else "the search for the minimum-norm solution was interrupted"
        return _References(reference, None, note, True)


def reference_of(
    run: Run, of: str, *, budget: int | None = None, announce: Callable[[str], None] | None = None
) -> tuple[MinimumNorm | None, str]:
    """The minimum-norm solution to compare a run with; where there is none, None and the reason."""
    if note := _no_reference(run, of):
        return None, note
    if announce is not None:
        announce("computing the minimum-norm solution")
    given = run.start if of == "partition" else run.state
    reference = minimum_norm(run.problem, run.network, of=of, state=given, budget=budget)
    if reference.status is Optimality.INFEASIBLE and run.loss != "squared":
        return None, f"no weights minimise the {run.loss} loss of every sample at once, so that there is no w*"
    return reference, ""


def _no_reference(run: Run, of: str) -> str:
    """Why there is no minimum-norm solution to compare this run with; empty where there is one."""
    network = run.network
    if network.n_neurons > 1 and of == "linear":
        return "the weights of several neurons are not compared with those of a linear model, which has one neuron"
    if network.train_output and of != "variation":
        return (
            "there is no minimum-norm solution to compare with: where the output weight is trained too, the norm of "
            "the first layer alone is no measure of a solution; the variation norm is one (of='variation')"
        )
    if network.activation.name != "relu" and (of != "linear" or network.activation.slope_below is None):
        name = network.activation.name
        return f"the minimum-norm solution is computed for the ReLU by this version, not for the activation {name}"
    if not _fits(run):
        return (
            f"there is no minimum-norm solution to compare with: no weights are known to minimise the {run.loss} loss"
        )
    return ""


def _fits(run: Run) -> bool:
    """Whether fitting the labels minimises the loss; of a loss of the user's own nothing is assumed."""
    try:
        return loss_named(run.loss).fits
    except ArgumentError:
        return False


def _conclude(run: Run, found: _References, start_note: str, *, had_features: bool) -> Analysis:
    reference = found.reference
    known = reference is not None and reference.is_solution and reference.of != "variation"
    gap = gap_between(run, reference) if reference is not None and known else None
    regime = regime_of(run.problem)
    parts = Parts(run, regime, reference, found.linear, gap, start_note, found.note, had_features)
    return Analysis(
        problem=run.problem,
        run=run,
        reference=reference,
        linear=found.linear,
        gap=gap,
        regime=regime,
        verdict=verdict(parts),
        start_note=start_note,
        reference_note=found.note,
        interrupted=found.interrupted,
        had_features=had_features,
    )


def _problem_as_dict(problem: Problem) -> dict[str, Any]:
    return {
        "source": problem.source,
        "target": problem.target_name,
        "preprocess": problem.preprocess,
        "label_mean": problem.label_mean,
        "notes": list(problem.notes),
        "population": population_as_dict(problem),
        "test": _test_as_dict(problem),
        "facts": problem.facts.as_dict(),
    }


def population_as_dict(problem: Problem) -> dict[str, float | bool | None] | None:
    """What the samples were drawn from; an infinite ‖λ‖₁ is None."""
    if problem.population is None:
        return None
    return problem.population.as_dict() | {"trace": _finite(problem.population.trace)}


def _test_as_dict(problem: Problem) -> dict[str, Any] | None:
    """How many test points there are, and the error of predicting 0, beside which other errors can be read."""
    if problem.test is None:
        return None
    return {"n_points": problem.test.n_points, "error_of_zero": _finite(problem.test.error_of_zero)}


def _run_as_dict(run: Run) -> dict[str, Any]:
    return {
        "status": str(run.status),
        "meaning": run.status.meaning,
        "message": run.message,
        "at_limit": run.at_limit,
        "dynamics": "flow" if run.is_flow else "descent",
        "steps": None if run.at_limit or run.is_flow else int(run.steps),
        "time": None if run.at_limit else run.time,
        "certified_from": run.moment if run.at_limit else None,
        "stabilised_at": run.stabilised_at,
        "pattern_changes": int(run.pattern_changes),
        "last_change": run.last_change.max().item(),
        "step_size": None if run.is_flow else run.step_size,
        "stable_step": _finite(run.stable_step),
        "step_over_stable": step_ratio(run),
        "interpolated": int(run.interpolated.sum()),
        "dead": {str(neuron): moment for neuron, moment in run.dead.items()},
        "at_zero": [[int(neuron), int(sample)] for neuron, sample in run.at_zero],
        "cycle": _cycle_as_dict(run),
        "loss": _finite(run.state.loss),
        "loss_in_use": run.loss,
        "objective": _finite(run.objective),
        "balance_drift": _finite(run.balance_drift),
        "norm": _finite(run.state.norm),
        "test_error": _finite(run.state.test_error),
        "orthogonal_norm": _finite(run.state.orthogonal_norm),
        "cost": _finite(run.cost),
        "budget": _finite(run.budget),
    }


def _cycle_as_dict(run: Run) -> dict[str, Any] | None:
    if run.cycle is None:
        return None
    mean = run.network.output(run.cycle.mean, outer=run.cycle.outer)
    cycle = run.cycle
    return {
        "period": cycle.period,
        "amplitude": cycle.amplitude,
        "distance": cycle.distance,
        "prediction_of_mean": _column(mean),
    }


def _neurons_as_dict(run: Run) -> dict[str, Any]:
    """One column a quantity, one entry a neuron."""
    active, labels = active_pattern(run), run.problem.labels
    return {
        "sign": list(run.network.signs),
        "norm": _column(run.state.norms),
        "output_weight": _column(run.state.output_weights),
        "active_on_positive": active[:, labels > 0].sum(axis=1).tolist(),
        "active_on_negative": active[:, labels < 0].sum(axis=1).tolist(),
        "active_on_zero": active[:, labels == 0].sum(axis=1).tolist(),
    }


def _reference_as_dict(reference: MinimumNorm | None) -> dict[str, Any] | None:
    if reference is None:
        return None
    return {
        "of": reference.of,
        "status": str(reference.status),
        "message": reference.message,
        "norm": _finite(reference.norm),
        "test_error": _finite(reference.test_error),
        "lower_bound": _finite(reference.lower_bound),
        "relative_interval": _finite(reference.relative_interval),
        "kkt": {name: _finite(value) for name, value in reference.kkt.as_dict().items()},
        "infeasible_rows": list(reference.infeasible_rows),
        "nodes": reference.nodes,
    }


def _samples_as_dict(analysis: Analysis) -> dict[str, Any]:
    """One column a quantity, one entry a sample."""
    run, problem, gap = analysis.run, analysis.problem, analysis.gap
    reference = analysis.reference if gap is not None else None
    return {
        "name": [problem.sample(i) if problem.sample_names is None else problem.sample_names[i] for i in _rows(run)],
        "label": problem.labels.tolist(),
        "prediction": _column(run.state.predictions),
        "minimum_norm_prediction": None if reference is None else _column(reference.predictions),
        "interpolated": run.interpolated.tolist(),
        "silent": is_silent(run).tolist(),
        "last_change": run.last_change.max(axis=0).tolist(),
    }


def _rows(run: Run) -> range:
    return range(run.problem.n_samples)


def _column(values: NDArray[np.float64]) -> list[float | None]:
    return [_finite(value) for value in values]


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None
