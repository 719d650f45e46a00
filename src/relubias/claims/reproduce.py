"""Measure claims: run their studies, judge them, and write the report.

    OUTPUT/report.html              everything, in one file
    OUTPUT/claims.json              verdicts and numbers
    OUTPUT/studies/NAME.db          the studies; NAME-quick.db those of --quick
    OUTPUT/tables/NAME.parquet      their tables
    OUTPUT/figures/ID-NAME.pdf .png

It is resumed by calling it again: studies go on where they were, and what is done is only judged again. A claim whose
studies fail says so and costs no other one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relubias.claims.claim import Claim, Verdict
from relubias.claims.registry import chosen
from relubias.claims.result import Ran, Result, failed, judged
from relubias.errors import ArgumentError
from relubias.studies import Store, run
from relubias.studies.processes import cores
from relubias.studies.runner import Snapshot
from relubias.studies.spec import Study
from relubias.studies.standing import Standing, standing


@dataclass(frozen=True)
class Stage:
    """What a progress callback is told.

    Attributes
    ----------
    claim : Claim
    place, total : int
        Which of how many claims it is, from 1.
    snapshot : Snapshot or None
        How far a study of it is.
    result : Result or None
        What came out, once it is judged.
    """

    claim: Claim
    place: int
    total: int
    snapshot: Snapshot | None = None
    result: Result | None = None


@dataclass(frozen=True)
class Reproduction:
    """What was found.

    Attributes
    ----------
    results : tuple of Result
        Of each claim, in reading order.
    quick : bool
    output : Path
    report : Path
        The HTML file.
    seconds : float
        By the clock.
    interrupted : bool
        Whether it was stopped before the last claim; all that was measured is kept, and the same call goes on.
    """

    results: tuple[Result, ...]
    quick: bool
    output: Path
    report: Path
    seconds: float
    interrupted: bool

    def count(self, verdict: Verdict) -> int:
        """How many claims have this verdict.

        Parameters
        ----------
        verdict : Verdict

        Returns
        -------
        int
        """
        return sum(result.verdict is verdict for result in self.results)


def reproduce(
    claims: Sequence[str] | None = None,
    *,
    quick: bool = False,
    output: str | os.PathLike[str] = "reproduction",
    workers: int | None = None,
    cluster: str | None = None,
    progress: Callable[[Stage], None] | None = None,
) -> Reproduction:
    """Measure the claims of the paper, and ours, and write a report.

    Parameters
    ----------
    claims : sequence of str, optional
        Their ids; by default all.
    quick : bool
        Smaller studies: the same claims with fewer trials and sizes.
    output : path
        Folder for the report, made if it is not there.
    workers : int, optional
        Processes; by default, and at most, one a core.
    cluster : str, optional
        Address of a Dask scheduler, whose workers compute instead.
    progress : callable, optional
        Called with a :class:`Stage`.

    Returns
    -------
    Reproduction
        Ctrl-C ends it with a report of what was judged by then.

    Raises
    ------
    ArgumentError
        If a claim is unknown, an option makes no sense, or the folder cannot be written.
    """
    from relubias.claims.writing import write

    begun = time.monotonic()
    wanted = chosen(claims)
    folder = _made(Path(output))
    if cluster is not None and workers is not None:
        raise ArgumentError("the workers of a cluster are those that it has; leave out the number of workers.")
    tell = progress or (lambda stage: None)
    results: list[Result] = []
    interrupted = False
    with ExitStack() as stack:
        crew = None if cluster is not None else stack.enter_context(standing(_checked(workers)))
        for place, claim in enumerate(wanted, start=1):
            stage = Stage(claim, place, len(wanted))
            try:
                result = _measure(stage, folder, quick, _Workers(crew, cluster), tell)
            except KeyboardInterrupt:
                result = None
            if result is None:
                interrupted = True
                break
            results.append(result)
            tell(Stage(claim, place, len(wanted), result=result))
    seconds = time.monotonic() - begun
    report = write(folder, results, quick=quick, seconds=seconds, missing=wanted[len(results) :])
    return Reproduction(tuple(results), quick, folder, report, time.monotonic() - begun, interrupted)


@dataclass(frozen=True)
class _Workers:
    crew: Standing | None
    cluster: str | None

    def options(self) -> dict[str, Any]:
        return {"crew": self.crew} if self.crew is not None else {"cluster": self.cluster}


def store_of(study: Study, *, quick: bool) -> str:
    """Where a study is kept, below the folder of the report."""
    return f"studies/{study.name}{'-quick' if quick else ''}.db"


def _measure(
    stage: Stage, folder: Path, quick: bool, workers: _Workers, tell: Callable[[Stage], None]
) -> Result | None:
    """Run and judge one claim; None if it was interrupted."""
    claim, begun = stage.claim, time.monotonic()
    ran: list[Ran] = []
    rows = {}

    def progress(snapshot: Snapshot) -> None:
        tell(Stage(claim, stage.place, stage.total, snapshot=snapshot))

    try:
        for study in claim.all_studies(quick):
            path = folder / store_of(study, quick=quick)
            report = run(study, path, progress=progress, **workers.options())
            if report.interrupted:
                return None
            with Store.open(path) as store:
                rows[study.name] = store.to_pandas()
                store.export(folder / "tables" / f"{path.stem}.parquet")
            ran.append(Ran(study, report.status, store_of(study, quick=quick)))
    except Exception as error:  # whatever happens to one claim must not cost the others
        return failed(claim, error, ran)
    return judged(claim, rows, ran, time.monotonic() - begun)


def _checked(workers: int | None) -> int:
    most = cores()
    if workers is None:
        return most
    if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= most:
        raise ArgumentError(f"workers must be a whole number from 1 to {most}, the cores there are; it is {workers!r}.")
    return workers


def _made(folder: Path) -> Path:
    try:
        for name in ("studies", "tables", "figures"):
            (folder / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(f"output {folder}: {error.strerror}; choose another folder.") from error
    return folder
