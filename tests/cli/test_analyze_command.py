"""``relubias analyze``: a file in, the answer out; bad input is one sentence and leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import relubias
from relubias.cli import options
from relubias.cli.main import main
from relubias.cli.output import TRAJECTORY

REPORT = {"report.json", "report.txt", "figure.png", "figure.pdf", "analysis.npz"}
FILES = REPORT | set(TRAJECTORY)


@pytest.fixture(autouse=True)
def _no_stage_lasts_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """What standard error says must not depend on how fast the machine is."""
    monkeypatch.setattr("relubias.cli.progress.QUIET", 1e3)


def write_table(path: Path, n: int = 12, d: int = 60, labels: Any = None) -> Path:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 2, 1.0, -1.0) if labels is None else np.asarray(labels)
    names = ",".join(["y", *(f"g{j}" for j in range(d))])
    np.savetxt(path, np.column_stack([y, rng.normal(size=(n, d))]), delimiter=",", header=names, comments="")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_table(tmp_path / "table.csv")


def answer(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> Any:
    """Run ``analyze … --json`` and return what it printed."""
    assert main(["analyze", *map(str, words), "--json"]) == code
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def refusal(capsys: pytest.CaptureFixture[str], *words: object, code: int = 2) -> str:
    """Run a command that must fail with one sentence on standard error and nothing on standard output."""
    assert main([*map(str, words)]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("relubias: interrupted" if code == 130 else "relubias: error: ")
    assert "Traceback" not in err
    return err


def test_the_report_is_printed(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(table), "--target", "y"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "Verdict\n" in out
    assert "certified" in out


def test_every_stage_is_announced(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("relubias.cli.progress.ProgressLine.announce", lambda self, text: said.append(text))
    answer(capsys, table, "--output", tmp_path / "out")
    assert [text.split()[0] for text in said] == [
        *("reading", "preparing", "looking", "training", "computing", "computing", "comparing", "writing")
    ]


def test_json_is_the_analysis_and_nothing_else(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = answer(capsys, table, "--target", "y")
    assert values == relubias.analyze(relubias.read(table, target="y")).as_dict()


def test_options_reach_the_computation(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "--target y --preprocess standardize --center-labels --network - --start gaussian --scale 0.5 --rng 3"
    more = "--step-size 1e-3 --until 1e1 --budget 5000 --of linear"
    values = answer(capsys, table, *words.split(), *more.split())
    problem = relubias.read(table, target="y", preprocess="standardise", centre_labels=True)
    network = relubias.Network.single(sign=-1)
    start = relubias.starts.gaussian(problem, network, scale=0.5, rng=3)
    dynamics = relubias.Descent(step_size=1e-3, until=10, budget=5000.0)
    assert values == relubias.analyze(problem, network, start, dynamics=dynamics, of="linear").as_dict()
    assert values["run"]["status"] == "reached"


def test_a_scale_alone_belongs_to_the_all_active_start(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = answer(capsys, table, "--scale", "0.25")
    two = answer(capsys, table, "--scale", "0.25", "--start", "all-active")
    assert one == two
    assert one["start"]["active"] == [12]
    assert one["start"]["norm"] != answer(capsys, table)["start"]["norm"]


@pytest.mark.parametrize(
    ("text", "signs"),
    [("single", (1,)), ("+", (1,)), ("-", (-1,)), ("pair", (1, -1)), ("+,+,-", (1, 1, -1)), ("+1, -1", (1, -1))],
)
def test_networks_are_read(text: str, signs: tuple[int, ...]) -> None:
    assert options.network(text).signs == signs


def test_steps_are_read_in_natural_units(table: Path) -> None:
    problem, network = relubias.read(table, target="y"), relubias.Network.pair()
    largest = np.linalg.eigvalsh(problem.gram)[-1]
    assert options.step_size(None, problem, network) is None
    assert options.step_size("0.01", problem, network) == 0.01
    assert options.step_size("0.5/lmax", problem, network) == pytest.approx(0.5 / (2 * largest))
    assert options.step_size("0.5/trace", problem, network) == pytest.approx(0.5 * 12 / np.trace(problem.gram))


def test_numbers_of_steps_are_read_exactly() -> None:
    assert (options.until(None), options.until("1000"), options.until("1e18")) == (None, 1000, 10**18)
    assert options.until("999999999999999999") == 999_999_999_999_999_999


def test_output_has_all_files_and_they_agree(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "report"
    values = answer(capsys, table, "--output", folder)
    assert {path.name for path in folder.iterdir()} == FILES
    assert json.loads((folder / "report.json").read_text()) == values
    assert relubias.Analysis.load(folder / "analysis.npz").as_dict() == values
    assert (folder / "report.txt").read_text().startswith("Data\n")
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "figure.pdf").read_bytes().startswith(b"%PDF")


def test_recording_changes_nothing_in_the_answer(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(capsys, table) == answer(capsys, table, "--output", tmp_path / "out")


def test_chosen_steps_are_recorded(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert main(["analyze", str(table), "--output", str(folder), "--record", "0,3,1e1"]) == 0
    assert sorted(set(pd.read_parquet(folder / "trajectory.parquet")["step"])) == [0, 3, 10]
    assert list(pd.read_parquet(folder / "trajectory_neurons.parquet")["step"]) == [0, 3, 10]


def test_a_trajectory_of_an_earlier_analysis_is_not_left_beside_a_new_one(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert main(["analyze", str(table), "--output", str(folder)]) == 0
    assert main(["analyze", str(table), "--output", str(folder), "--record", "none"]) == 0
    assert {path.name for path in folder.iterdir()} == REPORT


def test_many_samples_are_recorded_only_where_that_is_asked_for(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relubias.cli.analyze.RECORDED", 11)
    assert main(["analyze", str(table), "--output", str(tmp_path / "one")]) == 0
    assert {path.name for path in (tmp_path / "one").iterdir()} == REPORT
    assert main(["analyze", str(table), "--output", str(tmp_path / "two"), "--record", "log"]) == 0
    assert {path.name for path in (tmp_path / "two").iterdir()} == FILES


def test_recorded_steps_are_read() -> None:
    assert [options.record(text) for text in (None, "none", "log")] == [None, None, "log"]
    assert options.record("1,10, 1e3") == [1, 10, 1000]


def test_a_disjoint_start_with_its_depth(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "--network pair --start disjoint --depth 0.5 --scale 0.1 --until 0"
    values = answer(capsys, table, *words.split())
    problem, network = relubias.read(table, target="y"), relubias.Network.pair()
    start = relubias.starts.disjoint(problem, network, scale=0.1, depth=0.5)
    assert values["start"]["norm"] == start.norm
    assert values["start"]["active"] == [6, 6]


def test_the_search_for_the_shortest_pair_has_a_budget(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["analyze", "--random", "gaussian n=24 d=30", "--network", "pair", "--until", "1", "--json"]
    found = []
    for most in ("1", "1e4"):
        assert main([*words, "--search-budget", most]) == 0
        found.append(json.loads(capsys.readouterr().out)["reference"]["status"])
    assert found == ["budget", "optimal"]
    err = refusal(capsys, *words, "--search-budget", "many")
    assert "--search-budget 'many' is not a positive whole number" in err


def test_both_layers_are_compared_with_the_least_variation_norm(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ("--network", "+,-,+,-", "--train-output", "--start", "aligned", "--flow")
    found = answer(capsys, table, "--target", "y", *both, "--of", "variation", "--output", tmp_path / "out")
    assert found["reference"]["of"] == "variation"
    assert found["reference"]["status"] == "optimal"
    assert found["gap"] is None
    neurons = found["neurons"]
    reached = float(np.abs(neurons["output_weight"]) @ np.array(neurons["norm"]))
    assert reached >= found["reference"]["lower_bound"]
    assert any("% above the least one of networks of any number of neurons" in text for text in found["verdict"])
    assert "variation norm" in (tmp_path / "out" / "report.txt").read_text("utf-8")
    assert answer(capsys, table, "--target", "y", *both)["reference"]["of"] == "variation"
    err = refusal(capsys, "analyze", table, "--target", "y", "--network", "pair", "--of", "variation")
    assert "train_output=True" in err


def test_labels_of_their_own_file_are_passed_on_only_where_there_are_any(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, Any]] = []

    def reader(path: Path, **given: Any) -> relubias.Problem:
        seen.append(given)
        return relubias.read(table, target="y")

    monkeypatch.setattr("relubias.files.read", reader)
    labels = tmp_path / "labels.csv"
    assert main(["analyze", "features.npy", "--until", "1"]) == 0
    assert main(["analyze", "features.npy", "--until", "1", "--labels", str(labels)]) == 0
    assert "labels" not in seen[0]
    assert seen[1] == seen[0] | {"labels": labels}


def test_output_into_an_existing_folder_leaves_other_files_alone(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    assert main(["analyze", str(table), "--output", str(folder)]) == 0
    assert main(["analyze", str(table), "--output", str(folder)]) == 0
    assert {path.name for path in folder.iterdir()} == FILES | {"mine.txt"}


BAD_TABLES = {
    "text": ("y,a,b\n1,2,N/A\n2,3,4\n", "'N/A'"),
    "nan": ("y,a,b\n1,2,nan\n2,3,4\n", "not a finite number"),
    "inf": ("y,a,b\n1,2,inf\n2,3,4\n", "not a finite number"),
    "empty": ("", "empty"),
    "no samples": ("y,a,b\n", "no sample"),
    "one column": ("y\n1\n2\n", "column"),
    "ragged": ("y,a,b\n1,2\n2,3,4\n", "row"),
    "no such target": ("z,a,b\n1,2,3\n2,3,4\n", "'y'"),
}


@pytest.mark.parametrize("kind", BAD_TABLES)
def test_a_bad_table_is_one_sentence(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, expected = BAD_TABLES[kind]
    path = tmp_path / "bad.csv"
    path.write_text(text)
    message = refusal(capsys, "analyze", path, "--target", "y", "--output", tmp_path / "out")
    assert expected in message
    assert [entry.name for entry in tmp_path.iterdir()] == ["bad.csv"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--step-size 0", "step_size must be a positive finite number"),
        ("--step-size -1", "step_size must be a positive finite number"),
        ("--step-size -1/lmax", "positive finite number"),
        ("--step-size 0.5/foo", "0.5/lmax, 0.5/trace"),
        ("--step-size fast", "0.5/lmax, 0.5/trace"),
        ("--until 1.5", "not a whole number of steps"),
        ("--until soon", "not a whole number of steps"),
        ("--until inf", "not a whole number of steps"),
        ("--until -1", "until=-1"),
        ("--budget 0", "budget=0"),
        ("--scale -1", "scale must be a positive finite number"),
        ("--scale much", "--scale"),
        ("--start zero", "all-active, gaussian, disjoint"),
        ("--depth 1", "add --start disjoint"),
        ("--depth 1 --start gaussian", "add --start disjoint"),
        ("--depth -1 --start disjoint --network pair", "depth must be a finite number ≥ 0"),
        ("--start disjoint", "no negative neuron"),
        ("--record often", "log, none, or a list of steps"),
        ("--record 1,2.5", "log, none, or a list of steps"),
        ("--record 1,inf", "log, none, or a list of steps"),
        ("--record -1,2", "steps are whole numbers from 0"),
        ("--record 5,50 --until 10", "until=10"),
        ("--rng 3", "add --start gaussian"),
        ("--rng 3 --start all-active", "add --start gaussian"),
        ("--rng -3 --start gaussian", "non-negative"),
        ("--network +,x", "single, pair"),
        ("--preprocess whiten", "whiten"),
        ("--of shortest", "of='shortest'"),
        ("--preprocess centre --start all-active", "the columns are centred"),
        ("--nonsense", "--nonsense"),
    ],
)
def test_a_bad_option_is_one_sentence(
    words: str, expected: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = table.parent / "out"
    assert expected in refusal(capsys, "analyze", table, "--output", folder, *words.split())
    assert not folder.exists()


def test_recorded_steps_need_a_place_to_go(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "add --output DIR" in refusal(capsys, "analyze", table, "--record", "log")


def test_missing_files_and_folders_for_files_are_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no file" in refusal(capsys, "analyze", tmp_path / "none.csv")
    assert "folder" in refusal(capsys, "analyze", tmp_path)
    assert "FILE" in refusal(capsys, "analyze")
    assert "'analize'" in refusal(capsys, "analize")


@pytest.mark.parametrize("where", ["table.csv", "table.csv/out", "table.csv/deep/out"])
def test_a_file_in_the_way_of_the_output_is_told_before_anything_is_read(
    where: str, table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relubias.cli.options.problem", lambda *_, **__: pytest.fail("the file was read"))
    before = table.read_bytes()
    assert "is a file, not a folder" in refusal(capsys, "analyze", table, "--output", table.parent / where)
    assert table.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    assert "cannot be written" in refusal(capsys, "analyze", table, "--output", locked / "out")


def test_a_file_that_fails_half_way_leaves_no_half_behind(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(analysis: object) -> str:
        raise RuntimeError("disk full")

    monkeypatch.setattr("relubias.report.tables.as_text", broken)
    with pytest.raises(RuntimeError, match="disk full"):
        main(["analyze", str(table), "--output", str(tmp_path / "out")])
    left = {path.name for path in (tmp_path / "out").iterdir()}
    assert left < FILES
    assert "report.txt" not in left


def test_a_step_far_too_large_is_an_answer(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = answer(capsys, table, "--step-size", "10/lmax")
    assert values["run"]["status"] == "dead"
    assert values["run"]["step_over_stable"] == pytest.approx(5.0)
    assert any("5 times the largest one that is stable" in sentence for sentence in values["verdict"])


def test_labels_all_zero_are_an_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = answer(capsys, write_table(tmp_path / "zero.csv", labels=np.zeros(12)))
    assert values["run"]["at_limit"] is True
    assert values["gap"]["relative"] is None


def test_conflicting_duplicates_are_an_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "twins.csv"
    path.write_text("y,a,b,c\n1,1,2,3\n2,1,2,3\n-1,0,1,0\n3,2,0,1\n")
    values = answer(capsys, path)
    assert values["problem"]["facts"]["conflicts"] == [[0, 1]]
    assert any("no model can interpolate" in sentence for sentence in values["verdict"])


def test_the_positions_of_targets_count_from_one(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, table, "--target", "1") == answer(capsys, table, "--target", "y")


def test_a_required_limit_that_is_not_there_is_code_three(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(table), "--require-limit", "--json"]) == 0
    capsys.readouterr()
    assert main(["analyze", str(table), "--until", "2", "--require-limit", "--json"]) == 3
    out, err = capsys.readouterr()
    assert json.loads(out)["run"]["steps"] == 2
    assert err.startswith("relubias: error: the run has no certified limit (status reached): step 2 is reached")
    assert err.count("\n") == 1


def run(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "relubias", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **options)


def test_the_module_is_the_command() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"relubias {relubias.__version__}\n", "")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from relubias.cli.main import main; code = main(['--help']); "
        "print(code, sorted({'numpy', 'scipy', 'numba', 'matplotlib', 'pandas', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("0 []\n")
    assert "analyze" in done.stdout


def test_asking_for_nothing_shows_the_help() -> None:
    assert run().stdout == run("--help").stdout


def test_a_reader_that_has_seen_enough_causes_no_traceback(table: Path) -> None:
    command = f"{sys.executable} -m relubias analyze {table} | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout == "Data\n"
    assert all(line.endswith("…") for line in done.stderr.splitlines())


def test_ctrl_c_keeps_the_partial_answer(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    words = ["analyze", table, "--json", "--output", folder]
    command = [sys.executable, "-c", _INTERRUPTED, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (130, "relubias: interrupted.\n")
    values = json.loads(done.stdout)
    assert (values["run"]["status"], values["interrupted"], values["reference"]) == ("interrupted", True, None)
    assert values["run"]["steps"] > 0
    assert {entry.name for entry in folder.iterdir()} == FILES


#: The command, sent the signal of Ctrl-C when training reports for the first time, after a few steps.
_INTERRUPTED = """
import os, signal, sys
import relubias.dynamics.loop
from relubias.cli.main import main
from relubias.cli.progress import ProgressLine

