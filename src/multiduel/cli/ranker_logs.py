"""``multiduel rankers analyse``, ``forget``, ``pseudonyms``, ``replay``, ``import``, ``export``: logs of pages and clicks."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from multiduel.cli.rankers import app
from multiduel.cli.terminal import JsonFile, give_json, refuse_json
from multiduel.files import refuse_unwritable, write_whole
from multiduel.inputs import BadInput, visible

__all__ = ["app"]

LogFile = Annotated[Path, typer.Argument(metavar="LOG", help="Log of pages and clicks (JSONL).")]
Bad = Annotated[bool, typer.Option("--skip-bad", help="Skip lines that cannot be used, and count them.")]
Key = Annotated[Path | None, typer.Option(metavar="FILE", help="Key file for pseudonyms; LOG.key by default.")]


@app.command()
def analyse(
    log: LogFile,
    html: Annotated[Path | None, typer.Option(metavar="FILE.html", help="Write the report as a web page.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.svg", help="Write the figure of the evidence over time.")] = None,
    json_file: JsonFile = None,
    unit: Annotated[
        str, typer.Option(help="Unit that counts a pair of rankers once: user, session or impression (page).")
    ] = "user",
    ties: Annotated[
        str | None,
        typer.Option(help="How ties count: half (half a win each) or drop (not at all). Default: half with --margin, else drop."),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Chance of a wrong verdict that you accept.")] = 0.05,
    margin: Annotated[float, typer.Option(help="Rankers this close count as equally good: 0.05 means up to 55 % of wins.")] = 0.0,
    metric: Annotated[
        str, typer.Option(help="Metric that decides: click, or another one of the log. Choose it before you look.")
    ] = "click",
    where: Annotated[
        list[str] | None, typer.Option(metavar="FIELD=VALUE", help="Read only pages with this value. May be repeated.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="FIELD", help="Add a verdict per value of this field; all verdicts share the error.")
    ] = None,
    guard: Annotated[
        list[str] | None,
        typer.Option(
            "--guardrail",
            metavar="METRIC=LIMIT",
            help="Check that the leader is not worse by more than this: purchase=0.02, abandonment=0.02. May be repeated.",
        ),
    ] = None,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="Time after a page until which its clicks count.")] = math.inf,
    state: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep what was read, so that the next report reads only new lines.")
    ] = None,
    skip_bad: Bad = False,
) -> None:
    """Name the winning ranker, or say how many more users it takes.

    The report also says since when the winner is certain, and which ranker beats which.
    """
    from multiduel.rankers.analysis import analyse as read
    from multiduel.rankers.judgements import read_judgements
    from multiduel.rankers.log import Log
    from multiduel.rankers.log_segments import guardrail, segments
    from multiduel.rankers.report import figure as draw
    from multiduel.rankers.report import page, segment_lines, table, words

    refuse_json(json_file)
    for path in (html, plot):
        if path:
            refuse_unwritable(path)
    judged = read_judgements(Log(log), timeout=timeout, bad="skip" if skip_bad else "refuse", state=state)
    options: dict[str, Any] = {"unit": unit, "metric": metric, "ties": ties, "alpha": alpha, "margin": margin}
    options["where"] = _pairs("--where", where)
    found = read(judged, **options)
    cut = segments(judged, by, **options) if by else {}
    guards = [guardrail(judged, found, name, _limit(name, value)) for name, value in _pairs("--guardrail", guard).items()]
    more = [*map(str, guards), *(segment_lines(by, cut, alpha) if by else [])]

    def numbers() -> dict[str, Any]:
        rest = {"guardrails": [one._asdict() for one in guards]} if guards else {}
        return found.to_json() | rest | ({"by": by, "segments": {name: one.to_json() for name, one in cut.items()}} if by else {})

    if not give_json(json_file, numbers, indent=1):
        print(visible("\n".join([*words(found), *more, *table(found)])))
    contents: list[tuple[Path | None, Callable[[], str]]] = [
        (html, lambda: page(found, f"Which ranker wins? {log.name}", more)),
        (plot, lambda: draw(found) + "\n"),
    ]
    for path, content in contents:
        if path:
            write_whole(path, content())
            print(f"Wrote {path}", file=sys.stderr)


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
def forget(
    log: LogFile,
    user: Annotated[str, typer.Argument(metavar="USER", help="User to remove: the name, or the pseudonym in the log.")],
    key: Key = None,
) -> None:
    """Remove a user's pages and clicks from a log. State files and exports of the log are not changed: delete them."""
    from multiduel.rankers.log import Log

    pages, others = Log(log, key=key).forget(user)
    print(f"Removed {pages:,} pages and {others:,} clicks and other lines from {log}")


@app.command()
def pseudonyms(log: LogFile, key: Key = None) -> None:
    """Replace names of users and sessions by pseudonyms. New logs have pseudonyms from the start."""
    from multiduel.rankers.log import Log

    found = Log(log, key=key)
    print(f"Replaced names on {found.pseudonymise():,} pages of {log}; the key is {found.key}")


@app.command()
def replay(
    log: LogFile,
    policy: Annotated[
        list[str], typer.Option(metavar="POLICY", help="Policy to replay; 'multiduel policies' lists all. May be repeated.")
    ],
    slate_size: Annotated[int, typer.Option(min=2, help="Largest number of rankers on a page.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the policy's random numbers.")] = 0,
    rounds: Annotated[int | None, typer.Option(min=1, help="Largest number of rounds; by default the number of pages.")] = None,
    skip_bad: Bad = False,
) -> None:
    """Estimate what another policy would have shown. The log limits how far (queue-based evaluation)."""
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
    out: Annotated[Path, typer.Option(metavar="LOG", help="Write this new log.")],
    events: Annotated[Path | None, typer.Option(metavar="FILE", help="File of ubi_events (OpenSearch UBI).")] = None,
    action: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[=WEIGHT]", help="UBI action that counts as a click; 'click' by default. May be repeated."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="UBI action that counts as a metric, such as purchase. May be repeated."),
    ] = None,
    hide: Annotated[
        bool, typer.Option("--pseudonyms/--no-pseudonyms", help="Write users and sessions as pseudonyms, or as given.")
    ] = True,
    key: Key = None,
) -> None:
    """Make a log from a table, an exported log, or OpenSearch UBI. docs/rankers.md has the columns."""
    from multiduel.rankers.exchange import import_table
    from multiduel.rankers.log import Log
    from multiduel.rankers.ubi import import_ubi

    if out.exists() and out.stat().st_size:
        raise BadInput(f"'{out}' must be a new log, so that no page comes twice. It holds something.")
    log = Log(out, pseudonyms=hide, key=key)
    if events is None:
        print(f"Wrote {out}: {import_table(source, log):,} pages")
        return
    made = import_ubi(source, events, log, actions=_weights(action or ["click"]), metrics=metric or ())
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
    out: Annotated[Path, typer.Option(metavar="FILE.parquet", help="Write this file, a row per page.")],
    skip_bad: Bad = False,
) -> None:
    """Write a log as Parquet."""
    from multiduel.rankers.exchange import export_parquet
    from multiduel.rankers.log import Log

    refuse_unwritable(out)
    count = export_parquet(Log(log), out, bad="skip" if skip_bad else "refuse")
    print(f"Wrote {out}: {count:,} pages")
