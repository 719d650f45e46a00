"""``relubias sample`` and ``--random``: problems are drawn, written, read back and analysed by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relubias
from relubias import sampling
from relubias.cli.main import main

LINE, LABELS = "gaussian n=20 d=1e9 test=8", "teacher +,- noise=0.1"
LINE_OF_FEW = "gaussian n=4 d=30"


@pytest.fixture(autouse=True)
def _no_stage_lasts_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """What standard error says must not depend on how fast the machine is."""
    monkeypatch.setattr("relubias.cli.progress.QUIET", 1e3)


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def refusal(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main([*map(str, words)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_a_drawn_problem_is_that_of_the_same_seed_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    values = answer(capsys, "analyze", "--random", LINE, "--random-labels", LABELS, "--rng", 3)
    report = relubias.analyze(relubias.sampling.draw(LINE, labels=LABELS, rng=3))
    assert values == report.as_dict()
    dimensions = {"trace": 1e9, "d2": 1e9, "dinf": 1e9}
    assert values["problem"]["population"] == dimensions | {"sub_gaussian": True, "independent": True}
    assert values["problem"]["test"]["n_points"] == 8
    other = answer(capsys, "analyze", "--random", LINE, "--random-labels", LABELS, "--rng", 4)
    assert other["gap"] != values["gap"]
    default, zero = (answer(capsys, "analyze", "--random", LINE, *seed) for seed in ([], ["--rng", 0]))
    assert default == zero


def test_the_seed_is_that_of_the_start_too(capsys: pytest.CaptureFixture[str]) -> None:
    values = answer(capsys, "analyze", "--random", LINE, "--start", "gaussian", "--rng", 3)
    problem = relubias.sampling.draw(LINE, rng=3)
    network = relubias.Network.single()
    report = relubias.analyze(problem, network, relubias.starts.gaussian(problem, network, rng=3))
    assert values["run"]["norm"] == report.run.state.norm


def test_a_sample_is_written_read_and_drawn_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "problem.npz"
    values = answer(capsys, "sample", LINE, "--random-labels", LABELS, "--rng", 3, "--output", path)
    assert values["files"] == [str(path), str(tmp_path / "problem.toml")]
    read = answer(capsys, "analyze", path)
    drawn = answer(capsys, "analyze", "--random", LINE, "--random-labels", LABELS, "--rng", 3)
    assert read == drawn
    again = answer(capsys, "analyze", "--random", tmp_path / "problem.toml", "--rng", 3)
    assert again == drawn
    assert "# drawn with --rng 3" in (tmp_path / "problem.toml").read_text()
    problem = relubias.read(path)
    assert problem.population == relubias.sampling.draw(LINE, rng=3).population
    assert problem.test is not None


def test_the_features_are_written_where_they_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "gaussian n=10 d=60 test=4"
    answer(capsys, "sample", line, "--rng", 1, "--features", "--output", tmp_path / "p.npz")
    path = tmp_path / "p.features.npz"
    explicit, problem = relubias.read(path), relubias.read(tmp_path / "p.npz")
    np.testing.assert_allclose(explicit.gram, problem.gram, rtol=1e-12)
    assert explicit.test is not None
    assert problem.test is not None
    for name in ("cross_gram", "squared_norms", "labels"):
        np.testing.assert_allclose(getattr(explicit.test, name), getattr(problem.test, name), rtol=1e-12, atol=1e-12)
    with_features = answer(capsys, "analyze", path)
    without = answer(capsys, "analyze", tmp_path / "p.npz")
    assert with_features["gap"]["relative"] == pytest.approx(without["gap"]["relative"], rel=1e-9)
    assert with_features["run"]["test_error"] == pytest.approx(without["run"]["test_error"], rel=1e-9)
    np.save(tmp_path / "w.npy", relubias.minimum_norm(explicit, relubias.Network.single()).state.weights())
    for where in (["--random", line, "--rng", 1], [path]):
        assert answer(capsys, "certify", *where, "--weights", tmp_path / "w.npy")["optimal"] is True
    other = answer(capsys, "certify", "--random", line, "--rng", 2, "--weights", tmp_path / "w.npy")
    assert other["optimal"] is False


def test_a_sampler_that_was_read_stays_as_the_user_wrote_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, text = tmp_path / "x.toml", f"# mine\n{sampling.to_toml(sampling.parse(LINE))}"
    spec.write_text(text)
    values = answer(capsys, "sample", spec, "--output", tmp_path / "x.npz")
    assert values["files"] == [str(tmp_path / "x.npz")]
    assert spec.read_text() == text


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("p.toml", b"[project]\nname = 'mine'\n"),
        ("p.toml", b"\xff\xfe"),
        ("p.npz", b"mine"),
        ("p.features.npz", b"mine"),
    ],
)
def test_nothing_of_the_user_is_replaced(
    name: str, contents: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(contents)
    assert f"{name} exists" in refusal(capsys, "sample", LINE_OF_FEW, "--features", "--output", tmp_path / "p.npz")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == contents


def test_arrays_of_the_user_are_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("p.npz", "p.features.npz"):
        np.savez(tmp_path / name, X=np.eye(3), y=np.ones(3))
        assert f"{name} exists" in refusal(capsys, "sample", LINE_OF_FEW, "--features", "--output", tmp_path / "p.npz")
        (tmp_path / name).unlink()


def test_a_problem_that_the_user_saved_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = relubias.Problem.from_features(np.eye(3), np.ones(3)).save(tmp_path / "p.npz")
    contents = path.read_bytes()
    assert "p.npz exists" in refusal(capsys, "sample", LINE_OF_FEW, "--output", path)
    assert path.read_bytes() == contents
    assert [entry.name for entry in tmp_path.iterdir()] == ["p.npz"]


def test_another_sampler_does_not_take_the_place_of_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["--features", "--output", tmp_path / "p.npz"]
    answer(capsys, "sample", LINE_OF_FEW, *output)
    answer(capsys, "sample", LINE_OF_FEW, "--rng", 5, *output)
    assert "--rng 5" in (tmp_path / "p.toml").read_text()
    assert "p.toml exists" in refusal(capsys, "sample", "gaussian n=4 d=40", *output)


def test_what_was_drawn_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", LINE, "--output", str(tmp_path / "p.npz")]) == 0
    out = capsys.readouterr().out
    assert "drawn with         ‖λ‖₁ = 1e+09" in out
    assert f"Written: {tmp_path / 'p.npz'}, {tmp_path / 'p.toml'}" in out


@pytest.mark.parametrize(("gamma", "distance"), [(1, 0.0400359), (20, 0.2302369)])
def test_vardi_and_shamir_from_weights_in_a_file(
    gamma: int, distance: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "w.txt").write_text("1e-3 1e-3 1e-3\n")
    options = ["--start", tmp_path / "w.txt", "--step-size", "1e-4"]
    values = answer(capsys, "analyze", "--random", f"vardi-shamir gamma={gamma}", *options)
    assert values["gap"]["absolute"] == pytest.approx(distance, abs=1e-6)
    assert "The limit is not the minimum-norm solution (global)." in values["verdict"]


def test_an_instance_is_certified_by_its_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "w.txt").write_text("5 -1 0\n")
    values = answer(capsys, "certify", "--random", "vardi-shamir", "--weights", tmp_path / "w.txt")
    assert values["optimal"] is True


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name a FILE to read, or a problem to draw with --random"),
        (["x.csv", "--random", LINE], "leave out x.csv or --random"),
        (["--random", LINE, "--target", "y"], "--target is about a file"),
        (["--random", LINE, "--centre-labels"], "--centre-labels is about a file"),
        (["x.csv", "--random-labels", "signs"], "add --random"),
        (["x.csv", "--rng", "1"], "add --start gaussian or --random"),
        (["--random", "gausian n=1 d=1"], "did you mean 'gaussian'"),
        (["--random", LINE, "--random-labels", "sgins"], "did you mean 'signs'"),
        (["--random", "nowhere.toml"], "cannot read nowhere.toml: No such file"),
        (["--random", "nowhere.toml", "--random-labels", "signs"], "names the labels too"),
        (["--random", LINE, "--rng", "-1"], "rng must be a non-negative int"),
        (["--random", LINE, "--start", "w.npy", "--scale", "1"], "--scale is that of a start that is made"),
        (["--random", LINE, "--start", "somewhere"], "a file of weights"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refusal(capsys, "analyze", *words)


def test_errors_in_a_toml_file_name_it_and_the_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "spec.toml"
    path.write_text('kind = "random"\nn_samples = 5\n')
    assert f"{path}: problem.features is missing" in refusal(capsys, "analyze", "--random", path)
    path.write_text("kind =")
    assert "this is no TOML" in refusal(capsys, "analyze", "--random", path)


def test_certify_and_sample_refuse_what_makes_no_sense(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "w.txt").write_text("1 1 1\n")
    weights = ["--weights", tmp_path / "w.txt"]
    assert "add --random" in refusal(capsys, "certify", "x.csv", "--rng", 1, *weights)
    assert "leave out x.csv" in refusal(capsys, "certify", "x.csv", "--random", LINE, *weights)
    assert "give it the suffix .npz" in refusal(capsys, "sample", LINE, "--output", tmp_path / "p.csv")
    assert list(tmp_path.iterdir()) == [tmp_path / "w.txt"]


def test_a_saved_problem_is_read_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = relubias.sampling.draw(LINE, rng=0).save(tmp_path / "p.npz")
    assert "read as it is" in refusal(capsys, "analyze", path, "--target", "y")
    assert "read as it is" in refusal(capsys, "analyze", path, "--centre-labels")
    run = relubias.analyze(relubias.read(path)).run.save(tmp_path / "run.npz")
    assert "holds a run, not a problem" in refusal(capsys, "analyze", run)
