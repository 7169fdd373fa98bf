"""Judges, measured: how often their verdicts are wrong, when they are said to decide by position, and llmfao replayed.

    python benchmarks/judges.py measure [SECTION ...]     writes benchmarks/judges.json
    python benchmarks/judges.py page                      writes the tables into docs/judges.md

Sections: errors or errors:JUDGE, positions, agreement, saved, shortlists, model; all of them, if none is named.

Errors: arenas without a file (the same code decides commands), all options alike in the population of questions, so that every
winner that is announced is wrong. ``judges_llmfao.py`` has what needs the data: MULTIDUEL_DATA is the folder with llmfao/ and
llmfao_bt_59.csv.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from multiduel.arena.domain import commands as c
from multiduel.arena.domain.options import Option, make_content
from multiduel.arena.domain.settings import Settings
from multiduel.arena.domain.state import State
from multiduel.arena.judges.questions import joined, turned
from multiduel.arena.judges.worth import MOST_BY_CONTENT
from multiduel.arena.service.decision import Decision
from multiduel.arena.service.handlers import decide
from multiduel.arena.service.raters import is_first_preferred
from multiduel.inference.shares import Share, share_interval

HERE = Path(__file__).parent
FILE, PAGE = HERE / "judges.json", HERE.parent / "docs" / "judges.md"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
EXPERIMENTS = 1000
LOOKS = 10  # votes between two looks at the position effect
POSITIONS = (0.0, 0.3, 0.5, 0.7, 0.9, 1.0)  # share of answers that the order decides
MOST_ANSWERS = 300  # of a judge whose position effect is looked for


class Arena(NamedTuple):
    """How many options there are, are shown, and how many votes are given at most."""

    options: int
    slate: int
    cases: int
    votes: int


JUDGES: dict[str, tuple[int | None, str, dict[str, float]]] = {  # cases other than the arena's, unit, and how the judge errs
    "clean": (None, "case", {}),
    "30 % by position": (None, "case", {"position": 0.3}),
    "by length as much as by quality": (None, "case", {"length": 1.0}),
    "contradicts itself on 30 %, both orders asked": (None, "case", {"contradicts": 0.3}),
    "13 questions, by case": (13, "case", {}),
    "13 questions, by answer": (13, "answer", {}),
    "clean, one option better": (None, "case", {"better": 1.0}),
}
SETTINGS = {
    Arena(2, 2, 120, 100): tuple(JUDGES),
    Arena(5, 2, 40, 150): tuple(JUDGES),
    Arena(5, 4, 40, 60): tuple(JUDGES),
    Arena(5, 4, 120, 200): ("clean", "clean, one option better"),  # enough for verdicts
}


class Found(NamedTuple):
    """What one experiment found."""

    right: bool  # the better option, if there is one, was announced
    wrong: bool  # another option was announced, or any where all are alike
    swayed: bool  # the judge is said to be swayed by position
    decides: bool  # the judge is said to decide by position
    votes: int


@cache
def share_of(yes: int, no: int, level: int) -> Share:
    """The share of first, kept: experiments ask for the same ones."""
    return share_interval(yes, no, level)


def experiment(seed: int, arena: Arena, unit: str, habits: Mapping[str, float]) -> Found:
    """Let a judge vote where all options are alike on questions like these, or where the first is better (on 76 % of them)."""
    rng = np.random.default_rng(seed)
    K, cases = arena.options, arena.cases
    quality = rng.standard_normal((K, cases)) + habits.get("length", 0.0) * rng.standard_normal((K, cases))
    quality[0] += habits.get("better", 0.0)
    state = State("0" * 12)
    decision = Decision(state)
    options = [Option(f"o{k}", tuple(make_content("text", f"{k} {case}") for case in range(cases))) for k in range(K)]
    settings = Settings(unit=unit, deciders="judges", slate_size=arena.slate, seed=seed)
    decide(decision, c.Create("x", settings, options, [f"case {k}" for k in range(cases)]), NOW)
    decide(decision, c.Open(state.arena), NOW)
    judge = decide(decision, c.AdmitRater(state.arena, "judge", kind="judge"), NOW)
    said = {1: 0, -1: 0, 0: 0}
    votes = swayed = decides = 0
    while votes < arena.votes:
        ticket = decide(decision, c.Ask(state.arena, judge, f"{votes}"), NOW)
        if isinstance(ticket, c.Done):
            break
        shown = [int(option[1:]) - 1 for option in ticket.options]
        ballot, first = answer(rng, quality[shown, int(ticket.context[1:]) - 1], habits)
        said[first] += 1
        decide(decision, c.Vote(ticket.id, ballot, rater=judge), NOW)
        decision.events.clear()
        votes += 1
        if votes % LOOKS == 0:
            share = share_of(said[1], said[-1], said[0])
            swayed |= not share.is_even
            decides |= max(share.low, 1.0 - share.high) > MOST_BY_CONTENT
    right = state.settled() and bool(habits.get("better")) and state.verdict is not None and state.verdict["winner"] == "o1"
    return Found(right, state.settled() and not right, bool(swayed), bool(decides), votes)


def answer(rng: np.random.Generator, quality: Any, habits: Mapping[str, float]) -> tuple[dict[str, Any], int]:
    """A judge's ballot on contents of this quality, and whether it prefers the first (1), the last (-1) or neither."""
    n = len(quality)
    by_quality = {"rank": [[int(k)] for k in np.argsort(-quality)]}
    opposite = {"rank": by_quality["rank"][::-1]}
    if rng.random() < habits.get("position", 0.0):
        by_quality = {"rank": [[k] for k in range(n)]}
    contradicts = rng.random() < habits.get("contradicts", 0.0)
    if "contradicts" in habits:  # asked in both orders
        again = opposite if contradicts else by_quality
        firsts = [_first(by_quality, n), _first(turned(again, n), n)]  # each in the order in which the judge saw the contents
        return joined([by_quality, again], "rank", n), int(np.sign(sum(firsts)))
    return by_quality, _first(by_quality, n)


