"""A text file as a stream of lines: UTF-8, plain or compressed with gzip.

Compression is told by the first two bytes, not by the name. Each line is decoded by itself, so that a byte
that is not UTF-8 is reported with the number of its line.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Generator
from io import BufferedReader

from relubias.errors import DataError

_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_PROBED = 4096


def text_lines(path: str | os.PathLike[str]) -> Generator[str]:
    """Yield the lines of the file with their line ends, without a byte order mark.

    Raises
    ------
    DataError
        If the file cannot be opened, its compression is damaged, or it is not UTF-8 text.
    """
    number = 0
    try:
        with _opened(path) as stream:
            _require_text(stream.peek(_PROBED)[:_PROBED])
            for number, line in enumerate(stream, 1):
                yield _decoded(line, number).removeprefix("\ufeff" if number == 1 else "")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"the gzip compression is damaged after line {number} ({str(error).rstrip('.')}); "
            "fetch or write the file again."
        ) from error
    except OSError as error:
        raise DataError(f"the file cannot be read: {error.strerror or error}.") from error


def _opened(path: str | os.PathLike[str]) -> BufferedReader | gzip.GzipFile:
    with open(path, "rb") as probe:
        compressed = probe.read(2) == _GZIP
    return gzip.open(path, "rb") if compressed else open(path, "rb")


def _require_text(head: bytes) -> None:
    if head.startswith(_UTF16):
        raise DataError("the file is UTF-16 text; save it as UTF-8.")
    if b"\0" in head:
        raise DataError("the file is binary, not text; export the data as comma-separated values.")
    if re.search(rb"\r[^\r\n]", head):
        raise DataError("lines end with a carriage return alone; save the file with line feeds.")


def _decoded(line: bytes, number: int) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"line {number} holds the byte 0x{line[error.start]:02x}, which is not UTF-8 text; save the file as UTF-8."
        ) from None
