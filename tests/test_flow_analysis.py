"""An analysis of gradient flow, in Python, on the command line and in its files: it speaks of times, never of steps."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import relubias
from relubias import Analysis, Flow, Network, Problem, analyze, starts
from relubias.cli.main import main
from relubias.report.figures import figure
from relubias.report.tables import as_text
from relubias.report.trajectories import trajectory_figure

EXAMPLE = str(Path(relubias.__file__).parent / "example_data" / "synthetic.csv")


@pytest.fixture(scope="module")
def problem() -> Problem:
    return relubias.read(EXAMPLE, target="y")


def test_report_and_verdict_speak_of_times(problem: Problem, tmp_path: Path) -> None:
    analysis = analyze(problem, dynamics=Flow(record="log"))
    text = as_text(analysis)
    assert "gradient flow" in text
    assert "last at time" in text
    assert not re.search(r"\bsteps?\b", text.replace("small steps", "")), "no step in a flow"
    loaded = Analysis.load(analysis.save(tmp_path / "analysis.npz"))
    assert as_text(loaded) == text
    for page in (figure(analysis), trajectory_figure(analysis.run)):
        page.savefig(tmp_path / "page.png")
        assert "gradient flow" in page.get_suptitle()
        assert any("time of gradient flow" in axes.get_xlabel() for axes in page.axes)


@pytest.mark.parametrize("until", [None, 1e-4])
def test_values_for_json_are_finite_and_named(problem: Problem, until: float | None) -> None:
    values = analyze(problem, dynamics=Flow(until=until)).as_dict()["run"]
    json.dumps(values, allow_nan=False)
    assert (values["dynamics"], values["step_size"], values["steps"]) == ("flow", None, None)
    assert values["time"] == until
    assert (values["certified_from"] is None) == (until is not None)


@pytest.mark.parametrize("network", [Network.pair(), Network.of_signs([1, 1, -1])])
def test_several_neurons_are_reported_too(problem: Problem, network: Network) -> None:
    start = starts.disjoint(problem, network)
    text = as_text(analyze(problem, network, start, dynamics=Flow()))
    assert not re.search(r"\bsteps?\b", text.replace("small steps", ""))


def test_the_command_follows_the_flow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", EXAMPLE, "--target", "y", "--flow", "--output", str(tmp_path / "out")]) == 0
    assert "gradient flow" in capsys.readouterr().out
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(tmp_path / "out" / "trajectory.parquet")
    assert "time" in table.column_names
    assert "step" not in table.column_names
    assert main(["analyze", EXAMPLE, "--target", "y", "--flow", "--until", "0.0005", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"]["status"] == "reached"
    assert main(["analyze", EXAMPLE, "--target", "y", "--flow", "--budget", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"]["status"] == "budget"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--step-size", "0.1"], "a flow has no step"),
        (["--until", "soon"], "not a finite time"),
        (["--record", "1,x", "--output", "out"], "a list of times"),
    ],
)
def test_options_that_make_no_sense_for_a_flow_are_refused(
    options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", EXAMPLE, "--target", "y", "--flow", *options]) == 2
    assert complaint in capsys.readouterr().err
