"""What became of one claim: what was run, what its judge says, and whether its control came out the other way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from relubias.claims.claim import Claim, Finding, Judge, Quantity, Rows, Verdict
from relubias.errors import RelubiasError
from relubias.studies.spec import Study
from relubias.studies.stored import StudyStatus
from relubias.wording import count, sentence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The largest share of failed cells with which a judge decides anything, of a claim or of its control.
MOST_FAILED = 0.05


@dataclass(frozen=True)
class Ran:
    """A study that was run, its table, and how far it is."""

    study: Study
    status: StudyStatus
    store: str


@dataclass(frozen=True)
class Result:
    """What became of one claim.

    Attributes
    ----------
    claim : Claim
    finding : Finding
        What its judge says of its studies.
    control : Finding
        What the judge says of the negative control.
    ran : tuple of Ran
    figures : dict of str to Figure
    seconds : float
        By the clock, of this time; 0 cells may have been left to compute.
    """

    claim: Claim
    finding: Finding
    control: Finding
    ran: tuple[Ran, ...] = ()
    figures: Mapping[str, Figure] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def control_holds(self) -> bool:
        """Whether the control came out negative, as it has to."""
        return self.control.verdict is Verdict.NOT_SUPPORTED

    @property
    def verdict(self) -> Verdict:
        """That of the judge; but nobody is convinced by a judge who would support the control too."""
        supported = self.finding.verdict is Verdict.SUPPORTED
        return Verdict.INCONCLUSIVE if supported and not self.control_holds else self.finding.verdict

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        text = sentence(self.finding.sentence)
        if self.finding.verdict is Verdict.SUPPORTED and not self.control_holds:
            text += " But the negative control did not come out negative, so that this proves nothing."
        return text

    @property
    def key(self) -> Quantity | None:
        """The number for the table of all claims."""
        return self.finding.quantities[0] if self.finding.quantities else None

    def as_dict(self) -> dict[str, Any]:
        """All but the figures as JSON-able values."""
        claim = self.claim
        return {
            "id": claim.id,
            "title": claim.title,
            "statement": claim.statement,
            "source": claim.source,
            "chapter": claim.chapter,
            "verdict": str(self.verdict),
            "sentence": self.sentence,
            "finding": self.finding.as_dict(),
            "control": {"statement": claim.control.sentence, "holds": self.control_holds} | self.control.as_dict(),
            "studies": [
                {
                    "name": ran.study.name,
                    "store": ran.store,
                    "cells": ran.status.n_cells,
                    "done": ran.status.done,
                    "failed": ran.status.failed,
                    "failures": [{"message": message, "cells": cells} for message, cells in ran.status.failures],
                    "cpu_seconds": ran.status.cpu_seconds,
                    "settings": ran.study.as_dict(),
                }
                for ran in self.ran
            ],
            "figures": sorted(self.figures),
        }


def judged(claim: Claim, rows: Rows, ran: Sequence[Ran], seconds: float) -> Result:
    """Judge the rows of a claim and of its control, and draw them; whatever cannot be judged or drawn is said."""
    own = {name: rows[name] for name in _names(claim)}
    parts = [part.status for part in ran if part.study.name in own]
    failed, cells = sum(part.failed for part in parts), sum(part.n_cells for part in parts)
    finding = _with_failures(opinion(claim.judge, own), failed, cells)
    try:
        others = claim.control.rows(rows)
        control = _with_failures(opinion(claim.judge, others), *_failures(others))
    except Exception as error:
        control = _unjudged(error)
    try:
        figures = claim.figures(rows)
    except Exception as error:
        figures = {}
        text = f"{sentence(finding.sentence)} No figure could be drawn: {told(error)}"
        finding = Finding(finding.verdict, text, finding.quantities)
    return Result(claim, finding, control, tuple(ran), figures, seconds)


def _with_failures(finding: Finding, failed: int, cells: int) -> Finding:
    """Failed cells are told, and nothing is decided where there are many: they need not be like the others."""
    if not failed:
        return finding
    text = f"{sentence(finding.sentence)} {failed:,} of {count(cells, 'cell')} failed."
    verdict = finding.verdict
    if failed > MOST_FAILED * cells and verdict is not Verdict.INCONCLUSIVE:
        verdict = Verdict.INCONCLUSIVE
        text += " These are too many to decide anything."
    return Finding(verdict, text, finding.quantities)


def _failures(rows: Rows) -> tuple[int, int]:
    """Failed cells among rows, and all of them."""
    return sum(int((table["status"] == "failed").sum()) for table in rows.values()), sum(map(len, rows.values()))


def opinion(judge: Judge, rows: Rows) -> Finding:
    """What a judge says; inconclusive with the reason where the rows are too few, or too bad, to be judged."""
    try:
        return judge(rows)
    except Exception as error:  # one judge who stumbles must not cost the other claims
        return _unjudged(error)


def failed(claim: Claim, error: Exception, ran: Sequence[Ran] = ()) -> Result:
    """The result of a claim whose studies could not be run."""
    reason = Finding(Verdict.INCONCLUSIVE, f"The studies could not be run: {told(error)}")
    return Result(claim, reason, Finding(Verdict.INCONCLUSIVE, "It was not judged either."), tuple(ran))


def told(error: BaseException) -> str:
    """An error on one line, that of another package with its kind."""
    text = " ".join(str(error).split())
    return sentence(text if isinstance(error, RelubiasError) else f"{type(error).__name__}: {text}")


def _unjudged(error: Exception) -> Finding:
    return Finding(Verdict.INCONCLUSIVE, f"It cannot be judged: {told(error)}")


def _names(claim: Claim) -> list[str]:
    """Studies of the claim itself have the same names, quick or full."""
    return [study.name for study in claim.studies(True)]
