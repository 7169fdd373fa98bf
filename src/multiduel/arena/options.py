"""Options from a file: contents that are what they are said to be, within limits, and nothing from outside the file's folder.

A file is CSV (a line of column names first) or JSONL (an object per line) with

    name      of the option; raters never see it
    content   the text itself, a URL, or the path of an image or sound beneath the file's folder
    kind      text (if not given), markdown, image, audio or url
    context   the question that this content answers, if there are questions: then a line per option and question

>>> options, contexts = read_lines("name,content\\nmild,Good morning.\\nsharp,Morning!\\n", format="csv")
>>> [option.name for option in options], contexts
(['mild', 'sharp'], [])
"""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from multiduel.arena.contents import KINDS, Content, NewContext, NewOption
from multiduel.files import file_name, read_text
from multiduel.inputs import BadInput, choice, no_others, shortened, text

COLUMNS = ("name", "content", "kind", "context")
LEAST_OPTIONS, MOST_OPTIONS, MOST_CONTEXTS = 2, 200, 1000
MOST_NAME, MOST_QUESTION, MOST_URL = 200, 10_000, 2_000  # characters
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
        return Content(kind, _url(value.strip(), where).encode("ascii"))
    return Content(kind, _limited(data, MOST_TEXT, where))


def check_options(options: Sequence[NewOption], contexts: Sequence[NewContext] = (), *, least: int = LEAST_OPTIONS) -> None:
    """Refuse options that no arena can have: too few or many, names twice, too much in all."""
    if not least <= len(options) <= MOST_OPTIONS:
        raise BadInput(f"An arena has {LEAST_OPTIONS} to {MOST_OPTIONS} options. Got {len(options)}.")
    if len(contexts) > MOST_CONTEXTS:
        raise BadInput(f"An arena has at most {MOST_CONTEXTS:,} contexts. Got {len(contexts):,}.")
    for what, names in (("options", [o.name for o in options]), ("contexts", [c.name for c in contexts])):
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise BadInput(f"The names of {what} must differ. Got {shortened(twice)} twice.")
    wanted = {context.name for context in contexts}
    for option in options:
        if option.by_context.keys() != wanted:
            raise BadInput(f"Option {shortened(option.name)} must have one content{' per context' if wanted else ''}.")
    total = sum(len(content.data) for option in options for content in contents_of(option))
    if total > MOST_ALL:
        raise BadInput(f"All contents of an arena together must be at most {MOST_ALL:,} bytes. Got {total:,}.")


def contents_of(option: NewOption) -> tuple[Content, ...]:
    return (option.content,) if option.content else tuple(option.by_context.values())


def option_name(value: Any, where: str) -> str:
    """A name of 1 to 200 characters that print."""
    name = text(f"{where}: name", value).strip()
    if not 1 <= len(name) <= MOST_NAME or not all(letter.isprintable() for letter in name):
        raise BadInput(f"{where}: 'name' must be 1 to {MOST_NAME} printable characters. Got {shortened(value)}.")
    return name


# ---- files ----------------------------------------------------------------------------------------------------------


def read_options(path: str | os.PathLike[str]) -> tuple[list[NewOption], list[NewContext]]:
    """The options and contexts of a .csv or .jsonl file; whatever is wrong is refused by its line."""
    file = Path(file_name(path))
    return read_lines(read_text(file), format=format_of(file), folder=file.parent)


def format_of(path: str | os.PathLike[str]) -> str:
    """csv or jsonl, by the file's name."""
    format = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}.get(Path(file_name(path)).suffix.lower())
    if format is None:
        raise BadInput(f"A .csv or .jsonl file is needed. Got '{path}'.")
    return format


