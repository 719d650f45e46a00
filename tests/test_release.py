"""What is released agrees with itself: version, changelog, requirements, the contents of the wheel."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import relubias

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
REQUIREMENTS = [
    *PYPROJECT["build-system"]["requires"],
    *PYPROJECT["project"]["dependencies"],
    *(line for extra in PYPROJECT["project"]["optional-dependencies"].values() for line in extra),
]
BOUNDED = re.compile(r"[A-Za-z0-9-]+(\[[a-z,-]+\])?>=[0-9.]+,<[0-9.]+")
#: A folder that exists on one machine only.
MACHINE_PATH = re.compile(r"(?<![\w.}~-])/(work|tmp|home|root|Users)/\w")


def test_the_changelog_opens_with_this_version() -> None:
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert versions[0] == relubias.__version__


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_every_requirement_has_a_lower_and_an_upper_bound(requirement: str) -> None:
    assert BOUNDED.fullmatch(requirement), requirement


def test_an_open_requirement_would_be_noticed() -> None:
    assert not BOUNDED.fullmatch("numpy>=2.0")
    assert not BOUNDED.fullmatch("numpy<3")


def test_no_file_names_a_folder_of_one_machine() -> None:
    assert MACHINE_PATH.search("see /tmp/out.csv")
    found = []
    for path in project_files():
        text = path.read_text(encoding="utf-8")
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in MACHINE_PATH.finditer(text)]
    assert found == []


def project_files() -> list[Path]:
    """Text files that people read or run, the tests apart."""
    pages = [*ROOT.glob("*.md"), ROOT / "pyproject.toml", *(ROOT / ".ci").iterdir()]
    folders = ("src", "docs", "scripts", "benchmarks", "examples")
    inside = [
        path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix != ".png"
    ]
    written = [path for path in inside if not {"__pycache__", "_build", "api"} & set(path.parts)]
    assert len(written) > 20
    return pages + written


def test_the_wheel_holds_the_example_the_type_marker_and_no_tests(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob(f"relubias-{relubias.__version__}-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"relubias/py.typed", "relubias/example_data/synthetic.csv", "relubias/problem.py"} <= names
    assert {name.split("/")[0] for name in names} == {"relubias", f"relubias-{relubias.__version__}.dist-info"}
