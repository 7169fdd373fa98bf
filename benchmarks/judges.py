"""Judges, measured: how often their verdicts are wrong, and what shortlists save people.

    python benchmarks/judges.py measure [errors[:JUDGE]] [shortlists]     writes benchmarks/judges.json
    python benchmarks/judges.py page                              writes the tables into docs/judges.md

Errors: arenas without a file (the same code decides commands), all options alike in the population of questions, so that every
winner that is announced is wrong. Shortlists: MULTIDUEL_DATA is the folder with llmfao/ and llmfao_bt_59.csv.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import multiduel as md
from multiduel.arena.domain import commands as c
from multiduel.arena.domain.options import Option, make_content
from multiduel.arena.domain.settings import Settings
from multiduel.arena.domain.state import State
from multiduel.arena.service.decision import Decision
from multiduel.arena.service.handlers import decide
from multiduel.arena.service.raters import first_share
from multiduel.inference import Votes, standings

HERE = Path(__file__).parent
FILE, PAGE = HERE / "judges.json", HERE.parent / "docs" / "judges.md"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
K, VOTES, EXPERIMENTS = 2, 100, 1000  # two options: with more, verdicts need more evidence
JUDGES = {  # cases, unit, and how the judge errs
    "clean": (120, "case", {}),
    "30 % by position": (120, "case", {"position": 0.3}),
    "by length as much as by quality": (120, "case", {"length": 1.0}),
    "30 % of answers at random": (120, "case", {"random": 0.3}),
    "13 questions, by case": (13, "case", {}),
    "13 questions, by answer": (13, "answer", {}),
}


def experiment(seed: int, cases: int, unit: str, habits: dict[str, float]) -> tuple[bool, bool, int]:
    """(a winner was announced, a position effect was announced, votes) with options that are alike on questions like these."""
    rng = np.random.default_rng(seed)
    quality = rng.standard_normal((K, cases)) + habits.get("length", 0.0) * rng.standard_normal((K, cases))
    state = State("0" * 12)
    decision = Decision(state)
    options = [Option(f"o{k}", tuple(make_content("text", f"{k} {case}") for case in range(cases))) for k in range(K)]
    settings = Settings(unit=unit, deciders="judges", seed=seed)
    decide(decision, c.Create("x", settings, options, [f"case {k}" for k in range(cases)]), NOW)
    decide(decision, c.Open(state.arena), NOW)
    judge = decide(decision, c.AdmitRater(state.arena, "judge", kind="judge"), NOW)
    said: list[int] = []
    found = False
    for k in range(VOTES if cases > 13 else 2 * VOTES):
        ticket = decide(decision, c.Ask(state.arena, judge, f"{k}"), NOW)
        if isinstance(ticket, c.Done):
            break
        case = int(ticket.context[1:]) - 1
        a, b = (quality[int(option[1:]) - 1, case] for option in ticket.options)
        best = 0 if a > b else 1
        if rng.random() < habits.get("random", 0.0):
            best = int(rng.integers(2))
        if rng.random() < habits.get("position", 0.0):
            best = 0
        said.append(1 if best == 0 else -1)
        decide(decision, c.Vote(ticket.id, {"rank": [best, 1 - best]}, rater=judge), NOW)
        decision.events.clear()
        if len(said) % 10 == 0 and not found:
            found = not first_share(said).is_even
    return state.settled(), found, len(said)


def interval(times: int, of: int) -> tuple[float, float]:
    """Wilson's interval, 95 %."""
    p, z = times / of, 1.96
    middle, wide = p + z * z / (2 * of), z * np.sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    return float((middle - wide) / (1 + z * z / of)), float((middle + wide) / (1 + z * z / of))


def errors(only: str = "") -> list[dict[str, Any]]:
    """Measure all judges, or those whose name contains ``only``; the others' rows stay as they are in the file."""
    rows = []
    for name, (cases, unit, habits) in JUDGES.items():
        if only not in name:
            continue
        begun = time.perf_counter()
        seeds = range(EXPERIMENTS)
        with ProcessPoolExecutor(2) as pool:
            found = list(pool.map(partial(experiment, cases=cases, unit=unit, habits=habits), seeds, chunksize=50))
        wrong, effects = sum(one[0] for one in found), sum(one[1] for one in found)
        rows.append(
            {
                "judge": name, "cases": cases, "unit": unit, "experiments": EXPERIMENTS, "wrong": wrong,
                "interval": interval(wrong, EXPERIMENTS), "position": effects,
                "votes": float(np.mean([one[2] for one in found])), "seconds": time.perf_counter() - begun,
            }
        )  # fmt: skip
        print(rows[-1], flush=True)
    known = json.loads(FILE.read_text()).get("errors", []) if FILE.exists() else []
    table = {row["judge"]: row for row in (*known, *rows)}
    return [table[name] for name in JUDGES if name in table]


