"""Who may do what: keys of owners, open links to join by, keys of raters.

A key is ``<kind>.<arena>.<name>.<secret>``: arena and name find its record, the secret is 256 random bits. What is stored of an
owner's key is an argon2 hash; of a rater's or a link's, which are checked with every vote, a SHA-256 hash: a random secret of
that length cannot be guessed from either. A key that is not known takes as long to refuse as one that is known and wrong.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from multiduel.arena.errors import Forbidden
from multiduel.arena.journal import Secret
from multiduel.inputs import BadInput, shortened

if TYPE_CHECKING:
    from argon2 import PasswordHasher

    from multiduel.arena.journal import Secrets

KINDS = {"server": "mdserver", "owner": "mdowner", "link": "mdlink", "rater": "mdrater"}  # role -> how its keys begin
SLOW = ("server", "owner")  # checked seldom, and worth more: argon2
REMEMBERED, REMEMBERED_FOR = 10_000, 60.0  # keys found good, and for how many seconds: a revoked key may work that much longer
_FORM = re.compile(r"(mdserver|mdowner|mdlink|mdrater)\.([A-Za-z0-9_-]{0,64})\.([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{43})")


@dataclass(frozen=True)
class Grant:
    """What a key is good for. A server's key makes arenas and owns all; an owner's owns one; a link lets anyone join one as a new
    rater; a rater's key votes in one."""

    role: str
    arena: str | None = None
    rater: str | None = None

    def owns(self, arena: str) -> bool:
        return self.role == "server" or (self.role == "owner" and self.arena == arena)

    def joins(self, arena: str) -> bool:
        return self.role == "link" and self.arena == arena

    def rates(self, arena: str, rater: str) -> bool:
        return self.role == "rater" and self.arena == arena and self.rater == rater


class Access:
    """Makes keys and checks them. Thread-safe."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._good: OrderedDict[bytes, tuple[Grant, float, str]] = OrderedDict()  # of a key: its grant, until when, its record
        self._lock = threading.Lock()

    def new_key(self, role: str, *, arena: str | None = None, rater: str | None = None) -> str:
        """A key that was never seen before and is stored as a hash only: show it now, or never. A rater has one at a time."""
        if role not in KINDS or (role == "server") != (arena is None) or (role == "rater") != (rater is not None):
            raise BadInput(f"A key is a server's, or an arena's owner's, link's or rater's. Got '{role}'.")
        name, secret = rater or secrets.token_hex(8), secrets.token_urlsafe(32)
        key = f"{KINDS[role]}.{arena or ''}.{name}.{secret}"
        if _FORM.fullmatch(key) is None:
            raise BadInput(f"Names in a key have letters, digits, - and _ only. Got {shortened(arena)} and {shortened(rater)}.")
        hashed = _hasher().hash(secret) if role in SLOW else _quick(secret)
        self._secrets.put(arena or "", Secret(role, name, hashed))
        return key

    def any(self, role: str, arena: str = "") -> bool:
        """Is there a key of this role?"""
        return bool(self._secrets.get(arena, role))

    def revoke(self, role: str, arena: str = "", name: str | None = None) -> int:
        """All keys of this role, or the one of this name, are good for nothing from now on (elsewhere within a minute)."""
        gone = self._secrets.get(arena, role, name)
        for secret in gone:
            self._secrets.remove(arena, role, secret.subject)
        with self._lock:
            self._good.clear()
        return len(gone)

    def check(self, key: str) -> Grant:
        """What this key is good for. The first check of an owner's key takes some 20 ms of hard work, later ones a look at its
        record once a minute."""
        if (known := self.remembered(key)) is not None:
            return known
        form = _FORM.fullmatch(key)
        if form is None:
            raise Forbidden("This is no key of an arena.")
        _, arena, name, secret = form.groups()
        role, _ = role_and_arena(key)
        found = self._secrets.get(arena, role, name)
        with self._lock:
            _, _, seen = self._good.get(_digest(key), (None, 0.0, ""))
        if found and found[0].hash == seen:
            good = True  # it was good, and its record is the same
        elif role in SLOW:
            good = _verified(found[0].hash if found else _nobody(), secret)
        else:
            good = hmac.compare_digest(found[0].hash if found else "0" * 64, _quick(secret))
        if not good or not found or (role == "server") != (arena == ""):
            raise Forbidden("This key is not known here.")
        grant = Grant(role, arena or None, name if role == "rater" else None)
        with self._lock:
            self._good[_digest(key)] = grant, time.monotonic() + REMEMBERED_FOR, found[0].hash
            self._good.move_to_end(_digest(key))
            if len(self._good) > REMEMBERED:
                self._good.popitem(last=False)
        return grant

    def remembered(self, key: str) -> Grant | None:
        """The grant of a key that was checked a moment ago: takes no time."""
        with self._lock:
            grant, until, _ = self._good.get(_digest(key), (None, 0.0, ""))
            return grant if time.monotonic() <= until else None

    def costly(self, key: str) -> bool:
        """Would a check of this key take hard work? Whoever sends many such keys is made to wait."""
        form = _FORM.fullmatch(key)
        with self._lock:
            return form is not None and form[1] in (KINDS[role] for role in SLOW) and _digest(key) not in self._good


def role_and_arena(key: str) -> tuple[str, str]:
    """What a key says of itself, whether it is good or not."""
    form = _FORM.fullmatch(key)
    if form is None:
        raise Forbidden("This is no key of an arena. Please copy all of it.")
    return next(role for role, beginning in KINDS.items() if beginning == form[1]), form[2]


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


def _quick(secret: str) -> str:
    return hashlib.sha256(secret.encode("ascii")).hexdigest()


_made: list[Any] = []  # the hasher, and the hash of a secret that nobody has


def _hasher() -> PasswordHasher:
    if not _made:
        from argon2 import PasswordHasher

        made = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
        _made.extend((made, made.hash(secrets.token_urlsafe(32))))
    hasher: PasswordHasher = _made[0]
    return hasher


def _nobody() -> str:
    _hasher()
    return str(_made[1])


def _verified(hashed: str, secret: str) -> bool:
    from argon2.exceptions import Argon2Error, InvalidHashError

    try:
        return _hasher().verify(hashed, secret)
    except (Argon2Error, InvalidHashError):
        return False
