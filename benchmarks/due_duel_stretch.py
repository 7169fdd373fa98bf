"""DueDuel's two due times against each other: n exp(e), stretch 0, and n (1 + e / 2) exp(e), stretch 1/2.

    python benchmarks/due_duel_stretch.py measure --data FOLDER   play, and write due_duel_stretch.json; rows it has are kept
    python benchmarks/due_duel_stretch.py suite                   on families of benchmark suite v1, with its seeds and runs
    python benchmarks/due_duel_stretch.py judge                   which of the conditions hold, suite apart

The rule of decision, written before the first run. The stretched time becomes the default if all three hold at T = 10^6:

1. Its mean regret is lower in three quarters of the cells, and in no cell higher by three standard errors of the difference.
2. It does not end wrong more often: of the runs that end wrong under one of the two only, b with the stretch and c without,
   b - c <= 2 sqrt(b + c) in all cells together, and b - c <= 3 sqrt(b + c) in every cell.
3. The mean of its worst hundredth of runs is lower than the other's: the geometric mean of the ratios over the cells is below 1.

The random instances and the seeds were not played before; the fixed instances were in view, with other seeds, when the stretch
was proposed. Both play with the same seeds. The error of a difference is over instances where there are several.
"""

from __future__ import annotations

import argparse
import json
import pathlib

import numpy as np
from due_duel import disputed  # beside this file

import multiduel as md

RESULTS = pathlib.Path(__file__).parent / "due_duel_stretch.json"
STRETCHES = {"without": 0.0, "with": 0.5}
SEATS, HORIZONS, RUNS, SEED = (2, 4, 8), (10**4, 10**6), 1000, 31
SUITE, SUITE_RUNS = "suite v1: ", 20  # runs of an instance


def sets(data):
    """name -> instances, made when they are played. Random ones in fifty instances."""
    fifty = range(50)
    return {
        "Bradley-Terry 30": lambda: [md.bradley_terry(30, seed=3100 + k) for k in fifty],
        "Bradley-Terry 8": lambda: [md.bradley_terry(8, seed=3150 + k) for k in fifty],
        "tournaments 30": lambda: [md.random_tournament(30, seed=3200 + k) for k in fifty],
        "disputed tournaments 30": lambda: [disputed(30, 3300 + k) for k in fifty],
        "linear 48": lambda: [md.synthetic(48)],
        "logit 48": lambda: [md.synthetic(48, link="logit")],
        "MSLR perfect margin": lambda: [md.read_csv(data / "mslr_perfect_24_total_order_margin.csv")],
        "MSLR informational margin": lambda: [md.read_csv(data / "mslr_informational_24_total_order_margin.csv")],
        "random utilities 30": lambda: [md.random_utilities(30, seed=3400 + k) for k in fifty],
    }


def suite_sets():
    """Families of suite v1 in which an arm beats every other, and no two best arms are nearly tied by chance."""
    from multiduel.lab.bench.suite import FAMILIES

    chosen = ("paper", "geometric", "cyclic", "small-margins", "mixed-tastes", "bradley-terry", "tournaments", "disputed")
    return {f"{SUITE}{name}": lambda name=name: FAMILIES[name] for name in chosen}


def measure(made, seats, out):
    """made: name -> instances, or a family of the suite."""
    data = json.loads(out.read_text()) if out.exists() else {"seed": SEED, "horizons": list(HORIZONS), "rows": []}
    rows = data["rows"]
    done = {(row["set"], row["slate_size"]) for row in rows}
    for name, make in made.items():
        for slate_size in seats:
            if (name, slate_size) not in done:
                rows.append({"set": name, "slate_size": slate_size, **duel(make(), slate_size)})
                print(*rows[-1].values(), flush=True)
                write(data, out)


def duel(given, slate_size):
    """One cell: with and without the stretch on all instances."""
    if isinstance(given, list):
        problems, first_seed, step, runs = given, SEED, 0, RUNS
    else:
        problems, first_seed, step, runs = given.problems, given.seed, 1, SUITE_RUNS * len(given.problems)
    regret, wrong = {}, {}
    for which, stretch in STRETCHES.items():
        played = [
            md.simulate(
                "due-duel", problem, slate_size=slate_size, threads=1, stretch=stretch, horizon=HORIZONS[-1],
                checkpoints=list(HORIZONS), runs=runs // len(problems), seed=first_seed + step * number,
            )
            for number, problem in enumerate(problems)
        ]  # fmt: skip
        regret[which] = np.array([result.regret for result in played])  # instances x runs x horizons
        wrong[which] = np.array([result.recommended != p.winner for result, p in zip(played, problems, strict=True)])
    more = regret["with"][:, :, -1] - regret["without"][:, :, -1]
    units = more.mean(axis=1) if len(problems) > 1 else more[0]
    row = {
        "instances": len(problems),
        "runs": runs,
        "difference": round(float(more.mean()), 2),
        "error": round(float(units.std(ddof=1) / len(units) ** 0.5), 3),
        "wrong_only_with": int((wrong["with"] & ~wrong["without"]).sum()),
        "wrong_only_without": int((wrong["without"] & ~wrong["with"]).sum()),
    }
    for which in regret:
        last = np.sort(regret[which][:, :, -1].ravel())
        row[which] = {
            "means": [round(float(mean), 1) for mean in regret[which].mean(axis=(0, 1))],
            "worst_hundredth": round(float(last[-runs // 100 :].mean()), 1),
            "max": round(float(last[-1]), 1),
            "wrong": int(wrong[which].sum()),
        }
    return row


def write(data, out):
    listed = ",\n".join(json.dumps(row) for row in data["rows"])
    out.write_text(f'{{"seed": {data["seed"]}, "horizons": {data["horizons"]}, "rows": [\n{listed}\n]}}\n')


def conditions(rows):
    """The three conditions of the head of this file, with what was found."""
    lower = sum(row["difference"] < 0.0 for row in rows)
    higher = [row for row in rows if row["difference"] > 3.0 * row["error"]]
    b, c = (np.array([row[f"wrong_only_{which}"] for row in rows]) for which in ("with", "without"))
    tail = np.exp(np.mean([np.log(row["with"]["worst_hundredth"] / row["without"]["worst_hundredth"]) for row in rows]))
    return [
        (
            lower >= 0.75 * len(rows) and not higher,
            f"lower mean in {lower} of {len(rows)} cells, clearly higher in {len(higher)}",
        ),
        (
            b.sum() - c.sum() <= 2.0 * (b.sum() + c.sum()) ** 0.5 and bool(np.all(b - c <= 3.0 * np.sqrt(b + c))),
            f"ends wrong where the other does not in {b.sum()} runs, the other in {c.sum()}",
        ),
        (tail < 1.0, f"worst hundredth {tail:.2f} times the other's"),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["measure", "suite", "judge"])
    parser.add_argument("--out", type=pathlib.Path, default=RESULTS)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("data"))
    chosen = parser.parse_args()
    if chosen.command == "measure":
        measure(sets(chosen.data), SEATS, chosen.out)
        return
    if chosen.command == "suite":
        measure(suite_sets(), (2, 8), chosen.out)
        return
    rows = json.loads(chosen.out.read_text())["rows"]
    for suite in (False, True):
        of = [row for row in rows if row["set"].startswith(SUITE) == suite]
        for number, (holds, found) in enumerate(conditions(of) if of else [], 1):
            print(f"{'suite v1: ' if suite else ''}{number}. {'holds' if holds else 'does not hold'}: {found}")


if __name__ == "__main__":
    main()
