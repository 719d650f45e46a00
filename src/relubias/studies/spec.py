"""A study as it is written down: a frozen record, in TOML and back. What is wrong is said with its key.

::

    name = "step and dimension"
    seed = 1
    repeats = 20                                   # trials of every cell

    problem = "gaussian n=100 d=1e4"               # or a table; network, start, dynamics, reference likewise

    [dynamics]
    step_size = "1/trace"

    [grid]
    problem.features.n_features = [1e3, 1e6, 1e12]
    dynamics.step_size = ["1/trace", "0.1/trace"]

    [measure]
    columns = ["gap.absolute", "gap.relative"]
"""

from __future__ import annotations

import copy
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from relubias import step_sizes
from relubias.errors import ArgumentError, DataError
from relubias.sampling.records import said_of, unknown, whole
from relubias.sampling.spec import parse
from relubias.studies.grid import Axis, Cell, axes_of, cells_of, size_of
from relubias.studies.limits import Limits, limits_from
from relubias.studies.measures import MEASURES, USUAL
from relubias.studies.seeds import canonical, json_of, seed_of
from relubias.studies.settings import TABLES, FileProblem, Settings, digest_of, table_of

_KEYS = ("name", "seed", "repeats", *TABLES, "grid", "linked", "measure", "limits")

#: More cells than this are a mistake in the grid.
MOST_CELLS = 10_000_000

#: Characters of a value that are shown where two studies differ.
_LONG = 120


