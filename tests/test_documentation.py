"""What the documents show is true: their Python runs, their statuses are all there, their links lead somewhere."""

from __future__ import annotations

import gzip
import re
from importlib.resources import files
from pathlib import Path

import pytest

from relubias import sampling
from relubias.status import Optimality, Status

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "docs/index.md", "docs/interface.md", "docs/studies.md", "docs/fits.md", "docs/claims.md"]
SNIPPETS = [
    pytest.param(code, id=f"{page}-{number}")
    for page in PAGES
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), flags=re.DOTALL))
]


@pytest.mark.parametrize("code", SNIPPETS)
def test_the_python_of_the_documents_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = files("relubias") / "example_data" / "synthetic.csv"
    (tmp_path / "expression.csv.gz").write_bytes(gzip.compress(example.read_bytes()))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(code, "snippet", "exec"), names)
    assert {"report", "gap", "run", "fit", "claim"} & set(names)


def test_the_toml_of_the_documents_names_samplers() -> None:
    blocks = [
        block
        for page in PAGES
        for block in re.findall(r"```toml\n(.*?)```", (ROOT / page).read_text("utf-8"), flags=re.DOTALL)
    ]
    assert blocks
    for block in blocks:
        assert sampling.from_toml(block).draw(rng=0).n_samples > 0


@pytest.mark.parametrize("page", PAGES[:2])
def test_every_status_is_explained(page: str) -> None:
    assert missing_words((ROOT / page).read_text(encoding="utf-8"), list(Status)) == []


def test_every_outcome_of_the_minimum_norm_is_explained() -> None:
    assert missing_words((ROOT / "docs/index.md").read_text(encoding="utf-8"), list(Optimality)) == []


def test_a_missing_status_would_be_noticed() -> None:
    assert missing_words("`certified` and certified-degenerate", list(Status))[0] == "certified-degenerate"


@pytest.mark.parametrize("page", ["README.md", "SCOPE.md", "CHANGELOG.md"])
def test_links_to_files_lead_somewhere(page: str) -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    assert [target for target in targets if not (ROOT / target).exists()] == []


def missing_words(text: str, words: list[Status] | list[Optimality]) -> list[str]:
    """Return those words that the text does not show as code."""
    return [str(word) for word in words if f"`{word}`" not in text]
