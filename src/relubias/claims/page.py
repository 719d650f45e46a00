"""The report in words: the table of all claims, the introduction, and a section a claim. Pure functions of results."""

from __future__ import annotations

import json
from collections.abc import Sequence

from relubias.claims.claim import CHAPTERS, Claim, Finding, Verdict
from relubias.claims.result import Ran, Result
from relubias.report.html import Block, Cell, Command, Heading, Page, Picture, Section, Table, Text
from relubias.studies.progress import duration
from relubias.studies.work import environment
from relubias.wording import count, number, sentence

TITLE = "What gradient descent on a ReLU model picks: claims and measurements"


def command(id: str, *, quick: bool) -> str:
    """What repeats just this claim from nothing, in a folder of its own."""
    return " ".join(["relubias reproduce --claims", id, *(["--quick"] if quick else []), f"--output again-{id}"])


def page(
    results: Sequence[Result],
    *,
    quick: bool,
    seconds: float,
    introduction: Sequence[Block],
    missing: Sequence[Claim] = (),
) -> Page:
    """The whole report.

    Parameters
    ----------
    results : sequence of Result
        In reading order.
    quick : bool
    seconds : float
        How long all of it took.
    introduction : sequence of Block
    missing : sequence of Claim
        Claims that were not measured since it was interrupted.
    """
    sections = [Section("introduction", "What this is about", introduction)]
    for chapter in CHAPTERS:
        parts = [result for result in results if result.claim.chapter == chapter]
        if parts:
            sections.append(Section(_anchor(chapter), chapter, ()))
            sections += [_section(result, quick=quick) for result in parts]
    return Page(TITLE, [*_summary(results, quick), *_missing(missing)], sections, _foot(quick, seconds))


def _summary(results: Sequence[Result], quick: bool) -> list[Block]:
    verdicts = ", ".join(f"{sum(result.verdict is verdict for result in results)} {verdict}" for verdict in Verdict)
    controls = sum(result.control_holds for result in results)
    size = "in the quick version, with fewer trials and sizes (without --quick: in full)" if quick else "in full"
    lead = (
        f"{count(len(results), 'claim')}, measured {size}: {verdicts}. {controls} of {len(results)} negative controls "
        "came out negative. Each row leads to what was run, and to the command that repeats it."
    )
    head = ("claim", "source", "verdict", "key number", "value", "target")
    return [Text(lead, "lead"), Table(head, [_row(result) for result in results], stacked=True)]


def _row(result: Result) -> list[str | Cell]:
    claim, key = result.claim, result.key
    verdict = Cell(str(result.verdict), kind=_kind(result.verdict))
    numbers = ("—", "—", "—") if key is None else (key.name, str(key), key.target or "—")
    return [Cell(claim.title, link=claim.id), claim.source, verdict, *numbers]


def _foot(quick: bool, seconds: float) -> str:
    known = json.loads(environment())
    versions = ", ".join(f"{name} {version}" for name, version in known["versions"].items())
    kind = "quick" if quick else "full"
    return (
        f"{versions}; {known['system']}. Report of {kind} studies, made in {duration(seconds)}; what had been computed "
        "before was not computed again. Each row of a study has its versions and its machine beside it."
    )


def _missing(claims: Sequence[Claim]) -> list[Block]:
    if not claims:
        return []
    names = ", ".join(claim.id for claim in claims)
    return [Text(f"It was interrupted: not measured, or not to their end, are {names}. The same command goes on.")]


def _section(result: Result, *, quick: bool) -> Section:
    claim = result.claim
    blocks: list[Block] = [
        Text(claim.statement, "statement"),
        Text(f"Source: {claim.source}.", "note"),
        Text(f"{str(result.verdict).capitalize()}. {result.sentence}", _kind(result.verdict)),
    ]
    blocks += [Picture(figure, _caption(claim, name)) for name, figure in result.figures.items()]
    if result.finding.quantities:
        blocks += [Heading("Numbers"), _numbers(result.finding)]
    blocks += [Heading("What was run")]
    blocks += [Text(claim.method)] if claim.method else []
    blocks += [_studies(result.ran)] if result.ran else []
    blocks += [Text("This row alone, again:"), Command(command(claim.id, quick=quick))]
    blocks += [Command(ran.study.to_toml(), f"The study {ran.study.name} as a file") for ran in result.ran]
    blocks += [Heading("Negative control"), Text(sentence(claim.control.sentence)), Text(_control(result))]
    if result.control.quantities:
        blocks.append(_numbers(result.control))
    return Section(claim.id, claim.title, blocks, level=3)


def _control(result: Result) -> str:
    how = "as it has to" if result.control_holds else "which it must not be: it has to be not supported"
    return f"Outcome: {result.control.verdict}, {how}. {sentence(result.control.sentence)}"


def _numbers(finding: Finding) -> Table:
    met = {True: "yes", False: "no", None: "undecided"}
    rows = [
        (
            quantity.name,
            number(quantity.value),
            "—"
            if quantity.low is None or quantity.high is None
            else f"[{number(quantity.low)}, {number(quantity.high)}]",
            "—" if quantity.trials is None else f"{quantity.trials:,}",
            quantity.target or "—",
            met[quantity.met] if quantity.target else "—",
        )
        for quantity in finding.quantities
    ]
    head = ("quantity", "value", "95 % interval", "trials", "target", "met")
    return Table(head, rows, numbers=("value", "95 % interval", "trials"))


def _studies(ran: Sequence[Ran]) -> Table:
    rows = [
        (
            part.study.name,
            f"{part.status.n_cells:,}",
            f"{part.status.failed:,}",
            duration(part.status.cpu_seconds),
            f"`{part.store}`",
        )
        for part in ran
    ]
    head = ("study", "cells", "failed", "processor time", "kept in")
    return Table(head, rows, numbers=("cells", "failed", "processor time"))


def _kind(verdict: Verdict) -> str:
    return str(verdict).replace(" ", "-")


def _caption(claim: Claim, name: str) -> str:
    words = name.replace("_", " ").replace("-", " ")
    return claim.captions.get(name, f"{claim.title}: {words}.")


def _anchor(chapter: str) -> str:
    return "-".join(chapter.lower().replace(",", "").split())
