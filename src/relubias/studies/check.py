"""What a study will take, before it is run.

Cells differ by their size, samples times neurons, far more than by their trial. So trial 1 is computed at the ends, in
a worker process: the smallest and the largest size, each with everything else at its first and at its last value.
Between the sizes time is taken for a power of the size,

    t(s) = t₀ (s/s₀)^p,        p = log(t₁/t₀) / log(s₁/s₀) between 0 and 4,

and summed over all cells. Nothing of it is stored. It is a forecast and no bound: training whose pattern changes for
ever takes as long as its budget.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from relubias.studies.grid import Axis, Cell
from relubias.studies.limits import OVER_TIME
from relubias.studies.processes import checked_workers, once
from relubias.studies.settings import Settings
from relubias.studies.spec import Study
from relubias.studies.work import Outcome

#: Seconds after which a cell that is tried is stopped, where the study has no limit.
PATIENCE = 60.0
#: More than a decomposition of K takes no step of a cell, but for long training.
STEEPEST = 4.0


@dataclass(frozen=True)
class Probe:
    """A cell that was computed for the forecast.

    Attributes
    ----------
    cell : Cell
    size : int
        Its number of samples times its number of neurons.
    outcome : Outcome
    at_least : float
        Seconds that it took at least, where it was killed and cannot tell.
    """

    cell: Cell
    size: int
    outcome: Outcome
    at_least: float = 0.0

    @property
    def cpu_seconds(self) -> float:
        """Time of the processor, or what it was at least."""
        return max(self.outcome.cpu_seconds, self.at_least)


@dataclass(frozen=True)
class Forecast:
    """What a study will take.

    Attributes
    ----------
    n_cells : int
    workers : int
    cpu_seconds : float
        Time of processors in all cells.
    megabytes : float
        Memory of all workers together, the program included, with the largest cell that was tried in each.
    exponent : float
        p, of time in size; 0 where all sizes are equal.
    probes : tuple of Probe
    """

    n_cells: int
    workers: int
    cpu_seconds: float
    megabytes: float
    exponent: float
    probes: tuple[Probe, ...]

    @property
    def seconds(self) -> float:
        """By the clock, with all workers busy."""
        return self.cpu_seconds / self.workers

    @property
    def is_whole(self) -> bool:
        """Whether every cell that was tried was computed; else time and memory may be far more, or less."""
        return all(probe.outcome.status == "done" for probe in self.probes)


def forecast(study: Study, *, workers: int | None = None) -> Forecast:
    """Compute a few cells of a study, and say what all of it will take.

    Parameters
    ----------
    study : Study
    workers : int, optional
        By default, and at most, one a core.

    Raises
    ------
    ArgumentError
        If there cannot be so many workers.
    """
    count = checked_workers(workers)
    sized = [axis for axis in study.axes if len({_size(study, axis, place) for place in range(len(axis.points))}) > 1]
    sizes = [_size_at(study, _coordinates(sized, points)) for points in _products(sized)]
    tried = list({cell.id: cell for cell in (Cell.at(ends, 1) for ends in _ends(study, sized, sizes))}.values())
    seconds = PATIENCE if study.limits.seconds is None else study.limits.seconds
    outcomes = once(replace(study, limits=replace(study.limits, seconds=seconds)), tried)
    probes = tuple(
        Probe(
            cell,
            _size_at(study, cell.coordinates),
            outcome,
            at_least=seconds if outcome.message.startswith(OVER_TIME) else 0.0,
        )
        for cell, outcome in zip(tried, outcomes, strict=True)
    )
    smallest, largest = min(sizes), max(sizes)
    low, high = (
        max(1e-4, fmean(probe.cpu_seconds for probe in probes if probe.size == size)) for size in (smallest, largest)
    )
    exponent = 0.0
    if largest > smallest:
        exponent = min(STEEPEST, max(0.0, math.log(high / low) / math.log(largest / smallest)))
    each = study.n_cells / len(sizes)
    return Forecast(
        n_cells=study.n_cells,
        workers=count,
        cpu_seconds=sum(each * low * (size / smallest) ** exponent for size in sizes),
        megabytes=count * max(probe.outcome.peak_megabytes for probe in probes),
        exponent=exponent,
        probes=probes,
    )


def _products(axes: Sequence[Axis]) -> itertools.product[tuple[tuple[Any, ...], ...]]:
    return itertools.product(*(axis.points for axis in axes))


def _coordinates(axes: Sequence[Axis], points: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    names = [name for axis in axes for name in axis.names]
    return dict(zip(names, itertools.chain(*points), strict=True))


def _ends(study: Study, sized: Sequence[Axis], sizes: Sequence[int]) -> list[dict[str, Any]]:
    """Coordinates at the smallest and the largest size, all others at their first and at their last value."""
    points = [_coordinates(sized, chosen) for chosen in _products(sized)]
    others = [axis for axis in study.axes if axis not in sized]
    ends = []
    for size in (min(sizes), max(sizes)):
        for place in (0, -1):
            rest = _coordinates(others, [axis.points[place] for axis in others])
            chosen = points[sizes.index(size)] | rest
            ends.append({name: chosen[name] for name in study.coordinates})
    return ends


def _size(study: Study, axis: Axis, place: int) -> int:
    return _size_at(study, dict(zip(axis.names, axis.points[place], strict=True)))


def _size_at(study: Study, coordinates: Mapping[str, Any]) -> int:
    """Samples, test points included, times neurons; samples of a file count as one."""
    first = next(iter(study.corners()))
    settings = Settings.of(study.tables_at(first | dict(coordinates)))
    rows = getattr(settings.problem, "n_samples", 1) + getattr(settings.problem, "n_test", 0)
    return int(rows) * settings.network.build().n_neurons