def _first(ballot: Mapping[str, Any], n: int) -> int:
    wins = np.zeros((n, n))
    order = [group[0] for group in ballot["rank"]]
    for place, better in enumerate(order):
        wins[better, order[place + 1 :]] = 1.0
    return is_first_preferred(wins)


def positions() -> list[dict[str, Any]]:
    """How often, and after how many answers, judges are said to be swayed by position or to decide by it, with a look at each."""
    rows = []
    for share in POSITIONS:
        rng = np.random.default_rng(1)
        swayed, decides = [], []
        for _ in range(EXPERIMENTS):
            firsts = np.cumsum(rng.random(MOST_ANSWERS) < share + (1.0 - share) / 2.0)
            looks = [share_of(int(yes), n - int(yes), 0) for n, yes in enumerate(firsts, 1)]
            sides = [max(look.low, 1.0 - look.high) for look in looks]
            for limit, found in ((0.5, swayed), (MOST_BY_CONTENT, decides)):
                found.append(next((n for n, side in enumerate(sides, 1) if side > limit), np.inf))
        row: dict[str, Any] = {"by position": share, "experiments": EXPERIMENTS, "answers": MOST_ANSWERS}
        for name, when in (("swayed", swayed), ("decides", decides)):
            times = int(np.isfinite(when).sum())
            row |= {name: times, f"{name}, interval": interval(times, EXPERIMENTS)}
            row[f"{name}, median answers"] = None if np.isinf(np.median(when)) else float(np.median(when))
        rows.append(row)
        print(rows[-1], flush=True)
    return rows


def interval(times: int, of: int) -> tuple[float, float]:
    """Wilson's interval, 95 %."""
    p, z = times / of, 1.96
    middle, wide = p + z * z / (2 * of), z * np.sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    return float((middle - wide) / (1 + z * z / of)), float((middle + wide) / (1 + z * z / of))


