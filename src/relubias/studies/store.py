"""The table of a study on disk: each cell done, failed or pending, exactly once; done means committed.

One file holds the study as it is written down, a row for each of its cells with its coordinates, measured values and
provenance, and who is writing to it. One process writes; any number may read meanwhile.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from relubias.errors import ArgumentError, DataError, RelubiasError
from relubias.studies import database, locks
from relubias.studies.grid import Cell
from relubias.studies.seeds import json_of
from relubias.studies.spec import Study
from relubias.studies.stored import StoredCell, StudyStatus
from relubias.studies.work import Outcome

if TYPE_CHECKING:
    import pandas as pd

#: Columns of every store, beside the measured ones, whose names have a dot.
_COLUMNS = (
    "place INTEGER PRIMARY KEY",
    "id TEXT NOT NULL UNIQUE",
    "coordinates TEXT NOT NULL",
    "trial INTEGER NOT NULL",
    "status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'done', 'failed'))",
    "notes TEXT NOT NULL DEFAULT ''",
    "message TEXT NOT NULL DEFAULT ''",
    "traceback TEXT NOT NULL DEFAULT ''",
    "environment INTEGER REFERENCES environments (number)",
    "seconds REAL",
    "cpu_seconds REAL",
    "finished REAL",
    "peak_megabytes REAL",
    "attempts INTEGER NOT NULL DEFAULT 0",
)
_PROVENANCE = ("seconds", "cpu_seconds", "finished", "peak_megabytes", "attempts")


class Store:
    """A store that is open; leaving its ``with`` block closes it."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self.study = _read_study(connection, path)
        self._environments: dict[str, int] = {}

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Open a store that exists; any number of processes may do so while one writes.

        Parameters
        ----------
        path : path

        Returns
        -------
        Store

        Raises
        ------
        DataError
            If there is none, or it is newer, truncated, damaged or something else; it is left as it is.
        """
        place = Path(path)
        connection = database.opened(place)
        try:
            return cls(place, connection)
        except BaseException:
            connection.close()
            raise

    @classmethod
    def create(cls, path: str | os.PathLike[str], study: Study) -> Store:
        """Make a store with all cells of a study pending, and open it.

        Parameters
        ----------
        path : path
            Folders above it are made.
        study : Study

        Returns
        -------
        Store

        Raises
        ------
        DataError
            If there is a file already, none can be made there, or a data file of the study cannot be read.
        """
        place = Path(path)
        if place.exists():
            raise DataError(f"{place} exists; a store is not written over.")

        files = study.digests()

        def fill(connection: sqlite3.Connection) -> None:
            measured = [f'"{name}"' for name in study.columns]
            connection.execute("CREATE TABLE environments (number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)")
            connection.execute(f"CREATE TABLE cells ({', '.join([*_COLUMNS, *measured])})")
            connection.execute("CREATE TABLE study (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
            connection.execute(locks.TABLE)
            _write_study(connection, study, files)
            _insert(connection, enumerate(study.cells()))

        database.build(place, fill)
        return cls.open(place)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Store {self.path}: {self.study.name!r}, {self.study.n_cells} cells>"

    def close(self) -> None:
        """Close the file; everything in it is there already."""
        self._connection.close()

    @contextmanager
    def held(self, *, take_over: bool = False) -> Iterator[None]:
        """Be the one process that writes, for the length of the block.

        Parameters
        ----------
        take_over : bool
            Also from a process of which nothing can be told, such as one of another machine.

        Raises
        ------
        DataError
            If another process is, with its name; or if the file is damaged, or has several names.
        """
        database.require_one_name(self.path)
        database.require_whole(self._connection, self.path)
        with self._transaction():
            locks.take(self._connection, self.path, take_over=take_over)
        try:
            yield
        except BaseException:
            with suppress(DataError):  # there may be no room even for that; what went wrong first is what is told
                self._release()
            raise
        self._release()

    def _release(self) -> None:
        with self._transaction():
            locks.release(self._connection, self.path)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with database.reporting(self.path), database.transaction(self._connection):
            yield

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with database.reporting(self.path):
            return self._connection.execute(query, values).fetchall()

    def pending(self) -> list[Cell]:
        """Return the cells that are still to be computed, in their order."""
        rows = self._rows("SELECT id, coordinates, trial FROM cells WHERE status = 'pending' ORDER BY place")
        return [Cell(id, json.loads(coordinates), trial) for id, coordinates, trial in rows]

    def commit(self, outcomes: Sequence[Outcome], attempts: Sequence[int] | None = None) -> None:
        """Write what became of cells, all in one transaction; when this returns, it is on the disk.

        Parameters
        ----------
        outcomes : sequence of Outcome
        attempts : sequence of int, optional
            How many workers were lost with each cell; by default none.

        Raises
        ------
        DataError
            If a cell is not pending (none is ever written twice), or the disk is full; then nothing is written.
        """
        measured = "".join(f', "{name}" = ?' for name in self.study.columns)
        update = (
            "UPDATE cells SET status = ?, notes = ?, message = ?, traceback = ?, environment = ?, seconds = ?, "
            "cpu_seconds = ?, finished = ?, peak_megabytes = ?, attempts = ?"
            f"{measured} WHERE id = ? AND status = 'pending'"
        )
        known = dict(self._environments)
        try:
            self._write(update, outcomes, attempts or [0] * len(outcomes))
        except BaseException:
            self._environments = known  # what was rolled back is not there
            raise

    def _write(self, update: str, outcomes: Sequence[Outcome], attempts: Sequence[int]) -> None:
        with self._transaction():
            for outcome, lost in zip(outcomes, attempts, strict=True):
                values = [outcome.values.get(name) for name in self.study.columns]
                row = (
                    *(outcome.status, json_of(dict(outcome.notes)) if outcome.notes else "", outcome.message),
                    *(outcome.traceback, self._environment(outcome.environment), outcome.seconds),
                    *(outcome.cpu_seconds, outcome.finished, outcome.peak_megabytes, lost, *values, outcome.id),
                )
                if self._connection.execute(update, row).rowcount != 1:
                    raise DataError(f"{self.path}: cell {outcome.id} is not pending; nothing is written twice.")

    def _environment(self, text: str) -> int | None:
        if text and text not in self._environments:
            self._connection.execute("INSERT OR IGNORE INTO environments (text) VALUES (?)", (text,))
            ((number,),) = self._rows("SELECT number FROM environments WHERE text = ?", text)
            self._environments[text] = number
        return self._environments.get(text)

    def adopt(self, study: Study, *, extend: bool = False) -> int:
        """Make sure that the store is that of a study; return how many cells were added.

        Parameters
        ----------
        study : Study
            Limits may differ from those before; nothing else may, unless `extend`.
        extend : bool
            Add the cells of a study that has more values or repeats. Those that are there stay as they are.

        Raises
        ------
        ArgumentError
            If the study is another one, with the difference.
        DataError
            If a file with its data is not what it was.
        """
        differences = self.study.differences(study)
        told = f"the difference, stored → given: {'; '.join(differences)}"
        if differences and not extend:
            more = "add its cells with --extend (extend=True), or " if study.extends(self.study) else ""
            raise ArgumentError(f"{self.path} holds another study; {told}; {more}choose another store.")
        if differences and not study.extends(self.study):
            raise ArgumentError(
                f"{self.path} cannot be extended to this study: only values and repeats can be added, and none left "
                f"out; {told}."
            )
        files = self._same_files(study)
        self._require_all_cells()
        with self._transaction():
            _write_study(self._connection, study, files)
            added = self._add(study) if differences else 0
        self.study = replace(study, files=files)
        return added

    def require_same_files(self) -> None:
        """Raise a DataError unless the data files of the study are those of which its rows are."""
        self._same_files(self.study)

    def _require_all_cells(self) -> None:
        """Raise a DataError where the cells are not those of the study, as after damage."""
        stored = {row[0] for row in self._rows("SELECT id FROM cells")}
        missing = [cell for cell in self.study.cells() if cell.id not in stored]
        if missing or len(stored) != self.study.n_cells:
            what = f"its cell {missing[0]} is not there" if missing else "it has cells that are not of its study"
            raise DataError(f"{self.path} is damaged ({what}); nothing was written to it: take a copy, then a backup.")

    def _same_files(self, study: Study) -> dict[str, str]:
        """The digests of a study's data files, none of which may differ from the one that is stored."""
        ((text,),) = self._rows("SELECT value FROM study WHERE key = 'files'")
        stored, found = json.loads(text), study.digests()
        for path in stored.keys() & found.keys():
            if stored[path] != found[path]:
                raise DataError(
                    f"{path} is not the file that it was when {self.path} was made, so that new cells would be of "
                    "other data; bring it back, or choose another store."
                )
        return found

    def _add(self, study: Study) -> int:
        """Add the cells that are missing, and put all in the order of the study; return how many were added."""
        known = {row[0] for row in self._rows("SELECT id FROM cells")}
        # out of the way first, since no two cells may have one place
        self._connection.execute("UPDATE cells SET place = -1 - place")
        places = [(place, cell.id) for place, cell in enumerate(study.cells()) if cell.id in known]
        self._connection.executemany("UPDATE cells SET place = ? WHERE id = ?", places)
        new = [(place, cell) for place, cell in enumerate(study.cells()) if cell.id not in known]
        _insert(self._connection, new)
        return len(new)

    def retry_failed(self) -> int:
        """Make failed cells pending again; return how many."""
        with self._transaction():
            return self._connection.execute(
                "UPDATE cells SET status = 'pending', message = '', traceback = '', environment = NULL, "
                "seconds = NULL, cpu_seconds = NULL, finished = NULL, peak_megabytes = NULL, attempts = 0 "
                "WHERE status = 'failed'"
            ).rowcount

    def status(self) -> StudyStatus:
        """Count the cells, without reading them."""
        counts = dict(self._rows("SELECT status, count(*) FROM cells GROUP BY status"))
        failures = self._rows(
            "SELECT message, count(*) FROM cells WHERE status = 'failed' GROUP BY message ORDER BY 2 DESC, 1 LIMIT 5"
        )
        ((cpu,),) = self._rows("SELECT total(cpu_seconds) FROM cells")
        with database.reporting(self.path):
            holder = locks.holder_of(self._connection)
        return StudyStatus(
            name=self.study.name,
            done=counts.get("done", 0),
            failed=counts.get("failed", 0),
            pending=counts.get("pending", 0),
            failures=tuple((str(message), int(count)) for message, count in failures),
            cpu_seconds=float(cpu),
            holder=None if holder is None or holder.is_alive is False else holder,
        )

    def column(self, name: str) -> list[Any]:
        """Return one measured column over the cells that are done.

        Parameters
        ----------
        name : str

        Returns
        -------
        list
            None where a value is undefined.

        Raises
        ------
        ArgumentError
            If it is not measured.
        """
        if name not in self.study.columns:
            raise ArgumentError(f"{name!r} is not measured; measured are {', '.join(self.study.columns)}.")
        return [row[0] for row in self._rows(f"SELECT \"{name}\" FROM cells WHERE status = 'done'")]

    def cell(self, id: str) -> StoredCell:
        """Return one cell, by its id or the beginning of it.

        Parameters
        ----------
        id : str

        Returns
        -------
        StoredCell

        Raises
        ------
        ArgumentError
            If there is none, or several.
        """
        names = ("id", "coordinates", "trial", "status", "notes", "message", "traceback", *_PROVENANCE)
        measured = [f'"{name}"' for name in self.study.columns]
        rows = self._rows(
            f"SELECT {', '.join([*names, 'text', *measured])} FROM cells "
            "LEFT JOIN environments ON environment = number WHERE id >= ?1 AND id < ?1 || 'g' LIMIT 2",
            id,
        )
        if len(rows) != 1 or not id:
            what = "several cells whose id begins with" if rows else "no cell whose id begins with"
            raise ArgumentError(f"{self.path} has {what} {id!r}; the export lists them all.")
        row = dict(zip([*names, "text"], rows[0], strict=False))
        values = dict(zip(self.study.columns, rows[0][len(names) + 1 :], strict=True))
        return StoredCell(
            cell=Cell(row["id"], json.loads(row["coordinates"]), row["trial"]),
            values=values if row["status"] == "done" else {},
            notes=json.loads(row["notes"] or "{}"),
            environment=json.loads(row["text"] or "{}"),
            **{name: row[name] for name in ("status", "message", "traceback", *_PROVENANCE)},
        )

    def failed(self, *, most: int = -1) -> list[StoredCell]:
        """Return the cells that failed, in their order.

        Parameters
        ----------
        most : int
            How many at most; −1 for all.

        Returns
        -------
        list of StoredCell
        """
        rows = self._rows("SELECT id FROM cells WHERE status = 'failed' ORDER BY place LIMIT ?", most)
        return [self.cell(id) for (id,) in rows]

    def table(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return names and rows: coordinates as JSON, trial, id, status, measured values, provenance."""
        names = ["coordinates", "trial", "id", "status", *self.study.columns, "message", "notes", *_PROVENANCE]
        quoted = ", ".join(f'"{name}"' for name in names)
        query = f"SELECT {quoted}, text FROM cells LEFT JOIN environments ON environment = number ORDER BY place"
        return [*names, "environment"], self._rows(query)

    def to_pandas(self, *, provenance: bool = False) -> pd.DataFrame:
        """Return the table as a data frame, one row a cell.

        Parameters
        ----------
        provenance : bool
            Whether to add where, when and how long each cell was computed.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        DataError
            If a value is of another kind than its column, as after damage.
        """
        from relubias.studies.export import to_pandas

        return to_pandas(self, provenance=provenance)

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Write the table with its provenance to a file, whole or not at all.

        Parameters
        ----------
        path : path
            ``.csv`` or ``.parquet``.

        Returns
        -------
        Path
            Of the file.

        Raises
        ------
        ArgumentError
            If the suffix is another, or the file cannot be written.
        DataError
            As :meth:`to_pandas` does.
        """
        from relubias.studies.export import export

        return export(self, path)


def _read_study(connection: sqlite3.Connection, path: Path) -> Study:
    """The study of a store, with the digests of its data files."""
    with database.reporting(path):
        rows = dict(connection.execute("SELECT key, value FROM study").fetchall())
    try:
        return replace(Study.from_dict(json.loads(rows["study"])), files=json.loads(rows["files"]))
    except RelubiasError as error:
        raise DataError(
            f"{path} holds a study that this version of relubias cannot read ({str(error).rstrip('.')}); read it with "
            "the version that made it."
        ) from error
    except (KeyError, ValueError, TypeError) as error:
        raise DataError(f"{path}: the study in it is damaged or not there; nothing was done.") from error


def _write_study(connection: sqlite3.Connection, study: Study, files: dict[str, str]) -> None:
    texts = {"study": json.dumps(study.as_dict()), "files": json.dumps(files)}
    connection.executemany("INSERT OR REPLACE INTO study VALUES (?, ?)", texts.items())


def _insert(connection: sqlite3.Connection, cells: Iterable[tuple[int, Cell]]) -> None:
    rows: Iterator[tuple[int, str, str, int]] = (
        (place, cell.id, json_of(cell.coordinates), cell.trial) for place, cell in cells
    )
    connection.executemany("INSERT INTO cells (place, id, coordinates, trial) VALUES (?, ?, ?, ?)", rows)
