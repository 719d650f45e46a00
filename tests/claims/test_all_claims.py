"""Every claim, measured: each has a verdict with numbers, a figure, and a control that comes out the other way."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from claim_cases import same_rows

from relubias import claims
from relubias.claims import Reproduction, Verdict

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """All claims in their quick version."""
    return claims.reproduce(quick=True, output=tmp_path_factory.mktemp("reproduction"))


def test_every_claim_is_decided_by_numbers(found: Reproduction) -> None:
    assert len(found.results) == len(claims.ids())
    for result in found.results:
        assert result.verdict is not Verdict.INCONCLUSIVE, f"{result.claim.id}: {result.sentence}"
        assert result.finding.quantities
        assert all(part.status.failed == 0 for part in result.ran), result.claim.id


def test_every_negative_control_comes_out_negative(found: Reproduction) -> None:
    assert [result.claim.id for result in found.results if not result.control_holds] == []


def test_every_control_is_judged_by_other_rows_than_its_claim(found: Reproduction) -> None:
    for result in found.results:
        tables = {part.study.name: found.output / "tables" / f"{Path(part.store).stem}.parquet" for part in result.ran}
        assert not same_rows(result.claim, {name: pd.read_parquet(path) for name, path in tables.items()})


def test_every_claim_has_a_figure_as_pdf_and_png_and_its_tables(found: Reproduction) -> None:
    for result in found.results:
        assert result.figures, result.claim.id
        assert set(result.claim.captions) <= set(result.figures)
        for name in result.figures:
            for kind in ("pdf", "png"):
                assert (found.output / "figures" / f"{result.claim.id}-{name}.{kind}").stat().st_size > 1000
        for part in result.ran:
            assert (found.output / "tables" / f"{Path(part.store).stem}.parquet").is_file()
    assert len(json.loads((found.output / "claims.json").read_text("utf-8"))["claims"]) == len(found.results)
