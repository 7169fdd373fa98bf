"""What is compared: options and their contents, one for all questions or one per question, from values or from a file.

A file is CSV (a line of column names first) or JSONL (an object per line) with

    name      of the option; raters never see it
    content   the text itself, a URL, or the path of an image or sound beneath the file's folder
    kind      text (if not given), markdown, image, audio or url
    context   the question that this content answers, if there are several: then a line per option and question
    features  numbers that describe the option, for policies that use them ("0.2 1.5"; in JSONL a list): of all or of none

>>> options, contexts = read_lines("name,content\\nmild,Good morning.\\nsharp,Morning!\\n", format="csv")
>>> [option.name for option in options], contexts
(['mild', 'sharp'], ())
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Protocol
from urllib.parse import urlsplit

from multiduel.arena.domain.texts import check_text, is_broken
from multiduel.files import file_name, read_text
from multiduel.inputs import BadInput, choice, no_others, shortened, text

KINDS = ("text", "markdown", "image", "audio", "url")
COLUMNS = ("name", "content", "kind", "context", "features")
LEAST_OPTIONS, MOST_OPTIONS, MOST_CONTEXTS = 2, 200, 1000
MOST_NAME, MOST_QUESTION, MOST_URL = 200, 10_000, 2_000  # characters
MOST_LINES = 1_000_000  # of a file, or of what is pasted
MOST_FEATURES, MOST_FEATURE = 100, 1e6  # of an option; how large one may be, in either direction
MOST_TEXT, MOST_MEDIA, MOST_ALL = 200_000, 10_000_000, 500_000_000  # bytes

# What a file is, is told by its first bytes, never by its name: (type, offset, bytes there).
IMAGES = (
    ("image/png", 0, b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", 0, b"\xff\xd8\xff"),
    ("image/gif", 0, b"GIF8"),
    ("image/webp", 8, b"WEBP"),
    ("image/avif", 4, b"ftypavif"),
)
SOUNDS = (
    ("audio/mpeg", 0, b"ID3"),
    ("audio/mpeg", 0, b"\xff\xfb"),
    ("audio/mpeg", 0, b"\xff\xf3"),
    ("audio/mpeg", 0, b"\xff\xf2"),
    ("audio/wav", 8, b"WAVE"),
    ("audio/ogg", 0, b"OggS"),
    ("audio/flac", 0, b"fLaC"),
    ("audio/mp4", 4, b"ftyp"),
)


@dataclass(frozen=True)
class Content:
    """What a rater sees or hears. Text and URLs are UTF-8."""

    kind: str
    data: bytes
    type: str  # the media type that it is sent with

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def size(self) -> int:
        return len(self.data)

    def describe(self) -> dict[str, Any]:
        """As an event carries it: the bytes themselves lie elsewhere, under their hash."""
        return {"kind": self.kind, "sha256": self.sha256, "size": self.size, "type": self.type}


@dataclass(frozen=True)
class Option:
    """A name that only the owner sees, and a content: one for all contexts, or one per context in their order."""

    name: str
    contents: tuple[Content, ...]
    features: tuple[float, ...] = ()  # numbers that describe it, for policies that use them


def make_content(kind: str, value: str | bytes, where: str = "A content") -> Content:
    """A content of this kind from its text, URL or bytes; refused if it is not what it is said to be."""
    choice("kind", kind, KINDS)
    if kind in ("image", "audio"):
        if not isinstance(value, bytes):
            raise BadInput(f"{where} must be bytes, as its kind is {kind}. Got {shortened(value)}.")
        return Content(kind, _limited(value, MOST_MEDIA, where), _media_type(kind, value, where))
    if isinstance(value, bytes):
        try:
            value = value.decode("utf-8")
        except UnicodeDecodeError:
            raise BadInput(f"{where} must be UTF-8 text, as its kind is {kind}. Got other bytes.") from None
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{where} must not be empty. Got {shortened(value)}.")
    try:
        data = value.encode("utf-8")
    except UnicodeEncodeError:
        raise BadInput(f"{where} must be text that UTF-8 can hold. Got half a character.") from None
    if kind == "url":
        return Content(kind, _url(value.strip(), where).encode("utf-8"), "text/uri-list; charset=utf-8")
    named = "text/markdown" if kind == "markdown" else "text/plain"
    return Content(kind, _limited(data, MOST_TEXT, where), f"{named}; charset=utf-8")


def check_options(options: Sequence[Option], contexts: Sequence[str] = (), *, least: int = LEAST_OPTIONS) -> None:
    """Refuse options that no arena can have: too few or many, names twice, contents that do not fit the contexts."""
    if not least <= len(options) <= MOST_OPTIONS:
        raise BadInput(f"An arena has {LEAST_OPTIONS} to {MOST_OPTIONS} options. Got {len(options)}.")
    if len(contexts) > MOST_CONTEXTS:
        raise BadInput(f"An arena has at most {MOST_CONTEXTS:,} contexts. Got {len(contexts):,}.")
    for context in contexts:
        _context(context, "A context")
    if len(set(contexts)) < len(contexts):
        raise BadInput("The contexts of an arena must differ. Got one twice.")
    seen: set[str] = set()
    for option in options:
        name = option_name(option.name, "An option")
        if name in seen:
            raise BadInput(f"The names of options must differ. Got {shortened(name)} twice.")
        seen.add(name)
        if len(option.contents) != max(1, len(contexts)):
            wanted = f"{len(contexts)} contents, one per context" if contexts else "one content"
            raise BadInput(f"Option {shortened(name)} must have {wanted}. Got {len(option.contents)}.")
    check_features(options, len(options[0].features) if options else 0)
    total = sum(content.size for option in options for content in option.contents)
    if total > MOST_ALL:
        raise BadInput(f"All contents of an arena together must be at most {MOST_ALL:,} bytes. Got {total:,}.")


def check_features(options: Iterable[Option], count: int) -> None:
    """Refuse options that are not all described by so many numbers."""
    for option in options:
        features_of(option.features, f"Option {shortened(option.name)}")
        if len(option.features) != count:
            wanted = f"{count} {'feature' if count == 1 else 'features'}" if count else "no features"
            raise BadInput(f"Option {shortened(option.name)} must have {wanted}, as the others. Got {len(option.features)}.")


def features_of(value: Any, where: str) -> tuple[float, ...]:
    """Numbers that describe an option: a list, or text with spaces or semicolons between them."""
    parts = value.replace(";", " ").split() if isinstance(value, str) else value
    if not isinstance(parts, list | tuple):
        raise BadInput(f"{where}: 'features' must be numbers. Got {shortened(value)}.")
    try:
        numbers = tuple(math.nan if isinstance(part, bool) else float(part) for part in parts)
    except (TypeError, ValueError, OverflowError):
        numbers = (math.nan,)
    if len(numbers) > MOST_FEATURES or not all(abs(number) <= MOST_FEATURE for number in numbers):
        limits = f"at most {MOST_FEATURES} numbers from {-MOST_FEATURE:,.0f} to {MOST_FEATURE:,.0f}"
        raise BadInput(f"{where}: 'features' must be {limits}. Got {shortened(value)}.")
    return numbers


def option_name(value: Any, where: str) -> str:
    """A name of 1 to 200 characters that print."""
    name = text(f"{where}: name", value).strip()
    if not 1 <= len(name) <= MOST_NAME or not all(letter.isprintable() for letter in name):
        raise BadInput(f"{where}: 'name' must be 1 to {MOST_NAME} printable characters. Got {shortened(value)}.")
    return name


# ---- files ----------------------------------------------------------------------------------------------------------


def read_options(path: str | os.PathLike[str]) -> tuple[tuple[Option, ...], tuple[str, ...]]:
    """The options and contexts of a .csv or .jsonl file; whatever is wrong is refused by its line."""
    file = Path(file_name(path))
    return read_lines(read_text(file), format=format_of(file), beside=Folder(file.parent))


def format_of(path: str | os.PathLike[str]) -> str:
    """csv or jsonl, by the file's name."""
    format = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}.get(Path(file_name(path)).suffix.lower())
    if format is None:
        raise BadInput(f"A .csv or .jsonl file is needed. Got '{path}'.")
    return format


