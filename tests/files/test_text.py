"""Bytes become lines, or a sentence on why not."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from relubias.errors import DataError
from relubias.files.text import text_lines

TEXT = "y,a,b\n" + "".join(f"{i},{i * i},0.5\n" for i in range(5000))


def lines_of(path: Path, data: bytes) -> list[str]:
    path.write_bytes(data)
    return list(text_lines(path))


def test_plain_and_compressed_files_have_the_same_lines_whatever_their_names(tmp_path: Path) -> None:
    for name in ("a.csv", "a.csv.gz"):
        for data in (TEXT.encode(), gzip.compress(TEXT.encode()), TEXT.encode("utf-8-sig")):
            assert lines_of(tmp_path / name, data) == TEXT.splitlines(keepends=True)


@pytest.mark.parametrize("cut", [8, 30, 200, 3000])
def test_a_truncated_archive_is_damaged(tmp_path: Path, cut: int) -> None:
    with pytest.raises(DataError, match=r"gzip compression is damaged after line \d+ .*fetch or write the file again"):
        lines_of(tmp_path / "a.csv.gz", gzip.compress(TEXT.encode())[:-cut])


def test_an_archive_with_a_wrong_byte_is_damaged(tmp_path: Path) -> None:
    for position in (11, 40, 400, -6):
        data = bytearray(gzip.compress(TEXT.encode()))
        data[position] ^= 0xFF
        with pytest.raises(DataError, match=r"gzip compression is damaged|UTF-8"):
            lines_of(tmp_path / "a.csv.gz", bytes(data))


def test_a_byte_that_is_not_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 3 holds the byte 0xe9, which is not UTF-8.*save the file as UTF-8"):
        lines_of(tmp_path / "a.csv", "y,a\n1,2\n1,é\n".encode("latin-1"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (TEXT.encode("utf-16"), "UTF-16"),
        (random.Random(0).randbytes(5000), "binary"),
        (b"PK\x03\x04\x14\x00\x00", "binary"),
        (TEXT.replace("\n", "\r").encode(), "carriage return alone"),
    ],
)
def test_what_is_not_plain_text_is_said(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        lines_of(tmp_path / "a.csv", data)


def test_carriage_returns_before_line_feeds_are_ordinary(tmp_path: Path) -> None:
    assert len(lines_of(tmp_path / "a.csv", TEXT.replace("\n", "\r\n").encode())) == 5001


def test_a_file_that_cannot_be_opened_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the file cannot be read: Is a directory"):
        list(text_lines(tmp_path))
