"""``multiduel judge`` and ``multiduel arena judge``: models and programs vote. Heavy imports wait."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from multiduel.cli.arena import Arena, Db, existing, found, service_of
from multiduel.cli.terminal import JsonFile, console, give_json, refuse_json, table
from multiduel.files import read_text, refuse_unwritable, write_whole
from multiduel.inputs import BadInput

if TYPE_CHECKING:
    from multiduel.arena.judges.kinds import Judge
    from multiduel.arena.judges.loop import Progress

KEY = "MULTIDUEL_ARENA_KEY"


class WithDefault(TyperGroup):
    """``judge OPTIONS`` is ``judge run OPTIONS``."""

    default = "run"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=WithDefault, no_args_is_help=True, add_completion=False, rich_markup_mode=None)
arena_app = typer.Typer(add_completion=False, rich_markup_mode=None)

Judges = Annotated[
    list[str],
    typer.Option(
        "--judge",
        metavar="JUDGE",
        help="openai:MODEL, command:'PROGRAM ARGS', file.py:function or module:function. May be repeated: several are a jury, "
        "which votes with its majority.",
    ),
]
BudgetOption = Annotated[
    str | None, typer.Option(help="Most to spend: '500 calls', '200000 tokens', or money such as '5 USD' with '--price'.")
]
PriceOption = Annotated[str | None, typer.Option(metavar="IN/OUT", help="Price per million tokens, such as 0.15/0.60.")]
Swap = Annotated[bool, typer.Option("--swap", help="Ask in both orders; contradicting answers count as a tie.")]
Instructions = Annotated[str, typer.Option(help="Instructions for the judge: what makes an option good.")]
Template = Annotated[Path | None, typer.Option(help="File with your own prompt; it must contain $contents.")]
BaseUrl = Annotated[
    str | None, typer.Option(help="URL of the server for openai judges; OPENAI_BASE_URL or OpenAI's own by default.")
]
KeyVariable = Annotated[str, typer.Option(help="Environment variable that holds the key for openai judges.")]
MaxTokens = Annotated[int, typer.Option(min=1, help="Most tokens in one answer of an openai judge.")]
Schema = Annotated[
    bool, typer.Option("--schema/--no-schema", help="Send openai judges a JSON schema; some servers do not support it.")
]
Timeout = Annotated[float | None, typer.Option(help="Seconds to wait for one answer; 60 by default, 120 for a program.")]
Concurrency = Annotated[int, typer.Option(help="Number of calls at the same time, 1 to 64.")]


@app.callback()
def judge() -> None:
    """Let models or programs find the best option. 'multiduel judge OPTIONS --judge JUDGE' is short for 'judge run'."""


@contextmanager
def judges_of(addresses: list[str], **words: Any) -> Iterator[list[Judge]]:
    """The judges that were typed; whatever goes wrong with one is a sentence."""
    from multiduel.arena.judges.kinds import JudgeFailed, typed_judge

    template = words.pop("template")
    timeout = words.pop("timeout")
    text = None if template is None else read_text(template)
    judges = []
    try:
        for address in addresses:
            is_model = address.startswith("openai:")
            judges.append(typed_judge(address, timeout=timeout, **(words | {"template": text} if is_model else {})))
        yield judges
    except JudgeFailed as error:
        raise BadInput(f"{error} Run it again to go on: nothing is paid for twice.") from None
    finally:
        for one in judges:
            one.close()


def reporter() -> Callable[[Progress], None]:
    """Show where a run is, if someone watches, at most twice a second."""
    shown, asked, more = 0.0, 0.0, ""

    def show(now: Progress) -> None:
        nonlocal shown, asked, more
        if not sys.stderr.isatty() or time.monotonic() - shown < 0.5:
            return
        shown = time.monotonic()
        if shown - asked > 5.0:
            asked, more = shown, now.forecast()
        still = "" if now.look is None else f", {now.look.still_in} options still possible"
        print(f"\r\033[K{now.votes:,} votes{still}, {now.budget}. {more}"[:200], end="", file=sys.stderr, flush=True)

    return show


@app.command()
def run(
    options: Annotated[
        Path,
        typer.Argument(
            metavar="OPTIONS",
            help="A .csv or .jsonl file with the columns name, content and, if there are several questions, context.",
        ),
    ],
    judge: Judges,
    file: Annotated[Path | None, typer.Option(metavar="FILE", help="Database of the run; OPTIONS.judge.db by default.")] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report as a web page; OPTIONS.judge.html by default.")
    ] = None,
    budget: BudgetOption = None,
    price: PriceOption = None,
    swap: Swap = False,
    instructions: Instructions = "",
    slate_size: Annotated[int, typer.Option(help="Number of options compared at once.")] = 2,
    unit: Annotated[
        str, typer.Option(help="Unit that counts two options once: case (a question) or answer (every judgement).")
    ] = "case",
    alpha: Annotated[float, typer.Option(help="Chance of an error that you accept.")] = 0.05,
    margin: Annotated[
        float, typer.Option(help="Options this close count as equally good: 0.05 means up to 55 % of the questions.")
    ] = 0.0,
    concurrency: Concurrency = 8,
    seed: Annotated[int | None, typer.Option(help="Seed of the random numbers.")] = None,
    template: Template = None,
    base_url: BaseUrl = None,
    key_variable: KeyVariable = "OPENAI_API_KEY",
    max_tokens: MaxTokens = 500,
    schema: Schema = True,
    timeout: Timeout = None,
) -> None:
    """Let judges compare the options in a file. Run it again to continue after Ctrl-C or a spent budget."""
    from multiduel.arena.judges.judging import judge as decide

    kept = file or options.with_suffix(".judge.db")
    out = html or options.with_suffix(".judge.html")
    refuse_unwritable(out)
    words = {"base_url": base_url, "key_variable": key_variable, "max_tokens": max_tokens, "schema": schema}
    with refusals(), judges_of(judge, template=template, timeout=timeout, **words) as judges:
        done = decide(
            options,
            judge=judges,
            file=kept,
            slate_size=slate_size,
            unit=unit,
            alpha=alpha,
            margin=margin,
            swap=swap,
            instructions=instructions,
            budget=budget,
            price=price,
            concurrency=concurrency,
            seed=seed,
            progress=reporter(),
        )
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    print(done)
    _write_page(kept, done.arena, out, price)
    print(f"Wrote {out}. Kept in {kept} and {kept}.calls.")


def _write_page(file: Path, arena: str, out: Path, price: str | None) -> None:
    from multiduel.arena.judges.budgets import Price
    from multiduel.arena.judges.judging import opened
    from multiduel.arena.judges.pages import judge_page
    from multiduel.arena.judges.worth import worth_of

    cost = None if price is None else Price.read(price)
    with opened(file) as (service, calls):
        write_whole(out, judge_page(service, arena, worth_of(service, arena, calls), cost))


@app.command()
def report(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File that 'multiduel judge' made, such as OPTIONS.judge.db.")],
    named: Annotated[str, typer.Argument(metavar="ARENA", help="Id or name of the arena; the last one by default.")] = "",
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report as a web page too.")] = None,
    price: PriceOption = None,
    json_file: JsonFile = None,
) -> None:
    """Show the verdict, and how reliable each judge is. The report has position effect, consistency, agreement and cost."""
    from multiduel.arena.judges.judging import opened
    from multiduel.arena.judges.worth import worth_of

    refuse_json(json_file)
    if html is not None:
        refuse_unwritable(html)
    with refusals(), opened(existing(str(file))) as (service, calls):
        rows = service.arenas()
        arena = found(service, named) if named or not rows else max(rows, key=lambda row: row.created).id
        worth, board = worth_of(service, arena, calls), service.board(arena)
    if not give_json(json_file, lambda: {"sentence": board.sentence, "exactly": board.exactly} | worth.to_json()):
        for text in (*worth.warnings, board.sentence, board.exactly):
            if text:
                print(text)
        from multiduel.arena.judges.budgets import Price

        cost = None if price is None else Price.read(price)
        for one in worth.judges:
            lines = table(f"judge '{one.judge}'", "")
            for what, text in one.rows(cost, several=len(worth.judges) > 1):
                lines.add_row(what, text)
            console().print(lines)
        if worth.jury is not None:
            print(worth.jury)
    if html is not None:
        _write_page(file, arena, html, price)
        print(f"Wrote {html}.")


@contextmanager
def refusals() -> Iterator[None]:
    """What an arena refuses comes out as a sentence."""
    from multiduel.arena.domain.errors import BrokenLog, Refused, Unavailable

    try:
        yield
    except (Refused, Unavailable, BrokenLog) as error:
        raise BadInput(str(error)) from None


@arena_app.command("judge")
def arena_judge(
    judge: Judges,
    named: Arena = "",
    db: Db = "arena.db",
    url: Annotated[
        str | None, typer.Option(help=f"URL of a server to use instead of --db; an owner's key must be in {KEY}.")
    ] = None,
    calls: Annotated[Path | None, typer.Option(help="File that stores the calls; DB.calls by default.")] = None,
    budget: BudgetOption = None,
    price: PriceOption = None,
    swap: Swap = False,
    instructions: Instructions = "",
    concurrency: Concurrency = 8,
    template: Template = None,
    base_url: BaseUrl = None,
    key_variable: KeyVariable = "OPENAI_API_KEY",
    max_tokens: MaxTokens = 500,
    schema: Schema = True,
    timeout: Timeout = None,
) -> None:
    """Let a judge vote beside people, in a database or on a server. By default only people's votes decide."""
    from multiduel.arena.client import Client
    from multiduel.arena.judges.budgets import Budget, Price
    from multiduel.arena.judges.calls import Calls
    from multiduel.arena.judges.judging import MOST_AT_ONCE, label_of
    from multiduel.arena.judges.loop import WHY, Run
    from multiduel.arena.judges.seats import LocalSeat, RemoteSeat, Seat
    from multiduel.inputs import whole

    whole("concurrency", concurrency, 1, MOST_AT_ONCE, of="judge")
    if calls is None and (url is not None or "://" in db):
        calls = Path("judge.calls")
    spending = Budget(budget, None if price is None else Price.read(price))
    words = {"base_url": base_url, "key_variable": key_variable, "max_tokens": max_tokens, "schema": schema}

    def go(seat: Seat, judges: list[Judge], kept: Calls) -> None:
        done = Run(seat, judges, kept, spending, swap, instructions, concurrency, reporter()).go()
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)
        print(f"{done.votes:,} votes of judge '{label_of(judges)}', {done.skips:,} of them skips. {spending}.")
        print(done.sentence or WHY.get(done.stop, ""))

    with refusals(), judges_of(judge, template=template, timeout=timeout, **words) as judges:
        kept = Calls(calls or f"{db}.calls")
        try:
            if url is not None:
                key = os.environ.get(KEY)
                if not key:
                    raise BadInput(f"The key of the arena's owner must be in the environment variable {KEY}, which is empty.")
                go(RemoteSeat(Client(url, key), label_of(judges)), judges, kept)
            else:
                with service_of(existing(db)) as service:
                    arena = found(service, named)
                    go(LocalSeat(service, arena, label_of(judges)), judges, kept)
                    print(service.board(arena).sentence)
                    for line in service.board(arena).kinds:
                        print(f"What {line.kind} find: {line.sentence}")
        finally:
            kept.close()
