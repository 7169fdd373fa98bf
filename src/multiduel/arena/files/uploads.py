"""Options from files that somebody sends: pictures, sounds and texts, a table that names them, or a zip of all these.

What a file is, is told by its bytes; its name only names the option. Nothing is written to a disk here, and of a zip no more is
unpacked than may be had.

>>> options, _ = read_uploads([Upload("a.txt", b"Good morning."), Upload("b.txt", b"Hello!")])
>>> [option.name for option in options]
['a', 'b']
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from multiduel.arena.domain.options import (
    LEAST_OPTIONS,
    MOST_MEDIA,
    MOST_NAME,
    MOST_OPTIONS,
    MOST_TEXT,
    Option,
    check_options,
    make_content,
    media_kind,
    path_beneath,
    read_lines,
)
from multiduel.inputs import BadInput, shortened

MOST_FILES = 2_000
MOST_UNPACKED = 200_000_000  # bytes of all files together
SYSTEMS = ("__MACOSX", "Thumbs.db")  # what some put into every zip
TABLES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
TAKEN = (
    "Send pictures (PNG, JPEG, GIF, WebP, AVIF, SVG), sounds (MP3, WAV, Ogg, FLAC, M4A), texts in UTF-8, a CSV, or a zip "
    "of these."
)
OTHERS = (  # what people send by mistake: offset, bytes, words
    (0, b"%PDF", "a PDF document"),
    (0, b"II*\0", "a TIFF picture, which browsers do not show"),
    (0, b"MM\0*", "a TIFF picture, which browsers do not show"),
    (4, b"ftyphei", "a HEIC picture, which most browsers do not show"),
    (4, b"ftyphev", "a HEIC picture, which most browsers do not show"),
    (4, b"ftypmif1", "a HEIC picture, which most browsers do not show"),
    (4, b"ftypqt", "a QuickTime film"),
    (0, b"\x1a\x45\xdf\xa3", "a WebM or Matroska film"),
    (0, b"Rar!", "a RAR archive"),
    (0, b"7z\xbc\xaf", "a 7z archive"),
    (0, b"\x1f\x8b", "a gzip archive"),
    (0, b"MZ", "a Windows program"),
    (0, b"\x7fELF", "a program"),
    (0, b"FORM", "an AIFF sound, which most browsers do not play"),
    (0, b"BM", "a BMP picture"),
)


@dataclass(frozen=True)
class Upload:
    name: str
    data: bytes


def read_uploads(files: Sequence[Upload], *, least: int = LEAST_OPTIONS) -> tuple[tuple[Option, ...], tuple[str, ...]]:
    """The options and contexts that these files hold.

    With a table (CSV or JSONL) among them its lines are the options, and name the other files. Without one, every file is an
    option.

    Raises
    ------
    BadInput
        If a file is of another kind, too large, or not needed; if a zip is not whole, too large, or has paths that lead
        elsewhere.
    """
    unpacked: list[Upload] = []
    total = 0
    for one in (one for file in files for one in _unpacked(file)):  # one after the other: what is too much is not unpacked
        unpacked.append(one)
        total += len(one.data)
        if len(unpacked) > MOST_FILES:
            raise BadInput(f"At most {MOST_FILES:,} files can be sent at once. Got more.")
        if total > MOST_UNPACKED:
            raise BadInput(f"All files together must have at most {MOST_UNPACKED:,} bytes, unpacked. They have more.")
    tables = [file for file in unpacked if _suffix(file) in TABLES]
    if len(tables) > 1:
        raise BadInput(f"Send one table at a time. Got {_listed([file.name for file in tables])}.")
    if tables:
        return _with_table(tables[0], [file for file in unpacked if file is not tables[0]], least)
    if len(unpacked) > MOST_OPTIONS:
        raise BadInput(f"An arena has {LEAST_OPTIONS} to {MOST_OPTIONS} options. Got {len(unpacked):,} files.")
    options = tuple(_option(file, name) for file, name in zip(unpacked, _names(unpacked), strict=True))
    check_options(options, least=least)
    return options, ()


def _option(file: Upload, name: str) -> Option:
    kind = _kind(file)
    return Option(name, (make_content(kind, file.data, f"‘{file.name}’"),))


def _kind(file: Upload) -> str:
    """By its bytes; the name tells Markdown from other text only."""
    other = next((words for start, magic, words in OTHERS if file.data[start : start + len(magic)] == magic), None)
    is_text = _is_text(file.data)
    if other is None or is_text:
        kind = media_kind(file.data)
        if kind is not None:
            return kind
        if is_text and file.data:
            return "markdown" if _suffix(file) in (".md", ".markdown") else "text"
    what = other or ("an empty file" if not file.data else "no file that can be shown")
    raise BadInput(f"‘{_short(file.name)}’ is {what}. {TAKEN}")


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data[: MOST_TEXT + 1].decode("utf-8")
    except UnicodeDecodeError as error:
        return len(data) > MOST_TEXT and error.start > MOST_TEXT - 4 and b"\0" not in data[:MOST_TEXT]


# ---- a table, and the files that it names


class Files:
    """The files that came with a table: by their whole path, beneath the table's folder, or by their name if only one has it."""

    def __init__(self, files: Sequence[Upload], folder: PurePosixPath) -> None:
        self._by_path = {str(PurePosixPath(file.name)): file for file in files}
        names = Counter(PurePosixPath(file.name).name for file in files)
        self._by_name = {PurePosixPath(file.name).name: file for file in files if names[PurePosixPath(file.name).name] == 1}
        self._folder = folder
        self.unused = {file.name for file in files}

    def _find(self, name: str) -> Upload | None:
        path = PurePosixPath(name.strip())
        return self._by_path.get(str(self._folder / path)) or self._by_path.get(str(path)) or self._by_name.get(path.name)

    def kind(self, name: str) -> str | None:
        found = self._find(name) if len(name) <= MOST_NAME * 5 and "\n" not in name else None
        return None if found is None else media_kind(found.data)

    def read(self, name: str, where: str) -> bytes:
        path_beneath(name, where)
        found = self._find(name)
        if found is None:
            raise BadInput(f"{where}: there is no file {shortened(name)} among those that were sent.")
        self.unused.discard(found.name)
        _kind(found)  # in its own words, if it is something else
        return found.data


