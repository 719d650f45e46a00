"""The file behind a store: an SQLite database with a write-ahead log, synchronous=full.

A transaction that has returned is on the disk: neither kill -9 nor a power cut takes it back, and one that has not
returned leaves no trace. Readers do not wait for the writer. A store is built in a file of another name and linked to
its own when it is complete, so that there is never half of one. Nothing here repairs or replaces a file that is not
as it should be: it says in one sentence what is wrong, and leaves it alone.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from relubias.errors import DataError

#: "rlbs" in the header of the file, and the version of the tables.
APPLICATION, SCHEMA = 0x726C6273, 1
#: Seconds to wait for another writer's transaction.
PATIENCE = 30.0


def connect(path: Path) -> sqlite3.Connection:
    """Open a database that exists, whose transactions are begun and ended by hand.

    Where neither the file nor a log beside it can be written, as on a medium that is read-only, SQLite has to be told
    that nobody writes to it.
    """
    fixed = not os.access(path, os.W_OK) and not os.access(path.absolute().parent, os.W_OK) and not _log_of(path)
    uri = path.absolute().as_uri() + ("?mode=ro&immutable=1" if fixed else "?mode=rw")
    connection = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def opened(path: Path) -> sqlite3.Connection:
    """Open a store and make sure that it is one.

    Raises
    ------
    DataError
        If there is none, or it is of another kind, newer, truncated or damaged.
    """
    require_header(path)
    with reporting(path):
        connection = connect(path)
        try:
            (written,) = connection.execute("PRAGMA user_version").fetchone()
            connection.execute("SELECT count(*) FROM study").fetchone()
        except BaseException:
            connection.close()
            raise
    if written != SCHEMA:
        connection.close()
        raise DataError(f"{path}: its tables are of version {written}, this program knows {SCHEMA}; nothing was done.")
    return connection


def require_header(path: Path) -> None:
    """Look at the first hundred bytes before SQLite does, which would clear the log beside an empty file."""
    if path.exists() and not path.is_file():
        raise DataError(f"{path} is no file, and so no store; choose another path.")
    try:
        with path.open("rb") as stream:
            head = stream.read(100)
    except OSError as error:
        raise DataError(f"{path} cannot be opened as a store: {error.strerror}.") from error
    if not head:
        raise DataError(f"{path} is empty and no store; restore it, or choose another path.")
    if len(head) < 100 or head[:16] != b"SQLite format 3\0":
        raise DataError(f"{path} is no store, or its beginning is destroyed; it was left as it is.")
    version, application = struct.unpack(">I4xI", head[60:72])
    if application != APPLICATION:
        raise DataError(f"{path} is a database of another program, and no store of a study; it was left as it is.")
    if version > SCHEMA:
        raise DataError(
            f"{path} was written by a newer version of relubias (tables {version}, this one knows {SCHEMA}); "
            "update relubias to read it."
        )
    page, pages = struct.unpack(">H10xI", head[16:32])
    # with a log beside it the file may lag behind; SQLite then looks for itself
    if not _log_of(path) and path.stat().st_size < pages * (page if page > 1 else 65536):
        raise DataError(f"{path} is truncated; {_KEPT}")


def _log_of(path: Path) -> int:
    """Size of the write-ahead log beside a store, in bytes."""
    log = path.with_name(path.name + "-wal")
    return log.stat().st_size if log.exists() else 0


def require_one_name(path: Path) -> None:
    """Refuse to write to a file under one of several names: each name has a log of its own beside it.

    A draft that was left behind when its process was killed is another name, and removed.

    Raises
    ------
    DataError
        If there is a hard link.
    """
    place = path.resolve()
    for draft in place.parent.glob(f".{place.name}.*"):
        if draft.name.rpartition(".")[2].isdigit() and draft.samefile(place):
            draft.unlink()
    if place.stat().st_nlink > 1:
        raise DataError(
            f"{path} has several names (hard links), each with a log of its own: two runs could write to it at once; "
            "make a copy, or remove the other names."
        )


def require_whole(connection: sqlite3.Connection, path: Path) -> None:
    """Have SQLite look through the whole file before anything is written to it.

    Raises
    ------
    DataError
        If it is damaged.
    """
    with reporting(path):
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise DataError(f"{path} is damaged ({' '.join(verdict.split())}); {_KEPT}")


_KEPT = "nothing was written to it: take a copy, then a backup, or what `sqlite3 STORE .recover` saves."


@contextmanager
def reporting(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into one sentence.

    Raises
    ------
    DataError
        In the place of any error of the database.
    """
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        if "full" in text:
            told = "there is no room left; what was reported as done is kept: make room and run the same command again"
        elif "malformed" in text or "not a database" in text or "no such table" in text:
            raise DataError(f"{path} is truncated or damaged ({text}); {_KEPT}") from error
        elif "locked" in text:
            told = "another process is writing to it; try again"
        elif "readonly" in text:
            told = "it cannot be written; change its permissions, or choose another path"
        else:
            told = f"{text}; what was reported as done is kept"
        raise DataError(f"{path}: {told}.") from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; when the block is left without an error, it is on the disk."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def build(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    """Make a store with what `fill` writes into it, complete or not at all.

    Raises
    ------
    DataError
        If its folder cannot be made or written, the disk is full, or somebody else has made it meanwhile.
    """
    above = next((place for place in path.absolute().parents if place.exists()), path.absolute().parent)
    if not above.is_dir():
        raise DataError(f"{path}: {above} is a file, not a folder; choose another path.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{path}: its folder cannot be made ({error.strerror}); choose another path.") from error
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.unlink(missing_ok=True)
        with reporting(path), closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            with transaction(connection):
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {SCHEMA}")
                fill(connection)
            connection.execute("PRAGMA journal_mode = WAL")
        _publish(draft, path)
    except OSError as error:
        raise DataError(f"{path} cannot be made: {error.strerror}; choose another path.") from error
    finally:
        with suppress(OSError):  # where nothing can be written, there is nothing to be removed
            for suffix in ("", "-journal", "-wal", "-shm"):
                draft.with_name(draft.name + suffix).unlink(missing_ok=True)


def _publish(draft: Path, path: Path) -> None:
    """Give the draft its name, unless there is a file of that name."""
    try:
        os.link(draft, path)
    except FileExistsError as error:
        raise DataError(f"{path} was made by somebody else just now; run the command again.") from error
    if os.name != "posix":
        return  # elsewhere folders are not files
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the name is on the disk as the contents are
    finally:
        os.close(folder)
