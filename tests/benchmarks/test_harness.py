"""The benchmark harness measures what it says: checked with tasks that move a clock of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import benchmarks.__main__ as command
import benchmarks.rows
from benchmarks.harness import (
    Check,
    Remark,
    Row,
    Sample,
    Skipped,
    WrongAnswer,
    ceiling,
    entrants,
    peak_memory,
    race,
)
from benchmarks.table import HEADER, cells, table


class Stage:
    """A clock, and tasks that take the durations they were given, one a call."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[str] = []

    def task(self, name: str, *durations: float) -> Callable[[], None]:
        remaining: Iterator[float] = iter(durations)

        def run() -> None:
            self.calls.append(name)
            self.now += next(remaining)

        return run

    def clock(self) -> float:
        return self.now


def test_ratio_and_spread_are_those_of_the_pairs() -> None:
    stage = Stage()
    ours = stage.task("ours", 100.0, 1.0, 2.0, 3.0, 4.0, 10.0)
    rival = stage.task("rival", 100.0, 2.0, 2.0, 2.0, 2.0, 2.0)
    row = race("row", ours, "them", rival, at_most=1.5, repeats=5, clock=stage.clock)
    assert row.seconds == Sample(3.0, 2.0, 4.0, 5)
    assert row.rival_seconds == Sample(2.0, 2.0, 2.0, 5)
    assert row.ratio == Sample(1.5, 1.0, 2.0, 5)
    assert row.met is True


def test_the_ratio_is_paired_not_one_of_medians() -> None:
    stage = Stage()
    ours = stage.task("ours", 0.0, 1.0, 10.0, 100.0)
    rival = stage.task("rival", 0.0, 100.0, 10.0, 20.0)
    row = race("row", ours, "them", rival, repeats=3, patience=1e9, clock=stage.clock)
    assert row.ratio is not None
    assert row.ratio.median == 1.0
    assert row.met is None


def test_the_race_is_interleaved_and_warmed_up() -> None:
    stage = Stage()
    race("row", stage.task("a", *[1.0] * 9), "them", stage.task("b", *[1.0] * 9), repeats=4, clock=stage.clock)
    assert "".join(stage.calls) == "ab" + "abba" * 2


def test_a_rival_with_another_answer_is_refused_before_anything_is_timed() -> None:
    stage = Stage()
    tasks = stage.task("ours", 1.0), stage.task("rival", 1.0)
    wrong = Check(lambda: 2e-10, 1e-10)
    with pytest.raises(WrongAnswer, match=r"relubias and them differ by 2\.0e-10, more than 1e-10\."):
        race("row", tasks[0], "them", tasks[1], check=wrong, clock=stage.clock)
    assert stage.calls == []
    with pytest.raises(WrongAnswer):  # no answer at all
        race("row", tasks[0], "them", tasks[1], check=Check(lambda: float("nan"), 1.0), clock=stage.clock)


def test_answers_that_agree_are_raced_and_their_difference_is_shown() -> None:
    stage = Stage()
    check = Check(lambda: 1e-10, 1e-10)
    row = race(
        "row", stage.task("a", 1.0), "them", stage.task("b", 4.0), repeats=1, check=check, clock=stage.clock, at_most=1
    )
    assert row.deviation == 1e-10
    assert cells(row)[HEADER.index("answers differ by")] == "1e-10"
    assert "".join(stage.calls) == "ab"  # the check was the warm-up


def test_a_rival_that_is_missing_or_refused_takes_no_other_with_it() -> None:
    sound = Row("sound", Sample.of([1.0]))

    def refused() -> Row:
        raise WrongAnswer("another answer.")

    def missing() -> Row:
        raise Skipped("not installed.")

    entries = list(entrants([missing, refused, lambda: sound]))
    assert entries == [Remark("Skipped: not installed.", False), Remark("Refused: another answer.", True), sound]


def test_seconds_are_multiplied_by_the_steps_that_they_stand_for() -> None:
    stage = Stage()
    tasks = stage.task("a", 0.0, 8.0), stage.task("b", 0.0, 2.0)
    row = race("row", tasks[0], "them", tasks[1], repeats=1, factors=(0.25, 1e6), clock=stage.clock, at_most=1e-5)
    assert row.seconds.median == 2.0
    assert row.rival_seconds is not None
    assert row.rival_seconds.median == 2e6
    assert row.met is True
    assert [cells(row)[HEADER.index(column)] for column in ("rival's", "ours/rival", "goal")] == [
        "23.1 (23.1-23.1) days",
        "1/1000000 (1/1000000-1/1000000)",
        "<= 1/100000",
    ]


