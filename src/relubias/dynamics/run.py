"""The record of one training run, whatever dynamics made it.

A run never loses what it computed: a run that stopped early has its state, its events and a status that says
why, and :meth:`Run.continue_` takes it on from there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relubias.archive import load_record, nested, part, rebuilding, save_record
from relubias.dynamics.cycles import Cycle
from relubias.dynamics.trajectory import Record, Trajectory
from relubias.errors import ArgumentError, NotAtLimit
from relubias.linalg.gram import Array
from relubias.network import Network
from relubias.problem import Problem
from relubias.state import State
from relubias.status import Status
from relubias.wording import count, number

#: One change of the activation pattern: at this step, in this neuron, this sample went off (−1) or came on (+1).
EVENT = np.dtype([("time", np.int64), ("neuron", np.int32), ("sample", np.int32), ("kind", np.int8)])
#: The same for gradient flow, at a real time; kind 0 is at zero, sliding along the kink or resting there. `unique` is
#: False where the sample was pushed away from the kink on both sides, so that the flow could have gone on either way.
FLOW_EVENT = np.dtype(
    [("time", np.float64), ("neuron", np.int32), ("sample", np.int32), ("kind", np.int8), ("unique", np.bool_)]
)

#: A label counts as interpolated where |f − y| is at most this fraction of the largest |y|.
INTERPOLATED = 1e-6


class Progress(NamedTuple):
    """What a progress callback is told; a flow counts its pieces as steps."""

    steps: int
    pattern_changes: int
    loss: float
    cost: float
    budget: float
    flow: bool = False


@dataclass(frozen=True, eq=False)
class Resume:
    """What gradient descent needs, beyond the state, to go on as if it had never stopped."""

    primal: Array
    dual: Array
    logged: NDArray[np.int8]
    quiet: float
    flops: float
    certificate_tried: bool


@dataclass(frozen=True, eq=False)
class FlowResume:
    """What gradient flow needs to go on: the beginning of its last piece, so that nothing is rounded twice."""

    time: float
    primal: Array
    dual: Array
    residual: Array
    error: Array
    mode: NDArray[np.int8]
    contact: NDArray[np.int8]
    logged: NDArray[np.int8]
    pieces: int


@dataclass(frozen=True, eq=False)
class GeneralResume:
    """What gradient descent by its definition needs to go on bit for bit; `outer` are the output weights."""

    primal: Array
    dual: Array
    outer: Array
    logged: NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class LayersResume:
    """What the flow of both layers needs to go on, to its tolerance; `accuracy` is that tolerance."""

    time: float
    primal: Array
    dual: Array
    outer: Array
    mode: NDArray[np.int8]
    logged: NDArray[np.int8]
    accuracy: float


#: What a run may keep in order to go on; a saved one is recognised by its fields.
AnyResume = Resume | FlowResume | GeneralResume | LayersResume
_RESUMES = (Resume, FlowResume, GeneralResume, LayersResume)


@dataclass(frozen=True, eq=False)
class Run:
    """A training run.

    Attributes
    ----------
    problem, network, start : Problem, Network, State
    step_size : float
        η; 0 for gradient flow.
    status : Status
    message : str
        One sentence that explains the status for this run.
    state : State
        Where the run is: the exact limit if `at_limit`, else the last state reached.
    steps : int
        Gradient steps taken or exactly leapt over. At the limit: the step from which the pattern is certified. 0 for
        gradient flow.
    time : float or None
        The same for gradient flow, as a real number: the time reached, or from which the pattern is certified. None
        for gradient descent. All moments below are such times for gradient flow and steps for gradient descent.
    stabilised_at : int, float or None
        The moment of the last change of pattern, where it is proven that there is none later; else None.
    pattern_changes : int
        Number of moments at which the pattern changed.
    events : ndarray of EVENT or FLOW_EVENT
        The first changes of pattern in order of time; `events_dropped` tells how many later ones are not listed.
    last_change : ndarray, shape (n_neurons, n_samples)
        Moment at which each sample last changed its activity in each neuron; 0 if never.
    dead : dict
        Neurons without any active sample, and the moment at which the last one was lost.
    at_zero : tuple of (int, int)
        (neuron, sample) pairs whose pre-activation tends to 0, those that slide along the kink of a flow included.
    stable_step : float
        The largest stable step for the pattern at the end, 2/λ_max(H); infinite if no sample is active.
    cycle : Cycle or None
        The states that repeat, where the status is cycling.
    trajectory : Trajectory or None
        States at the steps that were to be recorded.
    cost : float
        Work done, in plain-step equivalents, or for gradient flow in pieces between two events (steps of the
        integrator where both layers are trained); this is what the budget counts.
    loss : str
        Name of the loss that was minimised; `state.loss` is ½‖f − y‖² whatever it is, `objective` that loss.
    total_loss : float or None
        Σ_i ℓ(f_i, y_i) at the end where the loss is not the squared one.
    """

    problem: Problem
    network: Network
    start: State
    step_size: float
    status: Status
    message: str
    state: State
    steps: int
    stabilised_at: float | None
    pattern_changes: int
    events: NDArray[Any]
    events_dropped: int
    last_change: NDArray[np.int64] | NDArray[np.float64]
    dead: dict[int, float]
    at_zero: tuple[tuple[int, int], ...]
    stable_step: float
    cost: float
    budget: float
    cycle: Cycle | None = None
    trajectory: Trajectory | None = None
    resume: AnyResume | None = field(default=None, repr=False)
    continuation: Callable[..., Run] | None = field(default=None, repr=False)
    time: float | None = None
    loss: str = "squared"
    total_loss: float | None = None

    def __repr__(self) -> str:
        return f"<Run of {self.network}: {self.status} after {self.duration}; {self.message}>"

    @property
    def signs(self) -> tuple[int, ...]:
        """Signs of the output weights at the end; those of the network, unless training has changed one."""
        outer = self.state.output_weights
        return tuple(int(np.sign(a)) or sign for a, sign in zip(outer, self.network.signs, strict=True))

    @property
    def is_flow(self) -> bool:
        """True for gradient flow, whose moments are real times."""
        return self.time is not None

    @property
    def moment(self) -> float:
        """How far the run has come: `time` of a flow, `steps` of gradient descent."""
        return self.steps if self.time is None else self.time

    @property
    def duration(self) -> str:
        """How far the run has come, in words: "12 steps" or "time 0.25"."""
        return count(self.steps, "step") if self.time is None else self.at(self.time)

    def at(self, moment: float) -> str:
        """A moment of this run in words: "step 12" or "time 0.25".

        Parameters
        ----------
        moment : float
            A number of steps, or for gradient flow a time.

        Returns
        -------
        str
        """
        return f"time {number(moment)}" if self.is_flow else f"step {int(moment):,}"

    @property
    def descends_exactly(self) -> bool:
        """Whether this run could have a certified limit: squared loss, fixed output weights, σ piecewise linear."""
        network = self.network
        fixed = not network.train_output and network.activation.slope_below is not None
        return fixed and self.loss == "squared"

    @property
    def at_limit(self) -> bool:
        """True where the state is the proven limit."""
        return self.status.is_limit

    @property
    def certified(self) -> bool:
        """The same as `at_limit`."""
        return self.at_limit

    @property
    def interpolated(self) -> NDArray[np.bool_]:
        """Which labels the model fits, to 1e-6 of the largest |label|, shape (n_samples,)."""
        return np.asarray(np.abs(self.state.residual) <= INTERPOLATED * np.abs(self.problem.labels).max())

    @property
    def objective(self) -> float:
        """The loss that was minimised, Σ_i ℓ(f_i, y_i), at the end."""
        return self.state.loss if self.total_loss is None else self.total_loss

    @property
    def balance_drift(self) -> float | None:
        """Largest change of a_k² − ‖w_k‖² since the start; None where the output weights are not trained."""
        if not self.network.train_output:
            return None
        return float(np.max(np.abs(self.state.balance - self.start.balance)))

    def weights(self) -> Array:
        """W, shape (n_neurons, n_features); the same as ``run.state.weights()``."""
        return self.state.weights()

    def predict(self, features: Any) -> Array:
        """Return f at new points, shape (n_new,), in label units; the same as ``run.state.predict(features)``.

        Parameters
        ----------
        features : array, sparse array, callable, source of column blocks or HeldOut, shape (n_new, n_features)
            As for :meth:`State.predict`.

        Raises
        ------
        DataError
            As :meth:`State.predict` does.
        """
        return self.state.predict(features)

    def require_limit(self) -> Run:
        """Return this run if it is at its certified limit.

        Raises
        ------
        NotAtLimit
            Otherwise; the exception carries the run.
        """
        if not self.at_limit:
            raise NotAtLimit(f"the run has no certified limit (status {self.status}): {self.message}", self)
        return self

    def continue_(self, *, until: float | None = None, record: Record = None, budget: float | None = None) -> Run:
        """Go on from where this run stopped, as if it had never stopped.

        Parameters
        ----------
        until : int, float or None
            Total number of steps (or the time, of a flow) since the start of this run, not of further ones; None is
            the limit.
        record : "log", iterable, or None
            Further steps or times to keep, counted like `until`; the trajectory goes on.
        budget : float, optional
            Further work allowed, in plain-step equivalents or pieces of a flow; by default as much as this run was
            allowed.

        Returns
        -------
        Run
            With all events since the start.

        Raises
        ------
        ArgumentError
            If this run cannot be continued, an option is out of range, or `until` lies before where the run is.
        """
        if self.continuation is None:
            raise ArgumentError("this run cannot be continued.")
        return self.continuation(self, until=until, record=record, budget=budget)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the run with its problem (not the features) to one ``.npz`` file that :meth:`load` reads.

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
        return save_record(path, "run", *self.to_parts())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Run:
        """Read what :meth:`save` wrote; the run can be continued where the saved one could.

        Parameters
        ----------
        path : path

        Returns
        -------
        Run

        Raises
        ------
        DataError
            If there is no such file, or it is not a saved run, whole and undamaged.
        """
        parts = load_record(path, "run")
        with rebuilding("run"):
            return cls.from_parts(*parts)

    def to_parts(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays and JSON-able values from which :meth:`from_parts` rebuilds the run."""
        arrays, meta = self.problem.to_parts()
        # Numbers that may be infinite, and must come back to the bit, travel as arrays: JSON has no infinity.
        numbers = {name: np.asarray(getattr(self, name), dtype=np.float64) for name in _NUMBERS}
        arrays |= nested("run", numbers | {"events": self.events, "last_change": self.last_change})
        arrays |= nested("start", self.start.to_arrays()) | nested("state", self.state.to_arrays())
        for name, record in (("cycle", self.cycle), ("trajectory", self.trajectory), ("resume", self.resume)):
            arrays |= {} if record is None else nested(name, _as_arrays(record))
        counts = {name: getattr(self, name) for name in _COUNTS}
        values: dict[str, Any] = {name: int(value) for name, value in counts.items()}
        values["status"], values["message"], values["loss"] = str(self.status), self.message, self.loss
        values["stabilised_at"] = _plain(self.stabilised_at)
        values["time"], values["total_loss"] = self.time, self.total_loss
        values["dead"] = [[int(neuron), _plain(moment)] for neuron, moment in self.dead.items()]
        values["at_zero"] = [[int(neuron), int(sample)] for neuron, sample in self.at_zero]
        return arrays, meta | {"network": self.network.as_dict(), "run": values}

    @classmethod
    def from_parts(cls, arrays: dict[str, NDArray[Any]], meta: dict[str, Any]) -> Run:
        """Rebuild a run from :meth:`to_parts`.

        Parameters
        ----------
        arrays : dict of ndarray
        meta : dict

        Returns
        -------
        Run

        Raises
        ------
        DataError
            If the problem cannot be rebuilt.
        ArgumentError
            If the signs or the activation of the network are none.
        """
        problem, network = Problem.from_parts(arrays, meta), Network.from_dict(meta["network"])
        own, values = part("run", arrays), meta["run"]
        cycle, saved = _from_arrays(part("cycle", arrays)), _from_arrays(part("resume", arrays))
        resume = _resume_of(saved)
        trajectory = part("trajectory", arrays)
        plain: dict[str, Any] = {name: float(own[name]) for name in _NUMBERS}
        plain |= {name: values[name] for name in _COUNTS}
        return cls(
            problem=problem,
            network=network,
            start=State.from_arrays(problem, network, part("start", arrays)),
            state=State.from_arrays(problem, network, part("state", arrays)),
            status=Status(values["status"]),
            message=values["message"],
            dead={int(neuron): moment for neuron, moment in values["dead"]},
            at_zero=tuple((int(neuron), int(sample)) for neuron, sample in values["at_zero"]),
            events=own["events"],
            last_change=own["last_change"],
            cycle=Cycle(**cycle) if cycle else None,
            trajectory=Trajectory(**trajectory) if trajectory else None,
            resume=resume,
            continuation=None if resume is None else _continuation_of(resume),
            stabilised_at=values["stabilised_at"],
            time=values["time"],
            loss=values["loss"],
            total_loss=values["total_loss"],
            **plain,
        )


