"""``multiduel rankers analyse``, ``replay``, ``import`` and ``export``: logs of pages and clicks. Heavy imports wait."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from multiduel.cli.rankers import app
from multiduel.files import refuse_unwritable, write_whole
from multiduel.inputs import BadInput, visible

__all__ = ["app"]

LogFile = Annotated[Path, typer.Argument(metavar="LOG", help="A log of impressions and clicks (JSONL).")]
Bad = Annotated[bool, typer.Option("--skip-bad", help="Leave out lines that cannot be used, and count them.")]


@app.command()
def analyse(
    log: LogFile,
    out: Annotated[Path | None, typer.Option(metavar="PAGE.html", help="A page with all of it.")] = None,
    figure: Annotated[Path | None, typer.Option(metavar="FILE.svg", help="The evidence over the log.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="The numbers.")] = None,
    unit: Annotated[str, typer.Option(help="What counts once: user, session or impression.")] = "user",
    ties: Annotated[str | None, typer.Option(help="half or drop; if not given, half with a margin, else drop.")] = None,
    alpha: Annotated[float, typer.Option(help="The chance of a wrong verdict.")] = 0.05,
    margin: Annotated[float, typer.Option(help="Rankers this close count as equally good.")] = 0.0,
    metric: Annotated[
        str, typer.Option(help="What decides: click, or another metric of the log. Named before looking.")
    ] = "click",
    where: Annotated[list[str] | None, typer.Option(metavar="FIELD=VALUE", help="Only pages with this value.")] = None,
    by: Annotated[str | None, typer.Option(metavar="FIELD", help="A report per value, with the error shared out.")] = None,
    guard: Annotated[
        list[str] | None,
        typer.Option("--guardrail", metavar="METRIC=LIMIT", help="Must not be worse by more: purchase=0.02, abandonment=0.02."),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds after which clicks no longer count.")] = math.inf,
    state: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keeps what was read: only new lines are read next time.")
    ] = None,
    skip_bad: Bad = False,
) -> None:
    """Which ranker wins, for users like these; since when that is certain, or how many more users it takes; who beats whom."""
    from multiduel.rankers.analysis import analyse as read
    from multiduel.rankers.judgements import read_judgements
    from multiduel.rankers.log import Log
    from multiduel.rankers.log_segments import guardrail, segments
    from multiduel.rankers.report import figure as draw
    from multiduel.rankers.report import page, segment_lines, table, words

    for path in (out, figure, json_file):
        if path:
            refuse_unwritable(path)
    judged = read_judgements(Log(log), timeout=timeout, bad="skip" if skip_bad else "refuse", state=state)
    options: dict[str, Any] = {"unit": unit, "metric": metric, "ties": ties, "alpha": alpha, "margin": margin}
    options["where"] = _pairs("--where", where)
    found = read(judged, **options)
    cut = segments(judged, by, **options) if by else {}
    guards = [guardrail(judged, found, name, _limit(name, value)) for name, value in _pairs("--guardrail", guard).items()]
    more = [*map(str, guards), *(segment_lines(by, cut, alpha) if by else [])]
    print(visible("\n".join([*words(found), *more, *table(found)])))

    def numbers() -> dict[str, Any]:
        rest = {"guardrails": [one._asdict() for one in guards]} if guards else {}
        return found.to_json() | rest | ({"by": by, "segments": {name: one.to_json() for name, one in cut.items()}} if by else {})

    contents: list[tuple[Path | None, Callable[[], str]]] = [
        (out, lambda: page(found, f"Which ranker wins? {log.name}", more)),
        (figure, lambda: draw(found) + "\n"),
        (json_file, lambda: json.dumps(numbers(), indent=1) + "\n"),
    ]
    for path, content in contents:
        if path:
            write_whole(path, content())
            print(f"Wrote {path}")


def _pairs(option: str, given: list[str] | None) -> dict[str, str]:
    """NAME=VALUE, several times."""
    found = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        if not name or not equals or name in found:
            raise BadInput(f"'{option}' must be NAME=VALUE, each name once. Got {visible(one)!r}.")
        found[name] = value
    return found


def _limit(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise BadInput(f"'--guardrail {name}' must have a limit such as 0.02. Got {visible(value)!r}.") from None


@app.command()
def forget(log: LogFile, user: Annotated[str, typer.Argument(metavar="USER", help="As it stands in the log.")]) -> None:
    """Take a user out of a log: pages, clicks and name. Files made of it, a --state among them, must be deleted by you."""
    from multiduel.rankers.log import Log

    pages, others = Log(log).forget(user)
    print(f"Took {pages:,} pages and {others:,} clicks and other lines out of {log}")


@app.command()
def replay(
    log: LogFile,
    policy: Annotated[list[str], typer.Option(help="See 'multiduel policies'; may be repeated.")],
    slate_size: Annotated[int, typer.Option(min=2, help="Rankers in one list at most.")] = 2,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    rounds: Annotated[int | None, typer.Option(min=1, help="Stop after so many; as many as pages if not given.")] = None,
    skip_bad: Bad = False,
) -> None:
    """What another policy would have shown, as far as the log goes: queue-based evaluation."""
    from multiduel.rankers.replay import replay as follow

    for name in policy:
        bad = "skip" if skip_bad else "refuse"
        print(visible("\n".join(follow(log, name, slate_size=slate_size, seed=seed, rounds=rounds, bad=bad).words())))


@app.command("import")
def import_(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A .csv or .jsonl of shown documents, an exported .parquet, or ubi_queries with --events."
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="LOG", help="The log to append to.")],
    events: Annotated[Path | None, typer.Option(help="OpenSearch UBI: the lines of ubi_events.")] = None,
    action: Annotated[
        list[str] | None, typer.Option(metavar="NAME[=WEIGHT]", help="UBI actions that are clicks; 'click' if not given.")
    ] = None,
    metric: Annotated[list[str] | None, typer.Option(help="UBI actions that are metrics of their own, such as purchase.")] = None,
) -> None:
    """Make a log of a click log from elsewhere: docs/rankers.md has the columns."""
    from multiduel.rankers.exchange import import_table
    from multiduel.rankers.log import Log
    from multiduel.rankers.ubi import import_ubi

    if out.exists() and out.stat().st_size:
        raise BadInput(f"'{out}' must be a new log, so that no page comes twice. It holds something.")
    if events is None:
        print(f"Wrote {out}: {import_table(source, Log(out)):,} pages")
        return
    made = import_ubi(source, events, Log(out), actions=_weights(action or ["click"]), metrics=metric or ())
    joined = f" ({made.joined:,} of them joined by client and document)" if made.joined else ""
    print(
        f"Wrote {out}: {made.pages:,} pages, {made.events:,} events{joined}; {made.without:,} queries without an impression and "
        f"{made.left_out:,} events on other pages were left out"
    )


def _weights(actions: list[str]) -> dict[str, float]:
    """NAME or NAME=WEIGHT."""
    found = {}
    for given in actions:
        name, equals, weight = given.partition("=")
        try:
            found[name] = float(weight) if equals else 1.0
        except ValueError:
            raise BadInput(f"'--action' must be a name, or a name with a weight such as buy=2. Got {visible(given)!r}.") from None
    return found


@app.command()
def export(
    log: LogFile,
    out: Annotated[Path, typer.Option(metavar="FILE.parquet", help="A row per page.")],
    skip_bad: Bad = False,
) -> None:
    """The log as Parquet."""
    from multiduel.rankers.exchange import export_parquet
    from multiduel.rankers.log import Log

    refuse_unwritable(out)
    count = export_parquet(Log(log), out, bad="skip" if skip_bad else "refuse")
    print(f"Wrote {out}: {count:,} pages")