def read_lines(
    written: str, *, format: str, folder: Path | None = None, least: int = LEAST_OPTIONS
) -> tuple[list[NewOption], list[NewContext]]:
    """As ``read_options``, from text. Without a folder, images and sounds cannot be named by a path."""
    contents: dict[str, dict[str, Content]] = {}  # name -> question, or "" -> content
    questions: dict[str, str] = {}  # question -> the context's name
    for number, record in records(written, format):
        where = f"Line {number}"
        no_others(record, COLUMNS, where)
        name = option_name(record.get("name") or "", where)
        kind = choice(f"{where}: kind", record.get("kind") or "text", KINDS)
        question = _question(record["context"], where) if record.get("context") else ""
        value: Any = record.get("content")
        if kind in ("image", "audio"):
            value = _beneath(folder, value, where)
        mine = contents.setdefault(name, {})
        if question in mine:
            again = f" for the context {shortened(question)}" if question else ""
            raise BadInput(f"{where}: option {shortened(name)} has a content{again} already.")
        mine[question] = make_content(kind, value if value is not None else "", f"{where}: the content")
        if question:
            questions.setdefault(question, context_name(question, len(questions) + 1))
        if len(contents) > MOST_OPTIONS:
            raise BadInput(f"{where}: an arena has at most {MOST_OPTIONS} options. Got one more.")
    options = [_option(name, mine, questions) for name, mine in contents.items()]
    contexts = [NewContext(name, make_content("text", question)) for question, name in questions.items()]
    check_options(options, contexts, least=least)
    return options, contexts


def context_name(question: str, number: int) -> str:
    """A question's own first line, if it is short; else enough of it, and its number."""
    line = " ".join("".join(c if c.isprintable() else " " for c in question).split())
    return line if line == question and len(line) <= MOST_NAME else f"{number}: {line[: MOST_NAME - 20]}"


def _option(name: str, mine: Mapping[str, Content], questions: Mapping[str, str]) -> NewOption:
    for question in (*questions, *mine):
        if question not in mine or (questions and not question):
            raise BadInput(f"Option {shortened(name)} must have a content per context. Check the context {shortened(question)}.")
    if not questions:
        return NewOption(name, mine[""])
    return NewOption(name, by_context={context: mine[question] for question, context in questions.items()})


def records(written: str, format: str) -> Iterable[tuple[int, Mapping[str, Any]]]:
    """(line, columns) of a CSV with a line of names, or of JSONL; empty lines are left out."""
    if format == "jsonl":
        for number, line in enumerate(written.splitlines(), 1):
            if line.strip():
                yield number, _object(line, number)
        return
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


def _object(line: str, number: int) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise BadInput(f"Line {number}: this is no JSON. Got {shortened(line)}.") from None
    if not isinstance(record, dict):
        raise BadInput(f"Line {number} must be a JSON object. Got {shortened(record)}.")
    return record


def _question(value: Any, where: str) -> str:
    question = text(f"{where}: context", value).strip()
    if not 1 <= len(question) <= MOST_QUESTION:
        raise BadInput(f"{where}: a context must have 1 to {MOST_QUESTION:,} characters. Got {len(question):,}.")
    return question


def _beneath(folder: Path | None, value: Any, where: str) -> bytes:
    """The bytes of a file beneath ``folder``: no absolute path, no '..', and no link that leads out."""
    name = text(f"{where}: content", value)
    if folder is None:
        raise BadInput(f"{where}: images and sounds can be named by a path only in a file. Got {shortened(name)}.")
    relative = PurePosixPath(name.strip())
    if not relative.parts or relative.is_absolute() or ".." in relative.parts or "\0" in name or "\\" in name:
        raise BadInput(f"{where}: the content must be a path beneath the file's folder. Got {shortened(name)}.")
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


def _media_type(kind: str, data: bytes, where: str) -> str:
    for type, start, magic in IMAGES if kind == "image" else SOUNDS:
        if data[start : start + len(magic)] == magic and (start != 8 or data[:4] == b"RIFF"):
            return type
    if kind == "image" and _is_svg(data):
        return "image/svg+xml"
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
