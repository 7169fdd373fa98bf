"""Pseudonyms of users and sessions in a log, made with a secret key that lies beside the log.

    clicks.jsonl        {"kind": "impression", ..., "user": "~5d41402abc4b2a76b9719d91", ...}
    clicks.jsonl.key    64 hexadecimal digits, readable for the owner only

The same name gives the same pseudonym, in every process: pages of one user belong together, and a user can be forgotten by name.
Who has the log and not the key cannot find a name by trying. Without its key a log is anonymous for good. Other logs with the
same users need the same key, if they are to be read as one.
"""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from multiduel.inputs import BadInput
from multiduel.rankers.assignment import pseudonym

KEY = re.compile(r"[0-9a-f]{64}\n?")
PSEUDONYM = re.compile(r"~[0-9a-f]{24}")


def hidden(kind: str, name: str, key: str) -> str:
    """The pseudonym of a user or session; a pseudonym stays as it is."""
    if PSEUDONYM.fullmatch(name):
        return name
    return "~" + pseudonym(name if kind == "user" else f"{kind}\n{name}", secret=key)


def read_key(path: Path) -> str | None:
    """The key in a file; None if there is no such file."""
    try:
        text = path.read_text("ascii")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadInput(f"'{path}' cannot be read as a key: {getattr(error, 'strerror', None) or 'it is no text'}.") from None
    if not KEY.fullmatch(text):
        raise BadInput(f"'{path}' must hold a key, 64 hexadecimal digits. It holds something else.")
    return text.strip()


def new_key() -> str:
    """A new key, which is nowhere yet."""
    return secrets.token_hex(32)


def save_key(path: Path, key: str) -> str:
    """Write a key, whole or not at all. Returns the key that is there: of several processes that save one at once, one wins."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        file = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            os.write(file, key.encode() + b"\n")
            os.fsync(file)
        finally:
            os.close(file)
        with suppress(FileExistsError):
            os.link(draft, path)
    except OSError as error:
        raise BadInput(f"The key '{path}' cannot be written: {error.strerror}.") from None
    finally:
        draft.unlink(missing_ok=True)
    there = read_key(path)
    if there is None:
        raise BadInput(f"The key '{path}' was written, and then removed by somebody else.")
    return there