def gpt_votes(file: Path, names: list[str]) -> Votes:
    """The judgements of a model, a prompt being a case."""
    rows = [row for row in csv.DictReader(file.open(encoding="utf-8")) if row["left"] in names and row["right"] in names]
    cases = sorted({row["prompt"] for row in rows})
    return Votes.of(
        names,
        first=[names.index(row["left"]) for row in rows],
        second=[names.index(row["right"]) for row in rows],
        outcome=[{"left": 1, "right": -1, "tie": 0}[row["winner"]] for row in rows],
        case=[cases.index(row["prompt"]) for row in rows],
        cases=cases,
        ordered=True,
    )


def shortlists(runs: int = 200) -> list[dict[str, Any]]:
    """Votes of people, drawn from the Bradley-Terry fit of the crowd's, until a verdict among the judge's first n.

    In each replay the judge's judgements are drawn anew from those it gave, so that the shortlist is not always the same.
    """
    folder = Path(os.environ["MULTIDUEL_DATA"])
    problem = md.read_csv(folder / "llmfao_bt_59.csv")
    names, P = list(problem.names), problem.matrix
    best = int(np.argmax((P > 0.5).sum(axis=1)))
    rows = []
    for judge, file in (("GPT-4", "gpt4-crowd-comparisons.csv"), ("GPT-3", "gpt3-crowd-comparisons.csv")):
        votes, rng = gpt_votes(folder / "llmfao" / file, names), np.random.default_rng(1)
        with np.errstate(invalid="ignore"):  # a model without votes has an infinite width
            found = standings(votes)
            orders = [standings(votes.take(rng.integers(votes.answers, size=votes.answers))).order for _ in range(runs)]
        for n in (5, 10, 20, 59):
            begun, answers, gone, wrong = time.process_time(), [], 0, 0
            for seed, order in enumerate(orders):
                left = sorted(order[:n])
                small = md.from_matrix(P[np.ix_(left, left)])
                result = md.simulate("challengers", small, slate_size=4, horizon=100_000, runs=1, seed=seed, until="verdict")
                answers.append(float(result.settlement.answers[0]))
                gone += best not in left
                wrong += int(result.settlement.wrong[0])
            draws = np.median(np.random.default_rng(1).choice(answers, (1000, runs)), axis=1)
            rows.append(
                {
                    "judge": judge, "first": n, "ranges keep": len(found.top(n).possible), "runs": runs, "wrong": wrong,
                    "votes": float(np.median(answers)), "not settled": sum(not np.isfinite(one) for one in answers),
                    "interval": [float(x) for x in np.quantile(draws, (0.025, 0.975))],
                    "people's best": names[best], "its rank": found.order.index(best) + 1, "left out": gone,
                    "left out, interval": interval(gone, runs), "seconds": time.process_time() - begun,
                }
            )  # fmt: skip
            print(rows[-1], flush=True)
    return rows


def page() -> None:
    """Write the tables into the page, between their marks."""
    known = json.loads(FILE.read_text())
    lines = [
        "| judge | questions | counted by | wrong verdicts of 1,000 | 95 % interval | position effect announced |",
        "|---|---|---|---|---|---|",
    ]
    for row in known["errors"]:
        low, high = row["interval"]
        lines.append(
            f"| {row['judge']} | {row['cases']} | {row['unit']} | {row['wrong']} | {100 * low:.1f} % to {100 * high:.1f} % | "
            f"{100 * row['position'] / row['experiments']:.1f} % |"
        )
    short = [
        "| judge | first n | people's votes to a verdict, median (95 % interval) | people's best left out | rank ranges keep |",
        "|---|---|---|---|---|",
    ]
    for row in known["shortlists"]:
        low, high = row["interval"]
        least, most = row["left out, interval"]
        gone = f"{100 * row['left out'] / row['runs']:.0f} % ({100 * least:.0f} % to {100 * most:.0f} %)"
        votes = f"{row['votes']:,.0f} ({low:,.0f} to {high:,.0f})"
        short.append(f"| {row['judge']} | {row['first']} | {votes} | {gone} | {row['ranges keep']} of 59 |")
    text = PAGE.read_text(encoding="utf-8")
    for name, table in (("errors", lines), ("shortlists", short)):
        before, _, rest = text.partition(f"<!-- {name} -->\n")
        after = rest.partition(f"<!-- end of {name} -->")[2]
        text = f"{before}<!-- {name} -->\n" + "\n".join(table) + f"\n<!-- end of {name} -->{after}"
    PAGE.write_text(text, encoding="utf-8")


def main(words: list[str]) -> None:
    if words[:1] == ["page"]:
        page()
        return
    for name in words[1:] or ["errors", "shortlists"]:
        what, _, only = name.partition(":")
        found = shortlists() if what == "shortlists" else errors(only)
        known = (json.loads(FILE.read_text()) if FILE.exists() else {}) | {what: found}
        FILE.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
