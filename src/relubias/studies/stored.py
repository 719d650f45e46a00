"""What a store tells: how far its study is, and one of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relubias.studies.grid import Cell
from relubias.studies.locks import Holder


@dataclass(frozen=True)
class StudyStatus:
    """How far a study is.

    Attributes
    ----------
    name : str
    done, failed, pending : int
        Numbers of cells.
    failures : tuple of (str, int)
        The commonest messages of failed cells, and how many have them.
    cpu_seconds : float
        Time of processors in all cells.
    holder : Holder or None
        The process that is writing now.
    """

    name: str
    done: int
    failed: int
    pending: int
    failures: tuple[tuple[str, int], ...]
    cpu_seconds: float
    holder: Holder | None

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return self.done + self.failed + self.pending


@dataclass(frozen=True)
class StoredCell:
    """One cell of a store.

    Attributes
    ----------
    cell : Cell
    status : str
        ``"done"``, ``"failed"`` or ``"pending"``.
    values, notes : dict
        The measured columns, and why a value is None.
    message, traceback : str
        Why it failed.
    environment : dict
        Versions and machine.
    seconds, cpu_seconds, finished, peak_megabytes : float or None
        By the clock; of the processor; when, in seconds since 1970; most memory of its process by then.
    attempts : int
        How many workers were lost with it.
    """

    cell: Cell
    status: str
    values: dict[str, Any]
    notes: dict[str, str]
    message: str
    traceback: str
    environment: dict[str, Any]
    seconds: float | None
    cpu_seconds: float | None
    finished: float | None
    peak_megabytes: float | None
    attempts: int
