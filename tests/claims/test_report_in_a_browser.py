"""The report, as a browser shows it: on a screen and on a phone nothing is too wide and no figure is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import NAMES, chromium, look
from claim_cases import table, tiny
from matplotlib.figure import Figure

from relubias.claims import reproduce
from relubias.claims.page import page
from relubias.claims.result import Result, judged
from relubias.report.html import html
from relubias.report.introduction import introduction

PROGRAM = chromium()
pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason=f"no Chromium is installed: none of {', '.join(NAMES)} is on the PATH"
)
WIDE = '<p style="width:2000px">wide</p><img alt="lost" src="data:image/svg+xml;base64,AAAA">'


def result() -> Result:
    """A claim with a long name, a figure and a table."""
    sheet = Figure(figsize=(9.0, 4.0))
    sheet.subplots().plot([0, 1], [1, 3])
    name = "a_claim_with_a_name_that_is_long"
    found = judged(tiny(name), {name: table({"run.at_limit": [True] * 12})}, (), 0.0)
    return Result(found.claim, found.finding, found.control, found.ran, {"line": sheet})


@pytest.fixture(scope="module")
def report() -> str:
    return html(page([result()], quick=True, seconds=1.0, introduction=introduction()))


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_too_wide_and_no_figure_is_missing(report: str, width: int, tmp_path: Path) -> None:
    told = look(str(PROGRAM), report, tmp_path, width=width)
    assert told["width"] == width
    assert told["needed"] <= width, told["wide"]
    assert told["wide"] == []
    assert told["figures"] == 5
    assert told["missing"] == []


@pytest.mark.parametrize("width", [1280, 390])
def test_a_report_of_real_claims_fits_too(width: int, tmp_path: Path) -> None:
    """Long numbers, many quantities, and several figures of one claim."""
    ids = ["activity_single", "step_size", "relative_gap", "worst_case"]
    done = reproduce(ids, quick=True, output=tmp_path / "out", workers=1)
    told = look(str(PROGRAM), done.report.read_text("utf-8"), tmp_path, width=width)
    assert told["needed"] <= width, told["wide"]
    assert told["wide"] == []
    assert told["figures"] == 4 + sum(len(one.figures) for one in done.results)
    assert told["missing"] == []


def test_on_a_phone_the_key_number_is_below_its_claim_and_not_beside_the_screen(report: str, tmp_path: Path) -> None:
    told = look(str(PROGRAM), report, tmp_path, width=390)
    assert told["hidden"] == 0
    wide = report.replace(' class="stacked"', "").replace("<td ", '<td style="min-width:9rem" ')
    assert look(str(PROGRAM), wide, tmp_path, width=390)["hidden"] > 0


def test_what_is_too_wide_or_missing_would_be_noticed(report: str, tmp_path: Path) -> None:
    told = look(str(PROGRAM), report.replace("</main>", f"{WIDE}</main>"), tmp_path, width=390)
    assert told["needed"] > 390
    assert told["wide"] == ["P wide"]
    assert told["missing"] == ["lost"]