@dataclass(frozen=True)
class Study:
    """What is to be computed.

    Attributes
    ----------
    name : str
    seed : int
        Other seeds give other problems and starts in every cell.
    repeats : int
        How many trials each combination of values has.
    tables : dict
        The settings that all cells share, by table: problem, network, start, dynamics, reference.
    axes : tuple of Axis
        What is varied.
    columns : tuple of str
        What is measured; see ``relubias.studies.MEASURES``.
    limits : Limits
        What a cell may take.
    files : dict
        Digests of the data files by path, where cells are to be of these very files; a store has them.
    """

    name: str
    seed: int
    repeats: int
    tables: dict[str, Any]
    axes: tuple[Axis, ...] = ()
    columns: tuple[str, ...] = USUAL
    limits: Limits = field(default_factory=Limits)
    files: Mapping[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Study:
        """Read a study from a TOML file.

        Parameters
        ----------
        path : path

        Returns
        -------
        Study

        Raises
        ------
        DataError, ArgumentError
            If there is no such file, or something is wrong in it; the message names the file and the key.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}.") from error
        study: Study = said_of(os.fspath(path), cls.from_toml, text=text)
        return study

    @classmethod
    def from_toml(cls, text: str) -> Study:
        """Read a study from the text of a TOML file.

        Parameters
        ----------
        text : str

        Returns
        -------
        Study

        Raises
        ------
        ArgumentError, DataError
            If it is no TOML; with the key, where something is unknown, missing or out of range.
        """
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise DataError(f"this is no TOML: {str(error).rstrip('.')}.") from error
        return cls.from_dict(values)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Study:
        """Read a study from plain values, as :meth:`as_dict` gives them.

        Parameters
        ----------
        values : dict
            At least the name and the problem.

        Returns
        -------
        Study

        Raises
        ------
        ArgumentError, DataError
            With the key, where something is unknown, missing or out of range.
        """
        for key in values:
            if key not in _KEYS:
                raise unknown("the key", key, _KEYS)
        for key in ("name", "problem"):
            if key not in values:
                raise ArgumentError(f"{key} is missing.")
        if not isinstance(values["name"], str) or not values["name"].strip():
            raise ArgumentError(f"name must be some words; it is {values['name']!r:.80}.")
        study = cls(
            name=values["name"],
            seed=whole(values.get("seed", 0), "seed", 0, 2**63 - 1),
            repeats=whole(values.get("repeats", 1), "repeats", 1, MOST_CELLS),
            tables=_tables(values),
            axes=axes_of(values.get("grid", {}), values.get("linked", [])),
            columns=_columns(values.get("measure", {})),
            limits=limits_from(values.get("limits", {})),
        )
        study._check()
        return study

    def _check(self) -> None:
        """Refuse too many cells, coordinates that are no settings, and values that no setting takes."""
        if self.n_cells > MOST_CELLS:
            raise ArgumentError(f"the grid has {self.n_cells:,} cells; at most {MOST_CELLS:,} are one study.")
        for name in self.coordinates:
            if name.split(".")[0] not in TABLES:
                raise unknown(f"grid.{name}: the table", name.split(".")[0], TABLES)
            if name in self.columns:
                raise ArgumentError(f"measure.columns: {name} is a coordinate of the grid, and in the table anyway.")
        for coordinates in self.corners():
            Settings.of(self.tables_at(coordinates))
        for axis in self.axes:
            _require_different(axis)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of all coordinates."""
        return tuple(name for axis in self.axes for name in axis.names)

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return size_of(self.axes, self.repeats)

    def cells(self) -> Iterator[Cell]:
        """Yield all cells."""
        return cells_of(self.axes, self.repeats)

    def corners(self) -> Iterator[dict[str, Any]]:
        """Yield coordinates in which every value occurs: all at their first one, and each axis in turn at the others.

        Settings that fit each other here and not elsewhere make cells that fail and say why.
        """
        first = {name: value for axis in self.axes for name, value in zip(axis.names, axis.points[0], strict=True)}
        yield first
        for axis in self.axes:
            for point in axis.points[1:]:
                yield first | dict(zip(axis.names, point, strict=True))

    def tables_at(self, coordinates: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tables with these coordinates in the place of what they replace.

        Parameters
        ----------
        coordinates : dict
            Values by dotted keys, ``problem.n_samples`` say.

        Returns
        -------
        dict

        Raises
        ------
        ArgumentError
            If a coordinate leads through something that is no table.
        """
        tables = copy.deepcopy(self.tables)
        for name, value in coordinates.items():
            *path, last = name.split(".")
            place = tables
            for depth, key in enumerate(path, start=1):
                place = place.setdefault(key, {})
                if not isinstance(place, dict):
                    raise ArgumentError(f"grid.{name}: {'.'.join(path[:depth])} is {place!r:.80}, and no table.")
            place[last] = value
        return tables

    def digests(self) -> dict[str, str]:
        """Return a digest of each file that problems are read from, by its path.

        Raises
        ------
        DataError
            If one cannot be read.
        """
        problems = [Settings.of(self.tables_at(coordinates)).problem for coordinates in self.corners()]
        paths = {path for problem in problems if isinstance(problem, FileProblem) for path in problem.paths}
        return {path: digest_of(path) for path in sorted(paths)}

    def settings_and_seed(self, cell: Cell) -> tuple[Settings, int]:
        """Return all that the result of a cell depends on.

        Parameters
        ----------
        cell : Cell

        Returns
        -------
        settings : Settings
        seed : int

        Raises
        ------
        ArgumentError, DataError
            With the key, where something is unknown, missing or out of range.
        """
        return Settings.of(self.tables_at(cell.coordinates)), seed_of(self.seed, cell.coordinates, cell.trial)

    @property
    def core(self) -> Study:
        """The study without its grid: what a worker needs beside the cells that it is given."""
        return replace(self, axes=(), repeats=1)

    def as_dict(self) -> dict[str, Any]:
        """The study as plain values, from which :meth:`from_dict` rebuilds it."""
        grid = {axis.names[0]: [point[0] for point in axis.points] for axis in self.axes if len(axis.names) == 1}
        linked = [
            {name: [point[place] for point in axis.points] for place, name in enumerate(axis.names)}
            for axis in self.axes
            if len(axis.names) > 1
        ]
        limits = {name: value for name, value in asdict(self.limits).items() if value is not None}
        parts = {"grid": grid, "linked": linked, "limits": limits, "measure": {"columns": list(self.columns)}}
        head = {"name": self.name, "seed": self.seed, "repeats": self.repeats}
        return head | self.tables | {key: part for key, part in parts.items() if part}

    def to_toml(self) -> str:
        """Write the study as TOML, every setting under its full name."""
        import tomli_w

        return tomli_w.dumps(self.as_dict())

    def repeated(self, repeats: int) -> Study:
        """Return the same study with another number of trials.

        Parameters
        ----------
        repeats : int

        Returns
        -------
        Study

        Raises
        ------
        ArgumentError
            If it is no whole number from 1 to `MOST_CELLS`.
        """
        return replace(self, repeats=whole(repeats, "repeats", 1, MOST_CELLS))

    def differences(self, other: Study) -> list[str]:
        """Say what differs in another study, one line a key; limits make no difference to a result.

        Parameters
        ----------
        other : Study

        Returns
        -------
        list of str
        """
        mine, theirs = (dict(_leaves(study.as_dict())) for study in (self, other))
        lines = []
        for key in {**mine, **theirs}:
            if mine.get(key) != theirs.get(key) and not key.startswith("limits."):
                before, after = (_shortened(values.get(key, "not there")) for values in (mine, theirs))
                lines.append(f"{key}: {before} → {after}")
        return lines

    def extends(self, other: Study) -> bool:
        """Whether all that the other study has, cells and settings, is in this one too.

        Parameters
        ----------
        other : Study

        Returns
        -------
        bool
        """
        mine, theirs = self.core, other.core
        if mine.differences(theirs) or set(self.coordinates) != set(other.coordinates):
            return False
        own = {cell.id for cell in self.cells()}
        return all(cell.id in own for cell in other.cells())


def _require_different(axis: Axis) -> None:
    """Refuse one step in two spellings, which would be two cells with two seeds."""
    meanings: dict[str, Any] = {}
    for point in axis.points:
        same = [
            step_sizes.parts_of(value) if name == "dynamics.step_size" and isinstance(value, str) else value
            for name, value in zip(axis.names, point, strict=True)
        ]
        before = meanings.setdefault(json_of(same), point)
        if before is not point:
            told = " and ".join(repr(value[axis.names.index("dynamics.step_size")]) for value in (before, point))
            raise ArgumentError(f"grid.dynamics.step_size: {told} are the same step; list it once.")


def _tables(values: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of settings; a problem in one line becomes the table that it stands for."""
    problem = values["problem"]
    if isinstance(problem, str):
        problem = _without_none(said_of("problem", parse, text=problem).as_dict())
    given = {"problem": problem} | {name: values[name] for name in TABLES[1:] if name in values}
    return {name: canonical(table_of(table, name), name) for name, table in given.items()}


def _columns(values: Any) -> tuple[str, ...]:
    table = table_of(values, "measure")
    for key in table:
        if key != "columns":
            raise unknown("measure: the key", key, ["columns"])
    columns = table.get("columns", USUAL)
    if not isinstance(columns, list | tuple) or not columns:
        raise ArgumentError(f"measure.columns must be a list of names; it is {columns!r:.80}.")
    for name in columns:
        if name not in MEASURES:
            raise unknown("measure.columns: the column", name, list(MEASURES))
    if len(set(columns)) < len(columns):
        raise ArgumentError("measure.columns names a column twice.")
    return tuple(columns)


def _shortened(text: str) -> str:
    """The two ends of a long text, where lists that were made longer differ."""
    return text if len(text) <= _LONG else f"{text[: _LONG // 2]} … {text[-_LONG // 2 :]}"


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_none(value) if isinstance(value, dict) else value
        for key, value in values.items()
        if value is not None
    }


def _leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield dotted keys with their values as text."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key, json_of(value)
