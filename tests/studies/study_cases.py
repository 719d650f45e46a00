"""Small studies for the tests, and a crew without processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from relubias.studies.crew import Came, Events, Lane, Lost
from relubias.studies.grid import Cell
from relubias.studies.spec import Study
from relubias.studies.store import Store
from relubias.studies.work import Outcome, failed, had_to_be_killed, work

SMALL = """
name = "small"
seed = 5
repeats = 3

problem = "gaussian n=8 d=100"

[grid]
problem.features.n_features = [1e2, 1e6]
dynamics.step_size = ["1/trace", "0.1/trace"]

[measure]
columns = ["run.status", "run.at_limit", "run.stabilised_at", "gap.absolute", "gap.relative", "run.test_error"]
"""


def small(text: str = SMALL, **changes: object) -> Study:
    """Twelve cells, or others."""
    return replace(Study.from_toml(text), **changes)  # type: ignore[arg-type]


def computed(study: Study, cells: Sequence[Cell] | None = None) -> list[Outcome]:
    """The outcomes of cells, computed here."""
    return [work(study, cell, alone=False) for cell in (study.cells() if cells is None else cells)]


def filled(path: Path) -> Path:
    """Make a store of the small study of which all cells are done but the last, which failed."""
    with Store.create(path, small()) as store:
        *outcomes, last = computed(store.study)
        store.commit([*outcomes, Outcome(last.id, "failed", message="it broke", traceback="here")])
    return path


class InThisProcess:
    """A crew of one lane that computes a batch when it is sent; `fate` may let the worker die at a cell."""

    batch_seconds = 0.01
    layout = "this process"

    def __init__(self, study: Study, fate: Callable[[Cell], bool] = lambda cell: False) -> None:
        self.study, self.fate = study, fate
        self.events = Events()
        self.lanes: Sequence[Lane] = [Lane()]
        self.sent: list[list[str]] = []
        self.given_up: list[str] = []
        self.closed: bool | None = None

    def send(self, lane: Lane, cells: Sequence[Cell]) -> None:
        """Compute until the worker dies."""
        lane.give(cells)
        self.sent.append([cell.id for cell in cells])
        for cell in cells:
            if self.fate(cell):
                self.events.put(Lost(lane, (), (), "the worker died"))
                return
            self.events.put(Came(lane, work(self.study, cell, alone=False)))

    def mourn(self, lost: Lost) -> Lost:
        """All that is out was held, and the first of it is to blame."""
        held = tuple(lost.lane.out)
        return Lost(lost.lane, held, held[:1], lost.reason)

    def look(self) -> None:
        """Nobody comes or goes."""

    def give_up(self, lane: Lane, id: str) -> Outcome:
        """Note it."""
        self.given_up.append(id)
        return failed(id, had_to_be_killed(self.study.limits))

    def close(self, *, now: bool) -> None:
        """Note it."""
        self.closed = now
