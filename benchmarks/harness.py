"""What a row needs to measure itself, in one place: races and ceilings, and what they leave behind."""

from benchmarks.race import Check, Clock, Task, ceiling, elapsed, entrants, peak_memory, race, remark
from benchmarks.row import NotMeasured, Remark, Row, Skipped, WrongAnswer
from benchmarks.sample import Sample

__all__ = [
    "Check",
    "Clock",
    "NotMeasured",
    "Remark",
    "Row",
    "Sample",
    "Skipped",
    "Task",
    "WrongAnswer",
    "ceiling",
    "elapsed",
    "entrants",
    "peak_memory",
    "race",
    "remark",
]
