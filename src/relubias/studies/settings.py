"""What one cell is: the nouns of the main function, as tables of plain values.

    [problem]    a sampler (kind, n_samples, features, labels, …), or a file (file, target, preprocess, …)
    [network]    signs, activation, train_output
    [start]      kind, scale, depth, orthogonal, weights
    [dynamics]   kind = "descent" (step_size, until, budget, loss) or "flow" (until, max_events, accuracy)
    [reference]  of

Random numbers come from the seed of the cell: the draw of the problem and the start take independent streams of it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from relubias import starts, step_sizes
from relubias.dynamics.descent import Descent
from relubias.dynamics.flow import Flow
from relubias.dynamics.general import checked_budget, checked_until
from relubias.errors import ArgumentError, DataError
from relubias.files import read
from relubias.losses import loss as loss_named
from relubias.network import Network, signs_from_text
from relubias.problem import Problem
from relubias.references import checked_of
from relubias.sampling.labels import as_label_law
from relubias.sampling.records import built, kind_of, real, rebuilt, said_of, settle
from relubias.sampling.spec import Sampler, as_spectrum, parse, sampler_from_dict
from relubias.state import State

#: The tables whose values may be varied in a grid.
TABLES = ("problem", "network", "start", "dynamics", "reference")


@dataclass(frozen=True)
class FileProblem:
    """A problem that is read; see :func:`relubias.read`. Paths are taken from where the study is run."""

    file: str
    target: str | int | None = None
    labels: str | None = None
    preprocess: str = "none"
    centre_labels: bool = False

    @property
    def paths(self) -> list[str]:
        """The files that are read."""
        return [self.file] if self.labels is None else [self.file, self.labels]

    def draw(self, *, rng: int) -> Problem:
        """Read the file; of the last one it is known already, as long as nobody writes to it."""
        return _read(self, tuple(_stamp(path) for path in self.paths))

    def require(self, digests: Mapping[str, str]) -> None:
        """Make sure that the files are those that were read when the study began.

        Parameters
        ----------
        digests : dict
            Digests by path, as :func:`digest_of` gives them; a path that is not there is not looked at.

        Raises
        ------
        DataError
            If one is another file.
        """
        for path in self.paths:
            if path in digests and digest_of(path) != digests[path]:
                raise DataError(
                    f"{path} is not the file that it was when the study began, so that this cell would be of other "
                    "data; bring it back, or begin another store."
                )


def digest_of(path: str) -> str:
    """Return the SHA-256 of a file; it is read again only where it was written to.

    Parameters
    ----------
    path : str

    Raises
    ------
    DataError
        If it cannot be read.
    """
    return _digest(path, _stamp(path))


def _stamp(path: str) -> tuple[int, ...]:
    """What changes when a file is written to."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}.") from error
    return found.st_ino, found.st_size, found.st_mtime_ns


@lru_cache(maxsize=8)
def _digest(path: str, stamp: tuple[int, ...]) -> str:
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}.") from error


@lru_cache(maxsize=1)
def _read(problem: FileProblem, stamps: tuple[tuple[int, ...], ...]) -> Problem:
    options = {field.name: getattr(problem, field.name) for field in fields(problem) if field.name != "file"}
    return read(problem.file, **options)


@dataclass(frozen=True)
class NetworkSetting:
    """Output signs (``"pair"``, ``"+,+,-"`` or a list), activation, and whether output weights are trained."""

    signs: str | tuple[int, ...] = "single"
    activation: str = "relu"
    train_output: bool = False

    def __post_init__(self) -> None:
        self.build()

    def build(self) -> Network:
        """Make the network."""
        signs = signs_from_text(self.signs) if isinstance(self.signs, str) else self.signs
        if not isinstance(signs, Sequence):
            raise ArgumentError(f"signs {self.signs!r:.80} are none of: single, pair, a list as '+,+,-' or [1, 1, -1].")
        if not isinstance(self.train_output, bool):
            raise ArgumentError(f"train_output must be true or false; it is {self.train_output!r:.80}.")
        return Network.of_signs(signs, activation=self.activation, train_output=self.train_output)


@dataclass(frozen=True)
class StartSetting:
    """Where training begins; see :mod:`relubias.starts`. Weights are given as they are, for a problem with features."""

    kind: str = "all-active"
    scale: float | None = None
    depth: float | None = None
    orthogonal: bool = False
    weights: tuple[float, ...] | tuple[tuple[float, ...], ...] | None = None

    #: Which options each kind has beside the scale.
    KINDS: ClassVar[dict[str, str]] = {
        "all-active": "",
        "gaussian": "orthogonal",
        "disjoint": "depth",
        "balanced": "",
        "aligned": "",
        "weights": "weights",
    }

    def __post_init__(self) -> None:
        kind_of({"kind": self.kind}, self.KINDS, "start")
        if self.scale is not None:
            settle(self, scale=real(self.scale, "scale", "a positive number", lambda number: 0 < number < np.inf))
        if self.kind == "weights" and (self.weights is None or self.scale is not None):
            raise ArgumentError(
                "a start of kind 'weights' needs weights, and has no scale: they are taken as they are."
            )
        options = {"depth": self.depth, "orthogonal": self.orthogonal or None, "weights": self.weights}
        for name, value in options.items():
            if value is not None and self.KINDS[self.kind] != name:
                owner = next(kind for kind, option in self.KINDS.items() if option == name)
                raise ArgumentError(f"{name} is that of a start of kind {owner!r}; this one is {self.kind!r}.")

    def build(self, problem: Problem, network: Network, rng: int) -> State:
        """Make the start."""
        scale = self.scale
        if self.kind == "all-active":
            return starts.all_active(problem, network, scale=scale)
        if self.kind == "gaussian":
            return starts.gaussian(problem, network, scale=scale, rng=rng, orthogonal=self.orthogonal)
        if self.kind == "weights":
            return starts.from_weights(problem, network, np.array(self.weights, dtype=np.float64))
        if self.kind == "disjoint":
            return starts.disjoint(problem, network, scale=scale, depth=self.depth)
        return starts.balanced(problem, network, scale=scale, aligned=self.kind == "aligned", rng=rng)


