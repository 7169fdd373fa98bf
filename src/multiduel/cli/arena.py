"""``multiduel arena``: options, raters' votes, and a verdict when it is certain. Heavy imports wait."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multiduel.cli.arena_settings import WithSettings
from multiduel.cli.terminal import POLICY, JsonFile, console, give_json, refuse_json, table
from multiduel.files import read_text
from multiduel.inputs import BadInput, did_you_mean

if TYPE_CHECKING:
    from multiduel.arena.service.service import Service

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

Db = Annotated[str, typer.Option(help="Database: a file (SQLite), or postgresql://...", envvar="MULTIDUEL_ARENA_DB")]
Arena = Annotated[str, typer.Argument(metavar="ARENA", help="Id or name of the arena; not needed if the database has only one.")]
Plugins = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin", metavar="NAME|FILE.py:SPEC", help="Load a plug-in policy, so that arenas can use it. May be repeated."
    ),
]


@app.callback()
def arena() -> None:
    """Find the best of several options by asking people. Create an arena, collect votes, read the verdict."""


@contextmanager
def service_of(db: str, plugins: list[str] | None = None) -> Iterator[Service]:
    """The service on a database that exists, once plug-ins are loaded; refusals of all kinds come out as sentences."""
    from multiduel.arena.domain.errors import BrokenLog, Refused, Unavailable
    from multiduel.arena.journal import connect
    from multiduel.arena.service.service import Service
    from multiduel.arena.web.serve import load_plugins

    load_plugins(plugins or ())
    try:
        service = Service(connect(db))
        try:
            yield service
        finally:
            service.close()
    except (Refused, Unavailable, BrokenLog) as error:
        raise BadInput(str(error)) from None


def found(service: Service, named: str) -> str:
    """The id of the arena that is meant."""
    rows = service.arenas()
    if not named and len(rows) == 1:
        return rows[0].id
    meant = [row.id for row in rows if named and named in (row.id, row.name)]
    if len(meant) == 1:
        return meant[0]
    listed = ", ".join(f"{row.id} ({row.name})" for row in rows) or "none"
    if not named:
        raise BadInput(f"Which arena? There are: {listed}.")
    what = "Several arenas have" if meant else "There is no arena with"
    raise BadInput(f"{what} the id or name '{named}'.{did_you_mean(named, [row.name for row in rows])} There are: {listed}.")


def existing(db: str) -> str:
    """A file that is there: only 'create', 'import', 'serve' and 'key --create-db' make one."""
    if "://" not in db and not Path(db).exists():
        raise BadInput(f"'--db' must be a database of arenas. Got no such file: '{db}'.")
    return db


# ---- the server and arenas


@app.command()
def serve(
    db: Db = "arena.db",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 chooses a free one.")] = 8000,
    host: Annotated[str | None, typer.Option(help="Address to listen on; 127.0.0.1 by default, 0.0.0.0 with --public.")] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Let other machines connect; needs a server's key and --name.")
    ] = False,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="Host name in the server's URLs, such as arena.example. May be repeated."),
    ] = None,
    workers: Annotated[int, typer.Option(help="Number of processes; more than one needs PostgreSQL.")] = 1,
    plugin: Plugins = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Change a limit, such as requests_per_second=100. May be repeated."),
    ] = None,
    notify: Annotated[
        list[str] | None,
        typer.Option(metavar="https://HOST|@DOMAIN", help="Allow notices to owners, by webhook or mail. May be repeated."),
    ] = None,
    smtp: Annotated[
        str, typer.Option(help="Mail server: smtp://USER@HOST:587. The password is in MULTIDUEL_SMTP_PASSWORD.")
    ] = "",
    mail_from: Annotated[str, typer.Option(help="Sender's address of the mail.")] = "",
    oidc_issuer: Annotated[
        str,
        typer.Option(
            help="URL of the provider (OpenID Connect) where people sign in with their accounts.", envvar="MULTIDUEL_OIDC_ISSUER"
        ),
    ] = "",
    oidc_client: Annotated[
        str,
        typer.Option(
            help="Id under which the provider knows this server. The secret is in MULTIDUEL_OIDC_SECRET.",
            envvar="MULTIDUEL_OIDC_CLIENT",
        ),
    ] = "",
    oidc_admin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="Give an account the rights of the server's key. May be repeated.",
            envvar="MULTIDUEL_OIDC_ADMINS",
        ),
    ] = None,
    oidc_domain: Annotated[
        list[str] | None,
        typer.Option(
            metavar="@DOMAIN",
            help="Admit only accounts with an address of this domain. May be repeated.",
            envvar="MULTIDUEL_OIDC_DOMAINS",
        ),
    ] = None,
    oidc_hours: Annotated[
        float, typer.Option(help="Hours until people must sign in again.", envvar="MULTIDUEL_OIDC_HOURS")
    ] = 12.0,
    oidc_trust_mail: Annotated[
        bool,
        typer.Option(
            "--oidc-trust-mail",
            help="Trust mail addresses if the provider does not say whether they are verified.",
            envvar="MULTIDUEL_OIDC_TRUST_MAIL",
        ),
    ] = False,
) -> None:
    """Serve the arena's pages and HTTP API. Only this machine can connect, unless you give --public."""
    from multiduel.arena.domain.errors import Unavailable
    from multiduel.arena.web.serve import Setup
    from multiduel.arena.web.serve import serve as run

    address = host or ("0.0.0.0" if public else "127.0.0.1")
    try:
        run(
            Setup(
                db,
                address,
                port,
                public,
                tuple(name or ()),
                workers,
                tuple(plugin or ()),
                tuple(limit or ()),
                tuple(notify or ()),
                smtp,
                mail_from,
                oidc_issuer,
                oidc_client,
                tuple(oidc_admin or ()),
                tuple(oidc_domain or ()),
                oidc_hours,
                oidc_trust_mail,
            )
        )
    except Unavailable as error:
        raise BadInput(str(error)) from None


