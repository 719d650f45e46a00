"""Processes that stay serve one study after the other, and are there again after they were ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from study_cases import SMALL, computed, small

from relubias.studies import Store, run
from relubias.studies.runner import Snapshot
from relubias.studies.standing import Standing, standing


def processes(crew: Standing) -> list[int]:
    """Their numbers."""
    return [lane.submit(_own_number).result(timeout=60) for lane in crew.processes]


def _own_number() -> int:
    import os

    return os.getpid()


def test_two_studies_share_processes_and_have_their_own_rows(tmp_path: Path) -> None:
    first, second = small(), small(SMALL.replace("seed = 5", "seed = 6"))
    with standing(workers=1) as crew:
        assert not crew.there, "nothing is started before it is needed"
        run(first, tmp_path / "first.db", crew=crew)
        before = processes(crew)
        run(second, tmp_path / "second.db", crew=crew)
        assert processes(crew) == before
    for study, name in ((first, "first.db"), (second, "second.db")):
        with Store.open(tmp_path / name) as store:
            stored = {cell.id: store.cell(cell.id).values for cell in study.cells()}
        assert stored == {outcome.id: outcome.values for outcome in computed(study)}


def test_a_run_that_was_broken_off_ends_them_and_the_next_one_starts_others(tmp_path: Path) -> None:
    def fall(snapshot: Snapshot) -> None:
        raise RuntimeError("fallen")

    with standing(workers=1) as crew:
        with pytest.raises(RuntimeError, match="fallen"):
            run(small(), tmp_path / "first.db", crew=crew, progress=fall)
        assert not crew.there
        report = run(small(), tmp_path / "first.db", crew=crew)
        assert report.status.done == small().n_cells
    assert not crew.there


def test_processes_of_which_a_cell_was_given_up_serve_no_other_study(tmp_path: Path) -> None:
    """What still comes from them must not be taken for a cell of the next one: ids do not depend on the seed."""
    with standing(workers=1) as crew:
        run(small(SMALL + "[limits]\nseconds = 9"), tmp_path / "first.db", crew=crew)
        events = crew.events
        crew.give_up(crew.lanes[0], next(small().cells()).id)
        crew.close(now=False)
        run(small(SMALL.replace("seed = 5", "seed = 6")), tmp_path / "second.db", crew=crew)
        assert crew.events is not events
