"""The scripts say what they do and, where they cannot work, why."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ["bench", "check", "demo", "test"]

if shutil.which("bash") is None:
    pytest.skip("there is no bash to run the scripts with", allow_module_level=True)


def run(command: list[str | Path], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command elsewhere than in the project, and return what it said."""
    environment = os.environ | variables
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def bare_copy(tmp_path: Path) -> Path:
    """The scripts and pyproject.toml alone, in a folder whose name has a space."""
    copy = tmp_path / "a project"
    shutil.copytree(ROOT / "scripts", copy / "scripts")
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


@pytest.mark.parametrize("name", SCRIPTS)
def test_help_is_given_from_any_folder_and_installs_nothing(name: str, bare_copy: Path, tmp_path: Path) -> None:
    done = run([bare_copy / "scripts" / name, "--help"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Usage: scripts/{name}")
    assert not (bare_copy / ".venv").exists()


def test_without_python_one_sentence_says_what_to_do(bare_copy: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "dirname", "cat"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    done = run([bare_copy / "scripts" / "demo"], tmp_path, PATH=str(tools), PYTHON="")
    assert done.returncode == 1
    assert done.stderr.startswith("No Python 3.11 or newer with venv and pip was found; install one or name it")


def test_what_is_installed_already_is_not_installed_again(bare_copy: Path, tmp_path: Path) -> None:
    stamps = bare_copy / ".venv" / "relubias-stamps"
    interpreter = bare_copy / ".venv" / "bin" / "python"
    stamps.mkdir(parents=True)
    interpreter.parent.mkdir()
    interpreter.write_text('#!/bin/sh\necho "$@" >>"$0.log"\n')
    interpreter.chmod(0o755)

    def installed(*extras: str) -> list[str]:
        log = interpreter.with_name("python.log")
        log.write_text("")
        done = run(["bash", "-c", 'source "$0" && prepare "$@"', bare_copy / "scripts/_environment", *extras], tmp_path)
        assert done.returncode == 0, done.stderr
        return [line.split()[-1] for line in log.read_text().splitlines() if "install" in line]

    assert installed("dev") == [".[dev]"]
    assert installed("dev") == []
    assert installed() == []
    assert installed("dev", "docs") == [".[dev,docs]"]
    with open(bare_copy / "pyproject.toml", "a") as pyproject:
        pyproject.write("# changed\n")
    assert installed() == ["."]
    assert installed("docs") == [".[docs]"]


def test_bench_tells_where_it_was_called_and_passes_on_what_was_asked(bare_copy: Path, tmp_path: Path) -> None:
    interpreter = bare_copy / ".venv" / "bin" / "python"
    (bare_copy / ".venv" / "relubias-stamps").mkdir(parents=True)
    interpreter.parent.mkdir()
    interpreter.write_text('#!/bin/sh\nfor argument in "$@"; do echo "$argument"; done >"$0.log"\n')
    interpreter.chmod(0o755)
    elsewhere = tmp_path / "my tables"
    elsewhere.mkdir()
    done = run([bare_copy / "scripts" / "bench", "--torch", "gram", "--output", "a table.md"], elsewhere)
    assert done.returncode == 0, done.stderr
    lines = interpreter.with_name("python.log").read_text().splitlines()
    assert lines == ["-m", "benchmarks", "--from", str(elsewhere), "--torch", "gram", "--output", "a table.md"]
    assert (bare_copy / ".venv" / "relubias-stamps" / "bench-torch").exists()


@pytest.mark.parametrize(("option", "extras"), [((), ".[dev]"), (("--all",), ".[dev,bench]")])
def test_all_tests_install_what_the_benchmarks_race_against(
    option: tuple[str, ...], extras: str, bare_copy: Path, tmp_path: Path
) -> None:
    interpreter = bare_copy / ".venv" / "bin" / "python"
    (bare_copy / ".venv" / "relubias-stamps").mkdir(parents=True)
    interpreter.parent.mkdir()
    interpreter.write_text('#!/bin/sh\necho "$@" >>"$0.log"\n')
    interpreter.chmod(0o755)
    done = run([bare_copy / "scripts" / "test", *option], tmp_path)
    assert done.returncode == 0, done.stderr
    lines = interpreter.with_name("python.log").read_text().splitlines()
    assert [line.split()[-1] for line in lines if "install" in line] == [extras]
    assert ("-m not slow" in lines[-1]) == (not option)
