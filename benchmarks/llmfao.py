"""The worked example of docs/guides/leaderboard.md: people's, GPT-4's and GPT-3's votes on answers of 59 language models.

    python benchmarks/llmfao.py measure [--data FOLDER]    reads the votes, and writes benchmarks/llmfao.json
    python benchmarks/llmfao.py page                       puts its tables into docs/guides/leaderboard.md

The votes are those of the repository ``dustalov/llmfao`` (CC BY 4.0), in the folder ``llmfao`` of the data.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import numpy as np

import multiduel as md
from multiduel.display.standings_tables import rank, signed, span
from multiduel.inference.words import percent
from multiduel.votes.headline import headline
from multiduel.votes.styles import style_covariates

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "guides" / "leaderboard.md"
JUDGES = {"people": "crowd-comparisons.csv", "GPT-4": "gpt4-crowd-comparisons.csv", "GPT-3": "gpt3-crowd-comparisons.csv"}
SHOWN = 5  # options in a table


def measure(folder: Path) -> None:
    found = {}
    for judge, file in JUDGES.items():
        votes = md.read_votes(folder / "llmfao" / file)
        decided = votes.outcome != 0
        first = int((votes.outcome > 0).sum())
        for by in ("answer", "rater", "case") if judge == "people" else ("answer",):
            standings = md.standings(votes, by=by)
            found[f"{judge}, by {by}"] = {
                "answers": votes.answers,
                "units": standings.units,
                "headline": headline(standings.verdict),
                "best": [standings.names[k] for k in standings.top(1).possible],
                "left": round(first / int(decided.sum()), 4),
                "left_of": [first, int(decided.sum())],
                "ties": int((~decided).sum()),
                "rows": [
                    [
                        line.name,
                        line.rank_from,
                        line.rank_to,
                        *(_plain(x) for x in (line.strength, line.low, line.high, line.won)),
                    ]
                    for line in standings.lines
                ],
            }
    votes = md.read_votes(folder / "llmfao" / JUDGES["people"])
    style = md.standings(
        votes, by="rater", covariates=style_covariates(votes, folder / "llmfao" / "results.jsonl"), position=True
    ).style
    effects = [
        [name, *(_plain(x) for x in ends)] for name, *ends in zip(style.names, style.effect, style.low, style.high, strict=True)
    ]
    theirs = {judge: dict((row[0], row[3]) for row in found[f"{judge}, by answer"]["rows"]) for judge in JUDGES}
    names = list(theirs["people"])
    agree = {
        judge: round(float(np.corrcoef([theirs["people"][n] for n in names], [theirs[judge][n] for n in names])[0, 1]), 2)
        for judge in ("GPT-4", "GPT-3")
    }
    made = {"judges": found, "effects": effects, "correlation with people": agree}
    (HERE / "llmfao.json").write_text(json.dumps(made, indent=1, allow_nan=False) + "\n")


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 3)


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def tables() -> dict[str, str]:
    """The tables of the page, by their marks."""
    made = json.loads((HERE / "llmfao.json").read_text())
    judges = made["judges"]
    by_answer, by_rater = judges["people, by answer"], judges["people, by rater"]
    place = {row[0]: row for row in by_rater["rows"]}
    people = [
        "| option | strength | rank, by answer | interval, by answer | rank, by rater | interval, by rater |",
        "|---|---|---|---|---|---|",
    ]
    for name, first, last, strength, low, high, _ in by_answer["rows"][:SHOWN]:
        _, from_, to, _, low_, high_, _ = place[name]
        ends = span(_or_nan(low), _or_nan(high)), span(_or_nan(low_), _or_nan(high_))
        people.append(f"| {name} | {signed(strength)} | {rank(first, last)} | {ends[0]} | {rank(from_, to)} | {ends[1]} |")
    verdicts = ["| unit of evidence | units | the answer | by strengths, the best is one of |", "|---|---|---|---|"]
    for by in ("answer", "rater", "case"):
        row = judges[f"people, by {by}"]
        verdicts.append(f"| {by} | {row['units']:,} | {row['headline']} | {len(row['best'])} |")
    models = [
        '| judge | answers | ties | "left", of the decided | the answer | strongest three | correlation with people |',
        "|---|---|---|---|---|---|---|",
    ]
    for judge in JUDGES:
        row = judges[f"{judge}, by answer"]
        strongest = ", ".join(line[0] for line in row["rows"][:3])
        left = percent(round(row["left"], 3))
        same = made["correlation with people"].get(judge, "")
        models.append(f"| {judge} | {row['answers']:,} | {row['ties']:,} | {left} | {row['headline']} | {strongest} | {same} |")
    effects = ["| of the first option, more | effect on strength | interval |", "|---|---|---|"]
    effects += [f"| {name} | {signed(e)} | {span(_or_nan(low), _or_nan(high))} |" for name, e, low, high in made["effects"]]
    return {
        name: "\n".join(lines)
        for name, lines in {"people": people, "verdicts": verdicts, "judges": models, "effects": effects}.items()
    }


def page() -> None:
    """Put the tables between their marks."""
    text = PAGE.read_text()
    for name, table in tables().items():
        before, _, rest = text.partition(f"<!-- {name} -->\n")
        _, _, after = rest.partition(f"<!-- end of {name} -->\n")
        text = f"{before}<!-- {name} -->\n{table}\n<!-- end of {name} -->\n{after}"
    PAGE.write_text(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("measure", "page"))
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("MULTIDUEL_DATA", ".")))
    options = parser.parse_args()
    if options.command == "measure":
        measure(options.data)
    else:
        page()