def test_a_race_ends_with_the_patience() -> None:
    stage = Stage()
    tasks = stage.task("a", *[1.0] * 9), stage.task("b", *[4.0] * 9)
    row = race("row", tasks[0], "them", tasks[1], repeats=9, patience=8.0, clock=stage.clock)
    assert row.seconds.count == 2


def test_a_ceiling_counts_every_call() -> None:
    stage = Stage()
    row = ceiling("row", stage.task("ours", 5.0, 1.0, 2.0), at_most=1.9, clock=stage.clock)
    assert row.seconds.median == 2.0
    assert row.met is False


def test_one_measurement_is_its_own_spread() -> None:
    assert Sample.of([7.0]) == Sample(7.0, 7.0, 7.0)


def test_peak_memory_sees_numpy_arrays() -> None:
    assert 8e6 <= peak_memory(lambda: np.ones(10**6)) < 9e6


def test_the_table_shows_misses_and_units() -> None:
    fast, slow = Sample(2e-5, 1e-5, 3e-5), Sample(3.0, 3.0, 3.0)
    rows = [Row("a", fast, "them", fast, Sample(1.0, 0.9, 1.1), 1.5), Row("b", slow, at_most=2.0, is_ceiling=True)]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table(rows).splitlines()]
    assert lines[0] == list(HEADER)
    assert lines[2] == [
        "a",
        "20 (10-30) µs",
        "them",
        "20 (10-30) µs",
        "1.00 (0.90-1.10)",
        "<= 1.5x",
        "yes",
        "1",
        "",
        "",
    ]
    assert lines[3] == ["b", "3 (3-3) s", "ceiling", "", "", "<= 2 s", "NO", "1", "", ""]


def test_the_command_runs_the_rows_that_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "made_up_row.py").write_text(
        "from benchmarks.harness import ceiling\n"
        "def measure():\n    yield ceiling('made up', lambda: None, at_most=9.0)\n"
    )
    (tmp_path / "absent_row.py").write_text(
        "from benchmarks.harness import Skipped\ndef measure():\n    raise Skipped('no data')\n"
    )
    monkeypatch.setattr(benchmarks.rows, "__path__", [str(tmp_path)])
    output = tmp_path / "table.md"
    monkeypatch.setattr(sys, "argv", ["bench", "made_up_row", "absent_row", "--output", str(output)])
    assert command.main() == 0
    printed = capsys.readouterr().out
    assert "| made up" in printed
    assert "Skipped: absent_row: no data" in printed
    assert output.read_text(encoding="utf-8") == printed


def test_a_row_that_fails_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken_row.py").write_text("def measure():\n    raise ValueError('no root')\n")
    (tmp_path / "sound_row.py").write_text(
        "from benchmarks.harness import ceiling\n"
        "def measure():\n    yield ceiling('sound', lambda: None, at_most=9.0)\n"
    )
    monkeypatch.setattr(benchmarks.rows, "__path__", [str(tmp_path)])
    monkeypatch.setattr(sys, "argv", ["bench"])
    assert command.main() == 1
    printed = capsys.readouterr().out
    assert "| sound" in printed
    assert "Failed: broken_row: ValueError: no root" in printed


def test_a_row_that_is_refused_is_a_failure_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wrong_row.py").write_text(
        "from benchmarks.harness import Check, race\n"
        "def measure():\n    yield race('wrong', int, 'them', int, check=Check(lambda: 1.0, 0.5))\n"
    )
    monkeypatch.setattr(benchmarks.rows, "__path__", [str(tmp_path)])
    monkeypatch.setattr(sys, "argv", ["bench"])
    assert command.main() == 1
    assert "Refused: wrong_row: the answers of relubias and them differ by 1.0e+00" in capsys.readouterr().out


def test_an_unknown_row_is_refused_with_the_known_ones(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "plain_setp"])
    with pytest.raises(SystemExit):
        command.main()
    assert "there is no row 'plain_setp'; the rows are chatter, dimension, drawing, gram, " in capsys.readouterr().err
