"""How many answers until a verdict, if slates are chosen many at a time: ``next_slates`` in batches of 1, 20 and 100.

    python benchmarks/batches.py measure [--replays 50] [--data FOLDER]   plays, and writes benchmarks/batches.json (minutes)
    python benchmarks/batches.py page                                     puts the table of that file into docs/votes.md

World: the Bradley-Terry strengths fitted to 8,931 crowd votes on 59 language models (``llmfao_bt_59.csv`` of the data folder); a
slate is answered by a Plackett-Luce ranking, without ties. A replay ends with the first batch after which there is a verdict
(alpha 5 %), so that whole batches are paid for. "In turn" asks about all pairs one after the other, again and again; with slates
of four, about random slates of four.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from multiduel.inference import Tally, evidence, verdict
from multiduel.votes.next_slates import choose

HERE = Path(__file__).resolve().parent
ALPHA = 0.05
SIZES = (4, 2)
BATCHES = (1, 20, 100)


def world(folder: Path) -> np.ndarray:
    """Strengths of the 59 models."""
    P = np.loadtxt(folder / "llmfao_bt_59.csv", delimiter=",", skiprows=1)
    strengths = np.log(P[:, 0] / (1.0 - P[:, 0]))
    return strengths - strengths.mean()


def adaptive(u: np.ndarray, m: int, batch: int, seed: int) -> tuple[int, bool]:
    """Answers until the verdict, and whether it is right."""
    rng = np.random.default_rng([seed, m, batch])
    K = len(u)
    above, ties, answers = np.zeros((K, K)), np.zeros((K, K)), 0
    while True:
        found = verdict(Tally.of(above, ties), alpha=ALPHA)
        if found.settled:
            return answers, found.winner == int(u.argmax())
        for arms in choose(found, slate_size=m, number=batch, rng=rng):
            order = np.array(arms)[np.argsort(-(u[list(arms)] + rng.gumbel(size=m)))]
            for k, i in enumerate(order):
                above[i, order[k + 1 :]] += 1.0
            answers += 1


def in_turn(u: np.ndarray, m: int, seed: int) -> tuple[int, bool]:
    """The same for slates that do not look at the answers; looked at each time every pair was asked about once, on average."""
    rng = np.random.default_rng([seed, m, 0])
    K = len(u)
    needed = math.log(K / ALPHA)
    above, answers = np.zeros((K, K)), 0
    i, j = np.triu_indices(K, 1)
    chance = 1.0 / (1.0 + np.exp(u[j] - u[i]))
    step = len(i) if m == 2 else math.ceil(len(i) / (m * (m - 1) / 2))
    while True:
        if m == 2:
            won = rng.random(len(i)) < chance
            above[i, j] += won
            above[j, i] += ~won
        else:
            slates = rng.permuted(np.tile(np.arange(K), (step, 1)), axis=1)[:, :m]
            order = np.take_along_axis(slates, np.argsort(-(u[slates] + rng.gumbel(size=slates.shape)), axis=1), axis=1)
            for a in range(m):
                for b in range(a + 1, m):
                    np.add.at(above, (order[:, a], order[:, b]), 1.0)
        answers += step
        L = evidence(above, np.zeros((K, K)))[0]
        np.fill_diagonal(L, math.inf)
        least = L.min(axis=1)
        if least.max() >= needed:
            return answers, int(least.argmax()) == int(u.argmax())


def measure(replays: int, folder: Path, sizes: Sequence[int], batches: Sequence[int]) -> None:
    u = world(folder)
    for m in sizes:
        for batch in batches:
            start = time.process_time()
            played = [adaptive(u, m, batch, seed) if batch else in_turn(u, m, seed) for seed in range(replays)]
            answers = np.array([count for count, _ in played], float)
            row = {
                "slate_size": m,
                "batch": batch,  # 0: in turn
                "replays": replays,
                "mean": round(float(answers.mean()), 1),
                "error": round(float(answers.std(ddof=1) / math.sqrt(replays)), 1),
                "median": int(np.median(answers)),
                "low": int(np.quantile(answers, 0.1)),
                "high": int(np.quantile(answers, 0.9)),
                "most": int(answers.max()),
                "wrong": sum(not right for _, right in played),
                "cpu_seconds": round(time.process_time() - start, 1),
            }
            print(row, flush=True)
            write(row)


def write(row: dict[str, object]) -> None:
    """Put a row into the file, in the place of the one that it had."""
    file = HERE / "batches.json"
    rows = json.loads(file.read_text())["rows"] if file.exists() else []
    rows = [old for old in rows if (old["slate_size"], old["batch"]) != (row["slate_size"], row["batch"])] + [row]
    rows.sort(key=lambda one: (-one["slate_size"], one["batch"] or math.inf))
    file.write_text(json.dumps({"alpha": ALPHA, "options": 59, "rows": rows}, indent=1) + "\n")


def table() -> str:
    """As Markdown."""
    found = json.loads((HERE / "batches.json").read_text())["rows"]
    lines = [
        "| options in a slate | slates at a time | answers to a verdict | 80 % of replays | against one by one |",
        "|---|---|---|---|---|",
    ]
    for row in found:
        one = next((other for other in found if other["slate_size"] == row["slate_size"] and other["batch"] == 1), None)
        name = (
            str(row["batch"])
            if row["batch"]
            else "random slates, not chosen"
            if row["slate_size"] > 2
            else "all pairs in turn, not chosen"
        )
        mean = f"{row['mean']:,.0f} ± {1.96 * row['error']:,.0f}"
        ratio = "not measured" if one is None else f"{row['mean'] / one['mean']:.2f}"
        lines.append(f"| {row['slate_size']} | {name} | {mean} | {row['low']:,} to {row['high']:,} | {ratio} |")
    return "\n".join(lines)


def page() -> None:
    """Put the table between its marks."""
    file = HERE.parent / "docs" / "votes.md"
    before, _, rest = file.read_text().partition("<!-- batches -->\n")
    _, _, after = rest.partition("<!-- end of batches -->\n")
    file.write_text(f"{before}<!-- batches -->\n{table()}\n<!-- end of batches -->\n{after}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("measure", "page"))
    parser.add_argument("--replays", type=int, default=50)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("MULTIDUEL_DATA", ".")))
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--batches", type=int, nargs="+", default=(*BATCHES, 0), help="0: in turn")
    options = parser.parse_args()
    if options.command == "measure":
        measure(options.replays, options.data, options.sizes, options.batches)
    else:
        page()
