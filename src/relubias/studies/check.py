"""What a study will take, before it is run.

Cells differ in size by far more than trials do. So trial 1 of the two ends is computed here, in a worker process
and within the limits of the study: the cells with the fewest and the most samples, each at the first and the last value
of everything else. Between the two sizes time is taken for a power law of the number of samples, and the time of all
cells is the sum over them. Nothing of it is stored. (A forecast, not a bound: a run whose pattern changes for ever takes as
long as its budget.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from relubias.studies.grid import Cell
from relubias.studies.limits import Limits
from relubias.studies.processes import cores, once
from relubias.studies.spec import Study
from relubias.studies.work import Outcome

#: Seconds after which a probe is stopped, where the study has no limit.
PATIENCE = 60.0


@dataclass(frozen=True)
class Probe:
    """A cell that was computed for the forecast.

    Attributes
    ----------
    cell : Cell
    size : float
        n_samples times the number of neurons, or 1 where a file says how many samples there are.
    outcome : Outcome
    megabytes : float
        Most memory of its process, that of the program included.
    """

    cell: Cell
    size: float
    outcome: Outcome
    megabytes: float


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
        Of all workers together, at the largest cell that was tried.
    probes : tuple of Probe
    """

    n_cells: int
    workers: int
    cpu_seconds: float
    megabytes: float
    probes: tuple[Probe, ...]

    @property
    def seconds(self) -> float:
        """By the clock, with all workers busy."""
        return self.cpu_seconds / self.workers


def forecast(study: Study, *, workers: int | None = None) -> Forecast:
    """Compute the cells at the ends of a study, and say what all of it will take.

    Parameters
    ----------
    study : Study
    workers : int, optional
        By default one a core.
    """
    patient = study if study.limits.seconds is not None else replace(study, limits=_patient(study.limits))
    corners = list(study.corners())
    ends = _ends(study)
    cells = [Cell.at(coordinates, 1) for coordinates in ends]
    outcomes = once(patient, cells)
    probes = tuple(
        Probe(cell, _size(study, cell.coordinates), outcome, outcome.peak_bytes / 1e6)
        for cell, outcome in zip(cells, outcomes, strict=True)
    )
    del corners
    count = cores() if workers is None else workers
    return Forecast(
        n_cells=study.n_cells,
        workers=count,
        cpu_seconds=_total(study, probes),
        megabytes=count * max(probe.megabytes for probe in probes),
        probes=probes,
    )


def _patient(limits: Limits) -> Limits:
    return replace(limits, seconds=PATIENCE)


def _ends(study: Study) -> list[dict[str, Any]]:
    raise NotImplementedError


def _size(study: Study, coordinates: Mapping[str, Any]) -> float:
    raise NotImplementedError


def _total(study: Study, probes: tuple[Probe, ...]) -> float:
    raise NotImplementedError(math)
