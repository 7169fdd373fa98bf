"""Judges, measured: how often their verdicts are wrong, when they are said to decide by position, and llmfao replayed.

    python benchmarks/judges.py measure [SECTION ...]     writes benchmarks/judges.json
    python benchmarks/judges.py page                      writes the tables into docs/judges-numbers.md

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
FILE, PAGE = HERE / "judges.json", HERE.parent / "docs" / "judges-numbers.md"
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
    """A line for each judge, a column for each arena. Judges with 13 questions stand in the first column of their arena."""
    arenas = {_shape(row): row for row in known if row["judge"] == "clean"}
    cells: dict[str, dict[tuple[int, ...], str]] = {}
    for row in known:
        place = _shape(row) if _shape(row) in arenas else next(one for one in arenas if one[:2] == _shape(row)[:2])
        wrong = f"{row['wrong']} ({percents(*row['interval'], 1)})" if row["wrong"] else "0"
        right = f", {row['right']} right" if "better" in row["judge"] else ""
        cells.setdefault(row["judge"], {})[place] = wrong + right
    heads = []
    for options, slate, cases in arenas:
        pairs = "" if options == 2 else ", in pairs" if slate == 2 else f", {slate} at once"
        heads.append(f"{options} options{pairs}, {cases} questions, {arenas[options, slate, cases]['votes']} votes")
    lines = [f"| judge | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    lines += [f"| {judge} | {' | '.join(line.get(one, '–') for one in arenas)} |" for judge, line in cells.items()]
    none = max(row["interval"][1] for row in known if not row["wrong"])
    return [*lines, "", f"In brackets: 95 % intervals; 0 of {known[0]['experiments']:,} means at most {100 * none:.1f} %."]


def _shape(row: Mapping[str, Any]) -> tuple[int, int, int]:
    return row["options"], row["slate"], row["cases"]


def position_rows(known: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| answers that the order decides | said to be swayed | after (median) | said to decide by position | after (median) |",
        "|---|---|---|---|---|",
    ]
    widest = 0.0
    for row in known:
        cells = []
        for name in ("swayed", "decides"):
            when, share = row[f"{name}, median answers"], row[name] / row["experiments"]
            widest = max(widest, *(abs(end - share) for end in row[f"{name}, interval"]))
            cells.append(f"{100 * share:.1f} % | {'–' if when is None else f'{when:.0f} answers'}")
        lines.append(f"| {100 * row['by position']:.0f} % | {' | '.join(cells)} |")
    return [*lines, "", f"95 % intervals reach at most {100 * widest:.1f} points to either side."]


def agreement_rows(known: list[dict[str, Any]]) -> list[str]:
    lines = ["| | " + " | ".join(row["judge"] for row in known) + " |", "|---" * (len(known) + 1) + "|"]

    def add(what: str, name: str, form: str = "{:.2f}") -> None:
        cells = []
        for row in known:
            values = [form.format(one).replace("%", " %") for one in (row[name], *row[f"{name}, interval"])]
            cells.append(f"{values[0]} ({values[1]} to {values[2]})")
        lines.append(f"| {what} | {' | '.join(cells)} |")

    add("same winner, where neither said tie", "same winner", "{:.0%}")
    add("Cohen's kappa", "kappa")
    add("Kendall's tau with people's order of the models", "tau")
    add("rank of people's best", "rank of people's best", "{:.0f}")
    return lines


def saved_rows(known: list[dict[str, Any]]) -> list[str]:
    lines = ["| raters | their best | votes to a verdict, median (95 % interval) |", "|---|---|---|"]
    for row in known:
        low, high = row["adaptive"]["interval"]
        lines.append(f"| {row['judge']} | {row['its best']} | {row['adaptive']['votes']:,.0f} ({low:,.0f} to {high:,.0f}) |")
    return lines


def shortlist_rows(known: list[dict[str, Any]]) -> list[str]:
    """A line for each rule, three columns for each judge."""
    judges = list(dict.fromkeys(row["judge"] for row in known))
    lines = [
        "| kept | " + " | ".join(f"{judge}: options | people's votes | best lost" for judge in judges) + " |",
        "|---" * (1 + 3 * len(judges)) + "|",
    ]
    cells: dict[str, list[str]] = {}
    for row in known:
        if row["rule"] == "first" and row["first"] < 59:  # not a rule of the command
            continue
        rule = "all 59" if row["first"] == 59 else f"`{row['rule']}`, first {row['first']}"
        cells.setdefault(rule, []).append(f"{row['kept']:.0f} | {row['votes']:,.0f} | {row['left out']}")
    return [*lines, *(f"| {rule} | {' | '.join(found)} |" for rule, found in cells.items())]


def model_rows(known: dict[str, Any]) -> list[str]:
    lines = ["| judge | calls | prefers the first |", "|---|---|---|"]
    for judge, row in known.items():
        lines.append(f"| {judge} | {row['calls']} | {100 * row['first'][0]:.0f} % ({percents(*row['first'][1:])}) |")
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
        assert mark, f"docs/judges-numbers.md has no place for {name}"
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