def _with_table(table: Upload, files: Sequence[Upload], least: int) -> tuple[tuple[Option, ...], tuple[str, ...]]:
    try:
        written = table.data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"‘{_short(table.name)}’ must be a table in UTF-8. Got other bytes.") from None
    beside = Files(files, PurePosixPath(table.name).parent)
    made = read_lines(written, format=TABLES[_suffix(table)], beside=beside, least=least)
    if beside.unused:
        raise BadInput(
            f"No line of ‘{_short(table.name)}’ names {_listed(sorted(beside.unused))}. Send only files that it names."
        )
    return made


# ---- zips


def _unpacked(file: Upload) -> Iterator[Upload]:
    """The file itself, or those in a zip. A zip in a zip is a file of another kind."""
    _check_path(file.name)
    if file.data[:4] not in (b"PK\x03\x04", b"PK\x05\x06"):
        yield file
        return
    try:
        with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
            yield from _members(file, archive)
    except BadInput:  # a ValueError, too
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError, OverflowError):
        raise BadInput(f"‘{_short(file.name)}’ is a zip that cannot be unpacked. Make it anew, without a password.") from None


def _members(file: Upload, archive: zipfile.ZipFile) -> Iterator[Upload]:
    members = [one for one in archive.infolist() if not one.is_dir()]
    for one in members:
        _check_path(one.filename)
    members = [one for one in members if not _is_hidden(one.filename)]
    if any(one.filename == "[Content_Types].xml" for one in members):
        raise BadInput(f"‘{_short(file.name)}’ is an Office document. Save it as a CSV, or as text.")
    for one in members:
        if one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BadInput(
                f"‘{_short(one.filename)}’ in the zip is packed in a way that is not read here. Use plain zip compression."
            )
        with archive.open(one) as packed:
            data = packed.read(MOST_MEDIA + 1)  # what the zip says of sizes is not believed
        if len(data) > MOST_MEDIA:
            raise BadInput(f"‘{_short(one.filename)}’ in the zip must have at most {MOST_MEDIA:,} bytes. It has more.")
        yield Upload(one.filename, data)


def _is_hidden(path: str) -> bool:
    """What systems put into zips by themselves."""
    return any((part.startswith(".") and part not in (".", "..")) or part in SYSTEMS for part in path.split("/"))


def _check_path(name: str) -> None:
    path = PurePosixPath(name)
    if not path.name or path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or not name.isprintable():
        raise BadInput(f"A file must have a plain name, or a path beneath a folder. Got {shortened(name)}.")


# ---- names


def _names(files: Sequence[Upload]) -> list[str]:
    """Of the options: the files' names without endings, where those differ; else with them; else whole paths."""
    paths = [PurePosixPath(file.name) for file in files]
    for names in ([path.stem for path in paths], [path.name for path in paths], [str(path) for path in paths]):
        short = [name.strip()[:MOST_NAME] for name in names]
        if len(set(short)) == len(short):
            return short
    twice = next(name for name, times in Counter(file.name for file in files).items() if times > 1)
    raise BadInput(f"The names of files must differ. Got ‘{_short(twice)}’ twice.")


def _suffix(file: Upload) -> str:
    return PurePosixPath(file.name).suffix.lower()


def _short(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:79]}…"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(f"‘{_short(name)}’" for name in names[:3]) + more
