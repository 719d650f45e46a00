"""Imports only ever point down: every module stands on a floor and knows only the floors below it.

The rule: a module may import from a lower floor, from its own folder, and from the ground (errors and statuses).
"""

from __future__ import annotations

import ast
from pathlib import Path

import relubias

#: Folders and top-level modules, and their floors. Rooms that are planned but not built have theirs already.
FLOORS: dict[str, float] = {
    "__main__": 9,
    "cli": 8,
    "report": 7,
    "claims": 7.5,  # a mezzanine: claims are drawn by what report offers
    "studies": 6,
    "analysis": 5,
    "verdict": 4.5,  # a mezzanine: analysis reads it, and it is a folder
    "theory": 4,
    "comparison": 4,
    "step_comparison": 5,
    "dynamics": 3,
    "references": 3,
    "starts": 2,
    "step_sizes": 2,
    "wording": 2,
    "files": 2,
    "sampling": 2,
    "network": 1,
    "nouns": 1,
    "state": 1,
    "activations": 1,
    "losses": 1,
    "problem": 1,
    "facts": 1,
    "held_out": 1,
    "population": 1,
    "linalg": 0,  # the non-negative quadratic programs included: starts (floor 2) need them as references do
    "archive": 0,
    "arguments": 0,
    "errors": 0,
    "status": 0,
}
GROUND = {"errors", "status"}
FACE = "__init__"  # the public face may import anything; nobody inside may import the face, but for the version


def violations(package: Path) -> list[str]:
    """Return a sentence for every import in this package that does not point down, and every module without a floor."""
    found = []
    for path in sorted(package.rglob("*.py")):
        module = path.relative_to(package).with_suffix("").parts
        if module == (FACE,):
            continue
        room = module[0]
        if room not in FLOORS:
            found.append(f"{'.'.join(module)} has no floor")
            continue
        for line, target in imported_rooms(path, module, package.name):
            if target not in FLOORS:
                found.append(f"{'.'.join(module)}:{line} imports {target}, which has no floor")
            elif not may_import(package, room, target):
                found.append(
                    f"{'.'.join(module)}:{line} (floor {FLOORS[room]}) imports {target} (floor {FLOORS[target]})"
                )
    return found


def may_import(package: Path, room: str, target: str) -> bool:
    """The rule. Modules directly in the package share a folder; so do those of one sub-folder."""
    if FLOORS[target] != FLOORS[room]:
        return FLOORS[target] < FLOORS[room]
    same_folder = target == room or not ((package / room).is_dir() or (package / target).is_dir())
    return same_folder or target in GROUND


def imported_rooms(path: Path, module: tuple[str, ...], package: str) -> list[tuple[int, str]]:
    """Return (line, folder or top-level module) for every import from the package itself, wherever it stands."""
    rooms = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            parts = [alias.name.split(".") for alias in node.names]
            rooms += [(node.lineno, part[1] if len(part) > 1 else FACE) for part in parts if part[0] == package]
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").split(".") if node.module else []
            if node.level:
                base = [package, *module[: len(module) - node.level], *base]
            if base[:1] != [package]:
                continue
            names = [base[1]] if len(base) > 1 else [alias.name for alias in node.names]
            rooms += [(node.lineno, name) for name in names if name != "__version__"]
    return rooms


def test_imports_point_down_and_every_module_has_a_floor() -> None:
    assert violations(Path(relubias.__file__).parent) == []


def test_an_upward_import_is_reported(tmp_path: Path) -> None:
    package = tree(
        tmp_path,
        {
            "state.py": "from relubias.dynamics.run import Run",
            "problem.py": "def late():\n    import relubias.analysis",
            "dynamics/run.py": "from ..cli import main\nfrom relubias.references.record import MinimumNorm",
        },
    )
    assert violations(package) == [
        "dynamics.run:1 (floor 3) imports cli (floor 8)",
        "dynamics.run:2 (floor 3) imports references (floor 3)",
        "problem:2 (floor 1) imports analysis (floor 5)",
        "state:1 (floor 1) imports dynamics (floor 3)",
    ]


def test_a_module_without_a_floor_is_reported(tmp_path: Path) -> None:
    package = tree(
        tmp_path, {"attic/box.py": "", "state.py": "from relubias import attic", "facts.py": "import relubias"}
    )
    assert violations(package) == [
        "attic.box has no floor",
        "facts:1 imports __init__, which has no floor",
        "state:1 imports attic, which has no floor",
    ]


def test_downward_sideways_and_foreign_imports_pass(tmp_path: Path) -> None:
    files = {
        "state.py": "import numpy\nfrom relubias.network import Network\nfrom relubias.linalg import gram",
        "linalg/factor.py": "from .gram import Array\nfrom relubias.errors import DataError",
        "analysis.py": "from relubias import __version__, step_sizes\nfrom relubias.verdict import sentences",
    }
    assert violations(tree(tmp_path, files)) == []


def tree(folder: Path, files: dict[str, str]) -> Path:
    """Write a made-up package named relubias."""
    package = folder / "relubias"
    for name, text in files.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, encoding="utf-8")
    return package