@app.command(cls=WithSettings)
def create(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the arena, which raters see.")],
    options: Annotated[
        Path, typer.Option(help="A .csv or .jsonl file with the columns name and content; optional: kind, context, features.")
    ],
    db: Db = "arena.db",
    wait: Annotated[bool, typer.Option("--wait", help="Create the arena without opening it.")] = False,
    shortlist: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File that 'multiduel judge' made: keep only the options that its judge prefers."),
    ] = None,
    first: Annotated[int, typer.Option(metavar="N", help="With --shortlist: keep the judge's first N, as --rule says.")] = 5,
    rule: Annotated[
        str,
        typer.Option(
            help="With --shortlist: 'possible' keeps options that may be among the first N; 'likely' keeps options with an "
            "estimated chance of at least 5 %."
        ),
    ] = "possible",
) -> None:
    """Create an arena, open it, and show its keys."""
    from multiduel.arena.domain.commands import Create, Open
    from multiduel.arena.domain.options import read_options
    from multiduel.arena.domain.settings import RATERS, Settings, setting
    from multiduel.arena.web.access import Access
    from multiduel.engine.registry.registry import find

    raters = RATERS.check(ctx.obj.pop("raters"))
    parameters = setting("parameters").read(",".join(ctx.obj["parameters"] or ()))
    settings = Settings(**ctx.obj | {"policy": find(ctx.obj["policy"], "typed").name, "parameters": parameters})
    listed, contexts = read_options(options)
    said = None
    if shortlist is not None:
        from multiduel.arena.judges.shortlists import keep, shortlist_of

        with service_of(existing(str(shortlist))) as judged:
            left = shortlist_of(judged, max(judged.arenas(), key=lambda row: row.created).id, first, rule)
        listed, said = keep(listed, left), left.said
    with service_of(db) as service:
        made = service.do(Create(name, settings, listed, contexts, uuid.uuid4().hex, said))
        if not wait:
            service.do(Open(made.id))
        access = Access(service.journal.secrets)
        contexts_too = f" and {len(made.contexts)} contexts" if made.contexts else ""
        print(f"arena        {made.id}")  # no table: a key must not be broken into lines
        print(f"owner's key  {access.new_key('owner', arena=made.id)}")
        if raters == "open":
            print(f"link's key   {access.new_key('link', arena=made.id)}")
        if said is not None:
            print(service.board(made.id).about)
        print(f"{len(made.options)} options{contexts_too}; {'not open yet' if wait else 'open'}. Keys are shown once.")
        if raters == "secret":
            print("Nobody can vote yet: add people with 'arena raters --admit NAME', or make a shared link with 'arena link'.")


