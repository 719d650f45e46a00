"""``relubias certify``: weights from any package are judged by the data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import random_problem

import relubias
from relubias.cli.main import main


@pytest.fixture(autouse=True)
def _no_stage_lasts_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """What standard error says must not depend on how fast the machine is."""
    monkeypatch.setattr("relubias.cli.progress.QUIET", 1e3)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    problem = random_problem(12, 60, seed=0)
    path = tmp_path / "table.csv"
    names = ",".join(["y", *(f"g{j}" for j in range(60))])
    rows = np.column_stack([problem.labels, problem.features])
    np.savetxt(path, rows, delimiter=",", header=names, comments="", fmt="%.17g")
    return path


@pytest.fixture
def shortest(table: Path) -> Any:
    problem = relubias.read(table, target="y")
    return relubias.minimum_norm(problem, relubias.Network.single()).state.weights()[0]


def certified(capsys: pytest.CaptureFixture[str], table: Path, weights: Path) -> Any:
    assert main(["certify", str(table), "--weights", str(weights), "--target", "y", "--json"]) == 0
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


@pytest.mark.parametrize("form", ["npy", "column", "row", "commas", "npy row"])
def test_the_shortest_weights_are_recognised_in_any_form(
    form: str, table: Path, shortest: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / ("w.npy" if "npy" in form else "w.csv")
    if form == "npy":
        np.save(path, shortest)
    elif form == "npy row":
        np.save(path, shortest[None, :])
    else:
        rows = shortest[:, None] if form == "column" else shortest[None, :]
        np.savetxt(path, rows, delimiter="," if form == "commas" else " ", fmt="%.17g")
    values = certified(capsys, table, path)
    assert values["optimal"] is True
    assert max(values["kkt"].values()) <= 1e-9
    assert values["norm"] == pytest.approx(np.linalg.norm(shortest))


def test_longer_weights_are_feasible_and_not_optimal(
    table: Path, shortest: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    features = relubias.read(table, target="y").features
    outside = np.linalg.svd(features)[2][-1]
    np.save(tmp_path / "w.npy", shortest + 0.5 * outside)
    values = certified(capsys, table, tmp_path / "w.npy")
    assert (values["optimal"], values["feasible"]) == (False, True)
    assert values["orthogonal_norm"] == pytest.approx(0.5)
    assert values["lower_bound"] < values["norm"]


def test_the_certificate_is_printed(
    table: Path, shortest: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "w.npy", 1.1 * shortest)
    assert main(["certify", str(table), "--weights", str(tmp_path / "w.npy")]) == 0
    out = capsys.readouterr().out
    for word in ("norm", "largest misfit", "largest excess", "primal", "dual", "complementarity"):
        assert word in out


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("w.csv", "a,b\n", "cannot read weights"),
        ("w.csv", "", "no numbers"),
        ("w.csv", "1,2,3\n", "must have shape (1, 60)"),
        ("w.csv", "nan\n" * 60, "finite"),
        ("w.npy", "not numpy", "cannot read weights"),
        ("none.csv", None, "none.csv"),
    ],
)
def test_bad_weights_are_one_sentence(
    name: str, content: str | None, expected: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table.parent / name
    if content is not None:
        path.write_text(content)
    assert main(["certify", str(table), "--weights", str(path)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("relubias: error: ")
    assert expected in err


def test_weights_that_are_no_numbers_are_refused(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(table.parent / "w.npy", np.array(["a"] * 60))
    assert main(["certify", str(table), "--weights", str(table.parent / "w.npy")]) == 2
    assert "must be real numbers" in capsys.readouterr().err


def test_weights_must_be_given(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", str(table)]) == 2
    assert "--weights" in capsys.readouterr().err


def test_weights_of_many_neurons_are_judged_too(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    network = relubias.Network.of_signs([1, 1, -1])
    star = relubias.minimum_norm(relubias.read(table, target="y"), network)
    path = tmp_path / "three.npy"
    np.save(path, star.weights()[[1, 0, 2]])
    words = ["certify", str(table), "--weights", str(path), "--target", "y", "--network", "+,+,-", "--json"]
    assert main(words) == 0
    values = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert (values["optimal"], values["interrupted"]) == (True, False)

    def impatient(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("relubias.references.many.ManyTree.norm", impatient)
    assert main(words) == 130
    values = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert (values["optimal"], values["interrupted"]) == (False, True)


def test_weights_of_a_pair_are_judged_by_the_interval_of_branch_and_bound(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = relubias.read(table, target="y")
    star = relubias.minimum_norm(problem, relubias.Network.pair())
    path = tmp_path / "pair.npy"
    np.save(path, star.weights())
    words = ["certify", str(table), "--weights", str(path), "--target", "y", "--network", "pair"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "this is the minimum-norm global minimiser" in text
    assert f"shortest known    {star.norm:.12g}" in text
    assert main([*words, "--json"]) == 0
    values = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert values["optimal"] is True
    assert values["shortest"] == pytest.approx(star.norm, rel=1e-12)
    np.save(path, star.weights() + 0.1)
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["feasible"] is False


def test_networks_of_two_trained_layers_are_judged_by_their_variation_norm(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = relubias.read(table, target="y")
    star = relubias.minimum_norm(problem, relubias.Network.single(train_output=True), of="variation")
    signs = ",".join("+" if sign > 0 else "-" for sign in star.network.signs)
    np.save(tmp_path / "w.npy", star.weights())
    np.savetxt(tmp_path / "a.txt", star.state.output_weights)
    words = ["certify", str(table), "--weights", str(tmp_path / "w.npy"), "--target", "y", "--network", signs]
    words += ["--output-weights", str(tmp_path / "a.txt")]
    assert main([*words, "--json"]) == 0
    values = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert (values["optimal"], values["feasible"]) == (True, True)
    assert values["norm"] == pytest.approx(star.norm)
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "no network that fits the labels has a smaller variation norm" in told
    assert f"Σ|a_k|‖w_k‖       {star.norm:.6g}"[:24] in told
    np.savetxt(tmp_path / "a.txt", 2 * star.state.output_weights)
    np.save(tmp_path / "w.npy", star.weights() / 2)
    assert main(words) == 0
    assert "no network that fits the labels has a smaller variation norm" in capsys.readouterr().out
    np.save(tmp_path / "w.npy", star.weights())
    assert main(words) == 0
    assert "this network does not fit the labels" in capsys.readouterr().out


def test_a_search_budget_leaves_an_interval(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = relubias.Network.of_signs([1, 1, -1])
    star = relubias.minimum_norm(relubias.read(table, target="y"), network)
    np.save(tmp_path / "w.npy", star.weights())
    words = ["certify", str(table), "--weights", str(tmp_path / "w.npy"), "--target", "y", "--network", "+,+,-"]
    assert main([*words, "--search-budget", "1", "--json"]) == 0
    values = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert values["lower_bound"] < (1 - 1e-6) * values["norm"]
    assert main([*words, "--search-budget", "0.5"]) == 2
    assert "--search-budget '0.5' is not a positive whole number" in capsys.readouterr().err
