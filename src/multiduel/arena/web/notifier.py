"""Tells owners of results: a thread that looks at arenas with notices, and delivers by webhook or mail.

What was delivered, or given up, is an event of the arena's log, so that it is told once. A process that ends between the delivery
and its event tells it again: receivers know by ``id``. Nothing here writes a URL, an address or a password into the server's log.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import logging
import os
import secrets
import smtplib
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from multiduel.arena.domain.commands import RecordNotice
from multiduel.arena.domain.errors import BrokenLog, Conflict, Refused, Unavailable
from multiduel.arena.domain.events import moment
from multiduel.arena.domain.notices import MAIL, Allowed, Target
from multiduel.arena.journal import Notice
from multiduel.arena.service.notices import Due, due
from multiduel.arena.service.service import Service
from multiduel.inputs import BadInput, shortened

LOG = logging.getLogger("multiduel.arena")
EVERY = 15.0  # seconds between two looks
PATIENCE = 10.0  # seconds for a webhook or a mail server to answer
AGAIN = (60.0, 300.0, 1_800.0, 7_200.0, 43_200.0)  # seconds until each further attempt; then it is given up
CLAIMED = timedelta(seconds=60)  # for one attempt: then another process may try
MOST = 10  # notices of one arena
FOREVER = "9999"  # later than any claim
PASSWORD = "MULTIDUEL_SMTP_PASSWORD"


@dataclass(frozen=True)
class Mail:
    """The operator's mail server, by a URL such as ``smtp://user@mail.example:587``, and the sender's address."""

    url: str
    sender: str

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("smtp", "smtps") or not parts.hostname or parts.password is not None:
            raise BadInput(
                f"'--smtp' must be smtp://[USER@]HOST[:PORT] (with STARTTLS) or smtps://..., the password in {PASSWORD}. "
                f"Got {shortened(parts.scheme + '://' + (parts.hostname or ''))}."
            )
        if MAIL.fullmatch(self.sender) is None:
            raise BadInput(f"'--mail-from' must be a mail address. Got {shortened(self.sender)}.")

    def send(self, message: EmailMessage) -> None:
        """Send a message, encrypted unless the mail server is on this machine."""
        parts = urlsplit(self.url)
        host, secure = str(parts.hostname), ssl.create_default_context()
        if parts.scheme == "smtps":
            server: smtplib.SMTP = smtplib.SMTP_SSL(host, parts.port or 465, timeout=PATIENCE, context=secure)
        else:
            server = smtplib.SMTP(host, parts.port or 587, timeout=PATIENCE)
        with server:
            if parts.scheme == "smtp" and host not in ("127.0.0.1", "localhost", "::1"):
                server.starttls(context=secure)
            if parts.username:
                server.login(parts.username, os.environ.get(PASSWORD, ""))
            server.send_message(message)


class Message(NamedTuple):
    """What is told."""

    id: str
    arena: str
    name: str
    due: Due
    at: str
    url: str  # of the board; empty if the server has no name

    def json(self) -> bytes:
        said = {"id": self.id, "arena": self.arena, "name": self.name, "what": self.due.what, "sentence": self.due.sentence}
        return json.dumps(said | {"at": self.at, "board": self.url or None}, ensure_ascii=False).encode("utf-8")


def signature(secret: str, at: int, body: bytes) -> str:
    """The header ``Multiduel-Signature``: when it was sent, and HMAC-SHA256 of ``TIME.BODY`` with the notice's secret.

    >>> signature("secret", 1, b"{}")[:12]
    't=1,v1=11227'
    """
    return f"t={at},v1={hmac.new(secret.encode(), f'{at}.'.encode() + body, hashlib.sha256).hexdigest()}"


def post(notice: Notice, message: Message) -> None:
    """Send a webhook. Redirects are not followed: they could lead where the operator allows nothing."""
    parts, body = urlsplit(notice.target), message.json()
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(str(parts.hostname), parts.port, timeout=PATIENCE)
    headers = {"Content-Type": "application/json", "User-Agent": "multiduel", "Multiduel-Id": message.id}
    headers["Multiduel-Signature"] = signature(notice.secret, int(time.time()), body)
    try:
        connection.request("POST", (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), body, headers)
        status = connection.getresponse().status
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise OSError(f"it answered {status}")


def letter(notice: Notice, message: Message, sender: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"] = sender, notice.target
    mail["Subject"] = " ".join(f"{message.name}: {message.due.what}".split())
    mail["Message-ID"] = f"<{message.id}@{sender.partition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(f"{message.due.sentence}\n\n{message.url}\n" if message.url else f"{message.due.sentence}\n")
    return mail


class Notifier:
    """Of one server. ``check`` looks once at all arenas that have notices; ``run`` does so until it is told to stop."""

    def __init__(self, service: Service, allowed: Allowed, mail: Mail | None = None, *, site: str = "") -> None:
        self._service, self.allowed, self.mail, self._site = service, allowed, mail, site
        self._attempts: dict[str, tuple[int, float]] = {}  # notice and occasion -> attempts so far, and when the next may be
        self._clock: Callable[[], float] = time.monotonic

    # ---- what owners do

    def add(self, arena: str, written: str, *, by: str) -> Notice:
        """Store where an owner wants to be told. The secret that webhooks are signed with is shown once."""
        target = Target.of(written)
        self.allowed.check(target)
        if target.kind == "mail" and self.mail is None:
            raise BadInput("This server sends no mail: its operator has named no mail server.")
        now = moment(datetime.now(UTC))
        notice = Notice(arena, secrets.token_hex(8), target.kind, target.target, secrets.token_urlsafe(32), now, by)
        if not self._service.journal.notices.add(notice, MOST):
            raise Conflict(f"An arena has at most {MOST} notices. Remove one first.")
        return notice

    # ---- what the thread does

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(EVERY):
            try:
                self.check()
            except Exception:  # the thread must live on; what it failed at it tries again
                LOG.warning("Notices could not be looked after.", exc_info=True)

    def check(self) -> None:
        """Deliver what is due, and record it."""
        for notice in self._service.journal.notices.get():
            now = datetime.now(UTC)
            try:
                with self._service.look(notice.arena) as state:
                    name, told = state.name, dict(state.notified)
                    found = [one for one in due(state, now) if f"{notice.id} {one.about}" not in told]
            except (Refused, Unavailable, BrokenLog):
                continue
            for one in found:
                key = f"{notice.id} {one.about}"
                attempts, after = self._attempts.get(key, (0, 0.0))
                if self._clock() < after or not self._claim(notice, now):
                    continue
                try:
                    if not self._is_told(notice, key):  # another process may have done it just before
                        self._attempt(notice, one, key, attempts + 1, name, moment(now))
                finally:
                    self._service.journal.notices.claim(notice.arena, notice.id, FOREVER, "")  # free again

    def _claim(self, notice: Notice, now: datetime) -> bool:
        return self._service.journal.notices.claim(notice.arena, notice.id, moment(now), moment(now + CLAIMED))

    def _is_told(self, notice: Notice, key: str) -> bool:
        with self._service.look(notice.arena) as state:
            return key in state.notified

    def _attempt(self, notice: Notice, one: Due, key: str, attempts: int, name: str, now: str) -> None:
        id = hashlib.sha256(key.encode()).hexdigest()[:32]
        board = f"{self._site}/own/{notice.arena}/board" if self._site else ""
        delivered = False
        try:
            self._deliver(notice, Message(id, notice.arena, name, one, now, board))
            delivered = True
        except Exception as error:  # whatever a receiver does costs the other notices nothing
            LOG.warning("A %s of arena %s was not delivered (%s).", notice.kind, notice.arena, type(error).__name__)
        if delivered or attempts > len(AGAIN):
            self._attempts.pop(key, None)
            self._service.do(RecordNotice(notice.arena, notice.id, notice.kind, one.about, delivered, attempts))
        else:
            self._attempts[key] = (attempts, self._clock() + AGAIN[attempts - 1])

    def _deliver(self, notice: Notice, message: Message) -> None:
        self.allowed.check(Target.of(notice.target))  # again: the operator may have changed it
        if notice.kind == "webhook":
            post(notice, message)
        elif self.mail is not None:
            self.mail.send(letter(notice, message, self.mail.sender))
        else:
            raise BadInput("This server sends no mail.")


def described(notice: Notice) -> dict[str, Any]:
    """A notice as owners see it. Of a URL only where it leads: the rest may be a secret of the receiver."""
    shown = notice.target if notice.kind == "mail" else Target.of(notice.target).allowed_as
    return {"id": notice.id, "kind": notice.kind, "target": shown, "created": notice.created, "made_by": notice.made_by}