@app.command()
def link(
    named: Arena = "",
    db: Db = "arena.db",
    revoke: Annotated[
        bool, typer.Option("--revoke", help="Revoke all shared links instead: nobody can join by them any more.")
    ] = False,
) -> None:
    """Make a shared link: anyone who has it may join."""
    from multiduel.arena.web.access import Access

    with service_of(existing(db)) as service:
        access, arena = Access(service.journal.secrets), found(service, named)
        print(f"Revoked: {access.revoke('link', arena)}." if revoke else access.new_key("link", arena=arena))


@app.command("list")
def arenas(db: Db = "arena.db") -> None:
    """List the arenas in a database."""
    with service_of(existing(db)) as service:
        lines = table("arena", "name", "status", "options", "events", "created")
        for row in service.arenas():
            info = service.info(row.id)
            lines.add_row(row.id, row.name, info.status, str(len(info.options)), str(info.events), row.created[:19])
        console().print(lines)


@app.command("open")
def open_arena(named: Arena = "", db: Db = "arena.db") -> None:
    """Open the arena: give out tickets and take votes."""
    _turn("Open", named, db)


@app.command()
def pause(named: Arena = "", db: Db = "arena.db") -> None:
    """Pause the arena: give out no new tickets. Votes on open tickets are still taken."""
    _turn("Pause", named, db)


@app.command()
def close(named: Arena = "", db: Db = "arena.db") -> None:
    """Close the arena permanently: no more tickets or votes."""
    _turn("Close", named, db)


def _turn(command: str, named: str, db: str) -> None:
    from multiduel.arena.domain import commands

    with service_of(existing(db)) as service:
        info = service.do(getattr(commands, command)(found(service, named)))
        print(f"{info.name} ({info.id}) is {info.status}.")


@app.command()
def change(
    named: Arena = "",
    db: Db = "arena.db",
    policy: Annotated[str | None, typer.Option(help=f"Policy that chooses what to show from now on. {POLICY}")] = None,
    margin: Annotated[
        float | None, typer.Option(help="Options this close count as equally good: 0.05 means up to 55 % of the answers.")
    ] = None,
) -> None:
    """Change the policy or the margin; all other settings are fixed."""
    from multiduel.arena.domain.commands import ChangeMargin, ChangePolicy
    from multiduel.engine.registry.registry import find

    with service_of(existing(db)) as service:
        arena = found(service, named)
        if policy is not None:
            service.do(ChangePolicy(arena, find(policy, "typed").name))
        if margin is not None:
            service.do(ChangeMargin(arena, margin))
        settings = service.info(arena).settings
        print(f"Policy: {settings.policy}. Margin: {settings.margin:g}.")


@app.command()
def add(
    options: Annotated[Path, typer.Argument(metavar="FILE", help="Options, in the same format as for 'create'.")],
    named: Arena = "",
    db: Db = "arena.db",
) -> None:
    """Add options to an arena that was created with --room."""
    from multiduel.arena.domain.commands import AddOptions
    from multiduel.arena.domain.options import Folder, format_of, read_lines

    listed, contexts = read_lines(read_text(options), format=format_of(options), beside=Folder(options.parent), least=1)
    with service_of(existing(db)) as service:
        arena = found(service, named)
        known = [context["text"] for context in service.info(arena).contexts]
        if list(contexts) != known:
            raise BadInput(
                f"New options must answer every context of the arena, in their order. Got {len(contexts)} of {len(known)}."
            )
        info = service.do(AddOptions(arena, listed, uuid.uuid4().hex))
        print(f"{info.name} has {sum(not option['retired'] for option in info.options)} options now.")


@app.command()
def retire(
    option: Annotated[str, typer.Argument(metavar="OPTION", help="Id or name of the option.")],
    named: Arena = "",
    db: Db = "arena.db",
) -> None:
    """Retire an option permanently. The arena must have been created with --room."""
    from multiduel.arena.domain.commands import RetireOption

    with service_of(existing(db)) as service:
        arena = found(service, named)
        ids = [one["id"] for one in service.info(arena).options if option in (one["id"], one["name"])]
        if len(ids) != 1:
            raise BadInput(f"There is no option '{option}' in this arena.")
        service.do(RetireOption(arena, ids[0], uuid.uuid4().hex))
        print(f"'{option}' is retired.")


