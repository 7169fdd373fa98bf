"""``multiduel arena keys``: list, make, rotate and revoke keys. Needs the database, and no key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from multiduel.cli.arena import Db, existing, found, service_of
from multiduel.cli.terminal import console, table
from multiduel.inputs import BadInput

if TYPE_CHECKING:
    from multiduel.arena.service.service import Service
    from multiduel.arena.web.access import Access

app = typer.Typer(add_completion=False, rich_markup_mode=None)
keys_app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

Owned = Annotated[str, typer.Argument(metavar="ARENA", help="Id or name of the arena; without it, a server's key is made.")]
Label = Annotated[str, typer.Option(help="Name of the person who holds the key.")]
CreateDb = Annotated[bool, typer.Option("--create-db", help="Create the database if there is none.")]
KeyName = Annotated[str, typer.Argument(metavar="NAME", help="Name in 'keys list'; with ARENA, also a rater's id or label.")]
OfArena = Annotated[str, typer.Argument(metavar="ARENA", help="Id or name of the arena; needed for a rater's key.")]


@keys_app.callback()
def keys() -> None:
    """List, make, rotate and revoke keys."""


class Held(NamedTuple):
    """Which key is meant."""

    arena: str  # "": the server's
    role: str
    name: str


@app.command(hidden=True)  # its name in 0.1
def key(named: Owned = "", db: Db = "arena.db", label: Label = "", create_db: CreateDb = False) -> None:
    """Make a key, as "keys new" does. This name of 0.1 is kept for scripts."""
    new(named, db, label, create_db)


@keys_app.command()
def new(named: Owned = "", db: Db = "arena.db", label: Label = "", create_db: CreateDb = False) -> None:
    """Make a server's key; with ARENA, an owner's key. A server's key owns all arenas."""
    if not create_db and "://" not in db and not Path(db).exists():
        raise BadInput(
            f"'--db' must be the database that the server uses. Got no such file: '{db}'. With '--create-db' it is made."
        )
    with service_of(db) as service:
        if named:
            print(_access(service).new_key("owner", arena=found(service, named), label=label))
        else:
            print(_access(service).new_key("server", label=label))


@keys_app.command("list")
def listed(
    named: Annotated[
        str,
        typer.Argument(metavar="ARENA", help="Id or name of an arena, to list its raters' keys too; all arenas by default."),
    ] = "",
    db: Db = "arena.db",
    changes: Annotated[
        bool, typer.Option("--changes", help="List when keys were made, rotated and revoked, and by which key.")
    ] = False,
) -> None:
    """List valid keys with holder, creation and last use. Secrets are not stored."""
    with service_of(existing(db)) as service:
        access = _access(service)
        arenas = [found(service, named)] if named else ["", *(row.id for row in service.arenas())]
        if changes:
            lines = table("at", "what", "arena", "role", "name", "held by", "by")
            for arena in arenas:
                for one in access.changes(arena):
                    at = one.at[:19] or "-"
                    lines.add_row(at, one.what, arena or "-", one.role, one.subject, one.label, one.made_by or "-")
        else:
            lines = table("arena", "role", "name", "held by", "made", "last used", "made by")
            for arena in arenas:
                labels = _labels(service, arena) if named else {}
                for secret in access.keys(arena, _roles(arena, raters=bool(named))):
                    holder = labels.get(secret.subject, "") if secret.role == "rater" else secret.label
                    dates = (secret.created[:19] or "-", secret.used[:19] or "never")
                    lines.add_row(arena or "-", secret.role, secret.subject, holder, *dates, secret.made_by or "-")
        console().print(lines)


@keys_app.command()
def rotate(name: KeyName, named: OfArena = "", db: Db = "arena.db") -> None:
    """Replace a key's secret and keep its name. Servers refuse the old secret within two seconds."""
    with service_of(existing(db)) as service:
        held = _meant(service, name, named)
        access = _access(service)
        if held.role == "rater":  # also one whose key was revoked
            print(access.new_key("rater", arena=held.arena, rater=held.name))
        else:
            print(access.rotate(held.role, held.arena, held.name))


@keys_app.command()
def revoke(
    name: KeyName,
    named: OfArena = "",
    db: Db = "arena.db",
    force: Annotated[
        bool, typer.Option("--force", help="Revoke even the last key of the server or of an arena's owner.")
    ] = False,
) -> None:
    """Revoke a key. Servers refuse it within two seconds."""
    from multiduel.arena.domain.errors import Conflict

    with service_of(existing(db)) as service:
        held = _meant(service, name, named)
        keep_last = not force and held.role in ("server", "owner")
        try:
            gone = _access(service).revoke(held.role, held.arena, held.name, keep_last=keep_last)
        except Conflict:
            whose = "the server" if held.role == "server" else "this arena's owner"
            raise BadInput(f"This is the last key of {whose}. Give '--force' to revoke it all the same.") from None
        if not gone:
            raise BadInput(f"'{name}' has no key.")
        print(f"Revoked: {held.role} {held.name}.")


def _access(service: Service) -> Access:
    from multiduel.arena.web.access import Access

    return Access(service.journal.secrets)


def _roles(arena: str, *, raters: bool) -> tuple[str, ...]:
    return ("server",) if not arena else ("owner", "link", "report", *(["rater"] if raters else []))


def _labels(service: Service, arena: str) -> dict[str, str]:
    with service.look(arena) as state:
        return {rater.id: rater.label for rater in state.raters.values()}


def _meant(service: Service, name: str, named: str) -> Held:
    """The key of this name. Names of servers', owners' and links' keys are random, raters' are looked for in one arena."""
    arena = found(service, named) if named else None
    there = list(_held(service, name, arena))
    if len(there) == 1:
        return there[0]
    if there:
        raise BadInput(f"Several keys go by '{name}'. Give the name that 'multiduel arena keys list' shows.")
    raters = "" if named else " For a rater's key name the arena too."
    raise BadInput(f"There is no key '{name}'. See 'multiduel arena keys list'.{raters}")


def _held(service: Service, name: str, arena: str | None) -> Iterator[Held]:
    access = _access(service)
    for one in [arena] if arena is not None else ["", *(row.id for row in service.arenas())]:
        for role in _roles(one, raters=False):
            if access.keys_named(one, role, name):
                yield Held(one, role, name)
    if arena is not None:
        yield from (Held(arena, "rater", id) for id, label in _labels(service, arena).items() if name in (id, label))
