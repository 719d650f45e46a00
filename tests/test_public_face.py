"""The public face: a small closed set of names, each imported when it is first used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import relubias

NAMES = [
    "Analysis",
    "ArgumentError",
    "DataError",
    "Descent",
    "Flow",
    "Gap",
    "MinimumNorm",
    "Network",
    "Problem",
    "RelubiasError",
    "Run",
    "State",
    "Status",
    "__version__",
    "analyze",
    "certify",
    "claims",
    "compare",
    "errors",
    "gap",
    "gradient_descent",
    "gradient_flow",
    "minimum_norm",
    "read",
    "sampling",
    "starts",
    "step_sizes",
    "studies",
    "theory",
]
HEAVY = {"numpy", "scipy", "numba", "matplotlib", "pandas", "pyarrow", "typer", "rich"}


def test_the_public_names_are_these() -> None:
    assert relubias.__all__ == NAMES
    assert dir(relubias) == NAMES


@pytest.mark.parametrize("name", [name for name in NAMES if name != "__version__"])
def test_every_public_name_resolves(name: str) -> None:
    assert relubias.__getattr__(name).__name__.split(".")[-1] == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'relubias' has no attribute 'minimum_nrom'"):
        _ = relubias.minimum_nrom


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, relubias; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stdout.split()) == set()


def test_type_checkers_see_the_imports_that_happen() -> None:
    homes = {name: home for home, names in relubias._NAMES.items() for name in names}
    homes |= {name: f"relubias.{name}" for name in relubias._MODULES}
    assert face_imports() == homes


def face_imports() -> dict[str, str]:
    """Return the module of each name that the ``if TYPE_CHECKING`` block of the face imports."""
    tree = ast.parse(Path(relubias.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    homes = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            homes[alias.name] = f"relubias.{alias.name}" if node.module == "relubias" else str(node.module)
    return homes
