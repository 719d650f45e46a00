"""Floor 6: studies, which are many problems from start to answer, none of which can be lost.

A study is a table of cells: every combination of the values in its grid, several times. It is written down in a TOML
file, run by as many processes as there are cores (or by a cluster), kept in one file of which every finished cell is
part at once, and read as one table::

    study = relubias.studies.Study.read("scaling.toml")
    report = relubias.studies.run(study, "scaling.db", workers=2)
    table = relubias.studies.Store.open("scaling.db").to_pandas()

Cells depend on nothing but the study: the table is the same to the bit, in whatever order, by however many processes
and after however many interruptions they were computed, on machines of one kind with the same versions.
"""

from __future__ import annotations

from relubias.studies.check import Forecast, forecast
from relubias.studies.grid import Axis, Cell
from relubias.studies.limits import Limits
from relubias.studies.measured import Measure
from relubias.studies.measures import MEASURES
from relubias.studies.rerun import Rerun, rerun
from relubias.studies.runner import RunReport, Snapshot, run
from relubias.studies.spec import Study
from relubias.studies.store import Store
from relubias.studies.stored import StoredCell, StudyStatus

__all__ = [
    "MEASURES",
    "Axis",
    "Cell",
    "Forecast",
    "Limits",
    "Measure",
    "Rerun",
    "RunReport",
    "Snapshot",
    "Store",
    "StoredCell",
    "Study",
    "StudyStatus",
    "forecast",
    "rerun",
    "run",
]
