"""A race that records what it was asked instead of measuring it.

Answers are still compared, residuals asked for, and each task is called once, so that a row that cannot run, or whose
rival answers wrongly, fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest

from benchmarks.harness import Remark, Row, Sample


@dataclass
class Asked:
    """One race or ceiling as it was asked for, with what both tasks returned."""

    name: str
    rival: str | None
    at_most: float | None
    ours: Any
    theirs: Any
    options: dict[str, Any] = field(default_factory=dict)


class Recorder:
    """Stands in for `race` and `ceiling` in a module."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> None:
        self.asked: list[Asked] = []
        for module in modules:
            for name in ("race", "ceiling"):
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, getattr(self, name))

    def race(
        self,
        name: str,
        ours: Callable[[], Any],
        rival: str,
        theirs: Callable[[], Any],
        *,
        at_most: float | None = None,
        **options: Any,
    ) -> Row:
        if options.get("check"):
            options["check"].passed(rival)
        residuals = options["residuals"]() if options.get("residuals") else None
        self.asked.append(Asked(name, rival, at_most, ours(), theirs(), options))
        ratio = Sample.of([1.0])
        return Row(name, ratio, rival, ratio, ratio, at_most=at_most, residuals=residuals)

    def ceiling(self, name: str, ours: Callable[[], Any], *, at_most: float, **options: Any) -> Row:
        self.asked.append(Asked(name, None, at_most, ours(), None, options))
        return Row(name, Sample.of([1.0]), at_most=at_most, is_ceiling=True)

    @property
    def goals(self) -> set[tuple[str, str | None, float | None]]:
        """Name, rival and goal of all that was asked."""
        return {(one.name, one.rival, one.at_most) for one in self.asked}

    def of(self, rival: str | None, name: str = "") -> Asked:
        """The one race with this rival whose name has these words."""
        (found,) = [one for one in self.asked if one.rival == rival and name in one.name]
        return found


def resize(monkeypatch: pytest.MonkeyPatch, row: ModuleType, **constants: Any) -> None:
    """Set constants of a row, such as its sizes, for one test; there have to be such constants."""
    for name, value in constants.items():
        monkeypatch.setattr(row, name, value)


def measured(row: ModuleType) -> tuple[list[Row], list[Remark]]:
    """Everything that a row yields: lines of the table, and remarks."""
    entries: Iterator[Row | Remark] = row.measure()
    rows, remarks = [], []
    for entry in entries:
        if isinstance(entry, Row):
            rows.append(entry)
        else:
            remarks.append(entry)
    return rows, remarks