def errors(only: str = "") -> list[dict[str, Any]]:
    """Measure all judges, or those whose name contains ``only``; the others' rows stay as they are in the file."""
    rows = []
    for arena, name in _all():
        if only in name:
            _, unit, habits = JUDGES[name]
            begun, here = time.process_time(), _at(arena, name)
            found = [experiment(seed, here, unit, habits) for seed in range(EXPERIMENTS)]
            wrong = sum(one.wrong for one in found)
            rows.append(
                {
                    "judge": name, **here._asdict(), "unit": unit, "experiments": EXPERIMENTS, "wrong": wrong,
                    "interval": interval(wrong, EXPERIMENTS), "right": sum(one.right for one in found),
                    "swayed": sum(one.swayed for one in found), "mean votes": float(np.mean([one.votes for one in found])),
                    "CPU seconds": round(time.process_time() - begun, 1),
                }
            )  # fmt: skip
            print(rows[-1], flush=True)
    known = json.loads(FILE.read_text()).get("errors", []) if FILE.exists() else []
    table = {_setting(row): row for row in (*known, *rows)}
    keys = [_setting({"judge": name} | _at(arena, name)._asdict()) for arena, name in _all()]
    return [table[key] for key in keys if key in table]


def _all() -> Iterator[tuple[Arena, str]]:
    return ((arena, name) for arena, judges in SETTINGS.items() for name in judges)


def _at(arena: Arena, name: str) -> Arena:
    """The arena, with as many questions as this judge is asked."""
    cases = JUDGES[name][0]
    return arena if cases is None else arena._replace(cases=cases, votes=200 if arena.slate == 2 else 100)


def _setting(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in ("judge", "options", "slate", "cases"))


def percents(low: float, high: float, digits: int = 0) -> str:
    return f"{100 * low:.{digits}f} % to {100 * high:.{digits}f} %"


