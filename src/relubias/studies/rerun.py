"""One cell again, alone: the evidence that a row is what its id says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relubias.studies.processes import once
from relubias.studies.store import Store
from relubias.studies.stored import StoredCell
from relubias.studies.work import Outcome


@dataclass(frozen=True)
class Rerun:
    """A cell as it is stored, and as it is computed now.

    Attributes
    ----------
    stored : StoredCell
    now : Outcome
    differences : dict
        (stored, now) for each measured column that differs in a single bit; empty also where nothing was stored.
    """

    stored: StoredCell
    now: Outcome
    differences: dict[str, tuple[Any, Any]]

    @property
    def equal(self) -> bool | None:
        """Whether the row is the same to the bit; None where none is stored."""
        if self.stored.status != "done":
            return None
        return self.now.status == "done" and not self.differences


def rerun(store: Store, id: str) -> Rerun:
    """Compute one cell of a store again, in a worker process, and compare it with what is stored.

    Parameters
    ----------
    store : Store
    id : str
        The id of a cell, or the beginning of it.

    Raises
    ------
    ArgumentError
        If there is no such cell, or several.
    DataError
        If a data file is not the one of which the row is.
    """
    stored = store.cell(id)
    store.require_same_files()
    (now,) = once(store.study, [stored.cell])
    pairs = {name: (value, now.values.get(name)) for name, value in stored.values.items()}
    return Rerun(stored, now, {name: pair for name, pair in pairs.items() if not _same(*pair)})


def _same(stored: Any, now: Any) -> bool:
    """Equal; SQLite keeps a truth value as 0 or 1."""
    return bool(stored == now)
