"""Who holds a store: one run at a time writes to it.

The holder is a row of the store itself, taken in one transaction, so that of two runs that begin at once one is
refused. It names a process by host, number and the time at which the process began (numbers are used again). A run
that was killed leaves its row behind; as no process fits it any more, the next run takes the store. What another
machine holds cannot be checked from here, and is taken from it only on request.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import time
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from relubias.errors import DataError

#: Stores that this process is writing to, by their resolved path. A row of this process for any other was left behind
#: when there was no room to delete it.
_HELD: set[Path] = set()

TABLE = "CREATE TABLE holder (one INTEGER PRIMARY KEY CHECK (one = 1), host TEXT, pid INTEGER, began TEXT, since REAL)"


@dataclass(frozen=True)
class Holder:
    """A process that has a store, or had it.

    Attributes
    ----------
    host : str
    pid : int
    began : str
        When the process began, in the words of the system; empty where it does not tell.
    since : float
        When it took the store, in seconds since 1970.
    """

    host: str
    pid: int
    began: str
    since: float

    @classmethod
    def me(cls) -> Holder:
        """This process, now."""
        return cls(socket.gethostname(), os.getpid(), began(os.getpid()), time.time())

    @property
    def is_alive(self) -> bool | None:
        """Whether the process is still there; None where that cannot be told."""
        if self.host != socket.gethostname():
            return None
        now = began(self.pid)
        return now == self.began if self.began else (None if _exists(self.pid) else False)

    def __str__(self) -> str:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.since))
        return f"process {self.pid} on {self.host}, since {since}"


def began(pid: int) -> str:
    """Return when a process began, boot included; empty where there is none, or the system does not tell."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        words = stat.rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return "" if words[0] in "ZX" else f"{boot} {words[19]}"
    except OSError:
        if Path("/proc/self/stat").exists():
            return ""
    try:
        listed = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return listed.stdout.strip()


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def holder_of(connection: sqlite3.Connection) -> Holder | None:
    """Return who holds a store, whether alive or not."""
    row = connection.execute("SELECT host, pid, began, since FROM holder").fetchone()
    return None if row is None else Holder(*row)


def take(connection: sqlite3.Connection, path: Path, *, take_over: bool = False) -> Holder | None:
    """Make this process the holder; return the dead holder before it, if any.

    Parameters
    ----------
    connection : sqlite3.Connection
        Inside a transaction of the caller.
    path : Path
        Of the store.
    take_over : bool
        Take it also from a process of which nothing can be told.

    Raises
    ------
    DataError
        If a living process holds it, or one of which nothing can be told and `take_over` is not given.
    """
    before = holder_of(connection)
    alive = False if before is None else before.is_alive
    if before == replace(Holder.me(), since=getattr(before, "since", 0.0)) and path.resolve() not in _HELD:
        alive = False
    if alive:
        raise DataError(f"{path} is being written by {before}; wait for it, or stop it: what it has done is kept.")
    if alive is None and not take_over:
        raise DataError(
            f"{path} was taken by {before}, and from here it cannot be told whether that still runs; if it does not, "
            "say so with --take-over (take_over=True)."
        )
    connection.execute("DELETE FROM holder")
    connection.execute("INSERT INTO holder VALUES (1, ?, ?, ?, ?)", astuple(Holder.me()))
    _HELD.add(path.resolve())
    return before


def release(connection: sqlite3.Connection, path: Path) -> None:
    """Let go of the store, if this process has it.

    Parameters
    ----------
    connection : sqlite3.Connection
        Inside a transaction of the caller.
    path : Path
        Of the store.
    """
    _HELD.discard(path.resolve())
    connection.execute("DELETE FROM holder WHERE pid = ? AND host = ?", (os.getpid(), socket.gethostname()))
