"""What docs/due-duel.md says was measured: DueDuel beside its rivals.

    python benchmarks/due_duel.py measure --data FOLDER     play, and write benchmarks/due_duel.json; rows it has are kept
                                          --part few --out  only one part of the plan, into another file
                                          --anew due-duel   only one policy, all its rows: its code changed
    python benchmarks/due_duel.py tables                    put the tables into docs/due-duel.md
    python benchmarks/due_duel.py speed [FILE.py ...]       CPU per run, beside files with the SPEC of other versions

FOLDER has the preference matrices of the MSLR rankers. Instances are made from the seeds listed here; those of 'looked at' were
in view while the rule was chosen, the others were first played after it was frozen.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import importlib.util
import itertools
import json
import math
import pathlib
import re
import sys
import time

import numpy as np

import multiduel as md
import multiduel.theory

HERE = pathlib.Path(__file__).parent
RESULTS, PAGE = HERE / "due_duel.json", HERE.parent / "docs" / "due-duel.md"
SEED = 2026
MULTI = ("due-duel", "ind-self-sparring", "multi-rucb", "mdb")
TWO = ("due-duel", "ind-self-sparring", "dts", "merge-dts", "rmed1")


def disputed(n_arms, seed):
    """A tournament whose Condorcet winner wins by a quarter of the margins: another arm is the Borda winner."""
    P = md.random_tournament(n_arms, seed=seed).matrix.copy()
    best = md.random_tournament(n_arms, seed=seed).winner
    P[best] = 0.5 + (P[best] - 0.5) / 4.0
    P[:, best] = 1.0 - P[best]
    return md.from_matrix(P, label=f"disputed tournament, K = {n_arms}, seed {seed}")


def with_ties(n_arms, seed):
    """Random utilities of which every second is a copy of the one before: exact ties between losers."""
    utilities = np.random.default_rng(seed).random(n_arms)
    best = utilities.argmax()
    copies = np.repeat(utilities[utilities != utilities[best]][: n_arms // 2], 2)[: n_arms - 1]
    return md.from_utilities(np.concatenate([[utilities[best]], copies]), label=f"ties, K = {n_arms}, seed {seed}")


def sets(data):
    """name -> problems. Random ones in many instances."""
    read = lambda name: [md.read_csv(data / f"mslr_{name}.csv")]  # noqa: E731
    return {
        "linear 48": lambda: [md.synthetic(48)],
        "logit 48": lambda: [md.synthetic(48, link="logit")],
        "natural 48": lambda: [md.synthetic(48, link="natural")],
        "MSLR informational margin": lambda: read("informational_24_total_order_margin"),
        "MSLR perfect margin": lambda: read("perfect_24_total_order_margin"),
        "MSLR informational hard": lambda: read("informational_24_total_order"),
        "random utilities 30": lambda: [md.random_utilities(30, seed=1100 + k) for k in range(20)],
        "Bradley-Terry 30": lambda: [md.bradley_terry(30, seed=1150 + k) for k in range(20)],
        "tournaments 30": lambda: [md.random_tournament(30, seed=1200 + k) for k in range(20)],
        "one tournament 30": lambda: [md.random_tournament(30, seed=1200)],
        "disputed tournaments 30": lambda: [disputed(30, 1300 + k) for k in range(20)],
        "MSLR informational 135": lambda: read("informational_135"),
        "MSLR perfect 136": lambda: read("perfect_136"),
        "linear 500": lambda: [md.synthetic(500)],
        "linear 1000": lambda: [md.synthetic(1000)],
        "ties 24": lambda: [with_ties(24, 1400 + k) for k in range(10)],
        "no winner: MSLR perfect 16": lambda: read("perfect_16_no_condorcet"),
        "no winner: tournaments 16": lambda: [md.random_tournament(16, seed=1500 + k, condorcet=False) for k in range(10)],
    }


EVERY = (10**4, 10**5, 10**6)
LONG = (10**4, 10**5, 10**6, 10**7, 10**8, 10**9)
FEW = ("linear 48", "MSLR perfect margin", "random utilities 30", "tournaments 30", "disputed tournaments 30")
QUICK = ("linear 48", "logit 48", "MSLR informational margin", "MSLR perfect margin")
NEARLY_TIED = ("random utilities 30", "MSLR informational hard")
OTHERS = ("natural 48", "Bradley-Terry 30", "tournaments 30", "disputed tournaments 30")
SLOW = ("random utilities 30", "tournaments 30", "disputed tournaments 30")  # for D-TS and MergeDTS: up to a second a run
RANKERS = ("MSLR informational 135", "MSLR perfect 136")
# part, sets, policies, seats, runs in all, checkpoints: what matters most comes first
PLAN = [
    ("eight", QUICK, MULTI, (8,), 1000, EVERY),
    ("few", [name for name in FEW if name not in SLOW], TWO, (2,), 200, EVERY),
    ("long", ("linear 48", "MSLR perfect margin", "logit 48"), MULTI[:3], (8,), 100, LONG),
    ("long", ("linear 48",), ("due-duel",), (2,), 100, LONG),
    ("long", ("one tournament 30",), ("due-duel",), (2, 4, 8), 100, LONG),
    ("large", ("linear 500",), MULTI[:3], (8,), 50, EVERY),
    ("large", RANKERS, MULTI, (8,), 50, EVERY),
    ("eight", NEARLY_TIED, MULTI, (8,), 1000, EVERY),
    ("large", ("linear 1000",), MULTI[:3], (8,), 20, EVERY),
    ("long", ("random utilities 30",), MULTI[:3], (8,), 40, LONG[:4]),  # beyond, nearly tied arms are compared all the time
    ("few", SLOW, ("due-duel", "ind-self-sparring", "rmed1"), (2,), 200, EVERY),
    ("few", SLOW, ("dts", "merge-dts"), (2,), 100, EVERY),
    ("eight", OTHERS, MULTI, (8,), 200, EVERY),
    ("few", FEW, MULTI, (4,), 200, EVERY),
    ("outside", ("ties 24",), MULTI[:3], (8,), 100, EVERY),
    ("outside", ("no winner: MSLR perfect 16", "no winner: tournaments 16"), MULTI[:3], (8,), 100, EVERY[:2]),
    ("large", ("linear 500",), ("mdb",), (8,), 10, EVERY),  # seconds a run
]


BOUNDS = [("linear 48", 2), ("linear 48", 4), ("linear 48", 8), ("linear 48", 16)]
BOUNDS += [("logit 48", 8)]
BOUNDS += [("one tournament 30", m) for m in (2, 4, 8)]
BOUNDS += [(f"MSLR {name}", 8) for name in ("informational margin", "perfect margin", "informational hard")]


def measure(data, only, anew, out):
    """Play what is not in ``out`` with as many runs and the same checkpoints; or, if its code changed, one policy ``anew``."""
    rows = json.loads(out.read_text())["rows"] if out.exists() else []
    made = sets(data)
    at = {key(row): place for place, row in enumerate(rows)}

    def keep(part, name, policy, slate_size, numbers, runs=None, marks=None):
        row = {"part": part, "set": name, "policy": policy, "slate_size": slate_size}
        place = at.get(key(row), len(rows))
        old = rows[place] if place < len(rows) else {}
        same = bool(old) and (runs is None or (old["runs"], old["checkpoints"]) == (runs, list(marks)))
        if only not in (None, part) or (policy != anew if anew else same):
            return
        rows[place : place + 1] = [{**row, **numbers()}]
        at[key(row)] = place
        print(*rows[place].values(), flush=True)
        write(rows, out)

    for part, names, policies, seats, runs, marks in PLAN:
        for name, policy, slate_size in itertools.product(names, policies, seats):
            keep(part, name, policy, slate_size, lambda: play(policy, made[name](), slate_size, runs, marks), runs, marks)  # noqa: B023
    for policy in ("due-duel", "ind-self-sparring", "multi-rucb"):
        keep("delayed", "delayed", policy, 4, lambda: delayed(policy))  # noqa: B023
        keep("clicks", "clicks", policy, 4, lambda: clicks(policy))  # noqa: B023
    for name, slate_size in BOUNDS:
        keep("bounds", name, "", slate_size, lambda: bound(made[name]()[0], slate_size))  # noqa: B023


def key(row):
    return row["part"], row["set"], row["policy"], row["slate_size"]


def play(policy, problems, slate_size, runs, marks):
    benchmark = "copeland" if problems[0].winner is None else "condorcet"
    settings = {"slate_size": slate_size, "threads": 1, "benchmark": benchmark}
    md.simulate(policy, problems[0], horizon=10, runs=1, **settings)
    regret, wrong, start = [], [], time.process_time()
    for problem in problems:
        result = md.simulate(
            policy, problem, horizon=marks[-1], checkpoints=list(marks), runs=runs // len(problems), seed=SEED, **settings
        )
        regret.append(result.regret)
        wrong.append(~np.isin(result.recommended, problem.copeland_winners))
    return summary(np.array(regret), np.concatenate(wrong), slate_size, marks, (time.process_time() - start) / runs)


def summary(regret, wrong, slate_size, marks, seconds):
    """regret: instances x runs x checkpoints. The interval of the mean is over instances where there are several."""
    last = np.sort(regret[:, :, -1].ravel())
    units = regret[:, :, -1].mean(axis=1) if len(regret) > 1 else regret[0, :, -1]
    return {
        **{"slate_size": slate_size, "instances": len(regret), "runs": len(last), "checkpoints": list(marks)},
        "means": [round(float(mean), 1) for mean in regret.mean(axis=(0, 1))],
        "half_interval": round(float(1.96 * units.std(ddof=1) / len(units) ** 0.5), 1),
        **{"q90": round(float(np.quantile(last, 0.9)), 1), "max": round(float(last[-1]), 1), "wrong": int(wrong.sum())},
        "seconds": float(f"{seconds:.3g}"),
    }


def delayed(policy, runs=20, horizon=20_000, late=50, lost=0.3):
    """By ask and tell: every answer comes 1 to ``late`` rounds later, in any order, and three of ten never."""
    problem, regret, wrong = md.synthetic(16), [], []
    start = time.process_time()
    for run in range(runs):
        rng = np.random.default_rng(SEED + run)
        labels = rng.permutation(16)
        P, gaps = problem.matrix[np.ix_(labels, labels)], problem.gaps[labels]
        player, mail, total = md.make(policy, n_arms=16, slate_size=4, seed=SEED + run), collections.defaultdict(list), 0.0
        for t in range(horizon):
            slate = player.ask()
            arms = list(slate.arms)
            total += gaps[arms].mean()
            if len(arms) > 1 and rng.random() >= lost:
                pairs = [(i, j) if rng.random() < P[i, j] else (j, i) for a, i in enumerate(arms) for j in arms[a + 1 :]]
                mail[t + int(rng.integers(1, late + 1))].append((slate, pairs))
            for old, pairs in mail.pop(t, []):
                player.tell(old, md.duels(pairs))
        regret.append([total])
        wrong.append(labels[player.recommend()] != problem.winner)
    return summary(np.array([regret]), np.array(wrong), 4, (horizon,), (time.process_time() - start) / runs)


def clicks(policy, runs=50, horizon=10**5):
    """Rankers of a generated collection, multileaved by team draft, informational clicks: all pairs of a slate hang together."""
    from multiduel import rankers

    lineup = rankers.line_up(rankers.generate(queries=100, documents=50, features=10))
    world = rankers.click_problem(lineup, clicks="informational", method="team-draft", ties="half")
    reference = rankers.estimate_matrix(world, comparisons=20_000).problem
    world = rankers.click_problem(lineup, clicks="informational", method="team-draft", ties="half", reference=reference)
    marks = (10**4, horizon)
    start = time.process_time()
    result = md.simulate(policy, world, slate_size=4, horizon=horizon, checkpoints=list(marks), runs=runs, seed=SEED, threads=1)
    wrong = result.recommended != reference.winner
    return summary(result.regret[None], wrong, 4, marks, (time.process_time() - start) / runs)


def bound(problem, slate_size):
    found = md.theory.multi_dueling_lower_bound(problem.matrix, slate_size)
    per_decade, certified = (round(value * math.log(10), 2) for value in (found.constant, found.at_least))
    return {"slate_size": slate_size, "per_decade": per_decade, "certified": certified, "exact": found.exact}


def speed(files, out):
    """CPU of a run, the best of several, in one process: ours, and what the files hold as SPEC, under the files' names."""
    contenders = ["due-duel"]
    for file in files:
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = sys.modules[file.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        md.register(dataclasses.replace(module.SPEC, name=file.stem))
        contenders.append(file.stem)
    rows = [row for row in json.loads(out.read_text())["rows"] if row["part"] != "speed"] if out.exists() else []
    for n_arms, slate_size, horizon, runs, repeats in (
        (48, 8, 10**6, 10, 10),
        (48, 2, 10**6, 10, 5),
        (30, 8, 10**6, 10, 3),
        (135, 8, 10**5, 4, 5),
        (500, 8, 10**4, 1, 2),
        (1000, 8, 3000, 1, 2),
    ):
        problem = md.random_utilities(30, seed=1100) if n_arms == 30 else md.synthetic(n_arms)
        name = f"random utilities {n_arms}" if n_arms == 30 else f"linear {n_arms}"
        for policy in contenders:
            settings = {"slate_size": slate_size, "threads": 1, "seed": SEED, "runs": runs}
            md.simulate(policy, problem, horizon=10, **settings)
            start, whole = [], []
            for _ in range(repeats):
                for rounds, times in ((1, start), (horizon, whole)):
                    began = time.process_time()
                    result = md.simulate(policy, problem, horizon=rounds, checkpoints=[rounds], **settings)
                    times.append(1e3 * (time.process_time() - began) / runs)
            row = {"part": "speed", "set": name, "policy": policy, "slate_size": slate_size, "checkpoints": [horizon]}
            numbers = {"milliseconds": float(f"{min(whole):.3g}"), "start": float(f"{min(start):.3g}")}
            rows.append(
                {**row, **numbers, "events": round(float(result.events.mean())), "mean": round(float(result.mean[-1]), 1)}
            )
            print(*rows[-1].values(), flush=True)
    write(rows, out)


def with_tables(page):
    """The page with all its tables made anew from the results."""
    rows = json.loads(RESULTS.read_text())["rows"]
    of = lambda *parts: [row for row in rows if row["part"] in parts]  # noqa: E731
    tables = {
        "bounds": bounds_table(rows),
        "regret": regret_table([row for row in of("eight", "few", "large") if row["slate_size"] != 4]),
        "outside": regret_table(of("outside", "delayed", "clicks")),
    }
    for name, lines in tables.items():
        page = put(page, name, lines)
    return page


def put(page, name, lines):
    head, *rows = ["| " + " | ".join(line) + " |" for line in lines]
    text = "\n".join([head, "|---" * len(lines[0]) + "|", *rows])
    pattern = rf"(<!-- table: {name} -->\n).*?(<!-- /table -->)"
    return re.sub(pattern, lambda found: f"{found[1]}{text}\n{found[2]}", page, flags=re.DOTALL)


def regret_table(rows):
    """One line per instance and slate size: ours, IndSelfSparring, and the best of the others by its mean."""
    lines = [["instance", "m", "runs", "DueDuel", "IndSelfSparring", "wrong", "best other"]]
    cells = collections.defaultdict(dict)
    for row in rows:
        cells[row["set"], row["slate_size"]][row["policy"]] = row
    for (name, slate_size), by_policy in sorted(cells.items(), key=lambda cell: -cell[0][1]):
        ours, rival = by_policy.pop("due-duel"), by_policy.pop("ind-self-sparring")
        other = min(by_policy.values(), key=lambda row: row["means"][-1])
        last = ours["checkpoints"][-1]
        title = name + ("" if last == 10**6 else f", T = {last:,}")
        best = f"{other['policy']} {other['means'][-1]:,.0f}"
        wrong = f"{ours['wrong']}, {rival['wrong']}"
        lines.append([title, str(slate_size), f"{ours['runs']:,}", _ending(ours), _ending(rival), wrong, best])
    return lines


def _ending(row):
    return f"{row['means'][-1]:,.0f} \u00b1{row['half_interval']:,.0f} ({row['max']:,.0f})"


def bounds_table(rows):
    slopes = {
        (row["set"], row["slate_size"]): (row["means"][-1] - row["means"][row["checkpoints"].index(10**6)]) / 3.0
        for row in rows
        if row["part"] == "long" and row["policy"] == "due-duel" and row["checkpoints"][-1] == 10**9
    }
    lines = [["instance", "m", "lower bound per decade of T", "certified", "slope of DueDuel", "ratio"]]
    for row in (row for row in rows if row["part"] == "bounds"):
        slope = slopes.get((row["set"], row["slate_size"]))
        if slope is None:
            continue
        measured = [f"{slope:,.1f}", f"{slope / row['per_decade']:.2f}"]
        certified = "exact" if row["exact"] else f"{row['certified']:,.1f}"
        lines.append([row["set"], str(row["slate_size"]), f"{row['per_decade']:,.1f}", certified, *measured])
    return lines


def write(rows, out):
    listed = ",\n".join(json.dumps(row) for row in rows)
    out.write_text(f'{{"seed": {SEED}, "rows": [\n{listed}\n]}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["measure", "tables", "speed"])
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--part")
    parser.add_argument("--anew", metavar="POLICY")
    parser.add_argument("--out", type=pathlib.Path, default=RESULTS)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("data"))
    chosen = parser.parse_args()
    if chosen.command == "measure":
        measure(chosen.data, chosen.part, chosen.anew, chosen.out)
    elif chosen.command == "speed":
        speed(chosen.files, chosen.out)
    else:
        PAGE.write_text(with_tables(PAGE.read_text()))


if __name__ == "__main__":
    main()