class Beside(Protocol):
    """The files beside a table of options, which its lines name."""

    def read(self, name: str, where: str) -> bytes:
        """The bytes of a file; refused if there is none."""

    def kind(self, name: str) -> str | None:
        """What a file holds, where a line does not say it; None if there is no such file."""


def read_lines(
    written: str, *, format: str, beside: Beside | None = None, least: int = LEAST_OPTIONS
) -> tuple[tuple[Option, ...], tuple[str, ...]]:
    """As ``read_options``, from text. Without files beside it, images and sounds cannot be named by a path."""
    contents: dict[str, dict[str | None, Content]] = {}
    contexts: dict[str, None] = {}
    features: dict[str, tuple[float, ...]] = {}
    for number, record in records(written, format):
        where = f"Line {number}"
        no_others(record, COLUMNS, where)
        name = option_name(record.get("name") or "", where)
        value: Any = record.get("content")
        meant = beside.kind(value) if beside is not None and isinstance(value, str) else None
        kind = choice(f"{where}: kind", record.get("kind") or meant or "text", KINDS)
        context = _context(record["context"], where) if record.get("context") else None
        if kind in ("image", "audio"):
            value = _bytes_beside(beside, value, where)
        mine = contents.setdefault(name, {})
        if context in mine:
            again = f" for the context {shortened(context)}" if context else ""
            raise BadInput(f"{where}: option {shortened(name)} has a content{again} already.")
        mine[context] = make_content(kind, value if value is not None else "", f"{where}: the content")
        if context is not None:
            contexts.setdefault(context)
        described = features_of(record.get("features") or (), where)
        if described and features.setdefault(name, described) != described:
            raise BadInput(f"{where}: option {shortened(name)} has other features already.")
        if len(contents) > MOST_OPTIONS:
            raise BadInput(f"{where}: an arena has at most {MOST_OPTIONS} options. Got one more.")
    wanted: tuple[str | None, ...] = tuple(contexts) or (None,)
    options = []
    for name, mine in contents.items():
        for context in (*wanted, *mine):
            if context not in mine or context not in wanted:
                missing = shortened(context) if context not in mine else "none"
                raise BadInput(f"Option {shortened(name)} must have a content per context. Check the context {missing}.")
        options.append(Option(name, tuple(mine[context] for context in wanted), features.get(name, ())))
    check_options(options, tuple(contexts), least=least)
    return tuple(options), tuple(contexts)


