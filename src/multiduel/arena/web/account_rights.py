"""What an account may do: own everything if the operator says so, or arenas that it was invited to own.

An invitation names a mail address; it belongs to the first account with that verified address, and to no other one that has the
address later. Whoever signs in gets a key like any other, which ends by itself after some hours: so sessions, limits, revoking
and the names in the log are those of keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from datetime import UTC, datetime

from multiduel.arena.domain.errors import Conflict, Forbidden, NotFound
from multiduel.arena.domain.events import moment
from multiduel.arena.domain.notices import MAIL
from multiduel.arena.journal import Secret, Secrets
from multiduel.arena.web.access import BY_ACCOUNT, Access, Grant
from multiduel.arena.web.accounts import Account, Provider
from multiduel.inputs import BadInput, shortened

ROLE = "account"  # of an invitation among the keys: its label is the address, its hash the account's id, once that is known
BEGINS = "sso-"  # the name of a key that came of a sign-in
SESSIONS = 5  # browsers in which one account is signed in at a time; the oldest session makes room
MOST_INVITED = 100  # accounts of one arena


class AccountRights:
    def __init__(self, access: Access, secrets: Secrets, provider: Provider) -> None:
        self._access, self._secrets, self._provider = access, secrets, provider

    # ---- what owners do

    def invite(self, arena: str, mail: str, *, by: str) -> None:
        """Let the account with this address own an arena. Invited again, nothing changes."""
        if not isinstance(mail, str) or MAIL.fullmatch(mail.strip()) is None:
            raise BadInput(f"An account is invited by its mail address. Got {shortened(mail)}.")
        address = mail.strip().lower()
        if self._provider.domains and f"@{address.partition('@')[2]}" not in self._provider.domains:
            raise BadInput(f"Accounts of {', '.join(self._provider.domains)} may sign in here. Got {shortened(address)}.")
        known = {one.subject for one in self._secrets.get(arena, ROLE)}
        if invitation_of(address) in known:
            return
        if len(known) >= MOST_INVITED:
            raise Conflict(f"An arena has at most {MOST_INVITED} invited accounts. Remove one first.")
        self._secrets.put(arena, Secret(ROLE, invitation_of(address), "", address, moment(datetime.now(UTC)), by))

    def withdraw(self, arena: str, name: str, *, by: str) -> None:
        """End an invitation, and the sessions that came of it."""
        found = self._secrets.get(arena, ROLE, name)
        if not found or not self._secrets.remove(arena, ROLE, name, at=moment(datetime.now(UTC)), made_by=by):
            raise NotFound("There is no such account in this arena.")
        for one in self._sessions("owner", arena, found[0].hash) if found[0].hash else ():
            self._access.revoke("owner", arena, one.subject, by=by)

    # ---- what whoever signed in gets

    def is_admin(self, account: Account) -> bool:
        return bool(account.mail) and account.mail in self._provider.admins

    def arenas(self, account: Account) -> list[str]:
        """Arenas that this account was invited to own."""
        name = invitation_of(account.needs_mail())
        return [arena for arena in self._secrets.holders(ROLE, name) if self._is_theirs(arena, name, account)]

    def server_key(self, account: Account) -> tuple[Grant, str]:
        """A new session of an account that the operator trusts with everything."""
        if not self.is_admin(account):
            raise Forbidden("Your account may not do this here. Ask the server's operator.")
        return self._session("server", "", account)

    def owner_key(self, account: Account, arena: str) -> tuple[Grant, str]:
        """A new session of an owner of this arena. The same refusal, whether there is such an arena or not."""
        mail = account.needs_mail()
        name = invitation_of(mail)
        if not self._is_theirs(arena, name, account):
            raise Forbidden(f"The account {mail} does not own this arena. Ask one of its owners to invite it.")
        row = self._secrets.get(arena, ROLE, name)[0]
        if not row.hash:
            self._secrets.put(arena, row._replace(hash=account.id, made_by=BY_ACCOUNT), replace=True)
        return self._session("owner", arena, account)

    def _is_theirs(self, arena: str, name: str, account: Account) -> bool:
        found = self._secrets.get(arena, ROLE, name)
        return bool(found) and found[0].hash in ("", account.id)

    def _sessions(self, role: str, arena: str, account_id: str) -> list[Secret]:
        return [one for one in self._secrets.get(arena, role) if one.subject.startswith(_begins(account_id))]

    def _session(self, role: str, arena: str, account: Account) -> tuple[Grant, str]:
        there = self._sessions(role, arena, account.id)
        free = [name for k in range(SESSIONS) if (name := f"{_begins(account.id)}{k}") not in {one.subject for one in there}]
        name = free[0] if free else min(there, key=lambda one: one.created).subject
        label = f"{account.name} ({account.mail})" if account.name else account.mail
        key = self._access.new_key(role, arena=arena or None, label=label, by=BY_ACCOUNT, name=name)
        return Grant(role, arena or None, None, name), key


def end_sessions_of_former_admins(access: Access, admins: Collection[str]) -> None:
    """Sign out accounts that the operator no longer trusts with everything, when the server starts."""
    for one in access.keys("", ("server",)):
        mail = one.label.rpartition("(")[2].removesuffix(")")  # see _session: an address has no brackets
        if is_session(one.subject) and mail not in admins:
            access.revoke("server", name=one.subject)


def is_session(name: str) -> bool:
    """Tell whether a key of this name came of a sign-in with an account."""
    return name.startswith(BEGINS)


def invitation_of(mail: str) -> str:
    """The name under which an address is invited."""
    return hashlib.sha256(mail.encode()).hexdigest()[:32]


def _begins(account_id: str) -> str:
    return f"{BEGINS}{account_id[:16]}-"
