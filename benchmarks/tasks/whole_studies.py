"""A whole study, or none: a run that Ctrl-C has ended has no time that a table could show."""

from __future__ import annotations

from pathlib import Path

from relubias import studies


def whole(study: studies.Study, path: Path, workers: int) -> studies.RunReport:
    """Run a study to its end.

    Raises
    ------
    KeyboardInterrupt
        If somebody wanted it to stop; the run itself takes that as a wish to keep what there is.
    RuntimeError
        If cells failed.
    """
    report = studies.run(study, path, workers=workers)
    if report.interrupted:
        raise KeyboardInterrupt
    if report.status.done < study.n_cells:
        raise RuntimeError(f"{study.n_cells - report.status.done} cells are not done: {report.status.failures}")
    return report