# ---- what came of it


@app.command()
def board(
    named: Arena = "",
    db: Db = "arena.db",
    json_file: JsonFile = None,
) -> None:
    """Show the verdict, the forecast and the standings."""
    from multiduel.display.standings_tables import rank, share, shares, signed, span

    refuse_json(json_file)
    with service_of(existing(db)) as service:
        seen = service.board(found(service, named))
    if give_json(json_file, seen.to_json):
        return
    print(seen.sentence)
    for text in (seen.exactly, seen.about, *(f"What {line.kind} find: {line.sentence}" for line in seen.kinds)):
        if text:
            print(text)
    if not seen.settled:
        print(seen.forecast)
    if seen.margin_offer is not None:
        print(f"With a margin of {seen.margin_offer.margin:g}: {seen.margin_offer.forecast}")
    for note in seen.notes:
        print(note)
    lines = table("rank", "option", "strength", "won", "shown", "")
    for line in seen.lines:
        (strength, *ends), (value, low, high) = line.strength, line.won
        note = "retired" if line.retired else "best" if line.option == seen.winner else "" if line.still_in else "out"
        lines.add_row(
            rank(line.rank_from, line.rank_to),
            line.name,
            "-" if line.retired else f"{signed(strength)} ({span(*ends)})",
            "-" if value != value else f"{share(value)} ({shares(low, high)})",
            f"{line.showings:,}",
            note,
        )
    console().print(lines)
    print(f"Votes: {seen.answers:,}, excluded: {seen.set_aside:,}. Raters: {seen.raters:,}. Status: {seen.status}.")


@app.command()
def raters(
    named: Arena = "",
    db: Db = "arena.db",
    admit: Annotated[
        list[str] | None, typer.Option(metavar="LABEL", help="Add a rater and print their key. May be repeated.")
    ] = None,
    group: Annotated[str | None, typer.Option(help="Group of the added raters, such as a centre or a team.")] = None,
    quarantine: Annotated[str | None, typer.Option(metavar="RATER", help="Exclude all votes of this rater.")] = None,
    release: Annotated[str | None, typer.Option(metavar="RATER", help="Count the votes of this rater again.")] = None,
    reason: Annotated[str, typer.Option(help="Reason for the exclusion, kept in the journal.")] = "",
    kind: Annotated[str, typer.Option(help="Kind of the added raters: person, or judge for a program.")] = "person",
) -> None:
    """List raters with their votes, agreement and speed. Add raters, or exclude their votes."""
    from multiduel.arena.domain.commands import AdmitRater, Quarantine, Release
    from multiduel.arena.web.access import Access
    from multiduel.display.standings_tables import share

    with service_of(existing(db)) as service:
        arena = found(service, named)
        access = Access(service.journal.secrets)
        for label in admit or ():
            rater = service.do(AdmitRater(arena, label, group, request=uuid.uuid4().hex, kind=kind))
            print(f"{label}: {access.new_key('rater', arena=arena, rater=rater)}")
        if quarantine is not None:
            service.do(Quarantine(arena, _rater(service, arena, quarantine), reason))
        if release is not None:
            service.do(Release(arena, _rater(service, arena, release)))
        if admit:
            return
        lines = table(
            "rater", "label", "group", "votes", "skipped", "late", "excluded", "agreement", "median time", "first preferred", ""
        )
        for one in service.raters(arena):
            agreement = "-" if one.agreement is None else f"{share(one.agreement)} of {one.judgements:,}"
            speed = "-" if one.seconds is None else f"{one.seconds:.1f} s"
            first = "-" if one.first is None else f"{share(one.first[0])} ({share(one.first[1])} to {share(one.first[2])})"
            counts = [f"{count:,}" for count in (one.votes, one.skipped, one.late, one.aside)]
            lines.add_row(
                one.rater,
                f"{one.label} (judge)" if one.kind == "judge" else one.label,
                one.group or "",
                *counts,
                agreement,
                speed,
                first,
                "quarantine" if one.quarantined else "",
            )
        console().print(lines)


def _rater(service: Service, arena: str, named: str) -> str:
    ids = [one.rater for one in service.raters(arena) if named in (one.rater, one.label)]
    return ids[0] if ids else named