@dataclass(frozen=True)
class DescentSetting:
    """Gradient descent; a step is a number, ``"0.5/lmax"`` or ``"0.5/trace"``, and by default ``"1/lmax"``."""

    kind: ClassVar[str] = "descent"
    step_size: float | str | None = None
    until: int | None = None
    budget: float = 1e9
    loss: str = "squared"

    def __post_init__(self) -> None:
        loss_named(self.loss)
        checked_until(self.until)
        checked_budget(self.budget)
        if isinstance(self.step_size, str):
            parts = step_sizes.parts_of(self.step_size)
            if parts is None or not parts[0] > 0:
                raise ArgumentError(
                    f"step_size {self.step_size!r} is none of: a positive number, '0.5/lmax', '0.5/trace'."
                )
        elif self.step_size is not None:
            step_sizes.checked(self.step_size)

    def build(self, problem: Problem, network: Network, start: State) -> Descent:
        """Make the dynamics, with η in the units of this problem."""
        eta = self.step_size
        if isinstance(eta, str):
            eta = step_sizes.from_text(eta, problem, network, loss=self.loss, start=start)
        return Descent(step_size=eta, until=self.until, budget=self.budget, loss=self.loss)


@dataclass(frozen=True)
class FlowSetting:
    """Gradient flow."""

    kind: ClassVar[str] = "flow"
    until: float | None = None
    max_events: int = 100_000
    accuracy: float = 1e-10

    def build(self, problem: Problem, network: Network, start: State) -> Flow:
        """Make the dynamics."""
        return Flow(until=self.until, max_events=self.max_events, accuracy=self.accuracy)


@dataclass(frozen=True)
class ReferenceSetting:
    """Which solutions w* is the shortest of; None is the one that fits network and start."""

    of: str | None = None

    def __post_init__(self) -> None:
        if self.of is not None:
            settle(self, of=checked_of(self.of))


@dataclass(frozen=True)
class Settings:
    """Everything that makes one cell, but for its seed."""

    problem: Sampler | FileProblem
    network: NetworkSetting
    start: StartSetting
    dynamics: DescentSetting | FlowSetting
    reference: ReferenceSetting

    @classmethod
    def of(cls, tables: Mapping[str, Any]) -> Settings:
        """Read the settings from their tables.

        Raises
        ------
        ArgumentError
            With the key, where something is unknown, missing or out of range.
        """
        given = {name: table_of(tables.get(name, {}), name) for name in TABLES if name != "problem"}
        dynamics: dict[str, Any] = {kind.kind: kind for kind in (DescentSetting, FlowSetting)}
        return cls(
            problem=_problem(tables.get("problem")),
            network=built(NetworkSetting, _tuples(given["network"]), "network"),
            start=built(StartSetting, given["start"], "start"),
            dynamics=rebuilt(dynamics, {"kind": "descent"} | given["dynamics"], "dynamics"),
            reference=built(ReferenceSetting, given["reference"], "reference"),
        )


def table_of(value: Any, where: str) -> dict[str, Any]:
    """Return a table as a dict, or raise ArgumentError with its key."""
    if not isinstance(value, Mapping):
        raise ArgumentError(f"{where} must be a table; it is {value!r:.80}.")
    return dict(value)


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}


def _problem(values: Any) -> Sampler | FileProblem:
    """A file, a sampler by its table, or a sampler by its line; spectra and labels in a table may be lines too."""
    if isinstance(values, str):
        sampler: Sampler = said_of("problem", parse, text=values)
        return sampler
    table = table_of({} if values is None else values, "problem")
    if "file" in table:
        return built(FileProblem, table, "problem")
    if isinstance(table.get("labels"), str):
        table["labels"] = said_of("problem.labels", as_label_law, labels=table["labels"]).as_dict()
    features = table.get("features")
    if isinstance(features, Mapping) and isinstance(features.get("spectrum"), str):
        spectrum = said_of("problem.features.spectrum", as_spectrum, spectrum=features["spectrum"])
        table["features"] = {**features, "spectrum": spectrum.as_dict()}
    try:
        return sampler_from_dict(table)
    except ArgumentError as error:
        text = str(error)
        raise ArgumentError(text if text.startswith("problem") else f"problem.{text}") from error
