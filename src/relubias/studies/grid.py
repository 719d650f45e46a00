"""Cells: every combination of the values in a grid, each as often as the study repeats it.

An axis is one coordinate with its values, or several *linked* ones that are varied together (n with d = 100 n):

    cells = axis₁ × axis₂ × … × {trial 1, …, trial r}

A coordinate is named by the key of the setting that it replaces, ``problem.n_samples`` say.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relubias.errors import ArgumentError
from relubias.studies.seeds import canonical, id_of, json_of


@dataclass(frozen=True)
class Axis:
    """One coordinate, or several that are varied together.

    Attributes
    ----------
    names : tuple of str
        The keys that are varied.
    points : tuple of tuple
        One value for each name, in canonical spelling.
    """

    names: tuple[str, ...]
    points: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Cell:
    """One cell of a study.

    Attributes
    ----------
    id : str
        16 hexadecimal digits that follow from the coordinates and the trial.
    coordinates : dict
        Values by the names of the coordinates.
    trial : int
        From 1.
    """

    id: str
    coordinates: dict[str, Any]
    trial: int

    @classmethod
    def at(cls, coordinates: Mapping[str, Any], trial: int) -> Cell:
        """The cell at these coordinates.

        Parameters
        ----------
        coordinates : dict
            Values by the names of the coordinates, spelt as in an :class:`Axis`: the id depends on it.
        trial : int
            From 1.

        Returns
        -------
        Cell
        """
        return cls(id_of(coordinates, trial), dict(coordinates), trial)

    def __str__(self) -> str:
        named = ", ".join(f"{name}={shown(value)}" for name, value in self.coordinates.items())
        return f"{self.id} ({named}{', ' if named else ''}trial {self.trial})"


def shown(value: Any) -> str:
    """Return a coordinate as people write it."""
    return value if isinstance(value, str) else json_of(value)


def axes_of(grid: Any, linked: Any) -> tuple[Axis, ...]:
    """Read the axes from the table ``[grid]`` and the tables ``[[linked]]``.

    Raises
    ------
    ArgumentError
        With the key, where there is no list of values, the same value twice, a coordinate twice, or lists of
        different lengths that are linked.
    """
    if not isinstance(grid, Mapping):
        raise ArgumentError(f"grid must be a table of lists; it is {grid!r:.80}.")
    if not isinstance(linked, Sequence) or isinstance(linked, str):
        raise ArgumentError("linked must be written as [[linked]]: one table for each group of coordinates.")
    axes = [_axis({name: values}, "grid") for name, values in _flat(grid, "grid")]
    for number, group in enumerate(linked, start=1):
        where = f"linked[{number}]"
        if not isinstance(group, Mapping) or not group:
            raise ArgumentError(f"{where} must be a table of lists; it is {group!r:.80}.")
        axes.append(_axis(dict(_flat(group, where)), where))
    names = [name for axis in axes for name in axis.names]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"{name} is varied twice; name it once, in [grid] or in one [[linked]].")
        for other in names:
            if name.startswith(f"{other}."):
                raise ArgumentError(f"{name} is varied inside {other}, which is varied itself; leave out one of them.")
    return tuple(axes)


def _flat(table: Mapping[str, Any], where: str, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted keys and their lists: TOML reads a.b = [1] as a table in a table, "a.b" = [1] as one key."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, where, f"{prefix}{key}.")
        elif isinstance(value, list | tuple) and len(value):
            yield prefix + key, value
        else:
            raise ArgumentError(f"{where}.{prefix}{key} must be a list of values, at least one; it is {value!r:.80}.")


def _axis(lists: Mapping[str, Sequence[Any]], where: str) -> Axis:
    columns = [[canonical(value, f"{where}.{name}") for value in values] for name, values in lists.items()]
    lengths = {name: len(values) for name, values in lists.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ArgumentError(f"{where}: linked lists must have as many values each: {told}.")
    points = tuple(zip(*columns, strict=True))
    seen: set[str] = set()
    for point in points:
        text = json_of(point)
        if text in seen:
            raise ArgumentError(f"{where}.{' and '.join(lists)}: {shown(point[0])} is listed twice.")
        seen.add(text)
    return Axis(tuple(lists), points)


def size_of(axes: Sequence[Axis], repeats: int) -> int:
    """How many cells there are."""
    return math.prod(len(axis.points) for axis in axes) * repeats


def cells_of(axes: Sequence[Axis], repeats: int) -> Iterator[Cell]:
    """Yield all cells, the last axis and then the trials fastest."""
    names = [name for axis in axes for name in axis.names]
    for points in itertools.product(*(axis.points for axis in axes)):
        coordinates = dict(zip(names, itertools.chain(*points), strict=True))
        for trial in range(1, repeats + 1):
            yield Cell.at(coordinates, trial)
