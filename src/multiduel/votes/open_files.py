"""Files as text: plain or gzip, UTF-8 or UTF-16, with or without a byte order mark. What cannot be read is a sentence."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from multiduel.files import readable_name
from multiduel.inputs import BadInput

GZIP = b"\x1f\x8b"
PARQUET = b"PAR1"


def first_bytes(path: str | os.PathLike[str], many: int = 4) -> bytes:
    """The first bytes of a file, to see what it is."""
    with opened_bytes(path) as file:
        return file.read(many)


@contextmanager
def opened_bytes(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """The file as it lies there. Trouble with the file, also later on, is a sentence."""
    try:
        with open(readable_name(path), "rb") as file:
            yield file
    except FileNotFoundError:
        raise BadInput(f"'{path}' must be a file that exists. Got no such file.") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"'{path}' must be UTF-8 text, CSV, JSONL or Parquet. Got other bytes ({error.reason}).") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise BadInput(f"'{path}' must be a whole gzip file. {error}.") from None
    except OSError as error:
        raise BadInput(f"'{path}' cannot be read: {error.strerror or error}.") from None


@contextmanager
def opened_text(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """The text of a file, unpacked if it is gzip, with its line ends as they are."""
    with opened_bytes(path) as file:
        packed = file.read(2) == GZIP
        file.seek(0)
        plain: IO[bytes] = io.BufferedReader(gzip.GzipFile(fileobj=file)) if packed else file
        start = plain.read(2)
        plain.seek(0)
        wide = start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        text = io.TextIOWrapper(plain, encoding="utf-16" if wide else "utf-8-sig", newline="")
        try:
            yield text
        finally:
            text.detach()
