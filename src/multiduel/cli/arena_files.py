"""``multiduel arena``, the part about files: votes in, sheets out, logs out and in, and what may be said of a log."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multiduel.cli.arena import Arena, Db, Plugins, existing, found, service_of
from multiduel.cli.terminal import POLICY
from multiduel.files import read_text, refuse_unwritable, text_lines, whole_file
from multiduel.inputs import BadInput

if TYPE_CHECKING:
    from multiduel.arena.journal import Journal

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def votes(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv or .jsonl file of votes.")],
    named: Arena = "",
    db: Db = "arena.db",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the file and enter nothing.")] = False,
) -> None:
    """Enter votes from a file: all lines or none. A line counts once, however often the file is sent."""
    from multiduel.arena.domain.commands import ImportReport
    from multiduel.arena.domain.options import format_of
    from multiduel.arena.files import batches

    batch = batches.read_votes(read_text(file), format=format_of(file))
    with service_of(existing(db)) as service:
        command = batch.command(found(service, named), dry_run=dry_run)
        answer = service.do(command) if command.lines else ImportReport(True, command.dry_run, ())
    told = batches.report(batch, answer)
    for line in told.lines:
        if line.problem:
            print(f"Line {line.line} ({line.id}): {line.problem}", file=sys.stderr)
    print(f"{told.new:,} new, {told.already:,} known already, {told.refused:,} refused, {told.empty:,} without an answer.")
    if not told.accepted:
        print("Nothing was entered: all lines must be in order.", file=sys.stderr)
        raise typer.Exit(2)
    print("Entered." if told.entered else "Nothing was entered: this was a dry run.")


@app.command()
def sheets(
    number: Annotated[int, typer.Argument(metavar="NUMBER", min=1, help="Number of tickets.")],
    out: Annotated[
        Path, typer.Argument(metavar="FILE", help="A .csv file to write; fill it in, and enter it with 'arena votes'.")
    ],
    named: Arena = "",
    db: Db = "arena.db",
    group: Annotated[str | None, typer.Option(help="Group of these tickets, such as a centre.")] = None,
    plugin: Plugins = None,
) -> None:
    """Write tickets for paper to a file. Enter the votes later with 'arena votes'."""
    from multiduel.arena.domain.commands import PrintTickets
    from multiduel.arena.files.sheets import sheets_of

    if out.suffix.lower() != ".csv":
        raise BadInput(f"Tickets for paper need a .csv file. Got '{out}'.")
    refuse_unwritable(out)
    with service_of(existing(db), plugin) as service:
        arena = found(service, named)
        tickets = service.do(PrintTickets(arena, number, uuid.uuid4().hex, group=group))
        with whole_file(out) as draft:
            draft.write_text("".join(sheets_of(service, arena, tickets)), encoding="utf-8", newline="")
    print(f"Wrote {out}: {len(tickets)} tickets.")


@app.command()
def export(
    out: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="File to write: .jsonl (everything) or .csv (for a spreadsheet); with --votes, .csv or .parquet."
        ),
    ],
    named: Arena = "",
    db: Db = "arena.db",
    votes: Annotated[bool, typer.Option("--votes", help="Write a table with a row per vote instead of the log.")] = False,
) -> None:
    """Write the log, or a table of the votes, to a file."""
    from multiduel.arena.domain.options import format_of
    from multiduel.arena.files.exports import log_lines, log_table
    from multiduel.arena.files.vote_table import format_of_votes, write_votes

    format = format_of_votes(out) if votes else format_of(out)
    refuse_unwritable(out)
    with service_of(existing(db)) as service:
        arena, journal = found(service, named), service.journal
        if votes:
            with whole_file(out) as draft:
                write_votes(service, arena, draft, format)
            print(f"Wrote {out}.")
            return
        events = journal.stream(arena)
        lines = log_table(events) if format == "csv" else log_lines(events, lambda sha256: journal.get_content(arena, sha256))
        with whole_file(out) as draft, draft.open("w", encoding="utf-8", newline="") as file:
            file.writelines(lines)
    print(f"Wrote {out}.")


@app.command()
def backup(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="New file to write; from PostgreSQL, an archive for pg_restore.")],
    db: Db = "arena.db",
) -> None:
    """Copy the whole database, including keys, while the server runs. Keep the copy as safe as the database."""
    if out.exists():
        raise BadInput(f"'{out}' is there already. A backup never replaces a file: give it a name of its own.")
    refuse_unwritable(out)
    with service_of(existing(db)) as service:
        with whole_file(out) as draft:
            service.journal.backup(str(draft))
        arenas = len(service.arenas())
    kept = f"{arenas} arena{'s' * (arenas != 1)}"
    if "://" in db:
        print(f"Wrote {out}: {kept}. Put it back with pg_restore.")
    else:
        print(f"Wrote {out}: {kept}. Check it: multiduel arena verify --db {out} ARENA.")


@app.command()
def report(
    html: Annotated[Path, typer.Option("--html", metavar="FILE", help="Write the report as a web page.")],
    named: Arena = "",
    db: Db = "arena.db",
) -> None:
    """Write the report as one web page. It has the answer, standings, raters, excluded votes and caveats."""
    from multiduel.arena.web.pages.report import report_file

    refuse_unwritable(html)
    with service_of(existing(db)) as service:
        arena = found(service, named)
        written = report_file(service, arena)
        with whole_file(html) as draft:
            draft.write_text(written, encoding="utf-8")
    print(f"Wrote {html}.")


@app.command("import")
def import_log(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="An exported log.")],
    db: Db = "arena.db",
    plugin: Plugins = None,
) -> None:
    """Import an exported log into a database. A log has no keys: make them with 'arena keys new'."""
    from multiduel.arena.domain.settings import why_unusable
    from multiduel.arena.files.exports import stream_log
    from multiduel.arena.files.imports import checked_log
    from multiduel.arena.web.serve import load_plugins

    load_plugins(plugin or ())
    events, contents = stream_log(text_lines(file))
    with checked_log(events, contents) as checked, service_of(db) as service:
        info = service.add_checked_log(checked, contents)
        print(f"{info.name} ({info.id}) is here, with {info.events:,} events.")
        problem = why_unusable(info.settings)
        if problem is not None:
            print(problem)


@app.command()
def verify(
    named: Annotated[str, typer.Argument(metavar="ARENA|FILE.jsonl", help="Id or name of the arena, or an exported log.")] = "",
    db: Db = "arena.db",
    plugin: Plugins = None,
    head: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Check that the log contains this head or receipt that you kept.")
    ] = None,
    receipt: Annotated[
        str | None, typer.Option(metavar="EVENT:HASH", help="Check that the log contains this receipt that you kept.")
    ] = None,
    public_key: Annotated[
        str | None, typer.Option(help="Public key of the heads, as 'arena head --public-key' printed it.")
    ] = None,
) -> None:
    """Verify a log. Check its hashes, contents, verdicts and slates, and heads or receipts that you kept."""
    from multiduel.arena.files import signed_heads
    from multiduel.arena.files.exports import read_log
    from multiduel.arena.files.verify import Verifier
    from multiduel.arena.files.verify import verify as check
    from multiduel.arena.web.serve import load_plugins

    load_plugins(plugin or ())
    public = None if public_key is None else signed_heads.public_key_of(public_key)
    kept = [
        signed_heads.read_kept(one)
        for one in ([] if head is None else [read_text(head)]) + ([] if receipt is None else [receipt])
    ]
    if named.endswith(".jsonl"):
        events, contents = read_log(read_text(named).split("\n"))
        report = Verifier("", contents.get, None).check(events)
        hashes = {event.number: event.hash for event in events}
        arena = signed_heads.arena_of_log(events[0].body) if events else ""
        report.kept = [signed_heads.look_for(one, arena, len(events), hashes.get, public=public) for one in kept]
    else:
        with service_of(existing(db)) as service:
            arena, journal = found(service, named), service.journal
            report = check(journal, arena)
            if public is None and any(one.head for one in kept):
                public = signed_heads.Signer(journal).public()
            report.kept = [
                signed_heads.look_for(one, arena, report.events, hash_in(journal, arena), public=public) for one in kept
            ]
    print(report)
    if not report.good:
        raise typer.Exit(2)


def hash_in(journal: Journal, arena: str) -> Callable[[int], str | None]:
    """The hash of the event of a number."""

    def hash_at(number: int) -> str | None:
        return next((event.hash for event in journal.events(arena, number - 1, 1) if event.number == number), None)

    return hash_at


@app.command()
def head(
    named: Arena = "",
    db: Db = "arena.db",
    public_key: Annotated[bool, typer.Option("--public-key", help="Print the public key of the heads instead.")] = False,
) -> None:
    """Print the last event's number and hash, signed. Keep it: 'verify --head FILE' detects a cut or rewritten log."""
    from multiduel.arena.files.signed_heads import Signer

    with service_of(existing(db)) as service:
        signer = Signer(service.journal)
        if public_key:
            print(signer.public())
            return
        info = service.info(found(service, named))
        print(json.dumps(signer.sign(info.id, info.events, info.hash).to_json()))


@app.command()
def replay(policy: Annotated[str, typer.Option(help=f"Policy to try. {POLICY}")], named: Arena = "", db: Db = "arena.db") -> None:
    """Show what another policy would have chosen. The output says what that can and cannot tell."""
    from multiduel.arena.files.replay import replay as run
    from multiduel.engine.registry.registry import find

    chosen = find(policy, "typed").name
    with service_of(existing(db)) as service:
        print(run(service.journal.stream(found(service, named)), chosen))


@app.command()
def problem(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="File to write: .csv for the lab, or .json with intervals.")],
    named: Arena = "",
    db: Db = "arena.db",
) -> None:
    """Write the estimated preferences to a file. 'multiduel problem' and the lab read it."""
    from multiduel.arena.files.problems import problem_of, write_problem

    refuse_unwritable(out)
    with service_of(existing(db)) as service:
        with service.look(found(service, named)) as state:
            estimated = problem_of(state)
        write_problem(estimated, out)
    print(f"Wrote {out}.")