#: The plain numbers of a Run: those that are real, and those that count (None included).
_NUMBERS = ("step_size", "stable_step", "cost", "budget")
_COUNTS = ("steps", "pattern_changes", "events_dropped")


def _plain(moment: float | None) -> float | None:
    """A step as an int, a time as a float: JSON keeps both to the bit."""
    return None if moment is None else int(moment) if isinstance(moment, (int, np.integer)) else float(moment)


def _resume_of(saved: dict[str, Any]) -> AnyResume | None:
    """The record with exactly these fields."""
    for kind in _RESUMES:
        if {entry.name for entry in fields(kind)} == set(saved):
            return kind(**saved)
    return None


def _continuation_of(resume: AnyResume) -> Callable[..., Run]:
    # The dynamics make runs, so they import this module; a saved run finds its way back to them only here.
    from relubias.dynamics.both_layers import continue_layers
    from relubias.dynamics.descent import continue_run
    from relubias.dynamics.flow import continue_flow
    from relubias.dynamics.general import continue_general

    makers = {Resume: continue_run, FlowResume: continue_flow, GeneralResume: continue_general}
    return makers.get(type(resume), continue_layers)


def _as_arrays(record: Cycle | Trajectory | AnyResume) -> dict[str, NDArray[Any]]:
    """All fields but None as arrays, numbers as arrays without axes, so that nothing is rounded."""
    values = {entry.name: getattr(record, entry.name) for entry in fields(record)}
    return {name: np.asarray(value) for name, value in values.items() if value is not None}


def _from_arrays(arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    return {name: array if array.ndim else array.item() for name, array in arrays.items()}
