"""Reproductions from beginning to end, on claims that take no time."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from claim_cases import tiny

from relubias import claims
from relubias.claims import Stage, Verdict, registry, reproduce
from relubias.claims.claim import Claim
from relubias.cli.main import main
from relubias.errors import ArgumentError

CLAIMS = {"first": tiny("first"), "second": tiny("second", degrees=60.0)}


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> dict[str, Claim]:
    """Two tiny claims in the place of all others."""
    found = dict(CLAIMS)
    monkeypatch.setattr(registry, "ids", lambda: sorted(found))
    monkeypatch.setattr(registry, "load", lambda id: found[id])
    return found


def test_a_reproduction_writes_all_its_files_and_can_be_called_again(known: dict[str, Claim], tmp_path: Path) -> None:
    stages: list[Stage] = []
    found = reproduce(output=tmp_path / "out", quick=True, workers=1, progress=stages.append)
    assert [result.verdict for result in found.results] == [Verdict.SUPPORTED] * 2
    assert not found.interrupted
    assert [stage.claim.id for stage in stages if stage.result] == ["first", "second"]
    values = json.loads((tmp_path / "out" / "claims.json").read_text("utf-8"))
    assert [claim["verdict"] for claim in values["claims"]] == ["supported", "supported"]
    assert values["claims"][0]["command"] == "relubias reproduce --claims first --quick --output again-first"
    table = pd.read_parquet(tmp_path / "out" / "tables" / "first-quick.parquet")
    assert len(table) == 12
    report = found.report.read_text("utf-8")
    for text in ('id="first"', "relubias reproduce --claims second --quick", "The opposite of what was measured."):
        assert text in report

    computed: list[Stage] = []
    again = reproduce(output=tmp_path / "out", quick=True, workers=1, progress=computed.append)
    assert [result.as_dict() for result in again.results] == [result.as_dict() for result in found.results]
    assert all(stage.snapshot is None for stage in computed), "nothing is computed twice"


def test_one_row_repeated_elsewhere_has_the_same_numbers(known: dict[str, Claim], tmp_path: Path) -> None:
    (_, among) = reproduce(output=tmp_path / "all", quick=True, workers=1).results
    (alone,) = reproduce(["second"], output=tmp_path / "again-second", quick=True).results
    assert alone.finding == among.finding
    assert alone.control == among.control


def test_a_claim_that_fails_costs_no_other_one(known: dict[str, Claim], tmp_path: Path) -> None:
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "first-quick.db").write_text("no store")
    found = reproduce(output=tmp_path, quick=True, workers=1)
    broken, sound = found.results
    assert broken.verdict is Verdict.INCONCLUSIVE
    assert broken.sentence.startswith("The studies could not be run:")
    assert sound.verdict is Verdict.SUPPORTED
    assert "The studies could not be run:" in found.report.read_text("utf-8")


def test_an_interruption_keeps_what_is_judged_and_names_what_is_not(known: dict[str, Claim], tmp_path: Path) -> None:
    def stop(stage: Stage) -> None:
        if stage.claim.id == "second" and stage.snapshot is not None:
            raise KeyboardInterrupt

    found = reproduce(output=tmp_path, quick=True, workers=1, progress=stop)
    assert found.interrupted
    assert [result.claim.id for result in found.results] == ["first"]
    assert json.loads((tmp_path / "claims.json").read_text("utf-8"))["missing"] == ["second"]
    assert "It was interrupted: not measured, or not to their end, are second." in found.report.read_text("utf-8")
    assert len(reproduce(output=tmp_path, quick=True, workers=1).results) == 2


def test_the_command_prints_the_table_and_where_the_report_is(
    known: dict[str, Claim], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    assert main(["reproduce", "--quick", "--claims", "first,second", "--output", str(output), "--workers", "1"]) == 0
    printed = capsys.readouterr()
    assert f"Report: {output / 'report.html'}" in printed.out
    assert "2 supported, 0 not supported, 0 inconclusive; 2 of 2 negative controls came out negative" in printed.out
    assert "relubias: [2/2] second: supported" in printed.err
    assert main(["reproduce", "--quick", "--claims", "first", "--output", str(output), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["claims"][0]["id"] == "first"


def test_the_list_names_claims_and_computes_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["reproduce", "--list", "--output", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed] == [claim.id for claim in claims.chosen()]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--claims", "gap_lav"], "did you mean gap_law"),
        (["--claims", ","], "no claim is named"),
        (["--workers", "0"], "workers must be a whole number from 1"),
        (["--workers", "1", "--cluster", "tcp://localhost:1"], "leave out the number of workers"),
    ],
)
def test_bad_options_are_told_in_one_sentence(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "--quick", "--output", str(tmp_path / "out"), *options]) == 2
    assert message in capsys.readouterr().err


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(ArgumentError, match="choose another folder"):
        reproduce(["gap_law"], output=tmp_path / "out")
