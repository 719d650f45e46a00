"""Progress is told in one line: counts, speed, time left, and the median so far."""

from __future__ import annotations

import io

from relubias.studies.progress import StudyProgress, duration
from relubias.studies.runner import Snapshot
from relubias.studies.work import Outcome


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def snapshots() -> list[Snapshot]:
    """Three cells of ten come back, one of which failed."""
    values = [{"gap.absolute": 3.0}, {"gap.absolute": 1.0}, {}]
    outcomes = [Outcome(str(i), "done" if value else "failed", values=value) for i, value in enumerate(values)]
    first = Snapshot("2 processes", 0, 0, 10, 0, 0.0)
    return [first, *(Snapshot("2 processes", 2, 1, 7, 3, 1.5, (outcome,)) for outcome in outcomes)]


def shown(stream: io.StringIO, clock: list[float]) -> str:
    """What is written while the clock goes on."""
    with StudyProgress(stream, column="gap.absolute", so_far=[2.0, 5.0], clock=lambda: clock[0]) as progress:
        for snapshot in snapshots():
            progress(snapshot)
            clock[0] += 11.0
    return stream.getvalue()


def test_plain_lines_elsewhere_than_on_a_terminal() -> None:
    lines = shown(io.StringIO(), [0.0]).splitlines()
    assert lines[0] == "relubias: 2 processes"
    assert lines[-1] == "relubias: 2 done, 1 failed, 7 pending; 2 cells/s; 3.5 s left; median gap.absolute 2"
    assert not any("\r" in line for line in lines)


def test_one_line_on_a_terminal() -> None:
    text = shown(Terminal(), [0.0])
    assert text.count("\n") == 2
    assert text.count("\r\x1b[K") == 4


def test_a_median_of_nothing_is_not_told() -> None:
    progress = StudyProgress(io.StringIO())
    assert progress.median is None
    assert "median" not in progress.line(snapshots()[-1])


def test_times_are_said_as_people_say_them() -> None:
    assert [duration(seconds) for seconds in (0.04, 45, 600, 36000, float("inf"))] == [
        *("0.04 s", "45 s", "10 min", "10.0 h", "an unknown time")
    ]
