"""The files of a reproduction: the report, claims.json and the figures; each is written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from relubias import __version__
from relubias.archive import write_atomically
from relubias.claims.claim import Claim
from relubias.claims.page import command, page
from relubias.claims.result import Result
from relubias.report.html import html
from relubias.report.introduction import introduction
from relubias.studies.work import environment

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write(
    folder: Path, results: Sequence[Result], *, quick: bool, seconds: float, missing: Sequence[Claim] = ()
) -> Path:
    """Write everything and return the path of the report.

    Raises
    ------
    ArgumentError
        If a file cannot be written.
    """
    for result in results:
        for name, figure in result.figures.items():
            _draw(folder / "figures" / f"{result.claim.id}-{name}", figure)
    values = {
        "relubias": __version__,
        "quick": quick,
        "environment": json.loads(environment()),
        "claims": [result.as_dict() | {"command": command(result.claim.id, quick=quick)} for result in results],
        "missing": [claim.id for claim in missing],
    }
    text = json.dumps(values, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    write_atomically(folder / "claims.json", lambda stream: stream.write(text.encode()))
    found = page(results, quick=quick, seconds=seconds, introduction=introduction(), missing=missing)
    document = html(found)
    return write_atomically(folder / "report.html", lambda stream: stream.write(document.encode()))


def _draw(path: Path, figure: Figure) -> None:
    write_atomically(path.with_suffix(".png"), lambda stream: figure.savefig(stream, format="png", dpi=160))
    write_atomically(path.with_suffix(".pdf"), lambda stream: figure.savefig(stream, format="pdf", dpi=300))
