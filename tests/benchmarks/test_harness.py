"""The benchmark harness measures what it says: checked with tasks that move a clock of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
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
from benchmarks.machine import Beginning, commit, environment, libraries, machine
from benchmarks.report import Report
from benchmarks.table import HEADER, cells, digits, spread, table

pytestmark = pytest.mark.usefixtures("one_thread")


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


def cell(row: Row, column: str) -> str:
    return cells(row)[HEADER.index(column)]


@pytest.fixture
def folder_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose files are the rows; a fresh one each time, so that no module is that of another test."""
    folder = tmp_path / "rows"
    folder.mkdir()
    monkeypatch.setattr(benchmarks.rows, "__path__", [str(folder)])
    for name in [name for name in sys.modules if name.startswith("benchmarks.rows.made_")]:
        monkeypatch.delitem(sys.modules, name)
    return folder


MET = "from benchmarks.harness import ceiling\ndef measure():\n    yield ceiling('kept', int, at_most=9.0)\n"
MISSED = "from benchmarks.harness import ceiling\ndef measure():\n    yield ceiling('missed', int, at_most=-1.0)\n"
ABSENT = "from benchmarks.harness import Skipped\ndef measure():\n    raise Skipped('no data.')\n"
ENDED = MET.replace("'kept'", "'before'") + "    raise KeyboardInterrupt\n"


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
    assert [cell(row, column) for column in ("rival's", "ours/rival", "goal")] == [
        "≈ 23.1 days (from 1/1e+06 of it)",
        "≈ 1/1000000",
        "<= 1/100000",
    ]


def test_what_a_time_is_extrapolated_from_is_in_the_cell() -> None:
    stage = Stage()

    def raced(factor: float, extrapolated: str | None) -> Row:
        tasks = stage.task("a", *[1.0] * 3), stage.task("b", *[1.776] * 3)
        return race(
            "row",
            tasks[0],
            "them",
            tasks[1],
            repeats=2,
            factors=(1.0, factor),
            extrapolated=extrapolated,
            clock=stage.clock,
        )

    assert cell(raced(3000.0, "3000 steps"), "rival's") == "≈ 1.48 h (from 3000 steps)"
    assert cell(raced(3000.0, None), "rival's") == "≈ 1.48 h (from 1/3e+03 of it)"
    assert cell(raced(1.0, None), "rival's") == "1.78 (1.78-1.78) s"
    assert cell(raced(1e-3, None), "rival's") == "1.78 (1.78-1.78) ms"  # per step of a thousand: nothing is added


def test_our_own_time_is_never_extrapolated() -> None:
    with pytest.raises(ValueError, match="our own time is not extrapolated"):
        race("row", int, "them", int, factors=(2.0, 2.0))


def test_residuals_are_asked_for_once_before_anything_is_timed() -> None:
    stage = Stage()

    def residuals() -> tuple[float, float]:
        stage.calls.append("residuals")
        return 1.2e-16, 3e-8

    tasks = stage.task("a", *[1.0] * 9), stage.task("b", *[1.0] * 9)
    check = Check(lambda: 0.0, 0.0)
    row = race("row", tasks[0], "them", tasks[1], repeats=2, check=check, residuals=residuals, clock=stage.clock)
    assert stage.calls == ["residuals", "a", "b", "b", "a"]
    assert row.residuals == (1.2e-16, 3e-8)
    assert cell(row, "KKT (ours, rival)") == "1e-16, 3e-08"
    unknown = Row("a", Sample.of([1.0]), residuals=(1e-16, float("nan")))
    assert cell(unknown, "KKT (ours, rival)") == "1e-16, ?"


def test_residuals_may_refuse_the_race() -> None:
    stage = Stage()

    def refused() -> tuple[float, float]:
        raise WrongAnswer("the KKT residuals are too large.")

    with pytest.raises(WrongAnswer):
        race("row", stage.task("a"), "them", stage.task("b"), residuals=refused, clock=stage.clock)
    assert stage.calls == []


