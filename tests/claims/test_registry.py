"""Every claim is whole: it can be run quick and full, its judge can fail, and it has a control."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from claim_cases import same_rows, table, tiny

from relubias import claims
from relubias.claims.claim import CHAPTERS, Claim
from relubias.errors import ArgumentError


@pytest.mark.parametrize("id", claims.ids())
def test_a_claim_is_named_as_its_file_and_has_a_control_in_words(id: str) -> None:
    claim = claims.load(id)
    assert claim.id == id
    assert claim.chapter in CHAPTERS
    assert claim.source == "ours" or claim.source.startswith("paper")
    for text in (claim.statement, claim.control.sentence, claim.method):
        assert text.endswith(".")
        assert "\n" not in text


@pytest.mark.parametrize("id", claims.ids())
def test_its_studies_are_read_and_have_the_same_names_quick_and_full(id: str) -> None:
    claim = claims.load(id)
    for part in (claim.studies, claim.control.studies):
        quick, full = part(True), part(False)
        assert [study.name for study in quick] == [study.name for study in full]
        for small, large in zip(quick, full, strict=True):
            assert small.n_cells <= large.n_cells
            assert re.fullmatch(rf"{id}(-[a-z0-9-]+)?", small.name)
    names = [study.name for study in claim.all_studies(True)]
    assert len(set(names)) == len(names)
    assert names


def test_a_control_of_the_same_rows_is_noticed() -> None:
    """All claims are looked at so where all of them are measured."""
    rows = {"tiny": table({"run.at_limit": [True, True]})}
    claim = tiny()
    assert not same_rows(claim, rows)
    for copied in (claims.Control("None."), claims.Control("A copy.", rows=lambda rows: {"tiny": rows["tiny"].copy()})):
        assert same_rows(replace(claim, control=copied), rows)


def test_ids_are_unique_and_claims_come_in_the_order_of_chapters() -> None:
    found = claims.chosen()
    assert sorted(claim.id for claim in found) == claims.ids()
    assert [claim.order for claim in found] == sorted(claim.order for claim in found)


def test_chosen_claims_come_in_reading_order_once_and_with_either_spelling() -> None:
    found = claims.chosen(["gap_law", "activity-single", "gap-law"])
    assert [claim.id for claim in found] == ["activity_single", "gap_law"]


def test_an_unknown_claim_is_told_with_the_nearest_one() -> None:
    with pytest.raises(ArgumentError, match="there is no claim 'gap_lew'; did you mean gap_law"):
        claims.chosen(["gap_lew"])
    with pytest.raises(ArgumentError, match="no claim is named"):
        claims.chosen([])


def test_modules_of_claims_import_no_pandas_or_matplotlib_until_used() -> None:
    import subprocess
    import sys

    code = "import sys; from relubias import claims; claims.chosen(); print(*{n.split('.')[0] for n in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"pandas", "matplotlib", "pyarrow"} & set(done.stdout.split()) == set()


def test_every_claim_is_a_claim() -> None:
    assert all(isinstance(claim, Claim) for claim in claims.chosen())
