"""On what, with what, when and by which command a table was measured."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("relubias", "numpy", "scipy", "numba", "pandas", "pyarrow", "torch")
RIVALS = ("quadprog", "clarabel", "cvxpy", "osqp", "piqp", "proxsuite", "daqp", "scikit-learn")
#: Beginnings of the names of variables that choose kernels or threads of BLAS, OpenMP and numba.
CHOICES = ("OPENBLAS_", "GOTO_", "MKL_", "BLIS_", "VECLIB_", "OMP_", "KMP_", "NUMBA_", "NPY_DISABLE_CPU_FEATURES")
#: What can change a figure; a table that lies about does not.
SOURCES = ("src", "benchmarks", "scripts", "pyproject.toml")


@dataclass(frozen=True)
class Beginning:
    """What is known before anything is measured.

    Attributes
    ----------
    command : str
    date : str
        To the minute, in UTC.
    load : str or None
        Load averages of 1, 5 and 15 minutes, where the system tells them.
    commit : str or None
        See :func:`commit`.
    """

    command: str
    date: str
    load: str | None
    commit: str | None

    @classmethod
    def now(cls, arguments: Sequence[str]) -> Beginning:
        """Look around before anything of this run is a load."""
        load = None
        if hasattr(os, "getloadavg"):
            load = " ".join(f"{average:.2f}" for average in os.getloadavg())
        date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        return cls(shlex.join(["scripts/bench", *arguments]), date, load, commit())


def machine(beginning: Beginning) -> dict[str, str]:
    """Return on what the table was measured, by keyword; what is not known is left out.

    Libraries are asked now, not at the beginning: some are loaded by the first row that needs them.
    """
    facts = {
        "machine": f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}",
        "versions": f"Python {platform.python_version()}, {', '.join(versions())}",
        "libraries": "; ".join(libraries()),
        "environment": " ".join(environment()),
        "commit": beginning.commit,
        "date": beginning.date,
        "load at the beginning": beginning.load,
        "command": beginning.command,
    }
    return {name: fact for name, fact in facts.items() if fact}


def processor() -> str:
    """Return the name of the processor, as far as the system tells it."""
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def versions() -> Iterator[str]:
    """Yield name and version of each package that is installed and matters."""
    for package in (*PACKAGES, *RIVALS):
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            continue


def libraries() -> list[str]:
    """Return each library with threads of its own: version, kernels that it chose for this processor, and threads."""
    import numpy  # noqa: F401 - so that its BLAS is loaded and can be asked
    from threadpoolctl import threadpool_info

    pools = set()
    for pool in threadpool_info():
        parts = [f"{pool['internal_api']} {pool['version'] or ''}".strip(), pool.get("architecture")]
        count = pool["num_threads"]
        pools.add(", ".join([part for part in parts if part] + [f"{count} thread{'s' * (count != 1)}"]))
    return sorted(pools)


def environment() -> list[str]:
    """Return NAME=value of each variable that is set and chooses kernels or threads."""
    chosen = (name for name in sorted(os.environ) if name.startswith(CHOICES) and not name.endswith("_DIR"))
    return [f"{name}={os.environ[name]}" for name in chosen]


def commit(folder: Path = ROOT) -> str | None:
    """Return the commit that is checked out, with "+ changes" where what is measured differs from it; None without git.

    A folder inside of somebody else's repository is not one of its commits.
    """
    try:
        if Path(git(folder, "rev-parse", "--show-toplevel")) != folder.resolve():
            return None
        changes = git(folder, "status", "--porcelain", "--", *SOURCES)
        return git(folder, "rev-parse", "--short", "HEAD") + (" + changes" if changes else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def git(folder: Path, *arguments: str) -> str:
    """Return what git answers."""
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()