def test_a_race_that_is_not_run_knows_whether_it_has_a_goal() -> None:
    def missing() -> None:
        raise Skipped("not installed.")

    for at_most in (1.0, None):
        with pytest.raises(Skipped) as caught:
            race("row", missing, "them", int, at_most=at_most)
        assert caught.value.has_goal is (at_most is not None)
        (remark,) = entrants([lambda bound=at_most: race("row", missing, "them", int, at_most=bound)])  # type: ignore[misc]
        assert isinstance(remark, Remark)
        assert remark.has_goal is (at_most is not None)


def test_a_race_ends_with_the_patience() -> None:
    stage = Stage()
    tasks = stage.task("a", *[1.0] * 9), stage.task("b", *[4.0] * 9)
    row = race("row", tasks[0], "them", tasks[1], repeats=9, patience=8.0, clock=stage.clock)
    assert row.seconds.count == 2


@pytest.mark.parametrize("durations", [(5.0, 1.0, 1.0), (1.0, 1.0, 5.0)])
def test_a_ceiling_is_kept_by_the_slowest_call_or_not_at_all(durations: tuple[float, ...]) -> None:
    stage = Stage()
    row = ceiling("row", stage.task("ours", *durations), at_most=2.0, clock=stage.clock)
    assert row.seconds.median == 1.0
    assert row.met is False
    assert cell(row, "met") == "NO, close"  # since most calls keep it
    assert ceiling("row", stage.task("ours", *durations), at_most=5.0, clock=stage.clock).met is True


def test_a_ceiling_is_timed_by_the_clock() -> None:
    import time

    row = ceiling("row", lambda: time.sleep(0.02), at_most=0.01)
    assert row.met is False


def test_one_measurement_is_its_own_spread() -> None:
    assert Sample.of([7.0]) == Sample(7.0, 7.0, 7.0)


def test_peak_memory_sees_numpy_arrays() -> None:
    assert 8e6 <= peak_memory(lambda: np.ones(10**6)) < 9e6


def test_the_table_shows_misses_and_units() -> None:
    fast, slow = Sample(2e-5, 1e-5, 3e-5, 9), Sample.of([3.0])
    rows = [Row("a", fast, "them", fast, Sample(1.0, 0.9, 1.1, 9), 1.5), Row("b", slow, at_most=2.0, is_ceiling=True)]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table(rows).splitlines()]
    time = "20.0 (10.0-30.0) µs"
    assert lines[0] == list(HEADER)
    assert lines[2] == ["a", time, "them", time, "1.00 (0.900-1.10)", "<= 1.5x", "yes", "9", "", "", ""]
    assert lines[3] == ["b", "3.00 s", "ceiling", "", "", "<= 2 s", "NO", "1", "", "", ""]


def test_a_single_repeat_has_no_spread() -> None:
    assert spread(Sample.of([0.01])) == "1/100"
    assert spread(Sample.of([1.5])) == "1.50"
    assert spread(Sample.of([1.5, 1.5])) == "1.50 (1.50-1.50)"


def test_ratios_have_three_digits() -> None:
    assert [digits(number) for number in (0.1096, 0.9996, 1.204, 12.55, 99.96, 999.4, 118_700.0)] == [
        "0.110",
        "1.00",
        "1.20",
        "12.6",
        "100",
        "999",
        "119000",
    ]
    assert spread(Sample(0.112, 0.1096, 0.115, 5)) == "0.112 (0.110-0.115)"
    assert spread(Sample(0.01, 0.008, 0.0125, 5)) == "1/100 (1/125-1/80.0)"


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [
        (Sample(0.9, 0.8, 0.95, 9), "yes"),
        (Sample(0.99, 0.9, 1.04, 9), "yes, close"),
        (Sample(1.03, 0.97, 1.1, 9), "NO, close"),
        (Sample(1.1, 1.05, 1.2, 9), "NO"),
        (Sample.of([0.99]), "yes"),
    ],
)
def test_a_goal_within_the_quartiles_is_close(ratio: Sample, verdict: str) -> None:
    row = Row("a", Sample.of([1.0]), "them", Sample.of([1.0]), ratio, at_most=1.0)
    assert cell(row, "met") == verdict