def records(written: str, format: str) -> Iterable[tuple[int, Mapping[str, Any]]]:
    """(line, columns) of a CSV with a line of names, or of JSONL; empty lines are left out."""
    lines = lines_of(written)
    if format == "jsonl":
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, _object(line, number)
        return
    csv.field_size_limit(max(csv.field_size_limit(), 10 * MOST_TEXT))  # of the whole process: its own is below our texts
    reader = csv.DictReader(io.StringIO(written, newline=""), strict=True, restkey="", restval=None)
    try:
        names = reader.fieldnames or []
        if len(set(names)) < len(names) or not names:
            raise BadInput("Line 1: the first line must name the columns, each once.")
        for row in reader:
            if "" in row:
                raise BadInput(f"Line {reader.line_num}: there are more cells than columns named in the first line.")
            yield reader.line_num, {name.strip().lower(): cell for name, cell in row.items() if cell is not None}
    except csv.Error as error:
        raise BadInput(f"Line {reader.line_num}: this is no CSV: {error}.") from None


def lines_of(written: str) -> list[str]:
    """The lines of a text, or of JSONL, that has not too many and is whole characters."""
    if (found := written.count("\n")) >= MOST_LINES:
        raise BadInput(f"A text has at most {MOST_LINES:,} lines. Got {found + 1:,}.")
    lines = written.split("\n")  # splitlines would split at letters that JSON may hold
    if is_broken(written):
        number = next(number for number, line in enumerate(lines, 1) if is_broken(line))
        raise BadInput(f"Line {number}: text must be whole characters, without zero characters.")
    return lines


def _object(line: str, number: int) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise BadInput(f"Line {number}: this is no JSON. Got {shortened(line)}.") from None
    try:
        check_text(record)
    except BadInput as error:
        raise BadInput(f"Line {number}: {error}") from None
    if not isinstance(record, dict):
        raise BadInput(f"Line {number} must be a JSON object. Got {shortened(record)}.")
    return record


