"""Rows on real data are left out with the reason where the data are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.harness import Skipped
from benchmarks.tasks.real_data import YARN, folder


def test_the_folder_has_to_be_named_and_to_have_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RELUBIAS_DATA", raising=False)
    with pytest.raises(Skipped, match="RELUBIAS_DATA names no folder"):
        folder()
    monkeypatch.setenv("RELUBIAS_DATA", str(tmp_path))
    with pytest.raises(Skipped, match=f"RELUBIAS_DATA names .* where there is no {YARN}"):
        folder()
    (tmp_path / YARN).touch()
    assert folder() == tmp_path