def error_rows(known: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| options, shown at once | judge | questions | most votes | wrong of 1,000 | 95 % interval | swayed by position |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in known:
        wrong = f"{row['wrong']} ({row['right']} right)" if "better" in row["judge"] else f"{row['wrong']}"
        lines.append(
            f"| {row['options']}, {row['slate']} | {row['judge']} | {row['cases']} | {row['votes']} | {wrong} | "
            f"{percents(*row['interval'], 1)} | {100 * row['swayed'] / row['experiments']:.1f} % |"
        )
    return lines


def position_rows(known: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| answers that the order decides | said to be swayed | after (median) | said to decide by position | after (median) |",
        "|---|---|---|---|---|",
    ]
    for row in known:
        cells = []
        for name in ("swayed", "decides"):
            when = row[f"{name}, median answers"]
            often = f"{100 * row[name] / row['experiments']:.1f} % ({percents(*row[f'{name}, interval'], 1)})"
            cells.append(f"{often} | {'–' if when is None else f'{when:.0f} answers'}")
        lines.append(f"| {100 * row['by position']:.0f} % | {' | '.join(cells)} |")
    return lines


def agreement_rows(known: list[dict[str, Any]]) -> list[str]:
    lines = ["| | " + " | ".join(row["judge"] for row in known) + " |", "|---" * (len(known) + 1) + "|"]

    def add(what: str, name: str, form: str = "{:.2f}", interval: bool = True) -> None:
        cells = []
        for row in known:
            if row.get(name) is None:
                cells.append("–")
                continue
            values = [form.format(one).replace("%", " %") for one in (row[name], *(row[f"{name}, interval"] if interval else ()))]
            cells.append(f"{values[0]} ({values[1]} to {values[2]})" if interval else values[0])
        lines.append(f"| {what} | {' | '.join(cells)} |")

    add("judgements on the same pair and question as (other) people's", "units", "{:,}", interval=False)
    add("same winner, where neither said tie", "same winner", "{:.0%}")
    add("Cohen's kappa", "kappa")
    add("Krippendorff's alpha, with people", "alpha")
    add("Kendall's tau of the order of 59 with people's", "tau")
    add("of people's first 10, among the first 10", "of the first 10", "{:.0f}")
    add("rank of people's best", "rank of people's best", "{:.0f}")
    add("of 59 models, still possible as the best", "still in", "{}", interval=False)
    add("pairs ordered for certain", "certain pairs", "{}", interval=False)
    add("of these, the opposite of what is certain for people", "opposite", "{}", interval=False)
    add("pairs certain for people that the order has alike", "certain pairs alike", "{:.0%}")
    return lines


def votes_words(row: Mapping[str, Any]) -> str:
    """A median of votes with its interval."""
    if row["votes"] is None:
        return "no verdict"
    low, high = ("more" if one is None else f"{one:,.0f}" for one in row["interval"])
    return f"{row['votes']:,.0f} ({low} to {high})"


def saved_rows(known: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| raters | their best | votes, adaptive slates | without a verdict | votes, random slates | without a verdict |",
        "|---" * 6 + "|",
    ]
    for row in known:
        cells = []
        for name in ("adaptive", "random"):
            one = row[name]
            cells.append(f"{votes_words(one)} | {one['not settled']} of {one['runs']}")
        lines.append(f"| {row['judge']} | {row['its best']} | {' | '.join(cells)} |")
    return lines


def shortlist_rows(known: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| judge | kept | options kept of 59 | people's votes to a verdict, median (95 % interval) | people's best left out |",
        "|---|---|---|---|---|",
    ]
    rules = {"first": "the first {}", "likely": "likely among the first {}", "possible": "possibly among the first {}"}
    for row in known:
        rule = "all" if row["first"] == 59 else rules[row["rule"]].format(row["first"])
        gone = f"{100 * row['left out'] / row['runs']:.0f} % ({percents(*row['left out, interval'])})"
        lines.append(f"| {row['judge']} | {rule} | {row['kept']:.0f} | {votes_words(row)} | {gone} |")
    return lines


def model_rows(known: dict[str, Any]) -> list[str]:
    lines = ["| judge | calls | prefers the first | seconds | first line of the page |", "|---|---|---|---|---|"]
    for judge, row in known.items():
        first = f"{100 * row['first'][0]:.0f} % ({percents(*row['first'][1:])})"
        lines.append(f"| {judge} | {row['calls']} | {first} | {row['seconds']:.0f} | {row['first line']} |")
    return lines


TABLES = {
    "errors": error_rows,
    "positions": position_rows,
    "agreement": agreement_rows,
    "saved": saved_rows,
    "shortlists": shortlist_rows,
    "model": model_rows,
}


def page() -> None:
    """Write the tables into the page, between their marks."""
    known, text = json.loads(FILE.read_text()), PAGE.read_text(encoding="utf-8")
    for name, rows in TABLES.items():
        before, mark, rest = text.partition(f"<!-- {name} -->\n")
        assert mark, f"docs/judges.md has no place for {name}"
        after = rest.partition(f"<!-- end of {name} -->")[2]
        text = f"{before}{mark}" + "\n".join(rows(known[name])) + f"\n<!-- end of {name} -->{after}"
    PAGE.write_text(text, encoding="utf-8")


def main(words: list[str]) -> None:
    if words[:1] == ["page"]:
        page()
        return
    import judges_llmfao as llmfao

    for name in words[1:] or TABLES:
        what, _, only = name.partition(":")
        sections = {
            "errors": lambda only=only: errors(only), "positions": positions, "agreement": llmfao.agreement,
            "saved": llmfao.saved, "shortlists": lambda: llmfao.shortlists(interval), "model": llmfao.model,
        }  # fmt: skip
        found = sections[what]()
        known = (json.loads(FILE.read_text()) if FILE.exists() else {}) | {what: found}
        FILE.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