def _context(value: Any, where: str) -> str:
    question = text(f"{where}: context", value).strip()
    if is_broken(question):
        raise BadInput(f"{where}: a context must be text that UTF-8 can hold, without zero bytes. Got {shortened(value)}.")
    if not 1 <= len(question) <= MOST_QUESTION:
        raise BadInput(f"{where}: a context must have 1 to {MOST_QUESTION:,} characters. Got {len(question):,}.")
    return question


def _bytes_beside(beside: Beside | None, value: Any, where: str) -> bytes:
    name = text(f"{where}: content", value)
    if beside is None:
        raise BadInput(f"{where}: images and sounds can be named by a path only in a file. Got {shortened(name)}.")
    return beside.read(name, where)


def path_beneath(name: str, where: str) -> PurePosixPath:
    """A path that leads to a file beneath a folder: not absolute, no '..', no backslashes."""
    relative = PurePosixPath(name.strip())
    if not relative.parts or relative.is_absolute() or ".." in relative.parts or "\0" in name or "\\" in name:
        raise BadInput(f"{where}: the content must be a path beneath the file's folder. Got {shortened(name)}.")
    return relative


class Folder:
    """The files beneath a folder of this machine. No link leads out of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def kind(self, name: str) -> str | None:
        return None  # a line says it: text that happens to be the name of a file is text

    def read(self, name: str, where: str) -> bytes:
        folder, relative = self._folder, path_beneath(name, where)
        target = Path(os.path.realpath(folder / relative))
        if not target.is_relative_to(os.path.realpath(folder)):
            raise BadInput(f"{where}: the content must be a path beneath the file's folder. Got {shortened(name)}.")
        try:
            status = os.stat(target)
            if not stat.S_ISREG(status.st_mode):
                raise BadInput(f"{where}: the content must be the path of a file. Got {shortened(name)}.")
            if status.st_size > MOST_MEDIA:
                raise BadInput(f"{where}: a file must have at most {MOST_MEDIA:,} bytes. Got {status.st_size:,}.")
            return target.read_bytes()
        except OSError as error:
            raise BadInput(f"{where}: {shortened(name)} cannot be read: {error.strerror}.") from None


def _limited(data: bytes, most: int, where: str) -> bytes:
    if not 1 <= len(data) <= most:
        raise BadInput(f"{where} must have 1 to {most:,} bytes. Got {len(data):,}.")
    return data


def media_kind(data: bytes) -> str | None:
    """image or audio, by the first bytes; None for what is neither.

    >>> media_kind(b"GIF89a..."), media_kind(b"ID3..."), media_kind(b"GIF is a format.")
    ('image', 'audio', None)
    """
    return next((kind for kind in ("image", "audio") if _known_type(kind, data) is not None), None)


def _known_type(kind: str, data: bytes) -> str | None:
    for type, start, magic in IMAGES if kind == "image" else SOUNDS:
        if data[start : start + len(magic)] == magic and (start != 8 or data[:4] == b"RIFF"):
            return type
    return "image/svg+xml" if kind == "image" and _is_svg(data) else None


def _media_type(kind: str, data: bytes, where: str) -> str:
    type = _known_type(kind, data)
    if type is not None:
        return type
    known = "PNG, JPEG, GIF, WebP, AVIF or SVG" if kind == "image" else "MP3, WAV, Ogg, FLAC or M4A"
    raise BadInput(f"{where} must be {known}, as its kind is {kind}. Got other bytes: {shortened(data[:12])}.")


def _is_svg(data: bytes) -> bool:
    start = data[:1000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith(b"<svg") or (start.startswith((b"<?xml", b"<!--", b"<!doctype svg")) and b"<svg" in start)


def _url(value: str, where: str) -> str:
    try:
        parts = urlsplit(value)
        good = parts.scheme in ("http", "https") and parts.hostname and len(value) <= MOST_URL and parts.username is None
    except ValueError:
        good = False
    if not good or not value.isascii() or not value.isprintable() or set(value) & set(" \"'<>\\^`{|}"):
        raise BadInput(f"{where} must be an http or https URL of at most {MOST_URL:,} plain characters. Got {shortened(value)}.")
    return value
