"""Who may do what: keys of owners, shared links to join by, keys of raters.

A key is ``<kind>.<arena>.<name>.<secret>``: arena and name find its record, the secret is 256 random bits. What is stored of an
owner's key is an argon2 hash; of a rater's or a link's, which are checked with every vote, a SHA-256 hash: a random secret of
that length cannot be guessed from either. A key that is not known takes as long to refuse as one that is known and wrong.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import math
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from multiduel.arena.domain.actors import OPERATOR
from multiduel.arena.domain.errors import Forbidden, NotFound
from multiduel.arena.domain.events import moment
from multiduel.arena.domain.keys import BEGINNINGS, Key
from multiduel.arena.journal import KeyChange, Secret
from multiduel.inputs import BadInput, shortened

if TYPE_CHECKING:
    from argon2 import PasswordHasher

    from multiduel.arena.journal import Secrets

LOG = logging.getLogger(__name__)
Whose = tuple[str, str, str]  # a key's arena ("": the server), role and name
SLOW = ("server", "owner")  # checked seldom, and worth more: argon2
REMEMBERED, REMEMBERED_FOR = 10_000, 60.0  # keys found good, and for how many seconds if nobody looks whether one ended
LOOK_EVERY = 2.0  # seconds until keys that ended in another process are refused in this one
USED_EVERY, USED_AT_ONCE = 300.0, 500  # seconds between two notes that a key was used; notes in a transaction
MOST_CHANGES = 100  # shown
MOST_LABEL = 200
BY_ACCOUNT = "account"  # the last word of what made a key, if its holder signed in with an account: such a key ends by itself


@dataclass(frozen=True)
class Grant:
    """What a key is good for. A server's key makes arenas and owns all; an owner's owns one; a link lets anyone join one as a new
    rater; a rater's key votes in one; a report's key reads the report of one."""

    role: str
    arena: str | None = None
    rater: str | None = None
    key: str | None = field(default=None, compare=False)  # the key's name, which is no secret

    @property
    def actor(self) -> str:
        """As events name whoever has this key.

        >>> Grant("owner", "a1", key="k2").actor, Grant("rater", "a1", "r3", "r3").actor
        ('owner:k2', 'rater:r3')
        """
        return f"{self.role}:{self.key}"

    def owns(self, arena: str) -> bool:
        return self.role == "server" or (self.role == "owner" and self.arena == arena)

    def joins(self, arena: str) -> bool:
        return self.role == "link" and self.arena == arena

    def reads_report(self, arena: str) -> bool:
        return self.role == "report" and self.arena == arena

    def rates(self, arena: str, rater: str) -> bool:
        return self.role == "rater" and self.arena == arena and self.rater == rater


@dataclass(slots=True)
class Known:
    """The key of a name that was found good."""

    digest: bytes  # of the key
    grant: Grant
    until: float  # its record is looked at again afterwards
    record: str  # the hash that was compared


class Access:
    """Makes keys, checks them, and ends them. Thread-safe.

    A key that ends here is refused at once. A server calls ``keep_up`` in a thread of its own: it notices within ``LOOK_EVERY``
    seconds what other processes ended, and writes down when keys were used. Without it a key that ended elsewhere is good for
    another ``REMEMBERED_FOR`` seconds.
    """

    def __init__(self, secrets: Secrets, *, account_hours: float = 12.0) -> None:
        self._secrets, self._account_hours = secrets, account_hours
        self._good: OrderedDict[Whose, Known] = OrderedDict()  # one secret of a name is good at a time
        self._turn = 0  # counts when keys ended: what was checked before is looked up again
        self._ended: int | None = None  # keys that ever ended, when last looked
        self._used: dict[Whose, float] = {}  # and not written down yet: when, by the wall clock
        self._written: dict[Whose, float] = {}  # when it was last written down, by the monotonic clock
        self._lock = threading.Lock()

    def new_key(
        self,
        role: str,
        *,
        arena: str | None = None,
        rater: str | None = None,
        label: str = "",
        by: str = OPERATOR,
        name: str | None = None,
    ) -> str:
        """A key that was never seen before and is stored as a hash only: show it now, or never. A rater has one at a time: an
        earlier one ends. ``label`` says who holds it, ``by`` who made it; ``name`` is random if not given."""
        if role not in BEGINNINGS or (role == "server") != (arena is None) or (role == "rater") != (rater is not None):
            raise BadInput(f"A key is a server's, or an arena's owner's, link's or rater's. Got '{role}'.")
        return self._store(role, arena or "", rater or name or secrets.token_hex(8), key_label(label), by)

    def rotate(self, role: str, arena: str, name: str, *, by: str = OPERATOR) -> str:
        """A new secret under the same name and label. The old one is good for nothing from now on."""
        found = self._secrets.get(arena, role, name)
        return self._store(role, arena, name, found[0].label if found else "", by, replace=True)

    def _store(self, role: str, arena: str, name: str, label: str, by: str, *, replace: bool = False) -> str:
        secret = secrets.token_urlsafe(32)
        key = Key(arena, role, name, secret).text
        if Key.read(key) is None:
            raise BadInput(f"Names in a key have letters, digits, - and _ only. Got {shortened(arena)} and {shortened(name)}.")
        hashed = _hasher().hash(secret) if role in SLOW else _quick(secret)
        if self._secrets.put(arena, Secret(role, name, hashed, label, _now(), by), replace=replace):
            self._look_again(arena, role, name)
        elif replace:
            raise NotFound(f"There is no key {shortened(name)} of this role ({role}).")
        return key

    def any(self, role: str, arena: str = "") -> bool:
        """Is there a key of this role?"""
        return bool(self._secrets.get(arena, role))

    def keys(self, arena: str, roles: Iterable[str]) -> list[Secret]:
        """The keys that are good now, without their hashes."""
        return [secret._replace(hash="") for role in roles for secret in self._secrets.get(arena, role)]

    def keys_named(self, arena: str, role: str, name: str) -> list[Secret]:
        """The key of this name, without its hash; an empty list if there is none."""
        return [secret._replace(hash="") for secret in self._secrets.get(arena, role, name)]

    def changes(self, arena: str, limit: int = MOST_CHANGES) -> list[KeyChange]:
        """Which keys were made, rotated and revoked, by whom and when; the newest first."""
        return self._secrets.changes(arena, limit)

    def holders(self, arena: str, actors: Iterable[str]) -> dict[str, str]:
        """Who holds, or held, the keys of these owners and servers, as far as somebody said so: by the actor."""
        known = {}
        for actor in actors:
            role, _, name = actor.partition(":")
            if role in SLOW and name:
                last = self._secrets.last_change("" if role == "server" else arena, role, name)
                if last is not None and last.label:
                    known[actor] = last.label
        return known

    def was_revoked(self, role: str, arena: str, name: str) -> bool:
        """Was the key of this name revoked, and none made since?"""
        last = self._secrets.last_change(arena, role, name)
        return last is not None and last.what == "revoked"

    def revoke(self, role: str, arena: str = "", name: str | None = None, *, by: str = OPERATOR, keep_last: bool = False) -> int:
        """All keys of this role, or the one of this name, are good for nothing from now on. With ``keep_last`` the last key of
        its role is refused with ``Conflict``."""
        names = [secret.subject for secret in self._secrets.get(arena, role, name)]
        at = _now()
        try:
            return sum(self._secrets.remove(arena, role, one, at=at, made_by=by, keep_last=keep_last) for one in names)
        finally:
            self._look_again(arena, role, name)

    def _look_again(self, arena: str, role: str, name: str | None) -> None:
        """Forget that the key of this name, or any of this role, was good; what is being checked just now is looked up again."""
        with self._lock:
            self._turn += 1
            of_role = [whose for whose in self._good if whose[:2] == (arena, role)] if name is None else []
            for whose in of_role if name is None else [(arena, role, name)]:
                self._good.pop(whose, None)
                self._used.pop(whose, None)

    def keep_up(self, stop: threading.Event) -> None:
        """Until ``stop``: notice keys that ended in other processes, and write down which were used."""
        while not stop.wait(LOOK_EVERY):
            self.look_around()
        self.look_around(last=True)

    def look_around(self, *, last: bool = False) -> None:
        """One turn of ``keep_up``. A database that does not answer is asked again in the next: no request depends on this."""
        try:
            ended = self._secrets.ended()
            with self._lock:
                if ended != self._ended:
                    self._ended, self._turn = ended, self._turn + 1
                    for known in self._good.values():
                        known.until = -math.inf  # good if the record is the same: no hard work
            self._write_used(all_of_them=last)
        except Exception as error:
            LOG.debug("Keys were not looked after: %s", error)

    def _write_used(self, *, all_of_them: bool) -> None:
        now = time.monotonic()
        with self._lock:
            self._written = {whose: at for whose, at in self._written.items() if now - at < USED_EVERY}
            due = {whose: at for whose, at in self._used.items() if all_of_them or whose not in self._written}
        some = list(due.items())[:USED_AT_ONCE]
        if some:
            self._secrets.note_used([(*whose, moment(datetime.fromtimestamp(at, UTC))) for whose, at in some])
            with self._lock:
                for whose, at in some:
                    self._written[whose] = now
                    if self._used.get(whose) == at:
                        del self._used[whose]

    def check(self, key: str) -> Grant:
        """What this key is good for. The first check of an owner's key takes some 20 ms of hard work, later ones a look at its
        record once a minute."""
        if (remembered := self.remembered(key)) is not None:
            return remembered
        whose = _whose(key)
        if whose is None:
            raise Forbidden("This is no key of an arena.")
        arena, role, name = whose
        secret, digest = key.rpartition(".")[2], _digest(key)
        with self._lock:
            turn, known = self._turn, self._good.get(whose)
        found = self._secrets.get(arena, role, name)
        if found and known is not None and known.digest == digest and found[0].hash == known.record:
            good = True  # it was good, and its record is the same
        elif role in SLOW:
            good = _verified(found[0].hash if found else _nobody(), secret)
        else:
            good = hmac.compare_digest(found[0].hash if found else "0" * 64, _quick(secret))
        if not good or not found or (role == "server") != (arena == ""):
            raise Forbidden("This key is not known here.")
        if found[0].made_by.rpartition(" ")[2] == BY_ACCOUNT and self._is_over(found[0]):
            raise Forbidden("You signed in too long ago. Please sign in again.")
        grant = Grant(role, arena or None, name if role == "rater" else None, name)
        with self._lock:
            self._used[whose] = time.time()
            # if a key ended meanwhile, perhaps this one, the next request looks at the record again
            until = time.monotonic() + REMEMBERED_FOR if turn == self._turn else -math.inf
            self._good[whose] = Known(digest, grant, until, found[0].hash)
            self._good.move_to_end(whose)
            if len(self._good) > REMEMBERED:
                self._good.popitem(last=False)
        return grant

    def _is_over(self, session: Secret) -> bool:
        """Whoever signed in with an account must do so again in time: the account may have ended meanwhile."""
        return moment(datetime.now(UTC) - timedelta(hours=self._account_hours)) > session.created

    def remembered(self, key: str) -> Grant | None:
        """The grant of a key that was checked a moment ago: takes no time."""
        whose = _whose(key)
        if whose is None:
            return None
        with self._lock:
            known = self._good.get(whose)
            if known is None or time.monotonic() > known.until or known.digest != _digest(key):
                return None
            self._used[whose] = time.time()
            return known.grant

    def costly(self, key: str) -> bool:
        """Would a check of this key take hard work? Whoever sends many such keys is made to wait."""
        whose = _whose(key)
        if whose is None or whose[1] not in SLOW:
            return False
        with self._lock:
            known = self._good.get(whose)
            return known is None or known.digest != _digest(key)


def role_and_arena(key: str) -> tuple[str, str]:
    """What a key says of itself, whether it is good or not."""
    whose = _whose(key)
    if whose is None:
        raise Forbidden("This is no key of an arena. Please copy all of it.")
    return whose[1], whose[0]


def key_label(label: str) -> str:
    """Who holds a key, in a few words."""
    if not isinstance(label, str) or len(label) > MOST_LABEL or not label.isprintable():
        raise BadInput(f"A key's label must be at most {MOST_LABEL} characters that print. Got {shortened(label)}.")
    return label.strip()


def _whose(key: str) -> Whose | None:
    """Whose key this says that it is; None if it is none."""
    parts = Key.read(key)
    return None if parts is None else (parts.arena, parts.role, parts.name)


def _now() -> str:
    return moment(datetime.now(UTC))


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
