"""Records on disk: one ``.npz`` file with the arrays and one JSON text; no pickle.

A file is written beside its destination and then renamed, so that a crash leaves either the old file or the
new one, never half of one.
"""

from __future__ import annotations

import json
import os
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from relubias.errors import ArgumentError, DataError, RelubiasError

FORMAT = 1
_META = "relubias.json"


class Held(dict[str, Any]):
    """What a saved record holds; what it lacks is bad data."""

    def __missing__(self, key: str) -> Any:
        raise DataError(f"the saved record has no {key!r}; the file is damaged or was changed.")


def write_atomically(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> Path:
    """Let `write` fill a temporary file beside `path`, flush it to disk and rename it to `path`.

    Raises
    ------
    ArgumentError
        If the folder does not exist or cannot be written, or `path` is a folder.
    """
    target = Path(path)
    if target.is_dir():
        raise ArgumentError(f"{target} is a folder; give the name of a file to write.")
    if not target.parent.is_dir():
        raise ArgumentError(
            f"cannot write {target}: {target.parent} is not a folder; create it or choose another path."
        )
    temporary = target.parent / f".{target.name}.{uuid.uuid4().hex}"
    try:
        stream = open(temporary, "xb")  # noqa: SIM115 - closed by the with below
    except OSError as error:
        raise ArgumentError(f"cannot write {target}: {error.strerror}; choose another path.") from error
    try:
        with stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise ArgumentError(f"cannot write {target}: {error.strerror or error}; choose another path.") from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return target


def save_record(
    path: str | os.PathLike[str], kind: str, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]
) -> Path:
    """Write `arrays` and the JSON-able `meta` of a record of the given `kind` to one file."""
    text = json.dumps({"format": FORMAT, "kind": kind, **meta})
    payload = dict(arrays) | {_META: np.array(text)}
    return write_atomically(path, lambda stream: np.savez_compressed(stream, allow_pickle=False, **payload))


def kind_of_record(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of the record that a file holds; None where there is none or it cannot be read."""
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as data:
            return str(json.loads(str(data[_META]))["kind"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError, zipfile.BadZipFile, zlib.error, EOFError):
        return None


def load_record(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read what :func:`save_record` wrote.

    Raises
    ------
    DataError
        If there is no such file, or it is not a record of this kind; and later, where something is asked of it that it
        does not hold.
    """
    source = Path(path)
    try:
        # opened here: numpy forgets to close a file that turns out not to be an archive
        with open(source, "rb") as stream, np.load(stream, allow_pickle=False) as data:
            arrays = Held({name: data[name] for name in data.files if name != _META})
            if _META not in data.files:
                raise DataError(f"{source} is an .npz file, but not one that relubias saved; it has no record in it.")
            meta = json.loads(str(data[_META]), object_hook=Held)
    except (OSError, ValueError, TypeError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"cannot read {source} as a saved {kind}: {error}.") from error
    if not isinstance(meta, Held):
        raise DataError(f"{source} holds no record of relubias; the file is damaged or was changed.")
    if meta.get("kind") != kind:
        raise DataError(f"{source} holds a {meta.get('kind')}, not a {kind}; load it as what it is.")
    if meta.get("format") != FORMAT:
        raise DataError(
            f"{source} was written by another version (format {meta.get('format')}, this one reads {FORMAT})."
        )
    return arrays, meta


def nested(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Put the arrays of a part under its name, so that a record can hold several parts: ``name/key``."""
    return {f"{name}/{key}": array for key, array in arrays.items()}


def part(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Take the arrays of one part out again; the inverse of :func:`nested`."""
    prefix = f"{name}/"
    return Held({key[len(prefix) :]: array for key, array in arrays.items() if key.startswith(prefix)})


@contextmanager
def rebuilding(kind: str) -> Iterator[None]:
    """Rebuild a record inside; what fails there fails because of what was read.

    Raises
    ------
    DataError
        In place of whatever else was raised.
    """
    try:
        yield
    except DataError:
        raise
    except (RelubiasError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise DataError(f"the saved {kind} is damaged or was changed: {str(error).rstrip('.')}.") from error
