"""The one writer of files: they appear whole or not at all, and nothing but a file is ever replaced."""

from __future__ import annotations

import math
import os
import platform
import shutil
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any

from multiduel.inputs import BadInput, shortened


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A draft beside ``path`` that takes its place at the end, or vanishes. Whatever cannot be written is refused in a sentence.

    A link is followed: what it leads to is replaced, the link stays. A folder, device or pipe is never replaced, nor written to.
    """
    try:
        target, draft = _begin(path)
        try:
            yield draft
            with open(draft, "rb+") as file:
                os.fsync(file.fileno())  # whole also when the power fails
            if target.exists():
                shutil.copymode(target, draft)
            os.replace(draft, target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(f"'{path}' cannot be written: {error.strerror or error}.") from None


def read_text(path: str | os.PathLike[str]) -> str:
    """The UTF-8 text of a file, with or without a byte order mark. Whatever cannot be read is refused in a sentence."""
    return "".join(text_lines(path))


def text_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """The same, line by line, for files that may be longer than the memory. Lines end with a line feed."""
    done = 0
    try:
        with Path(readable_name(path)).open("rb") as file:
            for line in file:
                yield line.decode("utf-8" if done else "utf-8-sig")
                done += len(line)
    except FileNotFoundError:
        raise BadInput(f"'{path}' must be a file that exists. Got no such file.") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"'{path}' must be UTF-8 text. Got other bytes at position {done + error.start}.") from None
    except OSError as error:
        raise BadInput(f"'{path}' cannot be read: {error.strerror}.") from None


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """A text in UTF-8, or bytes, as a whole file."""
    with whole_file(path) as draft:
        draft.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def refuse_unwritable(path: str | os.PathLike[str]) -> None:
    """Say now what ``whole_file`` would say after hours of work."""
    try:
        _begin(path)[1].unlink()
    except OSError as error:
        raise BadInput(f"'{path}' cannot be written: {error.strerror or error}.") from None


def _begin(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Where the file will lie, and an empty draft beside it."""
    name = file_name(path)
    with suppress(FileNotFoundError):
        kind = os.stat(name).st_mode
        if not stat.S_ISREG(kind):
            what = "folder" if stat.S_ISDIR(kind) else "device or pipe"
            raise BadInput(f"'{path}' must be a file. Got a {what} of that name.")
        if not os.access(name, os.W_OK):
            raise BadInput(f"'{path}' cannot be written: Permission denied.")
    target = Path(os.path.realpath(name))
    sweep(target.parent, target.name)
    draft = target.with_name(f".{target.name}.{platform.node()}.{os.getpid()}.{threading.get_native_id()}.tmp")
    draft.touch()
    return target, draft


def file_name(path: str | os.PathLike[str]) -> str:
    """The path as text. A number would be taken for an open file by the functions of the system."""
    name = path if isinstance(path, str) else os.fspath(path) if isinstance(path, os.PathLike) else ""
    if not name or not isinstance(name, str) or "\0" in name or not _has_bytes(name):
        raise BadInput(f"A file must be given by its name. Got {shortened(path)}.")
    return name


def readable_name(path: str | os.PathLike[str]) -> str:
    """The path as text, unless a device of that name would be read for ever. Pipes end: they may be read."""
    name = file_name(path)
    with suppress(OSError):  # what cannot be looked at is refused when it is opened
        kind = os.stat(name).st_mode
        if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
            raise BadInput(f"'{path}' must be a file. Got a device of that name.")
    return name


def _has_bytes(name: str) -> bool:
    """Can the system be told this name? Half a character cannot be written as bytes."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def is_draft(path: str | os.PathLike[str], name: str = "") -> bool:
    """Is this the draft of a file (of this name) that is being written, or was when its process was killed?"""
    draft = os.path.basename(path)
    return draft.startswith(f".{name}") and draft.endswith(".tmp")


def sweep(folder: Path, name: str = "*") -> None:
    """Remove the drafts (of this file) that processes of this machine left behind when they were killed."""
    if os.name != "posix":  # elsewhere nobody can ask whether a process lives without ending it
        return
    pattern = name if name == "*" else escape(name)
    for draft in folder.glob(f".{pattern}.{escape(platform.node())}.*.tmp"):
        process = draft.name.split(".")[-3]
        if process.isdecimal() and not _lives(int(process)):
            draft.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # another user's
    return True


def json_ready(value: Any) -> Any:
    """Replace NaN and infinity, which JSON does not have, by None.

    >>> json_ready({"low": float("nan"), "of": (1.5, float("inf"))})
    {'low': None, 'of': [1.5, None]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: json_ready(one) for name, one in value.items()}
    return [json_ready(one) for one in value] if isinstance(value, list | tuple) else value
