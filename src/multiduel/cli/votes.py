"""``multiduel rank`` and ``next``: from the votes in a file to standings, and to what to compare next. Heavy imports wait."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multiduel.cli.terminal import JsonFile, give_json, refuse_json
from multiduel.files import refuse_unwritable, write_whole
from multiduel.inputs import BadInput, visible

if TYPE_CHECKING:
    from multiduel.votes import Reading

app = typer.Typer(add_completion=False, rich_markup_mode=None)

FILES = "Votes: battles, rankings, counts, PrefLib, logs; CSV, JSONL, Parquet, gzip. Several files are read together."
Files = Annotated[list[str], typer.Argument(metavar="FILE...", help=FILES)]
Named = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="ROLE=NAME", help="Role of a column, such as winner=choice; 'rater=' ignores raters. May be repeated."
    ),
]
Meant = Annotated[
    list[str] | None,
    typer.Option(
        "--outcome",
        metavar="CELL=MEANING",
        help="Meaning of a value in the winner's column: first, second, tie, none. May be repeated.",
    ),
]
Names = Annotated[bool, typer.Option("--winner-is-name", help="The winner's column holds names of options, not sides.")]
Kind = Annotated[
    str | None,
    typer.Option(
        help="Kind of votes, if it is not recognised: battles, pairs, rankings, places, slates, counts or 'square counts'."
    ),
]
By = Annotated[str, typer.Option(help="Unit of evidence: answer (these raters), rater (people like these raters) or case.")]
Alpha = Annotated[float, typer.Option(help="Chance of an error that you accept.")]


@app.command()
def rank(
    files: Files,
    by: By = "answer",
    alpha: Alpha = 0.05,
    margin: Annotated[
        float, typer.Option(help="Options this close count as equally good: 0.05 means up to 55 % of the answers.")
    ] = 0.0,
    style: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File of the options' contents; adds strengths at equal length, headings and lists."),
    ] = None,
    position: Annotated[bool, typer.Option("--position", help="Add strengths as if no option were shown first.")] = False,
    top: Annotated[int | None, typer.Option(min=1, help="Number of lines of the table to print; all by default.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.svg", help="Draw the strengths with their intervals.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE.html", help="Write the report as a web page.")] = None,
    latex: Annotated[Path | None, typer.Option(metavar="FILE.tex", help="Write the table for LaTeX.")] = None,
    json_file: JsonFile = None,
    column: Named = None,
    outcome: Meant = None,
    winner_is_name: Names = False,
    kind: Kind = None,
) -> None:
    """Rank the options in a file of votes. Name the winner, if it is certain, and print the standings."""
    from multiduel.display.standings_tables import span
    from multiduel.display.tables import text_table
    from multiduel.engine.standings import standings
    from multiduel.votes.headline import headline
    from multiduel.votes.styles import style_covariates

    refuse_json(json_file)
    for path in (plot, html, latex):
        if path:
            refuse_unwritable(path)
    read = _read(files, column, outcome, winner_is_name, kind)
    covariates = style_covariates(read.votes, style) if style else None
    found = standings(read.votes, by=by, alpha=alpha, margin=margin, covariates=covariates, position=position)
    answer = headline(found.verdict)
    if not give_json(json_file, lambda: {"answer": answer, "votes": read.note, **found.to_json()}, indent=1):
        table = found.table()
        rows = table.rows if top is None else table.rows[:top]
        more = [f"and {len(table.rows) - len(rows)} more"] if len(rows) < len(table.rows) else []
        style_lines = []
        if found.style is not None:
            effects = zip(found.style.names, found.style.effect, found.style.low, found.style.high, strict=True)
            style_lines = [f"Effect of {name} on strength: {e:+z.2f} ({span(low, high)})." for name, e, low, high in effects]
        lines = [answer, "", *found.sentences(), *style_lines, "", text_table(replace(table, rows=rows)), *more, "", found.note()]
        print(visible("\n".join(lines)))
    written: list[tuple[Path | None, Callable[[], str]]] = [
        (html, lambda: found.html(answer)),
        (latex, lambda: found.latex() + "\n"),
    ]
    for path, content in written:
        if path:
            write_whole(path, content())
            print(f"Wrote {path}", file=sys.stderr)
    if plot:
        found.plot(plot)
        print(f"Wrote {plot}", file=sys.stderr)


@app.command("next")
def next_(
    files: Files,
    slate_size: Annotated[int, typer.Option(help="Options shown in one slate.")] = 2,
    number: Annotated[int, typer.Option(help="Number of slates.")] = 20,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the slates to this .csv or .jsonl file; without it, CSV is printed."),
    ] = None,
    by: By = "answer",
    alpha: Alpha = 0.05,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Option that the votes do not have yet. May be repeated.")
    ] = None,
    case: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Case to compare on; those of the votes by default. May be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the choice.")] = 0,
    column: Named = None,
    outcome: Meant = None,
    winner_is_name: Names = False,
    kind: Kind = None,
) -> None:
    """Choose the slates to compare next. Fill in the answers, then run the command again with both files."""
    from multiduel.votes.headline import headline
    from multiduel.votes.next_slates import format_of, next_slates
    from multiduel.votes.reader import with_options

    if out:
        format_of(out)
        refuse_unwritable(out)
    read = _read(files, column, outcome, winner_is_name, kind)
    votes = with_options(read.votes, option or ())
    found = next_slates(votes, slate_size=slate_size, number=number, alpha=alpha, by=by, cases=case, seed=seed)
    print(visible(headline(found.verdict)), file=sys.stderr)
    if not found.slates:
        print("There is nothing more to compare.", file=sys.stderr)
        return
    if out is None:
        print(found.text("csv"), end="")
        return
    found.write(out)
    print(
        f"Wrote {out}: {len(found.slates)} slates. Fill in 'answer': a position (2), a ranking (2>1=3) or tie.", file=sys.stderr
    )


def _read(
    files: list[str], column: list[str] | None, outcome: list[str] | None, winner_is_name: bool, kind: str | None
) -> Reading:
    """Read the files, and say on stderr how they were understood."""
    from multiduel.votes import read

    columns = {role: name or None for role, name in _pairs("--column", column)} or None
    outcomes: Any = dict(_pairs("--outcome", outcome)) or ("names" if winner_is_name else None)
    found = read(*files, columns=columns, outcomes=outcomes, kind=kind)
    print(visible(found.note), file=sys.stderr)
    return found


def _pairs(option: str, given: list[str] | None) -> list[tuple[str, str]]:
    for one in given or ():
        if "=" not in one:
            raise BadInput(f"'{option}' must be written as two words with = between them. Got '{one}'.")
    cut = str.rpartition if option == "--outcome" else str.partition  # a cell may hold =, as a column's name may
    return [(cut(one, "=")[0], cut(one, "=")[2]) for one in given or ()]