relubias.dynamics.loop.CHUNK_FLOPS = 1.0
relubias.cli.progress.QUIET = 1e3
ProgressLine.__call__ = lambda self, progress: os.kill(os.getpid(), signal.SIGINT)
sys.exit(main(sys.argv[1:]))
"""


def test_the_global_reference_of_many_neurons_is_there_for_the_asking(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (table, "--network", "+,+,-", "--start", "disjoint")
    least, given = answer(capsys, *words, "--of", "global"), answer(capsys, *words)
    assert (least["reference"]["of"], least["reference"]["status"]) == ("global", "optimal")
    assert least["reference"]["relative_interval"] <= 1e-8
    assert given["reference"]["of"] == "partition"
    assert least["reference"]["norm"] < given["reference"]["norm"]


def test_ctrl_c_during_the_search_keeps_its_interval(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def impatient(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("relubias.references.pair.PairTree.norm", impatient)
    values = answer(capsys, table, "--network", "pair", code=130)
    assert (values["reference"]["status"], values["interrupted"]) == ("interrupted", True)
    assert values["reference"]["lower_bound"] > 0


def test_ctrl_c_while_reading_is_one_sentence(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def impatient(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("relubias.cli.options.problem", impatient)
    assert "interrupted" in refusal(capsys, "analyze", table, code=130)
