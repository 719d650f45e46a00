"""What a run of the benchmarks has found so far, as text, as data and as a count of goals."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.machine import Beginning, machine
from benchmarks.row import Remark, Row
from benchmarks.table import table


@dataclass
class Report:
    """Rows and remarks, each under the name by which its file is asked for, and profiles.

    It grows while a run lasts, so that whoever ends the run keeps what was measured.
    """

    beginning: Beginning
    rows: list[tuple[str, Row]] = field(default_factory=list)
    remarks: list[tuple[str, Remark]] = field(default_factory=list)
    profiles: list[str] = field(default_factory=list)
    is_profile: bool = False

    @property
    def failed(self) -> bool:
        """Whether something is wrong: not a goal that is missed, since a busy machine misses goals."""
        return any(remark.is_failure for _, remark in self.remarks)

    @property
    def met(self) -> list[Row]:
        """The rows whose goals are met."""
        return [row for _, row in self.rows if row.met is True]

    @property
    def missed(self) -> list[Row]:
        """The rows that miss a goal."""
        return [row for _, row in self.rows if row.met is False]

    @property
    def not_measured(self) -> list[tuple[str, Remark]]:
        """The remarks that stand for a goal of which nothing is known; a file that was not begun counts as one."""
        return [(name, remark) for name, remark in self.remarks if remark.has_goal]

    def text(self) -> str:
        """Return everything as it is printed."""
        known = [f"{name}: {fact}" for name, fact in machine(self.beginning).items()]
        remarks = [f"{name}: {remark.text}" for name, remark in self.remarks]
        if self.is_profile:
            return "\n".join([*known, "", *self.profiles, *remarks])
        return "\n".join([*known, "", table([row for _, row in self.rows]), *remarks, "", self.count()])

    def count(self) -> str:
        """Return how many goals are met, missed and not measured, and why the last were not."""
        reasons = Counter(remark.text.rstrip(".") for _, remark in self.not_measured)
        why = "; ".join(text if often == 1 else f"{text}, {often} times" for text, often in reasons.most_common())
        counts = f"{len(self.met)} goals met, {len(self.missed)} missed, {len(self.not_measured)} not measured"
        return counts + (f" ({why})" if why else "")

    def as_data(self) -> dict[str, Any]:
        """Return everything in terms of JSON: seconds, ratios, bytes, and each single measurement."""
        rows = [{"file": name} | asdict(row) | {"met": row.met, "close": row.close} for name, row in self.rows]
        return {
            "machine": machine(self.beginning),
            "rows": [without_nan(row) for row in rows],
            "remarks": [{"file": name} | asdict(remark) for name, remark in self.remarks],
            "goals": {"met": len(self.met), "missed": len(self.missed), "not measured": len(self.not_measured)},
        }


def without_nan(value: Any) -> Any:
    """Return the same with None in place of NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {name: without_nan(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(part) for part in value]
    return None if isinstance(value, float) and math.isnan(value) else value
