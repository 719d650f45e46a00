"""What a worker does: one cell from its task to its row. A pure function of study and cell, but for the provenance."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from relubias import __version__
from relubias.errors import RelubiasError
from relubias.studies.grid import Cell
from relubias.studies.limits import Limits, OverLimit, limited, over_time
from relubias.studies.measured import Measured, Value
from relubias.studies.measures import measure
from relubias.studies.seeds import json_of
from relubias.studies.settings import FileProblem
from relubias.studies.spec import Study


@dataclass(frozen=True)
class Outcome:
    """What became of a cell.

    Attributes
    ----------
    id : str
    status : str
        ``"done"`` or ``"failed"``.
    values, notes : dict
        The measured columns, and why a value is None.
    message, traceback : str
        Why it failed.
    environment : str
        Versions and machine, as JSON.
    seconds, cpu_seconds : float
        By the clock, and of the processor.
    finished : float
        When, in seconds since 1970.
    peak_megabytes : float
        Most memory that its process has had by then, the program included.
    """

    id: str
    status: str
    values: Mapping[str, Value] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    message: str = ""
    traceback: str = ""
    environment: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    finished: float = 0.0
    peak_megabytes: float = 0.0


def work(study: Study, cell: Cell, *, alone: bool) -> Outcome:
    """Compute a cell within its limits. It fails, with a message and a traceback, rather than raise anything.

    Parameters
    ----------
    study : Study
        Its settings, seed, columns and limits; what else is in its grid has no influence.
    cell : Cell
    alone : bool
        Whether the cell has its process for itself.
    """
    begun, processor = time.perf_counter(), time.thread_time()
    found: dict[str, Any]
    try:
        one_thread()
        with limited(study.limits, alone=alone):
            settings, seed = study.settings_and_seed(cell)
            if isinstance(settings.problem, FileProblem):
                settings.problem.require(study.files)
            values, notes = measure(Measured(settings, seed), study.columns)
        found = {"status": "done", "values": values, "notes": notes}
    except (OverLimit, Exception) as error:
        text = "".join(traceback.format_exception(error))
        found = {"status": "failed", "message": told(error), "traceback": text}
    return Outcome(
        id=cell.id,
        environment=environment(),
        seconds=time.perf_counter() - begun,
        cpu_seconds=time.thread_time() - processor,
        finished=time.time(),
        peak_megabytes=peak_memory() / 1e6,
        **found,
    )


def failed(id: str, reason: str) -> Outcome:
    """The outcome of a cell that failed without a worker that could say so."""
    return Outcome(id=id, status="failed", message=reason, finished=time.time())


def had_to_be_killed(limits: Limits) -> str:
    """Why a cell failed that did not heed its limit of time."""
    return f"{over_time(limits)}, and had to be killed"


def was_left_behind(limits: Limits) -> str:
    """Why a cell of a cluster failed that did not heed its limit of time: nobody else's process is killed."""
    return f"{over_time(limits)}, and its worker is still at it"


def told(error: BaseException) -> str:
    """Say an error on one line; that of another package with its kind."""
    text = " ".join(str(error).split())
    return text if isinstance(error, RelubiasError | OverLimit) else f"{type(error).__name__}: {text}".rstrip(": ")


@lru_cache(maxsize=1)
def one_thread() -> None:
    """Give this process one BLAS thread, for good: on two the same sums would be added up in another order.

    Raises
    ------
    RelubiasError
        If somebody else in this process has set the number and keeps it.
    """
    _controller().limit(limits=1, user_api="blas")
    if any(pool["num_threads"] != 1 for pool in _controller().info() if pool["user_api"] == "blas"):
        raise RelubiasError(
            "BLAS keeps several threads in this process, so that results would differ in their last bits; start the "
            "workers with OPENBLAS_NUM_THREADS=1 and MKL_NUM_THREADS=1."
        )


@lru_cache(maxsize=1)
def _controller() -> Any:
    import scipy.linalg  # noqa: F401 - so that its BLAS is loaded, and found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@lru_cache(maxsize=1)
def environment() -> str:
    """Return versions and machine as JSON: what a result can depend on beside its cell."""
    return json_of(
        {
            "versions": {"python": platform.python_version(), "relubias": __version__} | _versions(),
            "commit": _commit(),
            "host": socket.gethostname(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "blas": sorted(
                f"{pool['internal_api']} {pool.get('version')} {pool.get('architecture', '')}".rstrip()
                for pool in _controller().info()
                if pool.get("user_api") == "blas"
            ),
        }
    )


def _versions() -> dict[str, str]:
    found = {}
    for name in ("numpy", "scipy", "numba"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _commit() -> str:
    """The commit of this package's source, where it runs from a repository."""
    source = Path(__file__).parents[3]
    if not (source / ".git").exists():
        return ""
    words = ["git", "-C", str(source), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def peak_memory() -> int:
    """Return the most bytes that this process has had in memory."""
    try:
        import resource
    except ImportError:  # not on every system
        return 0
    unit = 1 if platform.system() == "Darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


#: A cell that needs what most cells need.
TYPICAL = Study("warm up", 0, 1, {"problem": "gaussian n=2 d=8"})


def warm_up() -> int:
    """Load and compile what cells need, so that no cell is charged for it; return the number of this process."""
    work(TYPICAL, Cell.at({}, 1), alone=False)
    return os.getpid()
