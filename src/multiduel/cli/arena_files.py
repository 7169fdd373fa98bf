"""``multiduel arena``, the part about files: votes in, sheets out, logs out and in, and what may be said of a log."""

from __future__ import annotations

import sys
import uuid
from pathlib import Path
from typing import Annotated

import typer

from multiduel.cli.arena import Arena, Db, Named, existing, found, service_of
from multiduel.files import read_text, refuse_unwritable, whole_file

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def votes(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Votes as .csv or .jsonl.")],
    named: Arena = "",
    db: Db = "arena.db",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would come of it.")] = False,
) -> None:
    """Enter votes from a file: all lines or none, each once however often the file is sent."""
    from multiduel.arena import batches
    from multiduel.arena.commands import ImportReport
    from multiduel.arena.options import format_of

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
    number: Annotated[int, typer.Argument(min=1, help="Of tickets.")],
    out: Annotated[Path, typer.Option(help="A .csv file, to be filled in and sent back with 'arena votes'.")],
    named: Named = "",
    db: Db = "arena.db",
    stratum: Annotated[str | None, typer.Option(help="A label such as a centre.")] = None,
) -> None:
    """Print tickets ahead, on which votes come later."""
    from multiduel.arena.commands import PrintTickets
    from multiduel.arena.sheets import sheets_of

    refuse_unwritable(out)
    with service_of(existing(db)) as service:
        arena = found(service, named)
        tickets = service.do(PrintTickets(arena, number, uuid.uuid4().hex, stratum=stratum))
        with whole_file(out) as draft:
            draft.write_text("".join(sheets_of(service, arena, tickets)), encoding="utf-8", newline="")
    print(f"Wrote {out}: {len(tickets)} tickets.")


@app.command()
def export(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="A .jsonl file (all of it), or .csv (for a spreadsheet).")],
    named: Named = "",
    db: Db = "arena.db",
) -> None:
    """Write the log to a file."""
    from multiduel.arena.exports import log_lines, log_table
    from multiduel.arena.options import format_of

    format = format_of(out)
    refuse_unwritable(out)
    with service_of(existing(db)) as service:
        arena, journal = found(service, named), service.journal
        events = journal.stream(arena)
        lines = log_table(events) if format == "csv" else log_lines(events, lambda sha256: journal.get_content(arena, sha256))
        with whole_file(out) as draft, draft.open("w", encoding="utf-8", newline="") as file:
            file.writelines(lines)
    print(f"Wrote {out}.")


@app.command("import")
def import_log(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="A log that was exported.")], db: Db = "arena.db"
) -> None:
    """Read an exported log into a database. Keys do not come with it: see 'arena key'."""
    from multiduel.arena.exports import read_log

    events, contents = read_log(read_text(file).split("\n"))
    with service_of(db) as service:
        info = service.import_log(events, contents)
        print(f"{info.name} ({info.id}) is here, with {info.events:,} events.")


@app.command()
def verify(
    named: Annotated[str, typer.Argument(metavar="[ARENA or FILE.jsonl]", help="An arena, or a log that was exported.")] = "",
    db: Db = "arena.db",
) -> None:
    """Is the log what was written, and does every slate come out again?"""
    from multiduel.arena.exports import read_log
    from multiduel.arena.verify import Verifier
    from multiduel.arena.verify import verify as check

    if named.endswith(".jsonl"):
        events, contents = read_log(read_text(named).split("\n"))
        report = Verifier("", contents.get, None).check(events)
    else:
        with service_of(existing(db)) as service:
            report = check(service.journal, found(service, named))
    print(report)
    if not report.good:
        raise typer.Exit(2)


@app.command()
def replay(
    policy: Annotated[str, typer.Option(help="See 'multiduel policies'.")], named: Arena = "", db: Db = "arena.db"
) -> None:
    """What would another policy have shown? With what that can and cannot say."""
    from multiduel.arena.replay import replay as run

    with service_of(existing(db)) as service:
        print(run(service.journal.stream(found(service, named)), policy))


@app.command()
def problem(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv file for the lab, or .json with intervals.")],
    named: Named = "",
    db: Db = "arena.db",
) -> None:
    """Write the log as a problem: who beats whom how often, for 'multiduel problem' and the lab."""
    from multiduel.arena.replay import write_problem

    refuse_unwritable(out)
    with service_of(existing(db)) as service:
        write_problem(service.problem(found(service, named)), out)
    print(f"Wrote {out}.")