def test_two_goals_are_both_to_be_met() -> None:
    def row(at_most: float, peak_at_most: float) -> Row:
        return Row("a", Sample.of([1.0]), at_most=at_most, is_ceiling=True, peak_bytes=5, peak_at_most=peak_at_most)

    assert [row(2.0, 6.0).met, row(0.5, 6.0).met, row(2.0, 4.0).met] == [True, False, False]
    assert cell(row(2.0, 6e6), "goal") == "<= 2 s, <= 6 MB"


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
    assert "absent_row: Skipped: no data" in printed
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
    assert "broken_row: Failed: ValueError: no root" in printed


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
    assert "wrong_row: Refused: the answers of relubias and them differ by 1.0e+00" in capsys.readouterr().out


def test_an_unknown_row_is_refused_with_the_known_ones(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "plain_setp"])
    with pytest.raises(SystemExit):
        command.main()
    assert (
        "there is no row 'plain_setp'; the rows are chatter, dimension, drawing, figures, gram, "
        in capsys.readouterr().err
    )


def test_the_last_line_counts_goals(folder_of_rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, source in (("a", MET), ("b", MISSED), ("c", ABSENT), ("d", ABSENT)):
        (folder_of_rows / f"made_{name}.py").write_text(source)
    assert command.main([]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == "1 goals met, 1 missed, 2 not measured (Skipped: no data, 2 times)"
    assert "made_c: Skipped: no data." in printed


@pytest.mark.parametrize(("source", "code"), [(MET, 0), (MISSED, 1), (ABSENT, 1)])
def test_strict_wants_every_goal_met_and_measured(folder_of_rows: Path, source: str, code: int) -> None:
    (folder_of_rows / "made_a.py").write_text(source)
    assert command.main(["--strict"]) == code
    assert command.main([]) == 0


def test_a_missing_rival_without_a_goal_is_no_goal_not_measured() -> None:
    report = Report(Beginning.now([]))
    report.remarks = [("a", Remark("Skipped: x.", False, has_goal=False)), ("b", Remark("Refused: y.", True))]
    assert report.count() == "0 goals met, 0 missed, 1 not measured (Refused: y)"
    assert report.failed


def test_a_run_that_is_ended_keeps_and_prints_what_was_measured(
    folder_of_rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder_of_rows / "made_a.py").write_text(ENDED)
    (folder_of_rows / "made_b.py").write_text(MET)
    output = tmp_path / "t.md"
    assert command.main(["--output", str(output)]) == 130
    printed = capsys.readouterr()
    assert "| before" in printed.out
    assert "| kept" not in printed.out
    assert printed.out.endswith("1 goals met, 0 missed, 2 not measured (Interrupted, 2 times)\n")
    assert output.read_text(encoding="utf-8") == printed.out
    assert "  before: " in printed.err  # told when it was measured


def test_an_interrupt_that_a_task_takes_for_itself_still_ends_the_run(
    folder_of_rows: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder_of_rows / "made_a.py").write_text(
        "import signal\n"
        "from benchmarks.harness import ceiling\n"
        "def cut_short():\n"
        "    try:\n        signal.raise_signal(signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n        pass\n"
        "def measure():\n    yield ceiling('cut short', cut_short, at_most=9.0)\n"
    )
    before = signal.getsignal(signal.SIGINT)
    assert command.main([]) == 130
    assert "| cut short" not in capsys.readouterr().out
    assert signal.getsignal(signal.SIGINT) is before


def test_each_row_is_written_when_it_is_measured(folder_of_rows: Path, tmp_path: Path) -> None:
    output = tmp_path / "t.md"
    seen = f"    from pathlib import Path\n    assert '| kept' in Path({str(output)!r}).read_text(encoding='utf-8')\n"
    (folder_of_rows / "made_a.py").write_text(MET + seen)
    assert command.main(["--output", str(output)]) == 0


@pytest.mark.parametrize("option", ["--output", "--json"])
def test_a_file_that_cannot_be_written_is_known_before_anything_is_measured(
    option: str, folder_of_rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder_of_rows / "made_a.py").write_text("def measure():\n    raise AssertionError('measured')\n")
    with pytest.raises(SystemExit) as ended:
        command.main([option, str(tmp_path / "nowhere" / "t")])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert "cannot be written: No such file or directory" in error
    assert "measuring" not in error


def test_files_are_relative_to_where_the_script_was_called(folder_of_rows: Path, tmp_path: Path) -> None:
    (folder_of_rows / "made_a.py").write_text(MET)
    assert command.main(["--from", str(tmp_path), "made_a", "--output", "t.md"]) == 0
    text = (tmp_path / "t.md").read_text(encoding="utf-8")
    assert "command: scripts/bench made_a --output t.md\n" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profile", "--strict"], "which --profile does not measure"),
        (["--output", "t", "--json", "t"], "name the same file"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.main(["--from", str(tmp_path), *arguments])
    assert message in capsys.readouterr().err


def test_rows_are_data_too(folder_of_rows: Path, tmp_path: Path) -> None:
    source = (
        "from benchmarks.harness import Check, race\n"
        "def measure():\n"
        "    yield race('a', lambda: sum(range(9999)), 'them', lambda: sum(range(9999)), at_most=1e9, repeats=3,\n"
        "               check=Check(lambda: 0.0, 0.0), residuals=lambda: (1e-16, float('nan')))\n"
    )
    (folder_of_rows / "made_a.py").write_text(source)
    (folder_of_rows / "made_b.py").write_text(ABSENT)
    assert command.main(["--json", str(tmp_path / "t.json")]) == 0
    data = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    (row,) = data["rows"]
    assert row["file"] == "made_a"
    assert row["met"] is True
    assert row["residuals"] == [1e-16, None]
    assert len(row["seconds"]["values"]) == row["seconds"]["count"] == 3
    assert data["remarks"][0]["text"] == "Skipped: no data."
    assert data["goals"] == {"met": 1, "missed": 0, "not measured": 1}
    assert data["machine"]["command"].startswith("scripts/bench --json ")


def test_the_machine_is_told_with_kernels_date_load_and_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/nowhere")
    known = machine(Beginning("scripts/bench gram", "2026-01-02 03:04 UTC", "1.00 2.00 3.00", None))
    assert known["command"] == "scripts/bench gram"
    assert known["date"] == "2026-01-02 03:04 UTC"
    assert known["load at the beginning"] == "1.00 2.00 3.00"
    assert "commit" not in known
    assert "OPENBLAS_CORETYPE=Haswell" in environment()
    assert not any("nowhere" in one for one in environment())


def test_libraries_are_told_with_the_kernels_that_they_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    import threadpoolctl

    pools = [
        {"internal_api": "openblas", "version": "0.3.30", "architecture": "SkylakeX", "num_threads": 2},
        {"internal_api": "openmp", "version": None, "num_threads": 1},
    ]
    monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda: pools)
    assert libraries() == ["openblas 0.3.30, SkylakeX, 2 threads", "openmp, 1 thread"]


def test_the_commit_is_told_with_changes(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        who = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        line = ["git", "-C", str(tmp_path), *arguments]
        return subprocess.run(line, check=True, capture_output=True, text=True, env=os.environ | who).stdout.strip()

    try:
        git("init", "-q")
    except FileNotFoundError:
        pytest.skip("there is no git")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("1\n")
    git("add", ".")
    git("commit", "-qm", "a")
    short = git("rev-parse", "--short", "HEAD")
    assert commit(tmp_path) == short
    (tmp_path / "table.md").write_text("a table that lies about\n")
    assert commit(tmp_path) == short
    (tmp_path / "src" / "b.py").write_text("2\n")
    assert commit(tmp_path) == f"{short} + changes"
    assert commit(tmp_path / "src") is None  # inside of a repository that is another's


def test_without_git_there_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert commit(tmp_path) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit() is None
