"""Heads: number and hash of a log's last event, signed. Whoever keeps one can tell later whether the log was cut or rewritten.

The chain of hashes says that a log is consistent, not that it is the one that was shown: a log that was cut, or chained anew from
some event on, is consistent too. A head that somebody kept, or a receipt of a vote, names one event of the true log.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from multiduel.arena.domain.events import canonical, moment
from multiduel.inputs import BadInput, install, shortened

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from multiduel.arena.journal import Journal

PURPOSE = b"multiduel head 1\n"  # in front of what is signed: a signature for this is one for nothing else
HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True)
class Head:
    """The last event of a log at some time. ``key`` is the id of the signing key."""

    arena: str
    number: int
    hash: str
    at: str  # when it was signed
    key: str
    signature: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Kept:
    """What somebody kept: a head, or a receipt, which is not signed and may not say of which arena it is."""

    number: int
    hash: str
    arena: str | None = None
    head: Head | None = None


class Signer:
    """Signs heads with the key of a journal, which is made when it is first needed."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._private: Ed25519PrivateKey | None = None

    def _key(self) -> Ed25519PrivateKey:
        if self._private is None:
            made = _ed25519().Ed25519PrivateKey
            stored = self._journal.signing_key(secrets.token_hex(32), moment(datetime.now(UTC)))
            self._private = made.from_private_bytes(bytes.fromhex(stored))
        return self._private

    def public(self) -> str:
        """The public key, as 64 hexadecimal digits."""
        return self._key().public_key().public_bytes_raw().hex()

    def sign(self, arena: str, number: int, hash: str) -> Head:
        unsigned = Head(arena, number, hash, moment(datetime.now(UTC)), key_id(self.public()), "")
        signature = self._key().sign(_message(unsigned)).hex()
        return Head(arena, number, hash, unsigned.at, unsigned.key, signature)


def key_id(public: str) -> str:
    """The name of a public key: the beginning of its hash."""
    return hashlib.sha256(bytes.fromhex(public)).hexdigest()[:16]


def public_key_of(written: str) -> str:
    """A public key as somebody typed or kept it."""
    public = written.strip().lower()
    if len(public) != 64 or not set(public) <= HEX:
        raise BadInput(f"A public key has 64 hexadecimal digits. Got {shortened(written)}.")
    return public


def read_kept(written: str) -> Kept:
    """A head or receipt: the JSON of 'arena head', of GET .../head, or of the answer to a vote; or ``NUMBER:HASH``."""
    plain = written.strip()
    try:
        if plain.startswith("{"):
            said = json.loads(plain)
        else:
            number, _, hash = plain.partition(":")
            said = {"number": int(number), "hash": hash.strip().lower()}
    except (ValueError, RecursionError):
        raise _no_head() from None
    number, hash = said.get("number", said.get("event")), said.get("hash")
    if isinstance(number, bool) or not isinstance(number, int) or number < 1 or not _is_hash(hash):
        raise _no_head()
    arena = said.get("arena")
    if arena is not None and not isinstance(arena, str):
        raise _no_head()
    if "signature" not in said:
        return Kept(number, hash, arena)
    parts = [said.get(name) for name in ("at", "key", "signature")]
    if arena is None or not all(isinstance(part, str) for part in parts):
        raise _no_head()
    return Kept(number, hash, arena, Head(arena, number, hash, *map(str, parts)))


def problem_of_signature(head: Head, public: str) -> str | None:
    """Why this signature is not one of this key; None if it is."""
    ed25519 = _ed25519()
    from cryptography.exceptions import InvalidSignature

    if head.key != key_id(public):
        return f"The head was signed with another key: {shortened(head.key)}, not {key_id(public)}."
    try:
        signature = bytes.fromhex(head.signature)
        ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(signature, _message(head))
    except (InvalidSignature, ValueError):
        return "The signature of the head is forged: it is not one of this key."
    return None


@dataclass(frozen=True)
class Found:
    """Whether a log contains what was kept."""

    good: bool
    sentence: str


def look_for(kept: Kept, arena: str, events: int, hash_at: Callable[[int], str | None], *, public: str | None = None) -> Found:
    """Is the kept head or receipt in the log of this arena? ``public`` checks the signature of a head."""
    if kept.arena is not None and kept.arena != arena:
        return Found(False, f"The head is of arena {shortened(kept.arena)}, the log is of arena {shortened(arena)}.")
    if kept.head is not None and public is not None and (problem := problem_of_signature(kept.head, public)) is not None:
        return Found(False, problem)
    shown = f"Event {kept.number:,} with hash {kept.hash[:12]}..."
    if kept.number > events:
        return Found(False, f"{shown} is missing: the log was cut, it ends with event {events:,}.")
    there = hash_at(kept.number)
    if there != kept.hash:
        return Found(
            False, f"{shown} is not in the log, which was rewritten: its event has the hash {(there or 'none')[:12]}...."
        )
    if kept.head is None:
        return Found(True, f"{shown} is in the log.")
    signed = "its signature is good" if public else "its signature was not checked: give the public key"
    return Found(True, f"{shown} is in the log; {signed}.")


def arena_of_log(first: Mapping[str, Any]) -> str:
    """The arena that the body of a log's first event names."""
    return str(first.get("arena", ""))


def _message(head: Head) -> bytes:
    said = {"arena": head.arena, "number": head.number, "hash": head.hash, "at": head.at}
    return PURPOSE + canonical(said).encode("utf-8", "surrogatepass")


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= HEX


def _no_head() -> BadInput:
    return BadInput("This is no head and no receipt: it needs 'number' (or 'event') and 'hash' in JSON, or NUMBER:HASH.")


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise BadInput(f"A signed head needs more packages: {install('arena')}.") from None
    return ed25519
